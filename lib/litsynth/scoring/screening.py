"""Measures of screening: work, decisions, calibration, and errors by criterion; the name of each is its definition.

A ranking holds every candidate of one review, best first. `workload` is the share of candidates read.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from litsynth.errors import ParameterError
from litsynth.retrieval.measures import recall_at_k


def reading_depth(workload: float, candidates: int) -> int:
    """Return how many candidates are read at a workload in (0, 1]: rounded up, so at least one of any."""
    if not 0 < workload <= 1:
        raise ParameterError(f"workload is {workload!r}", expected="a share above 0 and at most 1",
                             remedy="use 0.2 for a fifth of the candidates")
    return math.ceil(workload * candidates - 1e-9)


def recall_at_workload(ranked: Sequence[int], relevant: Collection[int], workload: float) -> float | None:
    """Return the share of relevant candidates among the first `workload` of the ranking; None without relevant ones."""
    return recall_at_k(ranked, relevant, reading_depth(workload, len(ranked))) if relevant and len(ranked) else None


@dataclass(frozen=True, slots=True)
class Decisions:
    """Include/exclude decisions held against the reference: true and false positives, false and true negatives."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def recall(self) -> float | None:
        """The share of relevant candidates that were included; None without relevant ones."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else None

    @property
    def precision(self) -> float | None:
        """The share of included candidates that are relevant; 0 where nothing was included though something is."""
        if self.tp + self.fp:
            return self.tp / (self.tp + self.fp)
        return 0.0 if self.fn else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, 2 tp / (2 tp + fp + fn); None where nothing is or was included."""
        whole = 2 * self.tp + self.fp + self.fn
        return 2 * self.tp / whole if whole else None

    @property
    def workload(self) -> float | None:
        """The share of candidates that were included and so have to be read in full."""
        whole = self.tp + self.fp + self.fn + self.tn
        return (self.tp + self.fp) / whole if whole else None


def decisions_of(candidates: Collection[int], included: Collection[int], relevant: Collection[int]) -> Decisions:
    """Count decisions over `candidates`; relevant articles that are no candidate are not the screener's to find."""
    pool, chosen = set(candidates), set(included) & set(candidates)
    wanted = set(relevant) & pool
    tp = len(chosen & wanted)
    return Decisions(tp, len(chosen) - tp, len(wanted) - tp, len(pool) - len(chosen | wanted))


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Candidates whose probability lies in [low, high): how many, their mean probability, and the share included."""

    low: float
    high: float
    count: int
    mean_probability: float
    share_relevant: float


def reliability(probabilities: Sequence[float], labels: Sequence[bool],
                edges: Sequence[float]) -> list[ReliabilityBin]:
    """Return the bins between ascending `edges` that hold candidates; the last bin holds its upper edge too."""
    p, y = _checked(probabilities, labels)
    bounds = np.asarray(edges, dtype=np.float64)
    outside = len(p) and len(bounds) and (p.min() < bounds[0] or p.max() > bounds[-1])
    if len(bounds) < 2 or np.any(np.diff(bounds) <= 0) or outside:
        raise ParameterError(f"edges {list(edges)} do not hold all probabilities", expected="ascending, from 0 to 1")
    place = np.minimum(np.searchsorted(bounds, p, side="right") - 1, len(bounds) - 2)
    return [ReliabilityBin(float(bounds[i]), float(bounds[i + 1]), int(own.sum()), float(p[own].mean()),
                           float(y[own].mean()))
            for i in range(len(bounds) - 1) if (own := place == i).any()]


def brier_score(probabilities: Sequence[float], labels: Sequence[bool]) -> float | None:
    """Return the mean squared difference of probability and label (Brier 1950); 0 is best; None without candidates."""
    p, y = _checked(probabilities, labels)
    return float(np.mean((p - y) ** 2)) if len(p) else None


def expected_calibration_error(probabilities: Sequence[float], labels: Sequence[bool],
                               edges: Sequence[float]) -> float | None:
    """Return the mean over candidates of |mean probability − share relevant| of their bin; None without candidates.

    Naeini, Cooper and Hauskrecht (2015), AAAI, with the bins given by `edges`.
    """
    bins = reliability(probabilities, labels, edges)
    total = sum(part.count for part in bins)
    gaps = sum(part.count * abs(part.mean_probability - part.share_relevant) for part in bins)
    return gaps / total if total else None


def _checked(probabilities: Sequence[float], labels: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    p, y = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if p.shape != y.shape or p.ndim != 1:
        raise ParameterError(f"{p.shape} probabilities for {y.shape} labels", expected="one probability a label")
    if len(p) and not (np.isfinite(p).all() and p.min() >= 0 and p.max() <= 1):
        raise ParameterError("a probability lies outside of 0 to 1", expected="finite numbers from 0 to 1")
    return p, y


@dataclass(frozen=True, slots=True)
class CriterionErrors:
    """Candidates that fail exactly one known criterion: how many there are, and how many were included nonetheless.

    `named` counts those excluded for that very criterion, where the screener names one.
    """

    criterion: str
    candidates: int
    included: int
    named: int | None = None


def criterion_errors(candidates: Collection[int], included: Collection[int], fails: Mapping[int, str],
                     named: Mapping[int, str] | None = None) -> list[CriterionErrors]:
    """Return the errors by criterion, in alphabetical order; `fails` says which one criterion an article fails."""
    chosen, rows = set(included), []
    own = {number: fails[number] for number in candidates if fails.get(number)}
    for criterion in sorted(set(own.values())):
        those = [number for number, why in own.items() if why == criterion]
        right = None if named is None else sum(number not in chosen and named.get(number) == criterion
                                               for number in those)
        rows.append(CriterionErrors(criterion, len(those), len(chosen.intersection(those)), right))
    return rows
