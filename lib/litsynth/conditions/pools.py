"""The papers of a bank sorted into the pools that candidate sets are drawn from."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

import numpy as np

from litsynth.conditions.catalogue import PoolSizes
from litsynth.errors import DataError
from litsynth.records import Paper, Question

_RECENT: deque[Pools] = deque(maxlen=4)


class Pools:
    """Sorted paper ids by role and specialty, made once for a bank and reused for every draw.

    Ids are sorted, so the order of the source never matters. Unrelated papers are the decoys; papers
    similar to a question are the gold papers whose stratum (the specialty) one of its answering papers
    has. Gold papers of other specialties compete with it in no condition.
    """

    def __init__(self, papers: Mapping[str, Paper]) -> None:
        self._values = tuple(papers.values())
        self.strata: dict[str, str] = {}
        gold: dict[str, list[str]] = defaultdict(list)
        decoys: list[str] = []
        for key, paper in papers.items():
            if key != paper.id:
                raise DataError(f"papers[{key!r}] holds the paper {paper.id!r}", expected="papers by their own id",
                                remedy="key the mapping by each paper's id")
            self.strata[paper.id] = paper.stratum
            (gold[paper.stratum] if paper.role == "gold" else decoys).append(paper.id)
        self._gold = {stratum: np.array(sorted(ids), dtype=object) for stratum, ids in gold.items()}
        self._joined: dict[frozenset[str], np.ndarray] = {}
        self.unrelated = np.array(sorted(decoys), dtype=object)

    @classmethod
    def of(cls, papers: Mapping[str, Paper] | Pools) -> Pools:
        """Return the pools of `papers`, made anew only when records changed (pass `Pools` to skip even that check)."""
        if isinstance(papers, Pools):
            return papers
        values = tuple(papers.values())
        for known in tuple(_RECENT):
            if known._values == values:
                return known
        pools = cls(papers)
        _RECENT.append(pools)
        return pools

    def similar(self, paper_ids: Iterable[str]) -> np.ndarray:
        """Return the sorted ids of all gold papers that share a stratum with `paper_ids`, those themselves included."""
        strata = frozenset(self.strata[paper_id] for paper_id in paper_ids)
        if len(strata) == 1:
            return self._gold.get(next(iter(strata)), self.unrelated[:0])
        if strata not in self._joined:
            members = [i for stratum in strata for i in self._gold.get(stratum, ())]
            self._joined[strata] = np.array(sorted(members), dtype=object)
        return self._joined[strata]

    def sizes(self, question: Question) -> PoolSizes:
        """Return how many papers compete with the answering papers of `question`."""
        similar = self.similar(question.paper_ids)
        return PoolSizes(len(similar) - len(positions(similar, question.paper_ids)),
                         len(self.unrelated) - len(positions(self.unrelated, question.paper_ids)))


def positions(pool: np.ndarray, paper_ids: Iterable[str]) -> list[int]:
    """Return the ascending positions that `paper_ids` have in a sorted pool; ids that it lacks are passed over."""
    found = []
    for paper_id in set(paper_ids):
        place = bisect_left(pool, paper_id)
        if place < len(pool) and pool[place] == paper_id:
            found.append(place)
    return sorted(found)
