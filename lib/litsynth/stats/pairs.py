"""Intervals for questions that rest on two papers each, where papers are shared between questions.

The value of a pair carries the luck of both its papers, so pairs that share a paper hang together. Two intervals:

* `pair_bootstrap`, the benchmark's own: draw the papers with replacement, weigh each pair by the sum of its two
  papers' counts, take the weighted mean. It is too narrow: the weight is, but for a factor, the mean of two counts,
  which halves the effect of every paper on the resampled mean. The resamples show a variance of Σ r² / 4M² (r: sum of
  a paper's deviations from the mean; M: pairs), while the mean has (Σ r² − Σ e²) / M² (e: deviation of a pair;
  Fafchamps & Gubert 2007). That is half of the variance where pairs share nothing and a quarter of it where the
  papers decide everything.
* `pair_interval`, which estimates the variance directly. The coverage page shows what either covers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from litsynth.errors import DataError
from litsynth.records import Estimate
from litsynth.stats.bootstrap import estimate_from_sums
from litsynth.stats.clusters import all_or_none, check_credits, student
from litsynth.stats.inputs import check_confidence, clean_values, label_codes, same_length
from litsynth.stats.proportions import score_bounds
from litsynth.stats.resampling import RESAMPLES, unit_sums

Pair = Sequence[Hashable]
_EMPTY = "there is nothing to estimate: no pairs"


def pair_bootstrap(
    values: Iterable[Any],
    pairs: Iterable[Pair],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the mean credit of two-paper questions, resampling the papers (the benchmark's definition).

    `values` has shape (n,), credits from 0 to 1; `pairs` names the two papers of each. `clusters` of the result
    counts the papers. The weight of a resample is never 0, because every paper belongs to a pair.
    `details["pair_interval"]` holds the bounds of `pair_interval`, to be shown beside these. All or none correct:
    Wilson on the effective number of pairs.
    """
    values, first, second, papers = _pair_rows(values, pairs)
    method = f"bootstrap over papers, percentile, {resamples} resamples"
    details = _beside(values, first, second, True, confidence)
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
    details = _beside(differences, first, second, False, confidence)
    return _pair_estimate(differences, first, second, papers, seed, resamples, confidence, method, details)


def pair_interval(
    values: Iterable[Any], pairs: Iterable[Pair], *, credits: bool = True, confidence: float = 0.95
) -> Estimate:
    """Estimate the mean of pair values with an interval from the covariance of pairs that share a paper.

    Where papers are exchangeable, every two pairs with a common paper have one covariance, and pairs without have none.
    That covariance (0 if negative) and the variance of a pair are estimated by moments, corrected for the estimated
    mean (`pair_components`), and give the variance of the mean. Credits (0 to 1) get Wilson's interval on the number of
    independent pairs with that variance (Kish 1965), values on another scale (`credits=False`: differences) a symmetric
    one; the quantile is Student's with the effective number of pairs less one as degrees of freedom, because few hubs
    can decide everything.
    `details`: `standard_error`, `degrees_of_freedom`, `pair_variance`, `paper_covariance`. All or none correct: Wilson
    on the effective number of pairs.
    """
    values, first, second, papers = _pair_rows(values, pairs)
    n, method = len(values), "variance components of papers and pairs"
    check_confidence(confidence)
    if credits:
        check_credits(values)
    if n < 2:
        reason = "one pair gives no interval" if n else _EMPTY
        return Estimate(float(values[0]) if n else None, None, None, n, papers, method, confidence, reason)
    value = math.fsum(values) / n
    effective = effective_pairs(first, second, papers)
    if credits and value in (0.0, 1.0):
        return all_or_none(value, effective, n, papers, confidence)
    components = pair_components(values - value, first, second, papers)
    if components is None or components[0] <= 1e-15 * max(1.0, value * value):
        reason = "nearly every pair shares a paper with every other" if components is None else "all values are equal"
        return Estimate(value, None, None, n, papers, method, confidence, reason + ", so there is no interval")
    error = math.sqrt(components[0])
    quantile, freedom = student(confidence, effective)
    details = {"standard_error": error, "degrees_of_freedom": freedom, "pair_variance": components[1],
               "paper_covariance": components[2]}
    if credits:
        low, high = score_bounds(value, value * (1 - value) / components[0], quantile)
    else:
        low, high = value - quantile * error, value + quantile * error
    return Estimate(value, low, high, n, papers, method, confidence, "", details)


def pair_components(
    deviations: np.ndarray, first: np.ndarray, second: np.ndarray, papers: int
) -> tuple[float, float, float] | None:
    """Return the variance of the mean, the variance of a pair and the covariance of two pairs that share a paper.

    With A the matrix that counts the papers two different pairs share and Σ = v·I + c·A, the sums e'e and e'Ae of the
    deviations e from the mean have the expectations tr(HΣ) and tr(AHΣH), H = I − 11'/M; two linear equations for v and
    c. A negative c is set to 0. None where the equations have no solution: every pair shares a paper with every other.
    """
    m = len(deviations)
    degrees = (np.bincount(first, minlength=papers) + np.bincount(second, minlength=papers)).astype(np.float64)
    shared = degrees[first] + degrees[second] - 2  # row sums of A
    total = shared.sum()
    _, copies = np.unique(np.minimum(first, second) * papers + np.maximum(first, second), return_counts=True)
    squares = np.sum(degrees**2) + 2 * np.sum(copies.astype(np.float64) ** 2) - 4 * m  # trace of A²
    by_paper = np.bincount(first, deviations, papers) + np.bincount(second, deviations, papers)
    own = float(np.sum(deviations**2))
    across = float(np.sum(by_paper**2)) - 2 * own  # e'Ae
    crossed, last = -total / m, squares - 2 * np.sum(shared**2) / m + (total / m) ** 2
    determinant = (m - 1) * last - crossed**2
    if total > 0 and determinant <= 1e-9 * (m - 1) ** 2:
        return None
    covariance = ((m - 1) * across - crossed * own) / determinant if total > 0 else 0.0
    if covariance <= 0:
        return own / (m - 1) / m, own / (m - 1), 0.0
    variance = max(0.0, (own - crossed * covariance) / (m - 1))
    return float(variance / m + covariance * total / m**2), variance, float(covariance)


def effective_pairs(first: np.ndarray, second: np.ndarray, papers: int) -> float:
    """Return the number of disjoint pairs whose papers are as concentrated (Kish 1965): (Σd)² / 2Σd², d the degrees."""
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


def _beside(
    values: np.ndarray, first: np.ndarray, second: np.ndarray, credits: bool, confidence: float
) -> dict[str, Any]:
    wide = pair_interval(values, np.column_stack([first, second]).tolist(), credits=credits, confidence=confidence)
    return {"pair_interval": (wide.low, wide.high)}


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
    return unit_sums(np.concatenate([columns, columns]), np.concatenate([first, second]), papers)


def _pair_estimate(
    values: np.ndarray, first: np.ndarray, second: np.ndarray, papers: int, seed: int, resamples: int,
    confidence: float, method: str, details: dict[str, Any], *, credits: bool = False,
) -> Estimate:
    check_confidence(confidence)
    if len(values) == 0:
        return Estimate(None, None, None, 0, 0, method, confidence, _EMPTY)
    if len(values) == 1:
        return Estimate(float(values[0]), None, None, 1, papers, method, confidence, "one pair gives no interval")
    sums = paper_sums(np.column_stack([values, np.ones(len(values))]), first, second, papers)
    return estimate_from_sums(sums, len(values), seed, resamples, confidence, method, details, credits=credits,
                              independent=effective_pairs(first, second, papers))
