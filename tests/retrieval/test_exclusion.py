from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from retrieval_helpers import every_retriever

from litsynth.errors import ParameterError
from litsynth.retrieval.exclusion import id_array

WORDS = ["aspirin", "placebo", "pain", "trial", "every"]
TEXTS = st.dictionaries(st.integers(0, 60), st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
                        min_size=1, max_size=12)
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
RELAXED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embeddings")


@RELAXED
@given(TEXTS, QUERIES, st.data())
def test_excluded_articles_are_absent_at_every_depth_and_cost_no_place(
        folder: Path, texts: dict[int, str], query: str, data: st.DataObject) -> None:
    exclude = data.draw(st.lists(st.sampled_from(sorted(texts)), max_size=len(texts)))
    allowed = data.draw(st.none() | st.lists(st.sampled_from([*texts, 999]), max_size=len(texts)))
    for retriever in every_retriever(texts, folder):
        may = (set(texts) if allowed is None else set(allowed) & set(texts)) - set(exclude)
        whole = retriever.search(query, len(texts), exclude=exclude, allowed=allowed)
        matching = len(may) if retriever.name != "bm25" else len(whole)
        if retriever.name == "bm25":
            free = retriever.search(query, len(texts))
            assert set(whole.ids.tolist()) == set(free.ids.tolist()) & may
        for k in range(1, len(texts) + 1):
            ranking = retriever.search(query, k, exclude=exclude, allowed=allowed)
            assert set(ranking.ids.tolist()) <= may
            assert len(ranking) == min(k, matching)
            assert len(set(ranking.ids.tolist())) == len(ranking)
            if retriever.name in ("bm25", "flat", "hybrid:bm25+flat"):
                assert ranking.ids.tolist() == whole.ids.tolist()[:k]


@RELAXED
@given(TEXTS, QUERIES, st.randoms(use_true_random=False))
def test_rankings_do_not_depend_on_the_order_of_the_corpus(
        folder: Path, texts: dict[int, str], query: str, random: object) -> None:
    shuffled = list(texts.items())
    random.shuffle(shuffled)
    for one, other in zip(every_retriever(texts, folder), every_retriever(dict(shuffled), folder), strict=True):
        first, second = one.search(query, len(texts)), other.search(query, len(texts))
        assert first.ids.tobytes() == second.ids.tobytes()
        assert first.scores.tobytes() == second.scores.tobytes()
        assert (np.diff(first.scores) <= 0).all()


@RELAXED
@given(TEXTS, QUERIES)
def test_searching_twice_gives_the_same_bytes(folder: Path, texts: dict[int, str], query: str) -> None:
    for retriever in every_retriever(texts, folder):
        assert retriever.search(query, 5).scores.tobytes() == retriever.search(query, 5).scores.tobytes()


@pytest.mark.parametrize("ids", ["12", 5, [1, "2"], [1.0], [True]])
def test_ids_that_are_no_integers_are_refused(ids: object) -> None:
    with pytest.raises(ParameterError, match="exclude"):
        id_array("exclude", ids)


def test_ids_may_be_arrays_and_generators() -> None:
    assert id_array("exclude", np.array([3, 1, 3], dtype=np.int32)).tolist() == [1, 3]
    assert id_array("exclude", (number for number in (2, 1))).tolist() == [1, 2]
