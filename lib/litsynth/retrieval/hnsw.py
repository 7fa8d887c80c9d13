"""The published approximate index: FAISS HNSW over inner products, whose filters neither leak nor lose results."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from litsynth.errors import ParameterError

LINKS, EF_CONSTRUCTION = 32, 200
EF_PROTOCOL, EF_AGENT = 512, 64
MOST_REMOVED = 1000  # above this, fetching the removed rows as well costs more than an exact search
# Recall@200 of real embeddings is 0.9997 at 1,600 for 12,146 articles (tests/benchmarks/hnsw_recall.py). Larger corpora
# need more: at 140,585 articles 0.957 at 512 and 0.985 at 1,024 were measured, so the default for depth 200 is 2,000.
EF_PER_RESULT = 10


class Graph:
    """One `IndexHNSWFlat` (M 32, efConstruction 200, inner product) that holds the vectors too.

    It is built on one thread, so the same vectors give the same bytes. `ef_search` is `protocol` (at least 512 and
    EF_PER_RESULT times the requested depth), `agent` (64, and at least the depth) or a number.
    """

    identity: ClassVar[dict[str, int]] = {"m": LINKS, "ef_construction": EF_CONSTRUCTION}

    def __init__(self, index: Any, ef_search: str | int = "protocol") -> None:
        if ef_search not in ("protocol", "agent") and (
                isinstance(ef_search, bool) or not isinstance(ef_search, int) or ef_search < 1):
            raise ParameterError(f"ef_search is {ef_search!r}",
                                 expected="protocol, agent or a whole number of at least 1",
                                 remedy="leave it out for the protocol's setting")
        self._index, self._ef_search = index, ef_search

    @classmethod
    def build(cls, vectors: np.ndarray, ef_search: str | int = "protocol") -> Graph:
        """Build the graph over vectors of shape (n, d), float32."""
        import faiss

        index = faiss.IndexHNSWFlat(vectors.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = EF_CONSTRUCTION
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            index.add(np.ascontiguousarray(vectors))
        finally:
            faiss.omp_set_num_threads(threads)
        return cls(index, ef_search)

    @classmethod
    def load(cls, path: Path, ef_search: str | int = "protocol") -> Graph:
        """Read a saved graph; raises `RuntimeError` for a file that FAISS cannot read."""
        import faiss

        return cls(faiss.read_index(str(path)), ef_search)

    def with_ef_search(self, ef_search: str | int) -> Graph:
        """Return the same graph, searched with another efSearch."""
        return Graph(self._index, ef_search)

    def save(self, path: Path) -> None:
        """Write graph and vectors to one file."""
        import faiss

        faiss.write_index(self._index, str(path))

    @property
    def vectors(self) -> np.ndarray:
        """The stored vectors, shape (n, d), float32: a view into the index, valid as long as this object lives."""
        import faiss

        rows, dimension = self._index.ntotal, self._index.d
        flat = faiss.downcast_index(self._index.storage)
        return faiss.rev_swig_ptr(flat.get_xb(), rows * dimension).reshape(rows, dimension)

    def ef(self, depth: int) -> int:
        """Return the efSearch used for a depth."""
        if self._ef_search == "protocol":
            return max(EF_PROTOCOL, EF_PER_RESULT * depth)
        return max(EF_AGENT if self._ef_search == "agent" else int(self._ef_search), depth)

    def rows(self, query: np.ndarray, wanted: int, kept: np.ndarray | None, total: int) -> np.ndarray | None:
        """Return at least `wanted` rows near `query` that may be ranked, or None when only an exact search can.

        Removed rows cannot crowd out others: as many more are fetched as were removed. FAISS's -1 for "not found" is
        dropped. None when so many would have to be fetched that the graph saves nothing, or when it found too few.
        """
        import faiss

        fetch = wanted + (0 if kept is None else total - len(kept))
        if fetch - wanted > MOST_REMOVED or 2 * fetch > total:
            return None
        parameters = faiss.SearchParametersHNSW(efSearch=self.ef(fetch))
        found = self._index.search(query[np.newaxis, :], fetch, params=parameters)[1][0]
        found = np.unique(found[found >= 0])
        if kept is not None:
            found = found[np.isin(found, kept, assume_unique=True)]
        return found if len(found) >= wanted else None
