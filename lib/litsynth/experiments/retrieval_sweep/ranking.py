"""Search every review with every retriever, one resumable item each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from litsynth.errors import ParameterError
from litsynth.experiments.store import Run
from litsynth.records import Dataset, Ranking, Retriever, Review
from litsynth.retrieval import document_text, measures, open_retriever, parts_of, protocol_query
from litsynth.retrieval.bm25 import EPSILON, K1, B
from litsynth.retrieval.encoder_files import encoder_settings, find_encoder
from litsynth.retrieval.hnsw import EF_CONSTRUCTION, EF_PER_RESULT, EF_PROTOCOL, LINKS
from litsynth.retrieval.hybrid import RANK_CONSTANT
from litsynth.text import words

TARGET_RECALL = 0.95


def identities(parameters: Any, dataset: Dataset) -> Mapping[str, Any]:
    """Return what decides the rankings besides the data: each retriever's identity."""
    if not dataset.reviews:
        raise ParameterError(f"data set {dataset.name!r} has no reviews to search for",
                             expected="a data set in the MetaSyn shape", remedy="choose one with reviews and a corpus")
    chosen = parameters.retrievers
    if len(set(chosen)) != len(chosen):
        raise ParameterError(f"parameter 'retrievers' names one twice: {', '.join(chosen)}",
                             expected="each retriever once")
    splits = sorted({review.split for review in dataset.reviews.values()})
    if not dataset.split(parameters.split):
        raise ParameterError(f"data set {dataset.name!r} has no reviews in split {parameters.split!r}",
                             expected="a split with reviews: " + ", ".join(splits),
                             remedy="give -p split=all or another split")
    return {"retrievers": {name: retriever_identity(name, parameters.index) for name in chosen}}


def retriever_identity(name: str, index: str) -> dict[str, Any]:
    """Return what decides a retriever's rankings apart from the corpus, found without loading a model."""
    parts = parts_of(name)
    if len(parts) > 1:
        return {"fusion": "reciprocal rank", "rank_constant": RANK_CONSTANT,
                "parts": {part: retriever_identity(part, index) for part in parts}}
    if parts == ("bm25",):
        return {"k1": K1, "b": B, "epsilon": EPSILON}
    graph = {"m": LINKS, "ef_construction": EF_CONSTRUCTION, "ef_search": [EF_PROTOCOL, EF_PER_RESULT]}
    return {"encoder": find_encoder(encoder_settings(parts[0])).identity, "index": index,
            **({"graph": graph} if index == "hnsw" else {})}


def rank_reviews(run: Run) -> list[dict[str, Any]]:
    """Rank the whole corpus for every review with every retriever; returns one item a pair, ordered by key.

    The source review's own records leave before ranking. Items hold measures and the rank of every included
    study, not the rankings themselves.
    """
    chosen, data = run.parameters, run.dataset
    reviews = data.split(chosen.split)

    def work() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
        for name in chosen.retrievers:
            open_once = lru_cache(maxsize=1)(lambda name=name: open_retriever(
                name, data, kind=chosen.index, device=chosen.device))
            for review in reviews.values():
                yield f"rank/{name}/{review.id:09d}", lambda n=name, r=review, o=open_once: rank_review(o(), n, r, run)

    items = run.compute(work(), stage="search reviews")
    run.record(corpus={"articles": len(data.corpus), "reviews": len(reviews), "split": chosen.split})
    return items


def rank_review(retriever: Retriever, name: str, review: Review, run: Run) -> dict[str, Any]:
    """Return the item of one review and retriever: status, measures, and where the included studies stand."""
    data, depths = run.dataset, sorted(set(run.parameters.depths))
    relevant = set(data.gold[review.id].included_ids) - set(review.source_ids)
    query = protocol_query(review)
    everything = len(data.corpus)
    base = {"retriever": name, "review": review.id, "split": review.split, "relevant": len(relevant)}
    ranking = retriever.search(query, everything, exclude=review.source_ids)  # always exact
    top = retriever.search(query, max(depths), exclude=review.source_ids)  # through the graph, where there is one
    base |= {"retrieved": len(ranking), "candidates": everything - len(set(review.source_ids) & set(data.corpus))}
    if not relevant:
        return {**base, "status": "failed", "reason": "no reference set", "measures": {}, "ranks": []}
    status, reason = ("scored", "") if len(ranking) else ("scored", "nothing retrieved: every measure is 0")
    return {**base, "status": status, "reason": reason, "complete": relevant <= set(map(int, ranking.ids)),
            "measures": _measures(top, ranking, relevant, depths, base["candidates"]),
            "screened": _screened(retriever, query, review, data),
            "ranks": _ranks(top, ranking, relevant, query, data)}


def _measures(top: Ranking, ranking: Ranking, relevant: set[int], depths: list[int], candidates: int) -> dict[str, Any]:
    ids = ranking.ids
    made = {f"{kind}@{depth}": function(top.ids, relevant, depth)
            for depth in depths
            for kind, function in (("recall", measures.recall_at_k), ("precision", measures.precision_at_k),
                                   ("ndcg", measures.ndcg_at_k))}
    made["average_precision"] = measures.average_precision(ids, relevant)
    made["rank_of_last"] = measures.rank_of_last_included(ids, relevant) or candidates
    made["wss95"] = _work_saved(ids, relevant, candidates)
    return made


def _work_saved(ids: Any, relevant: set[int], candidates: int) -> float | None:
    """Return work saved at 95 % recall; a ranking that never gets there saves nothing and loses 0.05.

    Leaving such reviews out of the mean would favour the retriever that fails on them.
    """
    saved = measures.work_saved_over_sampling(ids, relevant, candidates, recall=TARGET_RECALL)
    return TARGET_RECALL - 1 if saved is None and relevant else saved


def _screened(retriever: Retriever, query: str, review: Review, data: Dataset) -> dict[str, Any] | None:
    """Return work saved when only the records that the review's authors screened are ranked, where they are known."""
    labels = data.screened.get(review.id)
    if not labels:
        return None
    pool = set(labels) - set(review.source_ids)
    relevant = {article for article, included in labels.items() if included} & pool
    ranking = retriever.search(query, len(pool), exclude=review.source_ids, allowed=pool)
    return {"pool": len(pool), "relevant": len(relevant),
            "wss95": _work_saved(ranking.ids, relevant, len(pool))}


def _ranks(top: Ranking, ranking: Ranking, relevant: set[int], query: str, data: Dataset) -> list[dict[str, Any]]:
    """Return each included study's rank (None: not retrieved), whether the largest depth holds it, and traits."""
    found = set(map(int, top.ids))
    place = {int(article): rank for rank, article in enumerate(ranking.ids, start=1) if int(article) in relevant}
    asked = set(words(query))
    rows = []
    for article_id in sorted(relevant):
        article = data.corpus[article_id]
        shared = len(asked & set(words(document_text(article))))
        rows.append({"article": article_id, "rank": place.get(article_id), "found": article_id in found,
                     "no_abstract": not article.abstract,
                     "query_words_shared": shared / max(1, len(asked))})
    return rows
