from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_helpers import dataset_of, every_retriever

from litsynth.errors import ParameterError
from litsynth.retrieval import open_retriever
from litsynth.retrieval.oracle import oracle_ranking

# "pain" stands in two of seven documents, so its weight is positive; 8 and 2 do not match the query.
TEXTS = {1: "pain pain aspirin", 4: "pain opium", 8: "beta", 2: "gamma", 5: "delta", 6: "omega", 7: "kappa"}


def test_references_come_first_by_score_then_the_silent_ones_by_id_then_the_rest() -> None:
    retriever = open_retriever("bm25", dataset_of(TEXTS))
    ranking = oracle_ranking(retriever, "pain", 10, included_ids={8, 4, 2, 99})
    assert ranking.ids.tolist() == [4, 2, 8, 1]
    assert ranking.scores[1:3].tolist() == [0, 0]
    assert oracle_ranking(retriever, "pain", 2, included_ids={8, 4, 2}).ids.tolist() == [4, 2]
    assert oracle_ranking(retriever, "pain", 10, included_ids={8, 4}, exclude=[4, 1]).ids.tolist() == [8]
    assert oracle_ranking(retriever, "pain", 10, included_ids=()).ids.tolist() == [1, 4]
    with pytest.raises(ParameterError, match="k is 0"):
        oracle_ranking(retriever, "pain", 0, included_ids=())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embeddings")


@settings(max_examples=25, deadline=None)
@given(st.sets(st.sampled_from([*TEXTS, 99])), st.sets(st.sampled_from(sorted(TEXTS))), st.integers(1, 9))
def test_labels_change_the_order_only(folder: Path, included: set[int], exclude: set[int], k: int) -> None:
    for retriever in every_retriever(TEXTS, folder):
        oracle = oracle_ranking(retriever, "pain aspirin", k, included_ids=included, exclude=exclude).ids.tolist()
        references = (included & set(TEXTS)) - exclude
        assert set(oracle[:len(references)]) <= references
        assert not set(oracle) & exclude
        plain = retriever.search("pain aspirin", len(TEXTS), exclude=exclude).ids.tolist()
        rest = [number for number in plain if number not in references]
        assert oracle[len(references):] == rest[:max(0, k - len(references))]
        found = [number for number in plain if number in references]
        assert oracle[:len(found)] == found[:k]
