"""What becomes of the two facts of a two-paper question, and what asking them together costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from litsynth.errors import DataError
from litsynth.records import Estimate
from litsynth.stats.inputs import is_missing, same_length
from litsynth.stats.pairs import Pair, pair_bootstrap, pair_bootstrap_difference
from litsynth.stats.resampling import RESAMPLES


def two_paper_decomposition(
    fact_a: Iterable[Any],
    fact_b: Iterable[Any],
    separate_a: Iterable[Any],
    separate_b: Iterable[Any],
    pairs: Iterable[Pair],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> dict[str, Estimate]:
    """Estimate how often a two-paper question yields neither, one or both facts, and the synthesis penalty.

    `fact_a` and `fact_b` are credits (0 or 1) of the two facts asked together, `separate_a` and `separate_b` of the
    same facts asked separately; each has shape (n,), or (n, k) for k numbers of candidate papers, over which a
    question is averaged so that it counts once. A missing cell (None) leaves the average; a question without any
    joint cell raises `DataError`, one without any separate cell leaves the two estimates that need it.

    Returns `neither`, `one`, `both`, `at_least_one`, `both_separately` and `synthesis_penalty` (both separately − both
    jointly, on the questions that have either), with paper-level intervals (`pair_bootstrap`).
    """
    pairs = list(pairs)
    joint_a, joint_b = _cells(fact_a, "fact_a"), _cells(fact_b, "fact_b")
    alone_a, alone_b = _cells(separate_a, "separate_a"), _cells(separate_b, "separate_b")
    same_length(fact_a=joint_a, fact_b=joint_b, separate_a=alone_a, separate_b=alone_b, pairs=pairs)
    for left, right, name in ((joint_a, joint_b, "fact_a and fact_b"), (alone_a, alone_b, "separate_a and separate_b")):
        if left.shape != right.shape:
            raise DataError(f"{name} have the shapes {left.shape} and {right.shape}", expected="equal shapes",
                            remedy="give the same numbers of candidate papers for both facts")
    joint = _question_mean(joint_a + joint_b)
    lost = np.flatnonzero(np.isnan(joint))
    if len(lost):
        raise DataError(f"question in row {int(lost[0])} (counted from 0) has no cell in which both facts were scored",
                        expected="at least one scored cell", remedy="leave the question out and count it apart")
    shares = {
        "neither": _question_mean((1 - joint_a) * (1 - joint_b)),
        "one": _question_mean(joint_a * (1 - joint_b) + joint_b * (1 - joint_a)),
        "both": _question_mean(joint_a * joint_b),
        "at_least_one": 1 - _question_mean((1 - joint_a) * (1 - joint_b)),
    }
    options = {"seed": seed, "resamples": resamples, "confidence": confidence}
    result = {name: pair_bootstrap(share, pairs, **options) for name, share in shares.items()}
    separately = _question_mean(alone_a * alone_b)
    asked = np.flatnonzero(~np.isnan(separately))
    kept = [pairs[row] for row in asked]
    result["both_separately"] = pair_bootstrap(separately[asked], kept, **options)
    result["synthesis_penalty"] = pair_bootstrap_difference(separately[asked], shares["both"][asked], kept, **options)
    return result


def _cells(credits: Iterable[Any], name: str) -> np.ndarray:
    """Return credits as float64 of shape (n, k), NaN where a cell is missing; refuses anything but 0, 1 and missing."""
    rows = []
    for row, item in enumerate(credits):
        cells = list(item) if isinstance(item, Sequence | np.ndarray) and not isinstance(item, str) else [item]
        clean = [np.nan if is_missing(cell) else cell for cell in cells]
        if any(not is_missing(cell) and cell not in (0, 1) for cell in clean):
            raise DataError(f"{name}, row {row} (counted from 0): {item!r} is no credit", expected="0, 1 or None",
                            remedy="give the credit of each cell, not its mean")
        if rows and len(clean) != len(rows[0]):
            raise DataError(f"{name}, row {row} (counted from 0) has {len(clean)} cells, the first row {len(rows[0])}",
                            expected="as many cells in every row", remedy="put None where a cell was not run")
        rows.append(clean)
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]) if rows else 1)


def _question_mean(cells: np.ndarray) -> np.ndarray:
    """Return the mean of each question's cells, NaN where it has none."""
    counted = (~np.isnan(cells)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counted > 0, np.nansum(cells, axis=1) / counted, np.nan)
