"""Measures of screening: work, decisions, calibration, errors by criterion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import ParameterError
from litsynth.scoring.screening import (
    brier_score,
    criterion_errors,
    decisions_of,
    expected_calibration_error,
    reading_depth,
    recall_at_workload,
    reliability,
)

TENTHS = tuple(step / 10 for step in range(11))


def test_recall_at_a_workload_by_hand():
    ranked = [5, 1, 4, 2, 3]
    # A fifth of five is one article (5), two fifths are two (5, 1), three fifths three (5, 1, 4).
    assert [recall_at_workload(ranked, {1, 4}, share) for share in (0.2, 0.4, 0.6, 1.0)] == [0.0, 0.5, 1.0, 1.0]
    assert recall_at_workload(ranked, {1, 9}, 1.0) == 0.5, "what is no candidate stays in the denominator"
    assert recall_at_workload(ranked, set(), 0.5) is None
    assert reading_depth(0.2, 5) == 1, "not 2 for the sake of a rounding error"
    assert reading_depth(0.01, 5) == 1


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01])
def test_impossible_workloads_are_refused(share):
    with pytest.raises(ParameterError, match="workload"):
        recall_at_workload([1, 2], {1}, share)


def test_decisions_by_hand():
    made = decisions_of(range(10), {0, 1, 2, 77}, {1, 2, 3, 88})
    assert (made.tp, made.fp, made.fn, made.tn) == (2, 1, 1, 6)
    assert made.recall == made.precision == pytest.approx(2 / 3)
    assert made.f1 == pytest.approx(2 / 3)
    assert made.workload == 0.3
    nothing = decisions_of(range(4), set(), {1})
    assert (nothing.recall, nothing.precision, nothing.f1) == (0.0, 0.0, 0.0)
    empty = decisions_of(range(4), set(), set())
    assert (empty.recall, empty.precision, empty.f1, empty.workload) == (None, None, None, 0.0)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_decisions_agree_with_scikit_learn(rows):
    from sklearn.metrics import f1_score, precision_score, recall_score

    chosen, wanted = ({i for i, row in enumerate(rows) if row[place]} for place in (0, 1))
    made = decisions_of(range(len(rows)), chosen, wanted)
    labels = [row[1] for row in rows], [row[0] for row in rows]
    assert made.tp + made.fp + made.fn + made.tn == len(rows)
    for own, theirs in ((made.recall, recall_score), (made.precision, precision_score), (made.f1, f1_score)):
        assert (own or 0.0) == pytest.approx(theirs(*labels, zero_division=0.0))


def test_calibration_by_hand():
    chances, labels = [0.1, 0.1, 0.8, 0.8], [False, True, True, True]
    # Brier: (0.01 + 0.81 + 0.04 + 0.04) / 4. Bins: 0.1 against 1/2 and 0.8 against 1, two candidates each.
    assert brier_score(chances, labels) == pytest.approx(0.225)
    assert expected_calibration_error(chances, labels, TENTHS) == pytest.approx((0.4 + 0.2) / 2)
    bins = reliability(chances, labels, TENTHS)
    assert [(part.low, part.count, part.share_relevant) for part in bins] == [(0.1, 2, 0.5), (0.8, 2, 1.0)]
    assert reliability([1.0, 0.0], [True, False], TENTHS)[-1].count == 1, "the last bin holds 1"
    assert brier_score([], []) is None
    assert expected_calibration_error([], [], TENTHS) is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1))
def test_bins_hold_every_candidate_once_and_the_brier_score_is_that_of_scikit_learn(rows):
    from sklearn.metrics import brier_score_loss

    chances, labels = [row[0] for row in rows], [row[1] for row in rows]
    assert sum(part.count for part in reliability(chances, labels, TENTHS)) == len(rows)
    assert 0 <= expected_calibration_error(chances, labels, TENTHS) <= 1
    if len(set(labels)) == 2:
        assert brier_score(chances, labels) == pytest.approx(brier_score_loss(labels, chances))


@pytest.mark.parametrize(("chances", "labels", "edges"), [
    ([1.1], [True], TENTHS), ([0.5], [True, False], TENTHS), ([float("nan")], [True], TENTHS),
    ([0.9], [True], (0.0, 0.5)), ([0.5], [True], (0.0, 0.0, 1.0)),
])
def test_impossible_probabilities_and_edges_are_refused(chances, labels, edges):
    with pytest.raises(ParameterError):
        reliability(chances, labels, edges)


def test_errors_by_criterion_count_only_candidates():
    fails = {1: "population", 2: "population", 3: "design", 99: "design"}
    rows = criterion_errors([1, 2, 3, 4], [1, 4], fails, {2: "population", 3: "outcome"})
    assert [(r.criterion, r.candidates, r.included, r.named) for r in rows] == [
        ("design", 1, 0, 0), ("population", 2, 1, 1)]
    assert criterion_errors([4], [4], fails) == []


@settings(deadline=None)
@given(st.permutations(list(range(12))), st.sets(st.integers(0, 11), min_size=1))
def test_reading_more_never_finds_less(ranked, relevant):
    curve = [recall_at_workload(ranked, relevant, share) for share in np.linspace(0.05, 1, 20)]
    assert curve == sorted(curve)
    assert curve[-1] == 1.0
