"""Exact search over embeddings, with scores that are the same bytes in any order of summation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from litsynth.errors import ParameterError
from litsynth.records import Ranking
from litsynth.retrieval.corpus import SearchCorpus
from litsynth.retrieval.embeddings import Embedded, EmbeddingStore, embed_documents, embed_query
from litsynth.retrieval.encoder import Encoder
from litsynth.retrieval.exclusion import check_depth, kept_rows
from litsynth.retrieval.hnsw import Graph
from litsynth.retrieval.index_files import check_identity, read_manifest, readable, write_index

_ROWS_AT_ONCE = 8192
NO_ROWS = Ranking.of(np.empty(0, dtype=np.int64), np.empty(0))


def exact_scores(vectors: np.ndarray, rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the inner products of some rows with a query, shape (len(rows),), float64 and without any rounding.

    Both sides lie on the grid of `encoder.to_grid`, so every product and every partial sum is a whole multiple of the
    squared step below 2^53 of them (Cauchy-Schwarz bounds the sums): float64 holds each exactly.
    """
    wide = query.astype(np.float64)
    parts = [vectors[rows[start:start + _ROWS_AT_ONCE]].astype(np.float64) @ wide
             for start in range(0, len(rows), _ROWS_AT_ONCE)]
    return np.concatenate(parts) if parts else np.empty(0)


def best_rows(vectors: np.ndarray, longest: float, query: np.ndarray, k: int, kept: np.ndarray | None) -> np.ndarray:
    """Return the `k` best rows and every tie or near-tie with the last of them, found with float32 arithmetic.

    A float32 inner product of d terms is off by at most d 2^-23 |x||q|, and `longest` is the greatest |x|: rows within
    twice that of the k-th rough score stay in, so that the exact scores decide. `kept` limits the rows (None: all).
    """
    rows = np.arange(len(vectors)) if kept is None else kept
    if k >= len(rows):
        return rows
    # To multiply everything is cheaper than to copy most of the matrix first.
    rough = (vectors @ query)[rows] if len(rows) > len(vectors) // 2 else vectors[rows] @ query
    margin = 2.0 * vectors.shape[1] * 2.0**-23 * longest * float(np.linalg.norm(query))
    floor = np.partition(rough, len(rough) - k)[len(rough) - k]
    return rows[rough >= floor - margin]


class DenseRetriever:
    """Inner-product search over the embeddings of title and abstract: every article has a score.

    Without a graph the search is exact. With one (see `hnsw.Graph`) its finds are scored exactly, and a search that the
    graph cannot serve whole (a filter that removes many rows, too few finds, a depth near the corpus size) is exact.
    """

    def __init__(self, name: str, corpus: SearchCorpus, encoder: Encoder, store: EmbeddingStore, embedded: Embedded,
                 graph: Graph | None = None) -> None:
        self.name, self.encoder, self.graph = name, encoder, graph
        self._corpus, self._store, self._embedded = corpus, store, embedded
        self._query_vector = lru_cache(maxsize=1024)(partial(embed_query, encoder, store))
        squares = np.einsum("ij,ij->i", embedded.vectors, embedded.vectors)
        self._longest = float(np.sqrt(squares.max()))

    @property
    def corpus_ids(self) -> np.ndarray:
        """The IDs of all searchable articles, ascending, shape (n,)."""
        return self._corpus.ids

    @property
    def kind(self) -> str:
        """`flat` (exact) or `hnsw`."""
        return "flat" if self.graph is None else "hnsw"

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the rankings: corpus, encoder, dimension, and the graph's parameters where there is one."""
        graph = {} if self.graph is None else {"graph": Graph.identity}
        return {**_identity(self._corpus, self.encoder), "kind": self.kind,
                "dimension": int(self._embedded.vectors.shape[1]), **graph}

    @property
    def share_cut(self) -> float:
        """The share of documents that are longer than the encoder's token limit and were cut."""
        return float(np.mean(self._embedded.tokens > self.encoder.files.settings.max_tokens))

    def with_ef_search(self, ef_search: str | int) -> DenseRetriever:
        """Return the same retriever with another efSearch; raises `ParameterError` when it has no graph."""
        if self.graph is None:
            raise ParameterError(f"{self.name} is searched exactly, so it has no efSearch",
                                 expected="a retriever opened with kind='hnsw'")
        graph = self.graph.with_ef_search(ef_search)
        return DenseRetriever(self.name, self._corpus, self.encoder, self._store, self._embedded, graph)

    def search(self, query: str, k: int, *, exclude: Iterable[int] = (),
               allowed: Iterable[int] | None = None) -> Ranking:
        """Return the `k` best articles (all that may be ranked, if fewer); excluded rows leave before the cut at `k`.

        A blank query finds nothing.
        """
        depth, kept = check_depth(k), kept_rows(self.corpus_ids, exclude, allowed)
        available = len(self._corpus) if kept is None else len(kept)
        if not query.split() or not available:
            return NO_ROWS
        vector, rows = self._query_vector(query), None
        if self.graph is not None:
            rows = self.graph.rows(vector, min(depth, available), kept, len(self._corpus))
        if rows is None:
            rows = best_rows(self._embedded.vectors, self._longest, vector, depth, kept)
        return Ranking.of(self.corpus_ids[rows], exact_scores(self._embedded.vectors, rows, vector), depth)

    def as_flat(self) -> DenseRetriever:
        """Return the exact retriever over the same vectors: the reference of an approximate one."""
        return DenseRetriever(self.name, self._corpus, self.encoder, self._store, self._embedded)

    def save(self, directory: Path) -> dict[str, Any]:
        """Write the index to `directory`, atomically; returns its manifest's identity and details."""
        def write_files(folder: Path) -> None:
            np.save(folder / "tokens.npy", self._embedded.tokens)
            if self.graph is None:
                np.save(folder / "vectors.npy", self._embedded.vectors)
            else:
                self.graph.save(folder / "graph.faiss")

        details = {"share_cut": self.share_cut, "max_tokens": self.encoder.files.settings.max_tokens}
        manifest = {"kind": self.kind, "identity": self.identity, "details": details}
        write_index(directory, manifest, write_files)
        return manifest


def build_dense(name: str, corpus: SearchCorpus, encoder: Encoder, store: EmbeddingStore, *, kind: str = "flat",
                ef_search: str | int = "protocol") -> DenseRetriever:
    """Encode what the store lacks and return a retriever; `kind` is `flat` or `hnsw`."""
    embedded = embed_documents(encoder, store, list(corpus.texts()))
    graph = Graph.build(embedded.vectors, ef_search) if kind == "hnsw" else None
    return DenseRetriever(name, corpus, encoder, store, embedded, graph)


def load_dense(directory: Path, name: str, corpus: SearchCorpus, encoder: Encoder, store: EmbeddingStore, *,
               kind: str | None = None, ef_search: str | int = "protocol") -> DenseRetriever:
    """Open a saved index, memory-mapped where it is flat; `kind` of None takes the index as it is.

    Raises `IndexMismatchError` when it was built with another encoder or over another corpus.
    """
    stored = read_manifest(directory, ("flat", "hnsw"))["identity"]
    with readable(directory):
        wanted = {**_identity(corpus, encoder), "kind": kind or stored["kind"]}
        if stored["kind"] == "hnsw":
            wanted["graph"] = Graph.identity
        if stored["encoder"]["files_sha256"] == encoder.identity["files_sha256"]:
            # The same files under another name, as a folder instead of a hub id, give the same vectors.
            wanted["encoder"] |= {key: stored["encoder"][key] for key in ("name", "model", "revision")}
    check_identity(directory, {key: stored.get(key) for key in wanted}, wanted)
    with readable(directory):
        tokens = np.load(directory / "tokens.npy")
        graph = Graph.load(directory / "graph.faiss", ef_search) if stored["kind"] == "hnsw" else None
        vectors = np.load(directory / "vectors.npy", mmap_mode="r") if graph is None else graph.vectors
        if vectors.shape != (len(corpus), stored["dimension"]) or tokens.shape != (len(corpus),):
            raise ValueError(f"vectors of shape {vectors.shape} instead of {(len(corpus), stored['dimension'])}")
    return DenseRetriever(name, corpus, encoder, store, Embedded(vectors, tokens), graph)


def recall_against_flat(retriever: DenseRetriever, queries: Sequence[str], k: int, *,
                        exclude: Iterable[int] = ()) -> list[float]:
    """Return for each query the share of the exact `k` best articles that `retriever` finds, in [0, 1]."""
    flat, removed, shares = retriever.as_flat(), tuple(exclude), []
    for query in queries:
        wanted = flat.search(query, k, exclude=removed).ids
        found = retriever.search(query, k, exclude=removed).ids
        shares.append(float(np.isin(wanted, found).mean()) if len(wanted) else 1.0)
    return shares


def _identity(corpus: SearchCorpus, encoder: Encoder) -> dict[str, Any]:
    return {"corpus": corpus.identity, "encoder": encoder.identity}
