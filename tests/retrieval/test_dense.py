from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_helpers import FakeEncoder, dataset_of

from litsynth.errors import IndexMismatchError, ModelError, ParameterError
from litsynth.retrieval.corpus import SearchCorpus
from litsynth.retrieval.dense import best_rows, build_dense, exact_scores, load_dense
from litsynth.retrieval.embeddings import EmbeddingStore
from litsynth.retrieval.encoder import to_grid
from litsynth.retrieval.hnsw import MOST_REMOVED, Graph


def unit_vectors(seed: int, rows: int, dimension: int) -> np.ndarray:
    return to_grid(np.random.default_rng(seed).normal(size=(rows, dimension)), normalise=True)


@given(st.integers(0, 10_000), st.sampled_from([3, 64, 1024]), st.booleans())
@settings(max_examples=30, deadline=None)
def test_scores_are_exact_whatever_the_order_of_summation(seed: int, dimension: int, normalise: bool) -> None:
    """Fractions give the exact inner product; reversed dimensions give the same bytes."""
    raw = np.random.default_rng(seed).normal(size=(5, dimension)) * 9
    vectors = to_grid(raw, normalise=normalise)
    scores = exact_scores(vectors, np.arange(5), vectors[0])
    for row in range(5):
        parts = zip(vectors[row].tolist(), vectors[0].tolist(), strict=True)
        assert Fraction(scores[row]) == sum(Fraction(a) * Fraction(b) for a, b in parts)
    turned = np.ascontiguousarray(vectors[:, ::-1])
    assert exact_scores(turned, np.arange(5), turned[0]).tobytes() == scores.tobytes()


@given(st.integers(0, 10_000), st.integers(1, 60))
@settings(max_examples=50, deadline=None)
def test_the_rough_search_never_loses_one_of_the_best(seed: int, k: int) -> None:
    vectors = unit_vectors(seed, 60, 32)
    vectors[30:] = vectors[:30]  # every score comes twice
    exact = exact_scores(vectors, np.arange(60), vectors[7])
    kept = np.flatnonzero(np.random.default_rng(seed).random(60) < 0.5)
    for rows in (None, kept):
        pool = np.arange(60) if rows is None else rows
        if not len(pool):
            continue
        floor = np.sort(exact[pool])[::-1][min(k, len(pool)) - 1]
        assert set(pool[exact[pool] >= floor]) <= set(best_rows(vectors, 1.001, vectors[7], k, rows).tolist())


def test_vectors_that_cannot_be_scored_are_errors() -> None:
    with pytest.raises(ModelError, match="not finite"):
        to_grid(np.array([[1.0, np.nan]]), normalise=True)
    with pytest.raises(ModelError, match="normalise=True"):
        to_grid(np.array([[300.0, 1.0]]), normalise=False)
    assert to_grid(np.zeros((1, 3)), normalise=True).tolist() == [[0, 0, 0]]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return unit_vectors(1, 3000, 16)


def test_the_same_vectors_give_the_same_graph_bytes(vectors: np.ndarray, tmp_path: Path) -> None:
    for name in ("one", "two"):
        Graph.build(vectors).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_graph_keeps_the_vectors_and_the_published_parameters(vectors: np.ndarray, tmp_path: Path) -> None:
    Graph.build(vectors).save(tmp_path / "graph")
    loaded = Graph.load(tmp_path / "graph")
    assert np.array_equal(loaded.vectors, vectors)
    index = faiss.read_index(str(tmp_path / "graph"))
    assert index.metric_type == faiss.METRIC_INNER_PRODUCT
    assert (index.hnsw.nb_neighbors(1), index.hnsw.efConstruction) == (32, 200)


def test_a_graph_gives_way_to_exact_search_where_it_cannot_serve(vectors: np.ndarray) -> None:
    graph, everything = Graph.build(vectors), len(vectors)
    few = np.arange(0, everything, 100)
    assert graph.rows(vectors[0], 5, few, everything) is None  # a filter that removes 99 %
    assert graph.rows(vectors[0], everything, None, everything) is None  # a whole ranking
    most = np.arange(MOST_REMOVED // 2, everything)
    found = graph.rows(vectors[0], 5, most, everything)
    assert len(found) >= 5
    assert found.min() >= MOST_REMOVED // 2


def test_too_few_finds_give_way_to_exact_search(vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """FAISS answers -1 for what it does not find (facebookresearch/faiss issue 3186)."""
    graph = Graph.build(vectors)

    class Stingy:
        def search(self, query: np.ndarray, fetch: int, params: object) -> tuple[np.ndarray, np.ndarray]:
            found = np.full((1, fetch), -1)
            found[0, 0] = 4
            return np.zeros((1, fetch)), found
    monkeypatch.setattr(graph, "_index", Stingy())
    assert graph.rows(vectors[0], 5, None, len(vectors)) is None
    assert graph.rows(vectors[0], 1, None, len(vectors)).tolist() == [4]


def test_search_effort_grows_with_depth_for_protocols_and_stays_small_for_agents(vectors: np.ndarray) -> None:
    graph = Graph.build(vectors[:50])
    assert graph.ef(5) == 512
    assert graph.ef(200) > 512
    assert (Graph(graph._index, "agent").ef(20), Graph(graph._index, "agent").ef(200)) == (64, 200)
    assert (Graph(graph._index, 300).ef(20), Graph(graph._index, 300).ef(400)) == (300, 400)
    for wrong in ("fast", 0, True):
        with pytest.raises(ParameterError, match="ef_search"):
            Graph(graph._index, wrong)


TEXTS = {3: "aspirin pain relief today", 1: "placebo", 2: "aspirin", 9: "one two three four five six seven"}


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_a_saved_index_gives_the_same_bytes(tmp_path: Path, kind: str) -> None:
    corpus, encoder = SearchCorpus(dataset_of(TEXTS)), FakeEncoder()
    store = EmbeddingStore.of(encoder, tmp_path)
    built = build_dense("fake", corpus, encoder, store, kind=kind)
    built.save(tmp_path / "index")
    encoder.encoded.clear()
    loaded = load_dense(tmp_path / "index", "fake", corpus, encoder, store)
    assert (loaded.kind, loaded.share_cut) == (kind, 0.25)  # one text has 7 words + 2 special tokens, over 6
    one, other = built.search("aspirin", 3, exclude=[2]), loaded.search("aspirin", 3, exclude=[2])
    assert one.ids.tobytes() == other.ids.tobytes()
    assert one.scores.tobytes() == other.scores.tobytes()
    assert encoder.encoded == ["aspirin"]
    assert loaded.identity == built.identity


def test_an_index_of_another_encoder_revision_or_kind_is_refused(tmp_path: Path) -> None:
    corpus, encoder = SearchCorpus(dataset_of(TEXTS)), FakeEncoder()
    store = EmbeddingStore.of(encoder, tmp_path)
    build_dense("fake", corpus, encoder, store).save(tmp_path / "index")
    other = FakeEncoder(revision="2")
    load_dense(tmp_path / "index", "fake", corpus, other, store)  # the same files: the same encoder
    other.files = replace(other.files, fingerprint="e" * 64)
    both = r"files_sha256 is 'f.*encoder\.revision is '1' in the index and '2' here"
    with pytest.raises(IndexMismatchError, match=both):
        load_dense(tmp_path / "index", "fake", corpus, other, store)
    with pytest.raises(IndexMismatchError, match=r"encoder\.max_tokens is 6 in the index and 5 here"):
        load_dense(tmp_path / "index", "fake", corpus, FakeEncoder(max_tokens=5), store)
    with pytest.raises(IndexMismatchError, match="kind is 'flat' in the index and 'hnsw' here"):
        load_dense(tmp_path / "index", "fake", corpus, encoder, store, kind="hnsw")
    with pytest.raises(IndexMismatchError, match=r"corpus\.sha256"):
        load_dense(tmp_path / "index", "fake", SearchCorpus(dataset_of({**TEXTS, 1: "changed"})), encoder, store)


def test_a_blank_query_finds_nothing_and_a_depth_beyond_the_corpus_finds_all(tmp_path: Path) -> None:
    encoder = FakeEncoder()
    for kind in ("flat", "hnsw"):
        retriever = build_dense("fake", SearchCorpus(dataset_of(TEXTS)), encoder,
                                EmbeddingStore.of(encoder, tmp_path), kind=kind)
        assert len(retriever.search(" \n", 5)) == 0
        assert len(retriever.search("aspirin", 500)) == len(TEXTS)
        assert len(retriever.search("aspirin", 5, allowed=[])) == 0
