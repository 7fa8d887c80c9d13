"""Rankings, candidate sets, score rows and estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Status = Literal["scored", "refused", "unparsed", "failed"]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Retrieved ids with their scores, best first; ties are broken by id, ascending.

    `ids` has shape (n,), int64 for articles or strings for papers; `scores` has shape (n,), float64.
    """

    ids: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, ids: Sequence[Any] | np.ndarray, scores: Sequence[float] | np.ndarray, k: int | None = None) -> Ranking:
        """Order `ids` by score descending, then id ascending, and keep the first `k`: order is decided only here."""
        ids, scores = np.asarray(ids), np.asarray(scores, dtype=np.float64)
        if k is not None and 0 < k < len(ids):
            # Everything tied with the k-th best stays in, so that the tie rule and not the partition decides.
            floor = np.partition(scores, len(scores) - k)[len(scores) - k]
            keep = scores >= floor
            ids, scores = ids[keep], scores[keep]
        order = np.lexsort((ids, -scores))[:k]
        return cls(ids[order], scores[order])

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The papers searched for one (question, condition, N), in the order in which every system gets them.

    `composition` counts gold, similar, unrelated and total; `requested` is the N asked for and
    `len(paper_ids)` the N realised.
    """

    question_id: str
    condition: str
    requested: int
    paper_ids: tuple[str, ...]
    composition: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One metric of one item; `value` is None unless `status` says that it was scored, or refused where that counts."""

    system: str
    condition: str
    item: str
    metric: str
    value: float | None
    status: Status = "scored"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval, its denominator and how it was made.

    `n` counts the values, `clusters` the independent units that the interval rests on. `low` and
    `high` are None where no interval exists, `value` too where the quantity is undefined; `reason`
    then says why.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    method: str = ""
    confidence: float = 0.95
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
