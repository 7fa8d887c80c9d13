import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, P, R, nDCG

from litsynth.errors import ParameterError
from litsynth.records import Ranking
from litsynth.retrieval import measures

DEPTHS = (1, 3, 5, 10)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 30), unique=True, max_size=20), st.sets(st.integers(0, 30), min_size=1, max_size=12),
       st.randoms(use_true_random=False))
def test_measures_agree_with_ir_measures(ids: list[int], relevant: set[int], random: object) -> None:
    """ir_measures 0.4 (trec_eval's code) is the reference; ties are ordered by our rule before both measure."""
    ranking = Ranking.of(np.array(ids, dtype=np.int64), [random.choice([0.1, 0.2, 0.3]) for _ in ids])
    run = [ir_measures.ScoredDoc("q", str(number), float(-rank)) for rank, number in enumerate(ranking.ids.tolist())]
    qrels = [ir_measures.Qrel("q", str(number), 1) for number in relevant]
    wanted = [measure @ k for measure in (P, R, nDCG) for k in DEPTHS]
    expected = ir_measures.calc_aggregate([*wanted, AP], qrels, run)
    for k in DEPTHS:
        assert measures.precision_at_k(ranking.ids, relevant, k) == pytest.approx(expected[P @ k])
        assert measures.recall_at_k(ranking.ids, relevant, k) == pytest.approx(expected[R @ k])
        assert measures.ndcg_at_k(ranking.ids, relevant, k) == pytest.approx(expected[nDCG @ k])
    assert measures.average_precision(ranking.ids, relevant) == pytest.approx(expected[AP])


def test_nothing_retrieved_counts_as_zero_and_nothing_relevant_as_no_value() -> None:
    for measure in (measures.recall_at_k, measures.precision_at_k, measures.ndcg_at_k):
        assert measure([], {1}, 5) == 0
        assert measure([1, 2], set(), 5) is None
    assert (measures.average_precision([], {1}), measures.average_precision([1], [])) == (0, None)


def test_precision_is_divided_by_the_depth_asked_for() -> None:
    assert measures.precision_at_k([1, 2], {1, 2}, 4) == 0.5


def test_the_last_included_has_a_rank_only_when_all_are_found() -> None:
    assert measures.rank_of_last_included([5, 1, 7, 2], {1, 2}) == 4
    assert measures.rank_of_last_included([5, 1, 7], {1, 2}) is None
    assert measures.rank_of_last_included([5], set()) is None


def test_work_saved_over_sampling_by_hand() -> None:
    """100 candidates, 20 relevant: 95 % are 19. They are found at rank 30 below, so 70 go unread: 0.70 - 0.05."""
    ranked = list(range(11)) + list(range(100, 111)) + list(range(11, 19)) + list(range(111, 151)) + [19]
    assert measures.work_saved_over_sampling(ranked, range(20), 100) == pytest.approx(0.65)
    # All of two must be found for 95 %: at rank 4 of 10, (10 - 4) / 10 - 0.05.
    assert measures.work_saved_over_sampling([8, 1, 9, 2], {1, 2}, 10) == pytest.approx(0.55)
    # Read to the very end: (10 - 10) / 10 - 0.05, worse than chance.
    assert measures.work_saved_over_sampling([*range(2, 10), 0, 1], {0, 1}, 10) == pytest.approx(-0.05)
    assert measures.work_saved_over_sampling([8, 1, 9], {1, 2}, 10) is None
    assert measures.work_saved_over_sampling([8], set(), 10) is None
    # The half of four relevant, at recall 0.5: rank 2 of 8, 6/8 - 0.5.
    assert measures.work_saved_over_sampling([1, 2, 3, 4], {1, 2, 3, 4}, 8, recall=0.5) == pytest.approx(0.25)


def test_impossible_arguments_are_errors() -> None:
    with pytest.raises(ParameterError, match="more than once"):
        measures.average_precision([1, 1], {1})
    with pytest.raises(ParameterError, match="candidates is 1"):
        measures.work_saved_over_sampling([1, 2], {1}, 1)
    with pytest.raises(ParameterError, match="recall is 0"):
        measures.work_saved_over_sampling([1], {1}, 1, recall=0)
    with pytest.raises(ParameterError, match="k is 0"):
        measures.recall_at_k([1], {1}, 0)


@given(st.permutations(range(12)), st.sets(st.integers(0, 11), min_size=1), st.integers(1, 12))
def test_numpy_ids_and_plain_ones_measure_the_same(ids: list[int], relevant: set[int], k: int) -> None:
    assert measures.ndcg_at_k(np.array(ids), relevant, k) == measures.ndcg_at_k(ids, relevant, k)
    assert 0 <= measures.average_precision(ids, relevant) <= 1
