"""Proportions and their differences, with score intervals that stay inside their range.

Ours although statsmodels has Wilson's interval: for clusters the same formula takes Student's quantile and an effective
number of trials, which statsmodels' does not, and Newcombe's difference of paired proportions it lacks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from litsynth.errors import DataError, ParameterError
from litsynth.records import Estimate
from litsynth.stats.inputs import check_confidence, check_count, clean_binary, clean_values, same_length, z_value

_EMPTY = "there is nothing to estimate: no trials"


def wilson_bounds(successes: float, n: float, confidence: float) -> tuple[float, float]:
    """Return Wilson's (1927) score interval for `successes` of `n` > 0; neither needs to be whole.

    Formula as in Newcombe (1998, Statistics in Medicine 17:857, method 3); recommended by Brown, Cai & DasGupta (2001).
    """
    low, high = score_bounds(successes / n, n, z_value(confidence))
    # Algebra gives exactly 0 and 1 at the ends; rounding may not.
    return 0.0 if successes == 0 else max(0.0, low), 1.0 if successes == n else min(1.0, high)


def score_bounds(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Return the score interval of a share of `n` independent trials (whole or effective) for a quantile."""
    middle = (share + quantile**2 / (2 * n)) / (1 + quantile**2 / n)
    half = quantile / (1 + quantile**2 / n) * math.sqrt(share * (1 - share) / n + quantile**2 / (4 * n * n))
    return middle - half, middle + half


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """Estimate a proportion of independent trials with Wilson's score interval, inside [0, 1] at any count."""
    n = check_count(n, "n")
    successes = check_count(successes, "successes")
    check_confidence(confidence)
    if successes > n:
        raise ParameterError(f"successes is {successes} and n is {n}", expected="successes of at most n",
                             remedy="give the successes first and the trials second")
    if n == 0:
        return Estimate(None, None, None, 0, 0, "Wilson", confidence, _EMPTY)
    low, high = wilson_bounds(successes, n, confidence)
    return Estimate(successes / n, low, high, n, n, "Wilson", confidence, "", {"successes": successes})


def pooled_proportion(numerators: Iterable[Any], denominators: Iterable[Any], confidence: float = 0.95) -> Estimate:
    """Estimate the proportion of cells pooled by adding their numerators and denominators (never the mean of shares).

    Wilson's interval treats every response as independent; where responses come in clusters use `ratio_bootstrap`.
    `clusters` counts the cells that have a denominator.
    """
    top, bottom = clean_values(numerators, "numerators"), clean_values(denominators, "denominators")
    same_length(numerators=top, denominators=bottom)
    for cell, (successes, n) in enumerate(zip(top, bottom, strict=True)):
        if not 0 <= successes <= n or successes % 1 or n % 1:
            raise DataError(f"cell {cell} (counted from 0): {successes:g} of {n:g}",
                            expected="whole counts with 0 ≤ numerator ≤ denominator",
                            remedy="count responses, not shares")
    pooled = wilson_interval(int(top.sum()), int(bottom.sum()), confidence)
    cells = int((bottom > 0).sum())
    return Estimate(pooled.value, pooled.low, pooled.high, pooled.n, cells, "pooled, Wilson", confidence, pooled.reason,
                    pooled.details)


def difference_of_proportions(
    successes_a: int, n_a: int, successes_b: int, n_b: int, confidence: float = 0.95
) -> Estimate:
    """Estimate the difference a − b of two independent proportions.

    Newcombe (1998, Statistics in Medicine 17:873), method 10: squares and adds the distances of Wilson's bounds, so the
    interval stays inside [-1, 1].
    """
    a, b = wilson_interval(successes_a, n_a, confidence), wilson_interval(successes_b, n_b, confidence)
    n = a.n + b.n
    method = "Newcombe, independent proportions"
    if a.value is None or b.value is None:
        return Estimate(None, None, None, n, n, method, confidence, _EMPTY)
    value = a.value - b.value
    low = value - math.hypot(a.value - a.low, b.high - b.value)
    high = value + math.hypot(a.high - a.value, b.value - b.low)
    return Estimate(value, low, high, n, n, method, confidence, "", {"share_a": a.value, "share_b": b.value})


def paired_difference_of_proportions(a: Iterable[Any], b: Iterable[Any], confidence: float = 0.95) -> Estimate:
    """Estimate the difference a − b of two proportions on the same items.

    Newcombe (1998, Statistics in Medicine 17:2635), method 10. `a` and `b` are zeros and ones in the same order.
    `details` holds the four counts. For items in clusters use `paired_bootstrap` with `clusters`.
    """
    first, second = clean_binary(a, "a"), clean_binary(b, "b")
    n = same_length(a=first, b=second)
    check_confidence(confidence)
    both, only_a = int((first * second).sum()), int((first * (1 - second)).sum())
    only_b = int(((1 - first) * second).sum())
    counts = {"both": both, "only_a": only_a, "only_b": only_b, "neither": n - both - only_a - only_b}
    method = "Newcombe, paired proportions"
    if n == 0:
        return Estimate(None, None, None, 0, 0, method, confidence, _EMPTY, counts)
    low, high = _square_and_add(both, only_a, only_b, counts["neither"], confidence)
    return Estimate((only_a - only_b) / n, low, high, n, n, method, confidence, "", counts)


def _square_and_add(both: int, only_a: int, only_b: int, neither: int, confidence: float) -> tuple[float, float]:
    n = both + only_a + only_b + neither
    share_a, share_b, value = (both + only_a) / n, (both + only_b) / n, (only_a - only_b) / n
    low_a, high_a = wilson_bounds(both + only_a, n, confidence)
    low_b, high_b = wilson_bounds(both + only_b, n, confidence)
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    product = both * neither - only_a * only_b
    if product > 0:  # Newcombe's continuity correction, for positive association only
        product = max(product - n / 2, 0.0)
    phi = product / math.sqrt(margins) if margins else 0.0
    down, up = share_a - low_a, high_b - share_b
    low = value - math.sqrt(max(0.0, down * down - 2 * phi * down * up + up * up))
    down, up = share_b - low_b, high_a - share_a
    high = value + math.sqrt(max(0.0, down * down - 2 * phi * down * up + up * up))
    return max(-1.0, low), min(1.0, high)
