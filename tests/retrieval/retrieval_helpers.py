"""Small corpora and a fake encoder for the tests of this room."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litsynth.records import Article, Dataset
from litsynth.retrieval.bm25 import Bm25Retriever
from litsynth.retrieval.corpus import SearchCorpus
from litsynth.retrieval.dense import build_dense
from litsynth.retrieval.embeddings import EmbeddingStore
from litsynth.retrieval.encoder import to_grid
from litsynth.retrieval.encoder_files import EncoderFiles, EncoderSettings
from litsynth.retrieval.hybrid import HybridRetriever

DIMENSION = 8


def dataset_of(texts: Mapping[int, str], **fields: Any) -> Dataset:
    """Return a data set whose articles have these texts as abstracts, in this order."""
    corpus = {number: Article(number, "", text) for number, text in texts.items()}
    return Dataset("tiny", "0" * 64, True, corpus=corpus, **fields)


class FakeEncoder:
    """Turns a text into the sum of its words' pseudo-random vectors: equal bags of words tie exactly."""

    chunk = 4

    def __init__(self, **changes: Any) -> None:
        settings = EncoderSettings("fake", "fake", "1", query_prefix="", document_prefix="", max_tokens=6)
        self.files = EncoderFiles(EncoderSettings(**{**vars(settings), **changes}), Path("fake"), "f" * 64)
        self.encoded: list[str] = []

    @property
    def identity(self) -> dict[str, Any]:
        return self.files.identity

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.encoded.extend(texts)
        rows = []
        for text in texts:
            row = np.full(DIMENSION, 0.01)
            for word in sorted(text.split()):
                digest = hashlib.sha256(word.encode()).digest()
                row += np.frombuffer(digest[:DIMENSION], dtype=np.uint8) / 255.0 - 0.5
            rows.append(row)
        return to_grid(np.array(rows), normalise=True)


def every_retriever(texts: Mapping[int, str], folder: Path) -> list[Any]:
    """Return bm25, flat, hnsw (protocol and agent) and their hybrids over these texts."""
    corpus = SearchCorpus(dataset_of(texts))

    def dense(name: str, kind: str, ef_search: str = "protocol") -> Any:
        encoder = FakeEncoder()
        return build_dense(name, corpus, encoder, EmbeddingStore.of(encoder, folder), kind=kind, ef_search=ef_search)
    bm25, flat, graph = Bm25Retriever(corpus), dense("flat", "flat"), dense("hnsw", "hnsw")
    return [bm25, flat, graph, dense("agent", "hnsw", "agent"), HybridRetriever("hybrid:bm25+flat", [bm25, flat]),
            HybridRetriever("hybrid:all", [bm25, flat, graph])]
