"""The one resampling kernel: draw units with replacement and add up what belongs to them.

Every bootstrap of this room is a function of sums over independent units (papers, questions, reviews), so it is
enough to resample the units' sums. Three facts make that quick, small and reproducible:

* Units with the same sums are exchangeable. When there are few different ones (right or wrong answers in clusters of
  a few questions), the number of times each kind is drawn is multinomial, and nothing has to be drawn unit by unit.
* Units are put in the order of their sums before anything is drawn, so neither the order of the rows nor the names of
  the units reach the result.
* Resamples are drawn in rows from one stream and added up row by row, so the number of rows held in memory at a time
  changes no byte of the result.
"""

from __future__ import annotations

import numpy as np

from litsynth.stats.inputs import check_confidence, check_count

RESAMPLES = 5_000
CELLS_IN_MEMORY = 1 << 20  # numbers drawn at a time: 8 MiB of positions and 8 MiB of values
# A multinomial draw of one kind costs about as much as drawing this many units one by one (measured).
_KIND_COST = 15


def unit_sums(columns: np.ndarray, codes: np.ndarray, units: int) -> np.ndarray:
    """Return the sums of `columns` (rows, k) by unit, shape (units, k), whatever the order of the rows."""
    sums = np.empty((units, columns.shape[1]))
    counts = np.bincount(codes, minlength=units)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    for j in range(columns.shape[1]):
        # Sorted inside the unit, because floating-point addition depends on the order.
        order = np.lexsort((columns[:, j], codes))
        sums[:, j] = np.add.reduceat(columns[order, j], starts)
    return sums


def resampled_sums(
    sums: np.ndarray, *, seed: int, resamples: int = RESAMPLES, cells_in_memory: int = CELLS_IN_MEMORY
) -> np.ndarray:
    """Draw as many units as there are, with replacement, `resamples` times; return the sums, shape (resamples, k).

    `sums` has shape (units, k), units ≥ 1. The result depends on `sums` (as a set of rows), `seed` and `resamples`
    alone; `cells_in_memory` bounds the working memory and changes nothing else.
    """
    resamples = check_count(resamples, "resamples", least=1)
    seed = check_count(seed, "seed")
    ordered = sums[np.lexsort(sums.T[::-1])]
    first = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    kinds, multiplicity = ordered[first], np.diff(np.append(np.flatnonzero(first), len(ordered)))
    rng = np.random.default_rng(seed)
    if len(kinds) * _KIND_COST <= len(ordered):
        return _by_kind(kinds, multiplicity, rng, resamples, cells_in_memory)
    return _by_unit(ordered, rng, resamples, cells_in_memory)


def _by_kind(
    kinds: np.ndarray, multiplicity: np.ndarray, rng: np.random.Generator, resamples: int, cells: int
) -> np.ndarray:
    units = int(multiplicity.sum())
    shares = multiplicity / units
    result = np.empty((resamples, kinds.shape[1]))
    rows = max(1, cells // len(kinds))
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        counts = rng.multinomial(units, shares, size=stop - start)
        for j in range(kinds.shape[1]):
            # Not a matrix product: its rounding may depend on the number of rows and threads.
            result[start:stop, j] = (counts * kinds[:, j]).sum(axis=1)
    return result


def _by_unit(ordered: np.ndarray, rng: np.random.Generator, resamples: int, cells: int) -> np.ndarray:
    units = len(ordered)
    columns = [np.ascontiguousarray(column) for column in ordered.T]
    constant = [column.min() == column.max() for column in columns]
    result = np.empty((resamples, len(columns)))
    rows = max(1, cells // units)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        drawn = rng.integers(0, units, size=(stop - start, units))
        for j, column in enumerate(columns):
            result[start:stop, j] = column[0] * units if constant[j] else column[drawn].sum(axis=1)
    return result


def percentile_bounds(statistics: np.ndarray, confidence: float) -> tuple[float, float]:
    """Return the lower and upper percentile of resampled statistics, 2.5 and 97.5 for 0.95 (linear rule)."""
    tail = (1.0 - check_confidence(confidence)) / 2
    low, high = np.quantile(statistics, [tail, 1.0 - tail])
    return float(low), float(high)
