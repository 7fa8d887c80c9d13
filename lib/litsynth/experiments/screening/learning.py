"""Fits the ranker to the decisions of some reviews, and chooses its thresholds by leaving each of them out in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from litsynth.errors import DataError
from litsynth.experiments.screening.pools import Pool
from litsynth.scoring.screening import decisions_of
from litsynth.systems.screening_model import LogisticModel

WEIGHT = 100.0  # of a review in the loss, half on its included and half on its excluded candidates, beside a unit ridge
CALIBRATION_PENALTY = 1e6  # the two numbers that turn scores into probabilities are all but free
STEPS = 400
OPERATING_POINTS = ("target recall", "best F1")


@dataclass(frozen=True, slots=True)
class Learned:
    """A fitted ranker with its thresholds by operating point, and the reviews it learned from.

    `pairs` counts their candidates, `share` is the mean over them of the share included.
    """

    model: LogisticModel
    thresholds: dict[str, float]
    reviews: tuple[int, ...]
    pairs: int
    share: float


def usable(pools: Sequence[Pool]) -> list[Pool]:
    """Return the pools that hold included and excluded candidates: others teach nothing."""
    return [pool for pool in pools if 0 < pool.labels.sum() < len(pool.labels)]


def learn(pools: Sequence[Pool], signals: Sequence[str], target_recall: float, *,
          fitted: dict[frozenset[int], np.ndarray] | None = None) -> Learned:
    """Fit to the decisions in `pools` (at least two usable reviews).

    A ridge logistic regression in which every review weighs the same, as do its included and its excluded candidates,
    ranks. Each review is then scored by what the others taught; on these scores a logistic curve makes probabilities
    that hold for the average review, and the thresholds are chosen: the highest that keeps a macro recall of
    `target_recall`, and the one with the highest macro F1. `fitted` keeps weights by the reviews they are from, for
    calls that fit to the same ones. Raises `DataError` when fewer than two reviews teach.
    """
    chosen = usable(pools)
    if len(chosen) < 2:
        raise DataError(f"{len(chosen)} reviews have both included and excluded candidates",
                        expected="at least two to learn from",
                        remedy="raise top_k, so that more candidates are seen, or choose a data set with more train "
                               "reviews")
    scores, fitted = [], {} if fitted is None else fitted
    for left in range(len(chosen)):
        weights = _fit([pool for place, pool in enumerate(chosen) if place != left], fitted)
        scores.append(weights[0] + chosen[left].features @ weights[1:])
    slope, shift = _calibrate(scores, chosen)
    # Rounded, so that the last digits of different linear algebra libraries make no different runs.
    weights = np.round(_fit(chosen, fitted) * slope + np.array([shift, *np.zeros(chosen[0].features.shape[1])]), 6)
    chances = [_logistic(shift + slope * own) for own in scores]
    model = LogisticModel(tuple(signals), float(weights[0]), tuple(map(float, weights[1:])))
    return Learned(model, _thresholds(chances, chosen, target_recall), tuple(pool.review.id for pool in chosen),
                   sum(len(pool.ids) for pool in chosen), float(np.mean([pool.labels.mean() for pool in chosen])))


def _fit(pools: Sequence[Pool], fitted: dict[frozenset[int], np.ndarray]) -> np.ndarray:
    """Return intercept and weights, shape (1 + features,)."""
    key = frozenset(pool.review.id for pool in pools)
    if key not in fitted:
        fitted[key] = _ranking_weights(pools)
    return fitted[key]


def _ranking_weights(pools: Sequence[Pool]) -> np.ndarray:
    rows, labels = np.concatenate([p.features for p in pools]), np.concatenate([p.labels for p in pools])
    sizes = np.concatenate([np.where(p.labels > 0, WEIGHT / 2 / p.labels.sum(), WEIGHT / 2 / (1 - p.labels).sum())
                            for p in pools])
    return _regress(rows, labels, sizes, 1.0)


def _regress(rows: np.ndarray, labels: np.ndarray, sizes: np.ndarray, looseness: float) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # sums in one order, whatever the number of cores
        fitted = LogisticRegression(C=looseness, solver="newton-cholesky", max_iter=STEPS, tol=1e-8).fit(
            rows, labels, sample_weight=sizes)
    return np.concatenate([fitted.intercept_, fitted.coef_[0]])


def _calibrate(scores: Sequence[np.ndarray], pools: Sequence[Pool]) -> tuple[float, float]:
    """Return slope and shift of the logistic curve through scores of left-out reviews (Platt 1999)."""
    sizes = np.concatenate([np.full(len(own), WEIGHT / len(own)) for own in scores])
    shift, slope = _regress(np.concatenate(scores)[:, None], np.concatenate([p.labels for p in pools]), sizes,
                            CALIBRATION_PENALTY)
    # A slope below 0 would turn the order round: scores that predict nothing then stay as they are.
    return (float(slope), float(shift)) if slope > 0 else (1.0, 0.0)


def _logistic(values: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-np.clip(values, -500.0, 500.0)))


def _thresholds(chances: Sequence[np.ndarray], pools: Sequence[Pool], target: float) -> dict[str, float]:
    grid = np.unique(np.round(np.quantile(np.concatenate(chances), np.linspace(0.0, 1.0, 401)), 6))
    recalls, f1 = np.zeros(len(grid)), np.zeros(len(grid))
    for own, pool in zip(chances, pools, strict=True):
        included = len(own) - np.searchsorted(np.sort(own), grid)
        relevant = np.sort(own[pool.labels > 0])
        found = len(relevant) - np.searchsorted(relevant, grid)
        recalls += found / len(relevant) / len(pools)
        f1 += 2 * found / (included + len(relevant)) / len(pools)
    kept = grid[recalls >= target - 1e-9]
    return {OPERATING_POINTS[0]: float(kept.max()) if len(kept) else 0.0,
            OPERATING_POINTS[1]: float(grid[int(np.argmax(f1))])}


def included_at(pool: Pool, chances: Sequence[float], threshold: float) -> list[int]:
    """Return the candidates at or above a threshold."""
    return [number for number, chance in zip(pool.ids, chances, strict=True) if chance >= threshold]


def counts_at(pool: Pool, chances: Sequence[float], threshold: float) -> dict[str, int]:
    """Return true and false positives and negatives at a threshold."""
    made = decisions_of(pool.ids, included_at(pool, chances, threshold), pool.relevant)
    return {"tp": made.tp, "fp": made.fp, "fn": made.fn, "tn": made.tn}
