"""Agreement of a panel of judges, some of whose votes may be missing.

`votes` has a row for each item and a column for each judge; a missing vote is None (or NaN). Intervals of Fleiss' κ
and Krippendorff's α resample items, or whole clusters of items (the cells of one paper) where `clusters` names them;
the interval of Gwet's AC1 is his own. All judges using one and the same label leaves κ and α undefined (value None);
AC1 is then 1, by its definition, without an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from litsynth.errors import DataError
from litsynth.records import Estimate
from litsynth.stats.agreement import cohen_kappa
from litsynth.stats.bootstrap import interval_from
from litsynth.stats.clusters import student
from litsynth.stats.inputs import check_confidence, is_missing, label_codes, same_length
from litsynth.stats.resampling import RESAMPLES, resampled_sums, unit_sums

Votes = Iterable[Iterable[Any]]
_EMPTY = "there is nothing to estimate: no item has two votes"


def fleiss_kappa(
    votes: Votes, *, seed: int, resamples: int = RESAMPLES, clusters: Iterable[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate Fleiss' (1971) κ of several judges who all voted on every item.

    Raises `DataError` where votes are missing: κ is not defined then, Krippendorff's α is. `details`: mean agreement of
    pairs of judges and the labels.
    """
    counts, labels = vote_counts(votes)
    sizes = counts.sum(axis=1)
    uneven = np.flatnonzero(sizes != sizes[0]) if len(sizes) else sizes
    if len(uneven):
        row = int(uneven[0])
        raise DataError(f"votes, row {row} (counted from 0) has {int(sizes[row])} votes, row 0 has {int(sizes[0])}",
                        expected="as many votes on every item",
                        remedy="use krippendorff_alpha, which allows missing votes")
    size = sizes[0] if len(sizes) else 0

    def coefficient(sums: np.ndarray) -> np.ndarray:
        observed = sums[:, -2] / sums[:, -1] / size
        shares = sums[:, :-2] / (sums[:, -1:] * size)
        return _chance_corrected(observed, (shares**2).sum(axis=1))

    return _panel_estimate(counts, labels, coefficient, "Fleiss' kappa", seed, resamples, clusters, confidence)


def krippendorff_alpha(
    votes: Votes, *, seed: int, resamples: int = RESAMPLES, clusters: Iterable[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate Krippendorff's (2011) α for nominal labels; items with fewer than two votes are left out.

    `n` counts the items used; `details["left_out"]` the others.
    """
    counts, labels = vote_counts(votes)

    def coefficient(sums: np.ndarray) -> np.ndarray:
        labelled = sums[:, :-2]
        total = labelled.sum(axis=1)
        expected = (labelled * (labelled - 1)).sum(axis=1) / (total * (total - 1))
        return _chance_corrected(sums[:, -2] / total, expected)

    return _panel_estimate(counts, labels, coefficient, "Krippendorff's alpha", seed, resamples, clusters, confidence)


def gwet_ac1(votes: Votes, confidence: float = 0.95) -> Estimate:
    """Estimate Gwet's (2008) AC1 of two or more judges with his large-sample interval (Student's t, items less one).

    Formulas of Gwet (2014, Handbook of Inter-Rater Reliability, 4th ed., chapter 5); missing votes allowed. Two judges:
    `gwet_ac1(zip(a, b))`. Bounds are cut at −1 and 1.
    """
    counts, labels = vote_counts(votes)
    check_confidence(confidence)
    counts = counts[counts.sum(axis=1) > 0]
    n, q, method = len(counts), len(labels), "Gwet's AC1, large-sample interval"
    sizes = counts.sum(axis=1)
    rated = sizes >= 2
    if not rated.any():
        return Estimate(None, None, None, 0, 0, method, confidence, _EMPTY)
    pairs = np.where(rated, sizes * (sizes - 1), 1)
    agreement = np.where(rated, (counts * (counts - 1)).sum(axis=1) / pairs, 0.0)
    observed = float(agreement[rated].mean())
    details = {"agreement": observed, "labels": tuple(labels), "left_out": int((~rated).sum())}
    if q < 2:
        reason = "one label only: AC1 is 1 by definition and has no interval"
        return Estimate(1.0, None, None, n, n, method, confidence, reason, details)
    share = (counts / sizes[:, None]).mean(axis=0)
    expected = float((share * (1 - share)).sum() / (q - 1))
    value = (observed - expected) / (1 - expected)
    own = n / rated.sum() * (agreement - expected * rated) / (1 - expected)
    own_expected = (counts / sizes[:, None] * (1 - share)).sum(axis=1) / (q - 1)
    linear = own - 2 * (1 - value) * (own_expected - expected) / (1 - expected)
    error = math.sqrt(float(((linear - value) ** 2).sum()) / (n * (n - 1))) if n > 1 else 0.0
    if error < 1e-12:
        reason = "one item gives no interval" if n == 1 else "all judges agree: the standard error is 0"
        return Estimate(value, None, None, n, n, method, confidence, reason, details)
    half = student(confidence, n)[0] * error
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), n, n, method, confidence, "",
                    {**details, "expected_agreement": expected, "standard_error": error})


def vote_counts(votes: Votes) -> tuple[np.ndarray, list[Hashable]]:
    """Return how many judges gave each label, shape (items, labels), and the labels sorted by their text."""
    rows = [[vote for vote in row if not is_missing(vote)] for row in _vote_rows(votes)]
    codes, found = label_codes([vote for row in rows for vote in row], "votes")
    labels = sorted(found, key=lambda label: (str(label), str(type(label))))
    position = np.array([labels.index(label) for label in found], dtype=np.int64)
    counts = np.zeros((len(rows), len(labels)))
    items = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    if len(codes):
        np.add.at(counts, (items, position[codes]), 1.0)
    return counts, labels


def strict_majority(votes: Votes) -> list[int | None]:
    """Return each item's credit: 1 with more than half of the full panel, 0 where that is out of reach, else None.

    Votes are 0, 1 or missing; the panel is as large as the row, so a missing vote never makes it smaller. An even
    panel's tie is 0.
    """
    result: list[int | None] = []
    for number, row in enumerate(_vote_rows(votes)):
        given = [vote for vote in row if not is_missing(vote)]
        if any(vote not in (0, 1) for vote in given):
            raise DataError(f"votes, row {number} (counted from 0): {row!r}", expected="0, 1 or None",
                            remedy="turn each judge's verdict into 0 or 1")
        yes, missing = sum(map(int, given)), len(row) - len(given)
        result.append(1 if 2 * yes > len(row) else 0 if 2 * (yes + missing) <= len(row) else None)
    return result


def pairwise_kappa(ratings: Mapping[str, Sequence[Any]], confidence: float = 0.95) -> dict[tuple[str, str], Estimate]:
    """Estimate Cohen's κ of every two raters (judges, panel, human), on the items that both rated.

    `ratings` maps each rater to a label for each item, None where missing; `details["left_out"]` counts the items
    that one of the two did not rate.
    """
    same_length(**{str(name): labels for name, labels in ratings.items()})
    return {(a, b): _kappa_of_rated(ratings[a], ratings[b], confidence) for a, b in combinations(ratings, 2)}


def leave_one_judge_out(
    votes: Mapping[str, Sequence[Any]], human: Sequence[Any] | None = None, confidence: float = 0.95
) -> dict[str, dict[str, Estimate]]:
    """Estimate κ of each judge against the strict majority of the others, and of these against the human.

    `votes` maps each judge to 0, 1 or None for each item, `human` likewise. Of two others both must give credit.
    Returns for each judge `judge_against_rest` and, with a human, `rest_against_human`; items without two labels are
    left out and counted.
    """
    same_length(**votes)
    result = {}
    for judge in votes:
        others = [labels for name, labels in votes.items() if name != judge]
        rest = strict_majority(zip(*others, strict=True))
        result[judge] = {"judge_against_rest": _kappa_of_rated(votes[judge], rest, confidence)}
        if human is not None:
            same_length(votes=rest, human=human)
            result[judge]["rest_against_human"] = _kappa_of_rated(rest, human, confidence)
    return result


def _kappa_of_rated(a: Sequence[Any], b: Sequence[Any], confidence: float) -> Estimate:
    rated = [(left, right) for left, right in zip(a, b, strict=True) if not is_missing(left) and not is_missing(right)]
    kappa = cohen_kappa([left for left, _ in rated], [right for _, right in rated], confidence)
    return replace(kappa, details={**kappa.details, "left_out": len(a) - len(rated)})


def _vote_rows(votes: Votes) -> list[list[Any]]:
    rows = [list(row) for row in (votes.to_numpy() if hasattr(votes, "to_numpy") else votes)]
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise DataError(f"votes, row {number} (counted from 0) has {len(row)} columns, row 0 has {len(rows[0])}",
                            expected="a column for each judge", remedy="put None where a judge has no vote")
    return rows


def _chance_corrected(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected < 1 - 1e-12, (observed - expected) / (1 - expected), np.nan)


def _panel_estimate(
    counts: np.ndarray, labels: list[Hashable], coefficient: Callable[[np.ndarray], np.ndarray], name: str, seed: int,
    resamples: int, clusters: Iterable[Hashable] | None, confidence: float,
) -> Estimate:
    """Estimate a coefficient that is a function of sums over items: label counts, agreement within items, items."""
    check_confidence(confidence)
    codes = np.arange(len(counts)) if clusters is None else label_codes(clusters, "clusters")[0]
    same_length(votes=counts, clusters=codes)
    sizes = counts.sum(axis=1)
    used = sizes >= 2
    unit = "items" if clusters is None else "clusters"
    method = f"{name}, bootstrap over {unit}, percentile, {resamples} resamples"
    if not used.any():
        return Estimate(None, None, None, 0, 0, method, confidence, _EMPTY)
    counts, sizes = counts[used], sizes[used]
    codes, names = label_codes(codes[used], "clusters")
    agreement = (counts * (counts - 1)).sum(axis=1) / (sizes - 1)
    columns = np.column_stack([counts, agreement, np.ones(len(counts))])
    details = {"agreement": float((agreement / sizes).mean()), "labels": tuple(labels), "left_out": int((~used).sum())}
    sums = unit_sums(columns, codes, len(names))
    value = float(coefficient(sums.sum(axis=0, keepdims=True))[0])
    n = len(counts)
    if math.isnan(value):
        reason = "all judges use one label only, so chance explains all agreement"
        return Estimate(None, None, None, n, len(names), method, confidence, reason, details)
    if len(names) < 2:
        reason = f"one of the {unit} gives no interval"
        return Estimate(value, None, None, n, len(names), method, confidence, reason, details)
    drawn = coefficient(resampled_sums(sums, seed=seed, resamples=resamples))
    return interval_from(drawn, value, n, len(names), method, confidence, details)
