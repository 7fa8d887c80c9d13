"""The screener without a language model in this experiment: fitted to train reviews' decisions, never to others'."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from litsynth.errors import ParameterError
from litsynth.experiments.oracle_rag.pools import reference_of
from litsynth.experiments.screening.learning import OPERATING_POINTS, Learned, learn
from litsynth.experiments.screening.pools import Pool, open_signals, pool_of
from litsynth.records import Dataset, Retriever
from litsynth.systems.screening_model import FittedRanker, TrainedScreener

SIGNALS = ("bm25", "minilm")
TARGET_RECALL = 0.95  # of the threshold that is not used here: inclusions are chosen for F1, as the other systems' are


def check_teachers(dataset: Dataset, split: str) -> None:
    """Refuse, before anything runs, a data set without enough train reviews to learn from."""
    teachers = [review for review in dataset.split("train").values() if reference_of(dataset, review)]
    needed = 2 if split == "test" else 3  # a train review is screened by what the others taught
    if len(teachers) < needed:
        raise ParameterError(f"system 'screener' has {len(teachers)} train reviews of {dataset.name!r} to learn from",
                             expected=f"at least {needed} with a reference set",
                             remedy="leave the system out, or choose a data set with train reviews")


class Teacher:
    """The train reviews of a data set as pools with labels, and the screeners fitted to them."""

    def __init__(self, dataset: Dataset, top_k: int, device: str, *, signals: Sequence[str] = SIGNALS) -> None:
        self._dataset, self._top_k, self._device, self._names = dataset, top_k, device, tuple(signals)
        self._fitted: dict[frozenset[int], Any] = {}
        self._learned: dict[int | None, Learned] = {}

    @cached_property
    def _signals(self) -> dict[str, Retriever]:
        return open_signals(self._dataset, list(self._names), self._device)

    @cached_property
    def _pools(self) -> dict[int, Pool]:
        return {number: pool_of(self._dataset, review, self._signals, self._top_k)
                for number, review in sorted(self._dataset.split("train").items())}

    def learned(self, *, without: int | None = None) -> Learned:
        """Return what the train reviews taught, all or all but one."""
        if without not in self._learned:
            pools = [pool for number, pool in self._pools.items() if number != without]
            self._learned[without] = learn(pools, self._names, TARGET_RECALL, fitted=self._fitted)
        return self._learned[without]

    def system(self, *, without: int | None = None) -> TrainedScreener:
        """Return the screener at the threshold that was best for F1 on train reviews left out."""
        made = self.learned(without=without)
        return TrainedScreener(ranker=FittedRanker(made.model, self._signals), top_k=self._top_k,
                               threshold=made.thresholds[OPERATING_POINTS[1]])

    def as_dict(self) -> dict[str, Any]:
        """Return what was learned from all train reviews as JSON-ready values."""
        made = self.learned()
        return {"reviews": list(made.reviews), "pairs": made.pairs, "share": made.share,
                "threshold": made.thresholds[OPERATING_POINTS[1]], "intercept": made.model.intercept,
                "weights": made.model.by_name()}
