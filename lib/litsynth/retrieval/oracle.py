"""The oracle order, reference articles first: a label-informed diagnostic (`uses_gold` marks its numbers)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from litsynth.records import Ranking
from litsynth.retrieval.exclusion import check_depth, id_array


def oracle_ranking(retriever: Any, query: str, k: int, *, included_ids: Iterable[int],
                   exclude: Iterable[int] = ()) -> Ranking:
    """Return the reference articles first, then the ordinary ranking without them, at most `k` together.

    `retriever` is one of this package (it has `corpus_ids`). Reference articles outside the corpus or excluded are left
    out; the others are ordered by the retriever's score for `query` over the whole corpus, ties by ID, and those that
    it does not retrieve follow with score 0, by ID. Labels change the order only. Scores are the retriever's, so
    they do not fall monotonically where the references end.
    """
    depth, removed = check_depth(k), id_array("exclude", exclude)
    references = id_array("included_ids", included_ids)
    references = references[np.isin(references, retriever.corpus_ids) & ~np.isin(references, removed)]
    whole = retriever.search(query, len(retriever.corpus_ids), exclude=removed)
    scored = np.isin(whole.ids, references)
    silent = references[~np.isin(references, whole.ids)]
    # Asked at its own depth again: an approximate index answers a shorter search differently from a whole ranking.
    ordinary = retriever.search(query, depth + len(references), exclude=removed)
    others = ~np.isin(ordinary.ids, references)
    return Ranking(np.concatenate([whole.ids[scored], silent, ordinary.ids[others]])[:depth],
                   np.concatenate([whole.scores[scored], np.zeros(len(silent)), ordinary.scores[others]])[:depth])
