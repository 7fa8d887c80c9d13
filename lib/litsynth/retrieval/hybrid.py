"""Reciprocal rank fusion of any retrievers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litsynth.errors import ParameterError
from litsynth.records import Ranking
from litsynth.retrieval.exclusion import check_depth
from litsynth.retrieval.index_files import write_index

# Cormack, Clarke and Buettcher (2009), Reciprocal rank fusion outperforms Condorcet and individual rank learning
# methods, SIGIR, doi 10.1145/1571941.1572114: k = 60 in their formula.
RANK_CONSTANT = 60


def fuse(rankings: Sequence[Ranking]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct IDs of some rankings, ascending, and their scores: the sum of 1 / (60 + rank), rank from 1.

    An article that a ranking lacks gets nothing from it. The sums run in the order of `rankings`.
    """
    ids = np.unique(np.concatenate([ranking.ids for ranking in rankings]))
    scores = np.zeros(len(ids))
    for ranking in rankings:
        scores[np.searchsorted(ids, ranking.ids)] += 1.0 / (RANK_CONSTANT + np.arange(1, len(ranking) + 1))
    return ids, scores


class HybridRetriever:
    """Fuses the whole rankings of its parts, so that a shorter result is always the start of a longer one.

    A whole ranking leaves nothing to approximate: parts with an HNSW index are searched exactly here. Filters reach
    every part, so ranks are those among the articles that may be ranked.
    """

    def __init__(self, name: str, parts: Sequence[Any]) -> None:
        if len(parts) < 2 or len({part.name for part in parts}) < len(parts):
            raise ParameterError(f"{name!r} fuses {', '.join(part.name for part in parts) or 'nothing'}",
                                 expected="at least two different retrievers", remedy="write hybrid:bm25+minilm")
        self.name, self.parts = name, tuple(parts)

    @property
    def corpus_ids(self) -> np.ndarray:
        """The IDs of all searchable articles, ascending, shape (n,)."""
        return self.parts[0].corpus_ids

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the rankings: the constant of the fusion and the identities of the parts, in order."""
        return {"fusion": "reciprocal rank", "rank_constant": RANK_CONSTANT,
                "parts": [{"name": part.name, **part.identity} for part in self.parts]}

    def search(self, query: str, k: int, *, exclude: Iterable[int] = (),
               allowed: Iterable[int] | None = None) -> Ranking:
        """Return at most `k` articles by fused score, best first; excluded rows leave before any part is ranked."""
        depth, everything = check_depth(k), len(self.corpus_ids)
        exclude, allowed = tuple(exclude), None if allowed is None else tuple(allowed)
        rankings = [part.search(query, everything, exclude=exclude, allowed=allowed) for part in self.parts]
        return Ranking.of(*fuse(rankings), depth)

    def save(self, directory: Path) -> dict[str, Any]:
        """Write one index for each part into its own folder of `directory`, all or none; returns the manifest.

        Its details hold the manifests of the parts by name.
        """
        parts: dict[str, Any] = {}
        manifest = {"kind": "hybrid", "identity": self.identity, "details": {"parts": parts}}

        def write_files(folder: Path) -> None:
            parts.update({part.name: part.save(part_folder(folder, part.name)) for part in self.parts})
        write_index(directory, manifest, write_files)
        return manifest


def part_folder(directory: Path, name: str) -> Path:
    """Return the folder of one part's index inside a hybrid's."""
    return Path(directory) / "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)
