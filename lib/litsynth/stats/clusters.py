"""An interval for credits in clusters that also holds where there are few clusters."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from litsynth.errors import DataError
from litsynth.records import Estimate
from litsynth.stats.inputs import check_confidence, clean_values, label_codes, same_length
from litsynth.stats.proportions import score_bounds, wilson_bounds

METHOD = "Wilson on the effective sample size"


def cluster_interval(values: Iterable[Any], clusters: Iterable[Hashable], confidence: float = 0.95) -> Estimate:
    """Estimate the mean of credits (0 to 1) in clusters with Wilson's interval on the effective number of responses.

    The cluster-robust variance of the mean gives the number of independent responses that would have the same
    variance (Kish 1965; Dean & Pagano 2015 for Wilson's interval with it); the quantile is Student's with the
    effective number of clusters less one as degrees of freedom. `details`: `standard_error`, `effective_responses`,
    `degrees_of_freedom`. Degenerate input is answered as by `cluster_bootstrap`.
    """
    values = clean_values(values, "values")
    codes, names = label_codes(clusters, "clusters")
    n, units = same_length(values=values, clusters=codes), len(names)
    check_credits(values)
    check_confidence(confidence)
    if units < 2:
        reason = "one cluster gives no interval" if n else "there is nothing to estimate: no rows"
        return Estimate(math.fsum(values) / n if n else None, None, None, n, units, METHOD, confidence, reason)
    value = math.fsum(values) / n
    sizes = np.bincount(codes, minlength=units).astype(np.float64)
    if value in (0.0, 1.0):
        return all_or_none(value, units, n, units, confidence)
    totals = np.bincount(codes, values - value, units)
    variance = float(totals @ totals) / n**2 * units / (units - 1)
    if variance <= 1e-24:
        reason = "all clusters agree, so there is no variation between them"
        return Estimate(value, None, None, n, units, METHOD, confidence, reason)
    size = value * (1 - value) / variance
    quantile, freedom = student(confidence, n**2 / float(sizes @ sizes))
    details = {"standard_error": math.sqrt(variance), "effective_responses": size, "degrees_of_freedom": freedom}
    return Estimate(value, *score_bounds(value, size, quantile), n, units, METHOD, confidence, "", details)


def student(confidence: float, effective: float) -> tuple[float, float]:
    """Return Student's quantile and its degrees of freedom (at least 1) for an effective number of units."""
    from scipy.special import stdtrit  # scipy.stats has the same and takes a second to import

    freedom = max(1.0, effective - 1)
    return float(stdtrit(freedom, 0.5 + confidence / 2)), freedom


def check_credits(values: np.ndarray) -> None:
    """Raise `DataError` that names the first row outside 0 to 1."""
    bad = np.flatnonzero((values < 0) | (values > 1))
    if len(bad):
        raise DataError(f"values, row {int(bad[0])} (counted from 0): {values[bad[0]]:g} is no credit",
                        expected="values from 0 to 1", remedy="use an estimator for means on any scale")


def all_or_none(value: float, independent: float, n: int, units: int, confidence: float) -> Estimate:
    """Estimate a share of 0 or 1, which resampling cannot bound, by Wilson's interval on the independent units."""
    low, high = wilson_bounds(value * independent, independent, confidence)
    reason = ("all" if value else "none") + f" correct: interval by Wilson on {independent:.4g} independent units"
    return Estimate(value, low, high, n, units, "Wilson on independent units", confidence, reason)
