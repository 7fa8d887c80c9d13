"""Measures of one ranking against one set of relevant articles; the name of each is its definition.

All are pure functions of the ranked IDs, best first and without repeats, and the relevant IDs. A query without any
result scores 0 where the measure is a share; a review without relevant articles has no value (None) and belongs in
no mean. Where a review's reference articles are not all in the corpus, the missing ones stay in the denominator.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from litsynth.errors import ParameterError
from litsynth.retrieval.exclusion import check_depth


def _hits(ranked: Sequence[Any], relevant: Collection[Any], k: int | None = None) -> list[bool]:
    ids = [getattr(identifier, "item", lambda identifier=identifier: identifier)() for identifier in ranked]
    if len(set(ids)) < len(ids):
        raise ParameterError("a ranking holds an article more than once", expected="distinct IDs",
                             remedy="deduplicate the ranking before measuring it")
    wanted = set(relevant)
    return [identifier in wanted for identifier in (ids if k is None else ids[:check_depth(k)])]


def recall_at_k(ranked: Sequence[Any], relevant: Collection[Any], k: int) -> float | None:
    """Return the share of the relevant articles among the first `k`, in [0, 1]; None without relevant articles."""
    return sum(_hits(ranked, relevant, k)) / len(set(relevant)) if relevant else None


def precision_at_k(ranked: Sequence[Any], relevant: Collection[Any], k: int) -> float | None:
    """Return the number of relevant articles among the first `k`, divided by `k` also when fewer were retrieved.

    The convention of trec_eval's P_k. In [0, 1]; None without relevant articles.
    """
    return sum(_hits(ranked, relevant, k)) / check_depth(k) if relevant else None


def ndcg_at_k(ranked: Sequence[Any], relevant: Collection[Any], k: int) -> float | None:
    """Return the normalised discounted cumulative gain of the first `k`: gain 1 if relevant, discount log2(1 + rank).

    Jarvelin and Kekalainen (2002), doi 10.1145/582415.582418, with the discount from rank 1 on as in trec_eval's
    ndcg_cut. In [0, 1]; None without relevant articles.
    """
    if not relevant:
        return None
    gain = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(_hits(ranked, relevant, k), start=1) if hit)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(set(relevant))) + 1))


def average_precision(ranked: Sequence[Any], relevant: Collection[Any]) -> float | None:
    """Return the mean over all relevant articles of the precision at their rank, 0 for those not retrieved.

    trec_eval's map for one query, over the whole ranking given. In [0, 1]; None without relevant articles.
    """
    if not relevant:
        return None
    found, total = 0, 0.0
    for rank, hit in enumerate(_hits(ranked, relevant), start=1):
        if hit:
            found += 1
            total += found / rank
    return total / len(set(relevant))


def rank_of_last_included(ranked: Sequence[Any], relevant: Collection[Any]) -> int | None:
    """Return the rank (from 1) of the last relevant article, None unless every relevant article is in the ranking.

    The number of articles that somebody reads who stops exactly when nothing is missing.
    """
    ranks = [rank for rank, hit in enumerate(_hits(ranked, relevant), start=1) if hit]
    return ranks[-1] if relevant and len(ranks) == len(set(relevant)) else None


def work_saved_over_sampling(ranked: Sequence[Any], relevant: Collection[Any], candidates: int, *,
                             recall: float = 0.95) -> float | None:
    """Return the share of work saved at a recall, over reading in random order: (TN + FN) / N - (1 - recall).

    Cohen, Hersh, Peterson and Yen (2006), doi 10.1197/jamia.M1929. `candidates` is N, the number of articles that could
    have been retrieved; reading goes down the ranking until at least `recall` of the relevant articles are found, and
    what is not read (retrieved or not) is TN + FN. At most `recall`, below 0 when worse than chance; None when the
    ranking never reaches the recall or there are no relevant articles.
    """
    if not 0 < recall <= 1:
        raise ParameterError(f"recall is {recall!r}", expected="a share above 0 and at most 1", remedy="use 0.95")
    hits = _hits(ranked, relevant)
    if candidates < len(hits):
        raise ParameterError(f"candidates is {candidates}, but the ranking holds {len(hits)} articles",
                             expected="the number of articles that could be retrieved", remedy="count the candidates")
    needed, found = math.ceil(recall * len(set(relevant)) - 1e-9), 0
    for rank, hit in enumerate(hits, start=1):
        found += hit
        if hit and found >= needed:
            return (candidates - rank) / candidates - (1 - recall)
    return None
