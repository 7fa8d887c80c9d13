"""How sure the order of systems is: ranks with intervals from resampled items."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from litsynth.errors import DataError
from litsynth.records import Estimate
from litsynth.stats.inputs import check_confidence, clean_values, label_codes, same_length
from litsynth.stats.resampling import RESAMPLES, percentile_bounds, resampled_sums, unit_sums


def rank_bootstrap(
    matrix: Iterable[Iterable[Any]],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    clusters: Iterable[Hashable] | None = None,
    names: Sequence[str] | None = None,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> list[Estimate]:
    """Estimate the rank of each system by mean score, 1 is best, equal means share their average rank.

    `matrix` has a row for each system and a column for each item (review or question), without gaps, so all systems
    are compared on the same items; items, or whole `clusters` of them, are resampled together for all systems.
    Percentile interval of the resampled rank. `details`: `name`, `mean`, and `first`, the share of resamples in which
    the system is first alone or shares the first place. One item or one cluster gives ranks without intervals.
    """
    from scipy.stats import rankdata

    check_confidence(confidence)
    rows = [clean_values(row, f"row {number} of the matrix") for number, row in enumerate(matrix)]
    labels = [str(number) for number in range(len(rows))] if names is None else list(names)
    same_length(matrix=rows, names=labels)
    items = len(rows[0]) if rows else 0
    for label, row in zip(labels, rows, strict=True):
        if len(row) != items:
            raise DataError(f"system {label} has {len(row)} scores, system {labels[0]} has {items}",
                            expected="a score of every system for every item", remedy="compare on the items all have")
    method = f"rank, bootstrap over items, percentile, {resamples} resamples"
    if items == 0:
        reason = "there is nothing to estimate: no items"
        return [Estimate(None, None, None, 0, 0, method, confidence, reason, {"name": label}) for label in labels]
    codes, units = (np.arange(items), range(items)) if clusters is None else label_codes(clusters, "clusters")
    same_length(**{"columns of the matrix": rows[0]}, clusters=codes)
    sign = -1.0 if higher_is_better else 1.0
    # Rounded, so that means that differ by the order of addition alone are equal.
    means = np.array([math.fsum(row) / items for row in rows])
    ranks = rankdata(np.round(sign * means, 12))
    details = [{"name": label, "mean": float(mean)} for label, mean in zip(labels, means, strict=True)]
    if len(units) < 2:
        reason = "one unit gives no interval"
        return [Estimate(float(rank), None, None, items, len(units), method, confidence, reason, more)
                for rank, more in zip(ranks, details, strict=True)]
    columns = np.column_stack([*rows, np.ones(items)])
    sums = resampled_sums(unit_sums(columns, codes, len(units)), seed=seed, resamples=resamples)
    drawn_means = np.round(sign * sums[:, :-1] / sums[:, -1:], 12)
    drawn = rankdata(drawn_means, axis=1)
    best = drawn_means == drawn_means.min(axis=1, keepdims=True)
    return [
        Estimate(float(ranks[i]), *percentile_bounds(drawn[:, i], confidence), items, len(units), method, confidence,
                 details={**details[i], "first": float(best[:, i].mean())})
        for i in range(len(rows))
    ]
