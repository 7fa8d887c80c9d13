"""The eight identifier metrics, against hand-derived values and identities that hold for all inputs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litsynth.scoring.identifiers import ID_METRICS, id_metrics, unmatched_count

IDS = st.lists(st.integers(min_value=0, max_value=40), max_size=30)


def test_values_derived_by_hand():
    # G = {1..4}, P = {1, 2, 3, 9, 10}, L = {1, 9}, U = {77}: P∩G = {1, 2, 3}, P∩G∩L = {1}.
    # Agreeing decisions in P: 1 (in, in), 10 (out, out) of 5. Precision 1/(2+1), recall 1/4, F1 = 2/(3+4).
    metrics = id_metrics({1, 2, 3, 4}, [1, 9, 9], [1, 2, 3, 9, 10, 10], [77, 77], [])
    assert metrics == pytest.approx(
        {
            "retrieval_recall": 3 / 4,
            "retrieval_precision": 3 / 5,
            "conditional_retention": 1 / 3,
            "post_retrieval_loss": 2 / 4,
            "inclusion_recall": 1 / 4,
            "inclusion_precision": 1 / 3,
            "inclusion_f1": 2 / 7,
            "screening_accuracy": 2 / 5,
        }
    )


def test_no_reference_set_gives_null_for_every_metric():
    assert id_metrics(set(), [1], [1, 2]) == dict.fromkeys(ID_METRICS)
    assert id_metrics(None, [1], [1, 2]) == dict.fromkeys(ID_METRICS)


def test_nothing_predicted_is_zero_not_null():
    metrics = id_metrics({1, 2}, [], [1, 3])
    assert (metrics["inclusion_recall"], metrics["inclusion_precision"], metrics["inclusion_f1"]) == (0.0, 0.0, 0.0)
    assert metrics["conditional_retention"] == 0.0
    assert metrics["post_retrieval_loss"] == 0.5


def test_nothing_found_leaves_retention_undefined_but_loss_zero():
    metrics = id_metrics({1, 2}, [], [3, 4])
    assert metrics["conditional_retention"] is None
    assert metrics["post_retrieval_loss"] == 0.0
    assert metrics["screening_accuracy"] == 1.0


def test_nothing_retrieved():
    metrics = id_metrics({1}, [], [])
    assert metrics["retrieval_recall"] == metrics["retrieval_precision"] == 0.0
    assert metrics["conditional_retention"] is None
    assert metrics["screening_accuracy"] is None


def test_entries_that_differ_in_case_or_spacing_are_one():
    assert unmatched_count([5, 5, 6], ["A  trial of X", "a trial of x ", "Another"]) == 4
    assert id_metrics({1}, [1], [1], [], ["A b", " a  B"])["inclusion_precision"] == 0.5


@given(st.sets(st.integers(min_value=0, max_value=40), min_size=1), IDS, IDS, IDS)
def test_identities(reference, retrieved, chosen, unmatched):
    included = [i for i in chosen if i in set(retrieved)]
    unmatched = [100 + i for i in unmatched]
    metrics = id_metrics(reference, included, retrieved, unmatched)
    assert set(metrics) == set(ID_METRICS)
    assert all(value is None or 0.0 <= value <= 1.0 for value in metrics.values())
    recall, retention = metrics["inclusion_recall"], metrics["conditional_retention"]
    # L ⊆ P: |L∩G|/|G| = (|P∩G∩L|/|P∩G|)·(|P∩G|/|G|), and what is retrieved is either kept or lost.
    if retention is None:
        assert metrics["retrieval_recall"] == recall == 0.0
    else:
        assert recall == pytest.approx(retention * metrics["retrieval_recall"])
    assert metrics["retrieval_recall"] == pytest.approx(recall + metrics["post_retrieval_loss"])
    precision = metrics["inclusion_precision"]
    expected_f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert metrics["inclusion_f1"] == pytest.approx(expected_f1)


@given(st.sets(st.integers(min_value=0, max_value=40), min_size=1), IDS, IDS)
def test_order_and_repetition_change_nothing(reference, retrieved, chosen):
    once = id_metrics(reference, set(chosen), set(retrieved))
    assert id_metrics(sorted(reference), chosen + chosen[::-1], retrieved[::-1] + retrieved) == once
