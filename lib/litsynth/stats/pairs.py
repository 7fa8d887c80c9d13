"""Intervals for questions that rest on two papers each, where papers are shared between questions.

The value of a pair carries the luck of both its papers, so pairs that share a paper hang together. Two intervals:

* `pair_bootstrap`, the benchmark's own: draw the papers with replacement, weigh each pair by the sum of its two
  papers' counts, take the weighted mean. It reproduces the published intervals.
* `pair_interval`, the dyadic cluster-robust one. The benchmark's weights are an average of two counts where the
  dependence asks for both, which halves the effect of every paper: the variance that the resamples show is
  Σ r² / 4M² (r: sum of a paper's deviations from the mean; M: pairs), against
  (Σ r² − Σ e²) / M² (e: deviation of a pair) in truth. That is half of it for pairs that share nothing and a quarter
  of it where papers decide everything. The coverage page shows what follows from it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from litsynth.errors import DataError
from litsynth.records import Estimate
from litsynth.stats.bootstrap import estimate_from_sums
from litsynth.stats.inputs import check_confidence, clean_values, label_codes, same_length
from litsynth.stats.proportions import wilson_bounds
from litsynth.stats.resampling import RESAMPLES

Pair = Sequence[Hashable]


def pair_bootstrap(
    values: Iterable[Any],
    pairs: Iterable[Pair],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the mean credit of two-paper questions, resampling the papers (the benchmark's definition).

    `values` has shape (n,), credits from 0 to 1; `pairs` names the two papers of each. `clusters` of the result counts
    the papers. The weight of a resample is never 0, because every paper belongs to a pair. `details["robust"]` holds
    the bounds of `pair_interval`, which this interval undercuts. All or none correct: Wilson on the effective number
    of pairs.
    """
    values, first, second, papers = _pair_rows(values, pairs)
    method = f"bootstrap over papers, percentile, {resamples} resamples"
    robust = pair_interval(values, list(zip(first, second, strict=True)), confidence=confidence)
    details = {"robust": (robust.low, robust.high)}
    return _pair_estimate(values, first, second, papers, seed, resamples, confidence, method, details, credits=True)


def pair_bootstrap_difference(
    a: Iterable[Any],
    b: Iterable[Any],
    pairs: Iterable[Pair],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the mean difference a − b of two systems on the same two-paper questions, resampling the papers.

    As `pair_bootstrap`; where all differences are equal there is a value and no interval.
    """
    a, b = clean_values(a, "a"), clean_values(b, "b")
    same_length(a=a, b=b)
    differences, first, second, papers = _pair_rows(a - b, pairs)
    method = f"paired bootstrap over papers, percentile, {resamples} resamples"
    robust = pair_interval(differences, list(zip(first, second, strict=True)), confidence=confidence)
    details = {"robust": (robust.low, robust.high)}
    return _pair_estimate(differences, first, second, papers, seed, resamples, confidence, method, details)


def pair_interval(values: Iterable[Any], pairs: Iterable[Pair], *, confidence: float = 0.95) -> Estimate:
    """Estimate the mean of pair values with a dyadic cluster-robust interval.

    Fafchamps & Gubert (2007), Aronow, Samii & Assenova (2015): the variance adds the products of the deviations of every
    two pairs that share a paper. Zeros and ones get Wilson's interval on the number of independent pairs with that
    variance (Kish's effective size), anything else a symmetric one. The quantile is Student's with as many degrees of
    freedom as the papers' effective number less one: few hubs that decide everything make it wide. Value and no
    interval where the papers cancel out to no variance.
    """
    values, first, second, papers = _pair_rows(values, pairs)
    n, method = len(values), "dyadic cluster-robust"
    check_confidence(confidence)
    if n == 0:
        return Estimate(None, None, None, 0, 0, method, confidence, "there is nothing to estimate: no pairs")
    value = math.fsum(values) / n
    effective = effective_pairs(first, second, papers)
    if value in (0.0, 1.0) and n > 1:
        low, high = wilson_bounds(value * effective, effective, confidence)
        reason = ("all" if value else "none") + f" correct: interval by Wilson on {effective:.4g} independent pairs"
        return Estimate(value, low, high, n, papers, method, confidence, reason)
    variance = dyadic_variance(values - value, first, second, papers)
    if n < 2 or variance <= 1e-12 / n:
        reason = "one pair gives no interval" if n < 2 else "the pairs show no variation"
        return Estimate(value, None, None, n, papers, method, confidence, reason)
    return _bounded(values, value, variance, effective, papers, confidence, method)


def _bounded(
    values: np.ndarray, value: float, variance: float, effective: float, papers: int, confidence: float, method: str
) -> Estimate:
    from scipy.stats import t

    freedom = max(1.0, effective - 1)
    quantile = float(t.ppf(0.5 + confidence / 2, freedom))
    details = {"standard_error": math.sqrt(variance), "degrees_of_freedom": freedom}
    if np.isin(values, (0.0, 1.0)).all():
        size = value * (1 - value) / variance
        details["effective_pairs"] = size
        low, high = _wilson_with(value, size, quantile)
    else:
        low, high = value - quantile * math.sqrt(variance), value + quantile * math.sqrt(variance)
    return Estimate(value, low, high, len(values), papers, method, confidence, "", details)


def _wilson_with(share: float, n: float, quantile: float) -> tuple[float, float]:
    middle = (share + quantile**2 / (2 * n)) / (1 + quantile**2 / n)
    half = quantile / (1 + quantile**2 / n) * math.sqrt(share * (1 - share) / n + quantile**2 / (4 * n * n))
    return middle - half, middle + half


def dyadic_variance(deviations: np.ndarray, first: np.ndarray, second: np.ndarray, papers: int) -> float:
    """Return the dyadic cluster-robust variance of a mean of pairs, from the deviations of shape (n,).

    Σ over papers of (sum of its deviations)² counts each pair's own square twice, so one is taken away; the products of
    pairs that share both papers are counted twice as well, so they are taken away once.
    """
    by_paper = np.bincount(first, deviations, papers) + np.bincount(second, deviations, papers)
    low, high = np.minimum(first, second), np.maximum(first, second)
    _, same = np.unique(low * papers + high, return_inverse=True)
    by_pair = np.bincount(same, deviations)
    return float((np.sum(by_paper**2) - np.sum(by_pair**2)) / len(deviations) ** 2)


def effective_pairs(first: np.ndarray, second: np.ndarray, papers: int) -> float:
    """Return the number of disjoint pairs whose papers are as concentrated (Kish 1965), from degrees d: (Σd)² / 2Σd²."""
    degrees = np.bincount(first, minlength=papers) + np.bincount(second, minlength=papers)
    return float(degrees.sum() ** 2 / (2 * np.sum(degrees.astype(float) ** 2)))


def pair_codes(pairs: Iterable[Pair]) -> tuple[np.ndarray, np.ndarray, list[Hashable]]:
    """Return the codes of the first and second paper of each pair, and the papers; two different papers a pair.

    Raises `DataError` that names the row of a pair which is no pair.
    """
    flat: list[Hashable] = []
    for row, pair in enumerate(pairs):
        papers = tuple(pair)
        if len(papers) != 2 or papers[0] == papers[1]:
            raise DataError(f"pairs, row {row} (counted from 0): {papers!r} does not name two different papers",
                            expected="two paper identifiers a row", remedy="look the question's papers up again")
        flat.extend(papers)
    codes, names = label_codes(flat, "papers of pairs")
    return codes[0::2], codes[1::2], names


def _pair_rows(values: Iterable[Any], pairs: Iterable[Pair]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    values = clean_values(values, "values")
    first, second, names = pair_codes(pairs)
    same_length(values=values, pairs=first)
    return values, first, second, len(names)


def paper_sums(columns: np.ndarray, first: np.ndarray, second: np.ndarray, papers: int) -> np.ndarray:
    """Return, for each paper, the sums of `columns` (pairs, k) over the pairs it belongs to, shape (papers, k).

    The weighted mean of pairs with weight count(first) + count(second) is the ratio of these sums, so resampling the
    papers' sums is resampling the pairs by the benchmark's weights.
    """
    from litsynth.stats.resampling import unit_sums

    return unit_sums(np.concatenate([columns, columns]), np.concatenate([first, second]), papers)


def _pair_estimate(
    values: np.ndarray, first: np.ndarray, second: np.ndarray, papers: int, seed: int, resamples: int,
    confidence: float, method: str, details: dict[str, Any], *, credits: bool = False,
) -> Estimate:
    check_confidence(confidence)
    if len(values) == 0:
        return Estimate(None, None, None, 0, 0, method, confidence, "there is nothing to estimate: no pairs")
    if len(values) == 1:
        return Estimate(float(values[0]), None, None, 1, papers, method, confidence, "one pair gives no interval")
    sums = paper_sums(np.column_stack([values, np.ones(len(values))]), first, second, papers)
    return estimate_from_sums(sums, len(values), seed, resamples, confidence, method, details, credits=credits,
                              independent=effective_pairs(first, second, papers))
