"""The system without a model: its features by hand, its threshold, its report."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hostile import REVIEW, searcher
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import ParameterError
from litsynth.records import Article, Ranking, Review
from litsynth.scoring.selection import parse_selection
from litsynth.systems import open_system
from litsynth.systems.candidates import RankedCandidates
from litsynth.systems.extractive_review import FEATURES, ExtractiveReview, features

EVERYTHING = ExtractiveReview(intercept=0.0, weights={}, threshold=0.5)


def test_features_by_hand():
    rows = [dict(zip(FEATURES, row, strict=True)) for row in features(REVIEW, searcher().candidates(5))]
    # Scores fall from 10 to 1 in equal steps: 10, 7.75, 5.5, 3.25, 1.
    assert [row["score"] for row in rows] == pytest.approx([1.0, 0.775, 0.55, 0.325, 0.1])
    # Article 11 names all of "infants colic", "lactocillin drops", "placebo", "crying time"; 15 names none.
    assert [rows[0][name] for name in ("population", "acted", "comparison", "outcome")] == [1.0] * 4
    assert [rows[4][name] for name in ("population", "acted", "comparison", "outcome")] == [0.0] * 4
    assert [row["design_wanted"] for row in rows] == [1.0, 0.0, 1.0, 1.0, 0.0]
    assert [row["design_unwanted"] for row in rows] == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert [row["outside_dates"] for row in rows] == [0.0, 0.0, 0.0, 1.0, 0.0]
    assert [row["no_abstract"] for row in rows] == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_a_field_that_is_not_reported_takes_the_mean_of_the_others():
    review = Review(1, "test", "Colic?", population="infants", intervention="NR", exposure="smoking", outcome=None)
    articles = {1: Article(1, "Smoking parents", ""), 2: Article(2, "Smoking and infants", "")}
    found = RankedCandidates("q", Ranking(np.array([1, 2]), np.array([1.0, 1.0])), articles)
    rows = [dict(zip(FEATURES, row, strict=True)) for row in features(review, found.candidates(2))]
    assert (rows[0]["population"], rows[0]["acted"]) == (0.0, 1.0)
    assert rows[0]["comparison"] == rows[0]["outcome"] == 0.5


@settings(max_examples=30, deadline=None)
@given(st.permutations([11, 12, 13, 14, 15]))
def test_the_order_of_candidates_changes_no_decision(order):
    scores = dict(zip((11, 12, 13, 14, 15), (9.0, 7.0, 5.0, 3.0, 1.0), strict=True))
    base = searcher()
    shuffled = RankedCandidates(base.query, Ranking(np.array(order), np.array([scores[i] for i in order])),
                                base.articles)
    straight = RankedCandidates(base.query, Ranking(np.array(list(scores)), np.array(list(scores.values()))),
                                base.articles)
    system = ExtractiveReview(threshold=0.4)
    assert set(system.review(REVIEW, shuffled).included_ids) == set(system.review(REVIEW, straight).included_ids)


def test_probability_and_threshold():
    system = ExtractiveReview(intercept=-1.0, weights={"score": 2.0}, threshold=0.5)
    chances = system.probabilities(REVIEW, searcher().candidates(5))
    assert chances[0] == pytest.approx(1 / (1 + math.exp(-1.0)))  # -1 + 2 × 1
    # At 0.5 the sum is 0: scores of at least one half of the best are in, 10, 7.75 and 5.5.
    assert system.review(REVIEW, searcher()).included_ids == (11, 12, 13)
    assert ExtractiveReview(intercept=-1.0, weights={"score": 2.0}, threshold=1.0).review(
        REVIEW, searcher()).included_ids == ()


@pytest.mark.parametrize("ids", [(11, 12, 13, 14, 15), (12,), (13, 12)])
def test_the_report_says_what_was_decided(ids):
    report = EVERYTHING.review(REVIEW, searcher(ids))
    titles = [{"corpus_id": c.corpus_id, "title": c.title} for c in report.candidates]
    selection = parse_selection(report.text, titles)
    assert selection.included_ids == report.included_ids == ids
    assert (selection.strict, selection.unmatched_ids, selection.withdrawn) == (True, (), ())
    assert "<script>" not in report.text
    assert f"{len(ids)} candidates were weighed" in report.text


def test_no_candidate_and_nobody_included_are_resolved_empty_lists():
    for found in (searcher(()), searcher()):
        report = ExtractiveReview(intercept=-50.0).review(REVIEW, found)
        selection = parse_selection(report.text, [{"corpus_id": 11, "title": ""}])
        assert (selection.resolved, selection.included_ids, report.included_ids) == (True, (), ())


@settings(max_examples=30, deadline=None)
@given(st.floats(-5, 5), st.floats(0, 1))
def test_a_higher_threshold_includes_no_more(intercept, threshold):
    low = ExtractiveReview(intercept=intercept, threshold=threshold / 2).review(REVIEW, searcher()).included_ids
    high = ExtractiveReview(intercept=intercept, threshold=threshold).review(REVIEW, searcher()).included_ids
    assert set(high) <= set(low)


def test_runs_are_equal_but_for_the_clock():
    first, second = (ExtractiveReview().review(REVIEW, searcher()) for _ in range(2))
    assert (first.text, first.included_ids, first.details) == (second.text, second.included_ids, second.details)


@pytest.mark.parametrize(("options", "words"), [
    ({"weights": {"scores": 1.0}}, "did you mean 'score'"), ({"threshold": 1.5}, "threshold = 1.5"),
    ({"intercept": math.nan}, "intercept = nan"), ({"treshold": 0.5}, "did you mean 'threshold'"),
])
def test_bad_options_are_refused(options, words):
    with pytest.raises(ParameterError) as caught:
        open_system("extractive_review", **options)
    assert words in str(caught.value)
