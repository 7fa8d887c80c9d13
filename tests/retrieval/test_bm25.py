from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi
from retrieval_helpers import dataset_of

from litsynth import text
from litsynth.errors import DataError, IndexMismatchError, ParameterError
from litsynth.retrieval import SearchCorpus, open_retriever
from litsynth.retrieval.bm25 import Bm25Retriever

WORDS = ["aspirin", "placebo", "pain", "common", "every", "trial"]
TEXTS = {5: "aspirin pain", 3: "aspirin pain", 9: "", 1: "placebo", 2: "beta gamma", 4: "delta", 6: "omega"}
DOCUMENTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS, st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=8))
def test_scores_are_those_of_rank_bm25(documents: list[list[str]], query: list[str]) -> None:
    """Very common words, empty documents and repeated query words included; rank_bm25 0.2.2 is the reference."""
    documents = [[*words, "common"] if row % 3 else words for row, words in enumerate(documents)]
    ours = Bm25Retriever(SearchCorpus(dataset_of({row + 1: " ".join(words) for row, words in enumerate(documents)})))
    ranking = ours.search(" ".join(query), len(documents))
    # BM25Okapi divides by zero where no document has a word; nothing matches there.
    expected = BM25Okapi(documents).get_scores(query) if any(documents) else np.zeros(len(documents))
    got = dict(zip(ranking.ids.tolist(), ranking.scores.tolist(), strict=True))
    for row, score in enumerate(expected.tolist()):
        # Scores within rounding of 0 may fall on either side of "positive".
        assert got.get(row + 1, 0.0) == pytest.approx(max(score, 0.0), abs=1e-6)


@pytest.fixture
def retriever() -> Bm25Retriever:
    return open_retriever("bm25", dataset_of(TEXTS))


def test_ties_are_broken_by_id_and_depth_is_capped(retriever: Bm25Retriever) -> None:
    assert retriever.search("pain aspirin", 1).ids.tolist() == [3]
    assert retriever.search("pain aspirin", 1000).ids.tolist() == [3, 5]


def test_nothing_is_retrieved_for_words_that_no_document_has(retriever: Bm25Retriever) -> None:
    for query in ("zzz", "", "a of the", "!?"):
        assert len(retriever.search(query, 5)) == 0


@pytest.mark.parametrize("k", [0, -1, True, 2.5, "3", None])
def test_an_impossible_depth_is_an_error(retriever: Bm25Retriever, k: object) -> None:
    with pytest.raises(ParameterError, match=r"k is .*at least 1"):
        retriever.search("pain", k)


def test_a_saved_index_gives_the_same_bytes_memory_mapped(retriever: Bm25Retriever, tmp_path: Path) -> None:
    retriever.save(tmp_path / "index")
    loaded = open_retriever("bm25", dataset_of(TEXTS), tmp_path / "index")
    assert isinstance(loaded._engine.scores["data"], np.memmap)
    for exclude in ((), (3,)):
        ours, theirs = (one.search("aspirin pain placebo", 9, exclude=exclude) for one in (retriever, loaded))
        assert ours.ids.tobytes() == theirs.ids.tobytes()
        assert ours.scores.tobytes() == theirs.scores.tobytes()


def test_an_index_of_another_corpus_is_refused_and_both_sides_are_named(
        retriever: Bm25Retriever, tmp_path: Path) -> None:
    retriever.save(tmp_path / "index")
    with pytest.raises(IndexMismatchError, match=r"corpus.articles is 7 in the index and 1 here.*corpus.sha256"):
        open_retriever("bm25", dataset_of({1: "placebo"}), tmp_path / "index")


def test_an_index_of_another_stop_list_is_refused(
        retriever: Bm25Retriever, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    retriever.save(tmp_path / "index")
    monkeypatch.setattr("litsynth.retrieval.bm25.STOP_WORDS", text.STOP_WORDS | {"pain"})
    with pytest.raises(IndexMismatchError, match="stop_words_sha256"):
        Bm25Retriever.load(tmp_path / "index", retriever._corpus)


def test_a_cut_index_file_is_an_error_that_says_what_to_do(retriever: Bm25Retriever, tmp_path: Path) -> None:
    retriever.save(tmp_path / "index")
    whole = next((tmp_path / "index").glob("data*.npy"))
    whole.write_bytes(whole.read_bytes()[:-5])
    with pytest.raises(DataError, match=r"damaged.*bytes instead of.*litsynth index"):
        Bm25Retriever.load(tmp_path / "index", retriever._corpus)


def test_an_empty_corpus_is_an_error() -> None:
    with pytest.raises(DataError, match="empty corpus"):
        open_retriever("bm25", dataset_of({}))
