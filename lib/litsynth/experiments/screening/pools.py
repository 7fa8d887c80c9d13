"""The candidates of every review with the reviewers' decisions on them: where labels meet candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from litsynth.records import Candidate, Dataset, Retriever, Review
from litsynth.retrieval import open_retriever, protocol_query
from litsynth.retrieval.hybrid import HybridRetriever
from litsynth.systems.screening_features import pool_features


@dataclass(frozen=True, eq=False)
class Pool:
    """One review's candidates in order of ID: labels (n,), features (n, f), and each signal's order of all of them.

    `reference` counts the included studies of the review, those included which are no candidate: they are lost before
    screening and belong to no screener.
    """

    review: Review
    candidates: tuple[Candidate, ...]
    labels: np.ndarray
    features: np.ndarray
    orders: Mapping[str, tuple[int, ...]]
    reference: int

    @property
    def ids(self) -> tuple[int, ...]:
        """The candidates' IDs, ascending."""
        return tuple(candidate.corpus_id for candidate in self.candidates)

    @property
    def relevant(self) -> frozenset[int]:
        """The candidates that the reviewers included."""
        return frozenset(number for number, label in zip(self.ids, self.labels, strict=True) if label)


def open_signals(dataset: Dataset, names: list[str], device: str) -> dict[str, Retriever]:
    """Return the opened retrievers by name."""
    return {name: open_retriever(name, dataset, device=device) for name in names}


def pool_of(dataset: Dataset, review: Review, signals: Mapping[str, Retriever], top_k: int) -> Pool:
    """Return the pool of one review: what its authors screened, else the first `top_k` of all signals fused.

    In the second case an article that was retrieved and not included counts as excluded. The review's own records are
    no candidates. An order that lacks candidates (BM25 gives no score without a shared word) goes on by ID.
    """
    gold = dataset.gold.get(review.id)
    included = (set(gold.included_ids) if gold else set()) - set(review.source_ids)
    labels = dict(dataset.screened.get(review.id, {}))
    if not labels:
        searcher: Any = (HybridRetriever("fused", list(signals.values())) if len(signals) > 1
                         else next(iter(signals.values())))
        found = searcher.search(protocol_query(review), top_k, exclude=review.source_ids).ids.tolist()
        labels = {number: number in included for number in found}
    ids = sorted(set(labels) - set(review.source_ids))
    articles = [dataset.corpus[number] for number in ids]
    candidates = tuple(Candidate(a.id, a.title, a.abstract, a.year) for a in articles)
    orders = {name: _whole_order(retriever, review, ids) for name, retriever in signals.items()}
    wanted = included | {number for number in ids if labels[number]}
    return Pool(review, candidates, np.array([labels[number] for number in ids], dtype=np.float64),
                pool_features(review, candidates, signals), orders, len(wanted))


def _whole_order(retriever: Retriever, review: Review, ids: list[int]) -> tuple[int, ...]:
    if not ids:
        return ()
    found = retriever.search(protocol_query(review), len(ids), allowed=np.array(ids, dtype=np.int64)).ids.tolist()
    there = set(found)
    return (*found, *(number for number in ids if number not in there))
