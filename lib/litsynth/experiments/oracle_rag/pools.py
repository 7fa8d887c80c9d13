"""The candidates of one review in actual and in oracle order: where labels meet retrieval, and nothing else does."""

from __future__ import annotations

from litsynth.errors import DataError, unknown_name
from litsynth.records import Dataset, Retriever, Review
from litsynth.retrieval import protocol_query
from litsynth.retrieval.oracle import oracle_ranking
from litsynth.systems.candidates import MODES, RankedCandidates


def reference_of(dataset: Dataset, review: Review) -> frozenset[int]:
    """Return the reference set of a review, without the review's own records; empty where the data set has none."""
    gold = dataset.gold.get(review.id)
    return frozenset(gold.included_ids) - frozenset(review.source_ids) if gold else frozenset()


def ranked_candidates(dataset: Dataset, review: Review, retriever: Retriever, k: int,
                      mode: str = "actual") -> RankedCandidates:
    """Return the first `k` candidates of a review for its protocol query; its own records leave before the cut.

    In `oracle` mode the reference articles come first (label-informed: whoever uses it must say so). Raises `DataError`
    in that mode for a review without a reference set.
    """
    if mode not in MODES:
        raise unknown_name("mode", mode, MODES)
    query = protocol_query(review)
    if mode == "actual":
        return RankedCandidates(query, retriever.search(query, k, exclude=review.source_ids), dataset.corpus)
    reference = reference_of(dataset, review)
    if not reference:
        raise DataError(f"review {review.id} of {dataset.name} has no reference set, so there is no oracle order",
                        expected="a review with linked articles", remedy="use mode actual")
    ranking = oracle_ranking(retriever, query, k, included_ids=sorted(reference), exclude=review.source_ids)
    return RankedCandidates(query, ranking, dataset.corpus, mode)
