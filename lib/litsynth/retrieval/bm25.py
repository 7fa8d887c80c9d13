"""Okapi BM25 with the scores of `rank_bm25.BM25Okapi`, stored and computed by bm25s."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from litsynth.files import sha256_of
from litsynth.records import Ranking
from litsynth.retrieval.corpus import SearchCorpus
from litsynth.retrieval.exclusion import check_depth, kept_rows
from litsynth.retrieval.index_files import check_identity, read_manifest, readable, write_index
from litsynth.text import STOP_WORDS, words

if TYPE_CHECKING:
    import bm25s

K1, B, EPSILON = 1.5, 0.75, 0.25
TOKENISER = r"litsynth.text.words: lower case, \b\w+\b, longer than two characters/1"


def okapi_idf(frequencies: np.ndarray, documents: int) -> np.ndarray:
    """Return the inverse document frequency of every word as `rank_bm25.BM25Okapi` weights it.

    `frequencies`, shape (words,), counts the documents that hold each word (at least 1). ln((N - n + 0.5)/(n + 0.5)),
    and EPSILON times the mean of it over the vocabulary where that is negative, that is for words in more than
    half of the documents (Trotman, Puurula and Burgess 2014, doi 10.1145/2682862.2682863, discuss such floors).
    """
    idf = np.array([math.log(documents - n + 0.5) - math.log(n + 0.5) for n in frequencies.tolist()])
    if len(idf):
        idf[idf < 0] = EPSILON * (sum(idf.tolist()) / len(idf))
    return idf


def _build_engine(corpus: SearchCorpus) -> bm25s.BM25:
    """Index all documents: each posting holds idf x tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length)).

    bm25s has this weight of the term frequency (`atire`) but no idf with Okapi's floor. Its `bm25l` idf, the one that
    is positive for every word, is therefore divided out again, which costs one rounding in the sixteenth digit.
    """
    import bm25s

    vocabulary: dict[str, int] = {}
    rows = [[vocabulary.setdefault(word, len(vocabulary)) for word in words(text)] for text in corpus.texts()]
    vocabulary = vocabulary or {"": 0}  # no document has a word: a column that no query can name
    engine = bm25s.BM25(k1=K1, b=B, method="atire", idf_method="bm25l", dtype="float64")
    with np.errstate(invalid="ignore"):  # 0/0 for the length of documents where none has a word
        engine.index((rows, vocabulary), create_empty_token=False, show_progress=False)
    frequencies = np.diff(engine.scores["indptr"])
    present = frequencies > 0
    library_idf = np.array([math.log((len(corpus) + 1) / (n + 0.5)) for n in frequencies[present].tolist()])
    correction = okapi_idf(frequencies[present], len(corpus)) / library_idf
    engine.scores["data"] *= np.repeat(correction, frequencies[present])
    return engine


def _identity(corpus: SearchCorpus) -> dict[str, Any]:
    return {"retriever": "bm25", "corpus": corpus.identity, "k1": K1, "b": B, "epsilon": EPSILON,
            "tokeniser": TOKENISER, "stop_words_sha256": sha256_of(sorted(STOP_WORDS))}


class Bm25Retriever:
    """BM25 over title and abstract.

    Document frequencies and lengths are those of the whole corpus, whatever a search excludes. A word that a query
    repeats counts as often as it stands there. Documents without a positive score are not retrieved.
    """

    name = "bm25"

    def __init__(self, corpus: SearchCorpus, engine: bm25s.BM25 | None = None) -> None:
        self._corpus = corpus
        self._engine = engine if engine is not None else _build_engine(corpus)

    @property
    def corpus_ids(self) -> np.ndarray:
        """The IDs of all searchable articles, ascending, shape (n,)."""
        return self._corpus.ids

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the rankings: corpus, tokeniser, stop words and parameters."""
        return _identity(self._corpus)

    def search(self, query: str, k: int, *, exclude: Iterable[int] = (),
               allowed: Iterable[int] | None = None) -> Ranking:
        """Return at most `k` articles with positive scores, best first; excluded rows leave before the cut at `k`."""
        depth, kept = check_depth(k), kept_rows(self.corpus_ids, exclude, allowed)
        tokens = self._engine.get_tokens_ids(words(query))
        scores = self._engine.get_scores_from_ids(tokens) if tokens else np.zeros(len(self._corpus))
        rows = np.flatnonzero(scores > 0) if kept is None else kept[scores[kept] > 0]
        return Ranking.of(self.corpus_ids[rows], scores[rows], depth)

    def save(self, directory: Path) -> dict[str, Any]:
        """Write the index to `directory`, atomically; returns its manifest's identity and details."""
        details = {"words": len(self._engine.vocab_dict), "postings": len(self._engine.scores["data"])}
        manifest = {"kind": "bm25", "identity": self.identity, "details": details}
        write_index(directory, manifest, lambda folder: self._engine.save(folder, show_progress=False))
        return manifest

    @classmethod
    def load(cls, directory: Path, corpus: SearchCorpus) -> Bm25Retriever:
        """Open a saved index memory-mapped; raises `IndexMismatchError` for one of another corpus or definition."""
        import bm25s

        check_identity(directory, read_manifest(directory, ("bm25",))["identity"], _identity(corpus))
        with readable(directory):
            return cls(corpus, bm25s.BM25.load(directory, mmap=True, show_progress=False))
