"""Explicit screening: every candidate gets a decision or a status, ids are never repaired, candidates are data."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from hostile import ARTICLES, REVIEW
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import ParameterError
from litsynth.llm.scripted import ScriptedModel
from litsynth.records import Article, Candidate, Completion, ModelRequest, Ranking, Usage
from litsynth.scoring.selection import parse_selection
from litsynth.systems import open_system
from litsynth.systems.screening import Screening
from litsynth.systems.screening_prompts import DECIDE_VERSION, EXTRACT_VERSION, QUERIES_VERSION
from litsynth.systems.screening_steps import SearchingCandidates, merge

CORPUS = {i: Article(i, f"Lactocillin drops, trial number {i}", f"Relative risk 0.{i} (0.{i - 2} to 0.{i + 2}).",
                     year=2010) for i in range(30, 60)}


class Fixed:
    """A retriever that answers every query with a shift of one order, so that queries overlap in part."""

    name = "fixed"

    def __init__(self, articles):
        self.ids = sorted(articles)

    def search(self, query, k, *, exclude=(), allowed=None):
        start = len(query) % 5
        ids = [i for i in self.ids[start:] + self.ids[:start] if i not in set(exclude)][:k]
        return Ranking(np.array(ids), np.arange(len(ids), 0, -1, dtype=float))


def searcher(articles=CORPUS, exclude=()):
    return SearchingCandidates("protocol", Fixed(articles), articles, exclude)


def batch_ids(request: ModelRequest) -> list[int]:
    return [int(number) for number in re.findall(r"^Corpus ID: (\d+) \|", request.messages[1]["content"], re.MULTILINE)]


def model_of(decide, *, extract=None, queries=("one", "three", "seventeen"), **options) -> ScriptedModel:
    def answer(request: ModelRequest):
        if request.prompt_version == QUERIES_VERSION:
            return {"queries": list(queries)} if isinstance(queries, tuple) else queries
        if request.prompt_version == EXTRACT_VERSION:
            return extract(request) if extract else {"finding": "It helped.", "measure": "none", "value": None,
                                                     "low": None, "high": None}
        assert request.prompt_version == DECIDE_VERSION
        return decide(request)
    return ScriptedModel(answer, **options)


def entry(number: int, include: bool, criterion: str = "population", reason: str = "why") -> dict:
    return {"id": number, "reason": reason, "criterion": "none" if include else criterion, "include": include}


def all_of(request: ModelRequest, include=lambda number: number % 2 == 0) -> dict:
    return {"decisions": [entry(number, include(number)) for number in batch_ids(request)]}


def by_id(report) -> dict:
    return {decision.corpus_id: decision for decision in report.details["decisions"]}


def test_every_candidate_is_decided_and_the_report_is_read_by_the_parser():
    model = model_of(all_of)
    report = Screening(top_k=20, batch_size=8).review(REVIEW, searcher(), model)
    assert report.status == "scored"
    made = by_id(report)
    assert sorted(made) == sorted(c.corpus_id for c in report.candidates)
    assert len(made) == 20
    assert {d.status for d in made.values()} == {"decided"}
    wanted = [c.corpus_id for c in report.candidates if c.corpus_id % 2 == 0]
    selection = parse_selection(report.text, [{"corpus_id": c.corpus_id, "title": c.title} for c in report.candidates])
    assert list(selection.included_ids) == wanted
    assert selection.resolved
    assert not selection.unmatched_ids
    flow = report.details["flow"]
    assert flow["screened"] == 20 == flow["excluded"] + flow["unparsed"] + flow["failed"] + flow["included"] \
        + flow["over_include_limit"]
    # Three queries of at most 20 results each: what is found more than once is a duplicate, what is over 20 is beyond.
    assert flow["found"] == 60
    assert flow["found"] - flow["duplicates"] - flow["beyond_limit"] == 20
    assert "population: " in report.text
    assert len(report.details["queries"]) == 3
    assert all(len(batch_ids(r)) <= 8 for r in model.requests if r.prompt_version == DECIDE_VERSION)


def test_no_criteria_of_the_benchmark_reach_the_model():
    model = model_of(all_of)
    Screening(top_k=4).review(REVIEW, searcher(), model)
    sent = json.dumps([list(request.messages) for request in model.requests])
    assert "Population: Infants with colic" in sent
    for criterion in (*REVIEW.inclusion_criteria, *REVIEW.exclusion_criteria):
        assert criterion not in sent


def test_left_out_candidates_are_asked_about_once_more_and_then_unparsed():
    def decide(request):
        made = all_of(request)["decisions"]
        return {"decisions": [d for d in made if d["id"] != 33 and (d["id"] != 35 or request.repeat == 1)]}
    model = model_of(decide)
    report = Screening(top_k=10, batch_size=6).review(REVIEW, searcher(), model)
    made = by_id(report)
    assert (made[33].status, made[33].include, made[33].asked) == ("unparsed", None, 2)
    assert (made[35].status, made[35].asked) == ("decided", 2)
    assert report.details["flow"]["unparsed"] == 1
    again = [r for r in model.requests if r.prompt_version == DECIDE_VERSION and r.repeat == 1]
    assert sorted(n for r in again for n in batch_ids(r)) == [33, 35], "nothing decided is asked again"
    assert all("earlier answer left them out" in r.messages[1]["content"] for r in again)


def test_unknown_ids_are_recorded_and_never_repaired():
    def decide(request):
        made = all_of(request)
        return {"decisions": [*made["decisions"][:-1], entry(made["decisions"][-1]["id"] + 1000, True)]}
    report = Screening(top_k=5, batch_size=5).review(REVIEW, searcher(), model_of(decide))
    assert len(report.details["unknown_ids"]) == 2, "once in each of two questions"
    assert all(number > 1000 for number in report.details["unknown_ids"])
    assert sum(d.status == "unparsed" for d in report.details["decisions"]) == 1
    assert not {d.corpus_id for d in report.details["decisions"]} & set(report.details["unknown_ids"])


def test_contradictions_count_as_no_answer_and_agreeing_repeats_as_one():
    def decide(request):
        first, *rest = batch_ids(request)
        return {"decisions": [entry(first, True), entry(first, False), *(entry(number, True) for number in rest * 2)]}
    report = Screening(top_k=4, batch_size=4).review(REVIEW, searcher(), model_of(decide))
    first = report.candidates[0].corpus_id
    assert by_id(report)[report.candidates[1].corpus_id].include is True
    assert report.details["contradicted_ids"] == [first, first]
    assert by_id(report)[first].status == "unparsed"


def test_what_an_endpoint_did_not_answer_is_failed_and_asks_to_be_tried_again():
    down = Completion("failed", reason="connection refused", usage=Usage(cost=0.0))

    def decide(request):
        return down if 40 in batch_ids(request) else all_of(request)
    report = Screening(top_k=12, batch_size=4).review(REVIEW, searcher(), model_of(decide))
    failed = [d for d in report.details["decisions"] if d.status == "failed"]
    assert report.status == "scored"
    assert 1 <= len(failed) <= 4
    assert {d.reason for d in failed} == {"connection refused"}
    assert report.details["retry"] is True
    everything = Screening(top_k=12).review(REVIEW, searcher(), model_of(lambda request: down))
    assert everything.status == "failed"
    assert "connection refused" in everything.reason
    no_queries = Screening().review(REVIEW, searcher(), model_of(all_of, queries=down))
    assert (no_queries.status, no_queries.details["retry"]) == ("failed", True)


@pytest.mark.parametrize("status", ["truncated", "unparsed", "filtered"])
def test_answers_without_use_are_asked_again_in_smaller_batches_and_are_no_exclusion(status):
    model = model_of(lambda request: Completion(status, "…", reason="x"))
    report = Screening(top_k=8, batch_size=8).review(REVIEW, searcher(), model)
    assert {d.status for d in report.details["decisions"]} == {"unparsed"}
    assert report.details["retry"] is False
    sizes = [len(batch_ids(r)) for r in model.requests if r.prompt_version == DECIDE_VERSION]
    assert sizes == [8, 4, 4]
    assert report.status == "unparsed", "nothing was decided, which is no empty selection"
    assert "no usable decision on any of 8 candidates" in report.reason
    titles = [{"corpus_id": c.corpus_id, "title": c.title} for c in report.candidates]
    assert not parse_selection(report.text, titles).resolved


def test_answers_without_use_beside_calls_that_failed_are_asked_again():
    """No decision at all, and the endpoint is a part of why: the review is asked again, not read as empty."""
    def decide(request):
        return Completion("failed", reason="down") if 40 in batch_ids(request) else Completion("unparsed", reason="x")

    report = Screening(top_k=12, batch_size=4).review(REVIEW, searcher(), model_of(decide))
    assert {d.status for d in report.details["decisions"]} == {"failed", "unparsed"}
    assert (report.status, report.details["retry"]) == ("failed", True)


def test_queries_that_cannot_be_read_leave_the_protocol_and_the_report_says_so():
    report = Screening(top_k=5).review(REVIEW, searcher(), model_of(all_of, queries="no JSON"))
    assert report.details["queries"] == ["protocol"]
    assert "no usable queries in two attempts" in report.text


def test_a_fixed_list_is_screened_in_its_order():
    from litsynth.systems.candidates import RankedCandidates

    fixed = RankedCandidates("q", Ranking(np.array([40, 31, 35]), np.array([3.0, 2.0, 1.0])), CORPUS, "oracle")
    report = Screening().review(REVIEW, fixed, model_of(all_of))
    assert [c.corpus_id for c in report.candidates] == [40, 31, 35]
    assert report.mode == "oracle"
    assert "fixed list (oracle order)" in report.text


def test_inclusions_beyond_the_limit_are_counted():
    report = Screening(top_k=10, include_limit=3).review(REVIEW, searcher(), model_of(
        lambda request: all_of(request, lambda number: True)))
    assert report.details["flow"]["included"] == 3
    assert report.details["flow"]["over_include_limit"] == 7


def test_effects_that_the_text_prints_are_pooled_and_others_are_told_apart():
    def extract(request):
        number = int(re.search(r"trial number (\d+)", request.messages[1]["content"]).group(1))
        value = {30: 0.30, 32: 0.32, 34: 0.34, 36: 0.99}[number]  # 36 prints 0.36: 0.99 is made up
        return {"finding": f"Study {number} <b>helped</b>.", "measure": "RR", "value": value,
                "low": (number - 2) / 100, "high": (number + 2) / 100}
    report = Screening(top_k=8).review(REVIEW, searcher({i: CORPUS[i] for i in range(30, 38)}),
                                       model_of(all_of, extract=extract))
    pooled = report.details["pooled"]
    assert [(part["measure"], part["studies"]) for part in pooled] == [("RR", 3)]
    # Nearly equal variances: the mean of the logs of 0.30, 0.32, 0.34 is -1.1407, their standard deviation 0.0626; the
    # Knapp-Hartung interval is t(0.975, 2 df) = 4.303 times 0.0626 / sqrt(3) = 0.1555 to both sides.
    assert pooled[0]["value"] == pytest.approx(math.exp(-1.1407), rel=0.005)
    assert pooled[0]["low"] == pytest.approx(math.exp(-1.1407 - 0.1555), rel=0.02)
    assert pooled[0]["high"] == pytest.approx(math.exp(-1.1407 + 0.1555), rel=0.02)
    assert 0 <= pooled[0]["i2"] <= 1
    assert pooled[0]["prediction_low"] < pooled[0]["low"]
    problems = {effect["corpus_id"]: effect["problem"] for effect in report.details["effects"]}
    assert problems[36] == "0.99 is not printed in the article's text"
    assert "&lt;b&gt;" in report.text
    assert "<b>" not in report.text


def test_a_weak_model_is_held_to_the_batch_by_the_schema():
    model = model_of(all_of, weak=True, queries=("colic and lactocillin", "infants with colic", "lactocillin drops"))
    report = Screening(top_k=4).review(REVIEW, searcher(), model)
    request = next(r for r in model.requests if r.prompt_version == DECIDE_VERSION)
    decisions = request.schema["properties"]["decisions"]
    assert decisions["minItems"] == decisions["maxItems"] == 4
    assert decisions["items"]["properties"]["id"]["enum"] == batch_ids(request)
    assert {d.status for d in report.details["decisions"]} == {"decided"}


def test_batches_shrink_to_the_context_window():
    model = model_of(all_of, context_window=1600)
    report = Screening(top_k=20, batch_size=20).review(REVIEW, searcher(), model)
    batches = [len(batch_ids(r)) for r in model.requests if r.prompt_version == DECIDE_VERSION]
    assert max(batches) < 20
    assert sum(batches) == 20
    assert {d.status for d in report.details["decisions"]} == {"decided"}


def test_hostile_articles_stay_one_line_between_marks():
    model = model_of(all_of)
    Screening().review(REVIEW, searcher(ARTICLES), model)
    request = next(r for r in model.requests if r.prompt_version == DECIDE_VERSION)
    lines = request.messages[1]["content"].splitlines()
    fence = next(line[2:] for line in lines if re.fullmatch(r"<<[0-9a-f]{8}", line))
    inside = lines[lines.index(f"<<{fence}") + 1:lines.index(f"{fence}>>")]
    assert len(inside) == len(ARTICLES)
    assert not any(fence in line for line in inside)
    assert fence in request.messages[0]["content"]


def test_the_review_itself_is_never_a_candidate():
    report = Screening(top_k=200).review(REVIEW, searcher(exclude=(30, 31)), model_of(all_of))
    assert not {30, 31} & {c.corpus_id for c in report.candidates}
    assert len(report.candidates) == 28


@pytest.mark.parametrize("options", [{"top_k": 0}, {"batch_size": 0}, {"most_queries": 2}, {"abstract_characters": -1}])
def test_impossible_options_are_refused(options):
    with pytest.raises(ParameterError):
        open_system("screening", **options)


lists = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=15), max_size=5)


@settings(max_examples=60, deadline=None)
@given(lists, st.integers(1, 12))
def test_merging_keeps_distinct_candidates_whatever_the_lists(found, limit):
    shown = [[Candidate(i, str(i), "", rank=rank) for rank, i in enumerate(own, 1)] for own in found]
    merged, distinct = merge(shown, limit)
    every = {i for own in found for i in own}
    ids = [c.corpus_id for c in merged]
    assert distinct == len(every)
    assert len(ids) == len(set(ids)) == min(limit, len(every))
    assert [c.rank for c in merged] == list(range(1, len(ids) + 1))
    scores = [c.score for c in merged]
    assert scores == sorted(scores, reverse=True)
    assert merge(list(shown), limit + 5)[0][:len(merged)] == merged, "a longer list starts with the shorter one"
