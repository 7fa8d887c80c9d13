"""What a MetaSyn system is given of a review's retrieval: the query and the ranked candidates, without labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from litsynth.errors import ParameterError
from litsynth.records import Article, Candidate, Ranking

MODES = ("actual", "oracle")


class ReviewSearcher(Protocol):
    """The searcher of a MetaSyn system that reads one ranked list."""

    query: str
    mode: str

    def candidates(self, k: int) -> tuple[Candidate, ...]:
        """Return the first `k` candidates, best first, ranks counted from 1."""
        ...


@dataclass(frozen=True, eq=False)
class RankedCandidates:
    """A ranking of articles for one review's protocol query.

    `mode` says how the order came about (actual: the retriever's; oracle: reference articles first). The order may hold
    labels in oracle mode, so a system must not use ranks as evidence; scores are the retriever's in both modes.
    """

    query: str
    ranking: Ranking
    articles: Mapping[int, Article]
    mode: str = "actual"

    def candidates(self, k: int) -> tuple[Candidate, ...]:
        """Return the first `k` (at least 1) candidates with title, abstract, year and the retriever's score."""
        if k < 1:
            raise ParameterError(f"top_k = {k}", expected="at least 1", remedy="raise `top_k`")
        pairs = zip(self.ranking.ids[:k].tolist(), self.ranking.scores[:k].tolist(), strict=True)
        return tuple(_candidate(self.articles[number], rank, score)
                     for rank, (number, score) in enumerate(pairs, start=1))


def _candidate(article: Article, rank: int, score: float) -> Candidate:
    return Candidate(article.id, article.title, article.abstract, article.year, rank, score)
