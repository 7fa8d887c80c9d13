"""Bootstrap intervals for means and ratios whose rows come in clusters.

Stated answers for degenerate input (all estimates of this room):

| input | answer |
|---|---|
| no rows | value, low and high None; reason says that there is nothing to estimate |
| one cluster | the value, no interval: one cluster says nothing about the spread between clusters |
| every credit 1, or every credit 0 | the value with Wilson's interval on the number of clusters; `reason` says so |
| any other input in which all clusters agree | the value, no interval: resampling shows no variation |
| denominators that add up to 0 | value None |
| fewer than 30 clusters | the interval, with a `caution` in details: percentile intervals are then too narrow |
| resamples with denominator 0 | left out, counted in `details["undefined_resamples"]`; above 5 % no interval |
| missing, infinite or non-numeric value, missing label | `DataError` naming the row |
| unequal lengths | `DataError` naming every length |
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from litsynth.errors import DataError
from litsynth.records import Estimate
from litsynth.stats.clusters import all_or_none
from litsynth.stats.inputs import check_confidence, clean_values, label_codes, same_length
from litsynth.stats.resampling import RESAMPLES, percentile_bounds, resampled_sums, unit_sums

FEW = 30  # below it, estimates carry a caution: see the coverage page, and `cluster_interval` for what to use
UNDEFINED_SHARE = 0.05  # more resamples without a value than this leave no interval


def cluster_bootstrap(
    values: Iterable[Any],
    clusters: Iterable[Hashable],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    weights: Iterable[Any] | None = None,
) -> Estimate:
    """Estimate the mean of credits with an interval that resamples whole clusters.

    `values` has shape (n,), credits from 0 to 1; `clusters` names the cluster (source paper) of each; `weights`, 0 or
    more, makes it a weighted mean. A resample draws as many clusters as there are, with replacement; its mean is the
    sum of all their values over the number of them (Davison & Hinkley 1997, 3.8). Percentile interval.
    """
    values, clusters = clean_values(values, "values"), list(clusters)
    sizes = np.ones(len(values)) if weights is None else clean_values(weights, "weights")
    same_length(values=values, clusters=clusters, **({} if weights is None else {"weights": sizes}))
    return ratio_bootstrap(values * sizes, sizes, clusters, seed=seed, resamples=resamples, confidence=confidence)


def ratio_bootstrap(
    numerators: Iterable[Any],
    denominators: Iterable[Any],
    clusters: Iterable[Hashable],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate a pooled share, sum of `numerators` over sum of `denominators`, resampling whole clusters.

    For cells that pool responses: each row gives its credited and its counted responses, 0 ≤ numerator ≤ denominator.
    """
    columns, codes, names = _rows(clusters, numerators=numerators, denominators=denominators)
    bad = np.flatnonzero((columns[:, 1] < 0) | (columns[:, 0] < 0) | (columns[:, 0] > columns[:, 1] * (1 + 1e-12)))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"row {row} (counted from 0): {columns[row, 0]:g} of {columns[row, 1]:g} is no share",
            expected="values between 0 and their weight", remedy="use mean_bootstrap for values on another scale")
    method = f"cluster bootstrap, percentile, {resamples} resamples"
    return _ratio_estimate(columns, codes, len(names), seed, resamples, confidence, method, credits=True)


def mean_bootstrap(
    values: Iterable[Any], *, seed: int, resamples: int = RESAMPLES, confidence: float = 0.95
) -> Estimate:
    """Estimate a mean of independent values on any scale (macro means over reviews); each value is its own unit."""
    values = clean_values(values, "values")
    columns = np.column_stack([values, np.ones(len(values))])
    method = f"bootstrap, percentile, {resamples} resamples"
    return _ratio_estimate(columns, np.arange(len(values)), len(values), seed, resamples, confidence, method)


def paired_bootstrap(
    a: Iterable[Any],
    b: Iterable[Any],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    clusters: Iterable[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the mean difference a − b of two systems on the same questions.

    Resamples units (questions, reviews), or whole clusters where `clusters` names them; `a` and `b` are in one order.
    `details` holds both means.
    """
    a, b = clean_values(a, "a"), clean_values(b, "b")
    same_length(a=a, b=b)
    names: Iterable[Hashable] = range(len(a)) if clusters is None else clusters
    columns, codes, units = _rows(names, differences=a - b, weights=np.ones(len(a)))
    unit = "units" if clusters is None else "clusters"
    method = f"paired bootstrap over {unit}, percentile, {resamples} resamples"
    means = {"mean_a": _mean(a), "mean_b": _mean(b)} if len(a) else {}
    return _ratio_estimate(columns, codes, len(units), seed, resamples, confidence, method, details=means)


def ratio_difference_bootstrap(
    numerators_a: Iterable[Any],
    denominators_a: Iterable[Any],
    numerators_b: Iterable[Any],
    denominators_b: Iterable[Any],
    clusters: Iterable[Hashable],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the difference of two pooled shares, a − b, resampling whole clusters of rows.

    For refusal against its matched control: a row is a question with its counted and refused responses in both arms
    (a denominator of 0 where an arm has none), so the two arms may have lost different cells.
    """
    columns, codes, names = _rows(
        clusters, numerators_a=numerators_a, denominators_a=denominators_a,
        numerators_b=numerators_b, denominators_b=denominators_b)
    totals = [math.fsum(column) for column in columns.T]
    method = f"difference of pooled shares, cluster bootstrap, percentile, {resamples} resamples"
    if totals[1] <= 0 or totals[3] <= 0:
        reason = "there is nothing to estimate: a denominator is 0"
        return Estimate(None, None, None, len(columns), len(names), method, check_confidence(confidence), reason)
    details = {"share_a": totals[0] / totals[1], "share_b": totals[2] / totals[3]}
    value = details["share_a"] - details["share_b"]
    if len(names) < 2:
        return _without_interval(value, len(columns), len(names), method, confidence, _ONE_CLUSTER, details)
    sums = resampled_sums(unit_sums(columns, codes, len(names)), seed=seed, resamples=resamples)
    statistics = _ratios(sums[:, 0], sums[:, 1]) - _ratios(sums[:, 2], sums[:, 3])
    return interval_from(statistics, value, len(columns), len(names), method, confidence, details)


def bootstrap_distribution(
    numerators: Iterable[Any],
    denominators: Iterable[Any],
    clusters: Iterable[Hashable],
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> np.ndarray:
    """Return the resampled ratios themselves, shape (resamples,), NaN where a resample's denominator is 0.

    The same seed gives the very resamples that `ratio_bootstrap` took its percentiles from.
    """
    columns, codes, names = _rows(clusters, numerators=numerators, denominators=denominators)
    if not len(names):
        raise DataError("there are no rows to resample", expected="at least one row",
                        remedy="check the filter before it")
    sums = resampled_sums(unit_sums(columns, codes, len(names)), seed=seed, resamples=resamples)
    return _ratios(sums[:, 0], sums[:, 1])


_ONE_CLUSTER = "one cluster gives no interval"
_NO_VARIATION = "all clusters agree, so resampling shows no variation"


def _rows(clusters: Iterable[Hashable], **columns: Iterable[Any]) -> tuple[np.ndarray, np.ndarray, list[Hashable]]:
    cleaned = {name: clean_values(column, name) for name, column in columns.items()}
    codes, names = label_codes(clusters, "clusters")
    same_length(**cleaned, clusters=codes)
    return np.column_stack(list(cleaned.values())), codes, names


def _mean(values: np.ndarray) -> float:
    return math.fsum(values) / len(values)


def _ratios(numerators: np.ndarray, denominators: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominators > 0, numerators / denominators, np.nan)


def _without_interval(
    value: float, n: int, clusters: int, method: str, confidence: float, reason: str, details: dict[str, Any]
) -> Estimate:
    return Estimate(value, None, None, n, clusters, method, check_confidence(confidence), reason, details)


def _ratio_estimate(
    columns: np.ndarray, codes: np.ndarray, units: int, seed: int, resamples: int, confidence: float, method: str,
    *, credits: bool = False, details: dict[str, Any] | None = None,
) -> Estimate:
    """Estimate sum of column 0 over sum of column 1 from rows that belong to `units` units."""
    n, details = len(columns), dict(details or {})
    check_confidence(confidence)
    total = math.fsum(columns[:, 1])
    if total <= 0:
        reason = "there is nothing to estimate: " + ("no rows" if n == 0 else "the weights add up to 0")
        return Estimate(None, None, None, n, units, method, confidence, reason, details)
    sums = unit_sums(columns, codes, units)
    return estimate_from_sums(sums, n, seed, resamples, confidence, method, details, credits=credits)


def estimate_from_sums(
    sums: np.ndarray, n: int, seed: int, resamples: int, confidence: float, method: str, details: dict[str, Any],
    *, credits: bool = False, independent: float | None = None,
) -> Estimate:
    """Estimate the ratio of the two columns of `sums` (units, 2), whose total of column 1 is above 0.

    `credits` says that the ratio lives in [0, 1], so that all or none correct has Wilson's interval on `independent`
    units (all units with a weight when None).
    """
    units = len(sums)
    value = math.fsum(sums[:, 0]) / math.fsum(sums[:, 1])
    weighted = sums[sums[:, 1] > 0]
    if len(weighted) < 2:
        return _without_interval(value, n, units, method, confidence, _ONE_CLUSTER, details)
    if credits and value in (0.0, 1.0):
        count = len(weighted) if independent is None else independent
        return replace(all_or_none(value, count, n, units, confidence), details=details)
    if len(weighted) < FEW:
        details = {**details, "caution": f"percentile intervals of fewer than {FEW} units are too narrow"}
    drawn = resampled_sums(sums, seed=seed, resamples=resamples)
    return interval_from(_ratios(drawn[:, 0], drawn[:, 1]), value, n, units, method, confidence, details)


def interval_from(
    statistics: np.ndarray, value: float, n: int, units: int, method: str, confidence: float, details: dict[str, Any]
) -> Estimate:
    """Turn resampled statistics (NaN where undefined) into an estimate with a percentile interval."""
    defined = statistics[~np.isnan(statistics)]
    missing = len(statistics) - len(defined)
    if missing:
        details = {**details, "undefined_resamples": missing}
    if missing > UNDEFINED_SHARE * len(statistics):
        reason = f"{missing} of {len(statistics)} resamples have weight 0"
        return _without_interval(value, n, units, method, confidence, reason, details)
    low, high = percentile_bounds(defined, confidence)
    if high - low <= 1e-12 * max(1.0, abs(value)):
        return _without_interval(value, n, units, method, confidence, _NO_VARIATION, details)
    details = {**details, "standard_error": float(defined.std(ddof=1))}
    return Estimate(value, low, high, n, units, method, confidence, "", details)
