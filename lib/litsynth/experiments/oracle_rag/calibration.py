"""The numbers of the system without a model, chosen on train reviews and never on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from litsynth.experiments.oracle_rag.pools import ranked_candidates, reference_of
from litsynth.records import Dataset, Retriever, Review
from litsynth.scoring.identifiers import id_metrics
from litsynth.systems.extractive_review import FEATURES, ExtractiveReview, features

RIDGE = 1.0  # penalty on the weights of features from 0 to 1; keeps a feature that separates everything finite
STEPS = 50
THRESHOLDS = tuple(step / 100 for step in range(1, 100))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights and threshold for `ExtractiveReview`, where they are from, and how good they are there.

    `f1` is the macro inclusion F1 on the train reviews that chose the numbers (optimistic), `f1_left_out` the same with
    each review scored by numbers chosen on the others (None with fewer than two).
    """

    intercept: float
    weights: dict[str, float]
    threshold: float
    reviews: tuple[int, ...]
    pairs: int
    f1: float
    f1_left_out: float | None

    def system(self, top_k: int) -> ExtractiveReview:
        """Return the system with these numbers."""
        return ExtractiveReview(top_k=top_k, intercept=self.intercept, weights=self.weights, threshold=self.threshold)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {**asdict(self), "reviews": list(self.reviews)}


@dataclass(frozen=True, slots=True)
class _Pool:
    """One train review: feature rows (n, features), labels (n,), IDs, and its reference set."""

    review_id: int
    rows: np.ndarray
    labels: np.ndarray
    ids: tuple[int, ...]
    reference: frozenset[int]


class Calibrator:
    """The train reviews of a data set with their candidates and labels, made once, from which numbers are chosen."""

    def __init__(self, dataset: Dataset, retriever: Retriever, top_k: int) -> None:
        reviews = [review for review in dataset.split("train").values() if reference_of(dataset, review)]
        pools = [_pool(dataset, review, retriever, top_k) for review in sorted(reviews, key=lambda review: review.id)]
        self._pools = [pool for pool in pools if len(pool.ids)]

    def choose(self, *, without: int | None = None) -> Calibration | None:
        """Choose on all train reviews, or on all but `without`: what a train review itself may be scored with.

        None when there is no review to choose on, or none of their reference studies was retrieved.
        """
        pools = [pool for pool in self._pools if pool.review_id != without]
        if not pools or not any(pool.labels.any() for pool in pools):
            return None
        weights, threshold, f1 = _choose(pools)
        return Calibration(float(weights[0]), {n: float(w) for n, w in zip(FEATURES, weights[1:], strict=True)},
                           threshold, tuple(pool.review_id for pool in pools), sum(len(p.ids) for p in pools), f1,
                           _left_out_f1(pools) if without is None else None)


def calibrate(dataset: Dataset, retriever: Retriever, top_k: int) -> Calibration | None:
    """Choose the numbers on the train reviews of a data set; None when no train review has a reference set.

    A ridge logistic regression on all candidates of the train reviews in actual order, each review with the same total
    weight, gives probabilities; the threshold is the hundredth with the highest macro inclusion F1 over the train
    reviews (the lowest of equals), where a reference study that was not retrieved counts as missed.
    """
    return Calibrator(dataset, retriever, top_k).choose()


def _left_out_f1(pools: Sequence[_Pool]) -> float | None:
    if len(pools) < 2:
        return None
    scores = []
    for position, pool in enumerate(pools):
        weights, threshold, _ = _choose([*pools[:position], *pools[position + 1:]])
        scores.append(_f1(pool, _chances(pool.rows, weights), threshold))
    return float(np.mean(scores))


def _pool(dataset: Dataset, review: Review, retriever: Retriever, top_k: int) -> _Pool:
    candidates = ranked_candidates(dataset, review, retriever, top_k).candidates(top_k)
    reference = reference_of(dataset, review)
    ids = tuple(candidate.corpus_id for candidate in candidates)
    rows = np.array(features(review, candidates), dtype=np.float64).reshape(len(ids), len(FEATURES))
    return _Pool(review.id, rows, np.array([number in reference for number in ids], dtype=np.float64), ids, reference)


def _choose(pools: Sequence[_Pool]) -> tuple[np.ndarray, float, float]:
    weights = fit_logistic(np.concatenate([pool.rows for pool in pools]), np.concatenate([p.labels for p in pools]),
                           np.concatenate([np.full(len(pool.ids), 100.0 / len(pool.ids)) for pool in pools]))
    chances = [_chances(pool.rows, weights) for pool in pools]
    scores = [float(np.mean([_f1(pool, own, cut) for pool, own in zip(pools, chances, strict=True)]))
              for cut in THRESHOLDS]
    best = int(np.argmax(scores))
    return weights, THRESHOLDS[best], scores[best]


def fit_logistic(rows: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return intercept and weights, shape (1 + features,), of a ridge logistic regression by Newton's method.

    `sizes` weighs the rows; the intercept is not penalised. After Hastie, Tibshirani & Friedman (2009), The Elements of
    Statistical Learning, 4.4.1, with the penalty of 3.4.1.
    """
    design = np.column_stack([np.ones(len(rows)), rows])
    penalty = np.diag([1e-6, *([RIDGE] * rows.shape[1])])
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chances = _chances(rows, weights)
        gradient = design.T @ (sizes * (labels - chances)) - penalty @ weights
        curvature = (design * (sizes * chances * (1 - chances))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    # Rounded, so that the last digits of different linear algebra libraries do not make different runs.
    return np.round(weights, 6)


def _chances(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-np.clip(weights[0] + rows @ weights[1:], -500, 500)))


def _f1(pool: _Pool, chances: np.ndarray, threshold: float) -> float:
    included = [number for number, chance in zip(pool.ids, chances, strict=True) if chance >= threshold]
    return id_metrics(pool.reference, included, pool.ids)["inclusion_f1"] or 0.0
