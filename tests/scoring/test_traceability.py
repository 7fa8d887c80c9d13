"""Source and span traced, credit combined with it, and every cell in one status."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litbench_cases import DOSE, DOUBLE, FACTS, PAPERS, RELAPSE, SINGLE, response

from litsynth.errors import ScoringError
from litsynth.records import Question, Quotation, Response, ScoreRow
from litsynth.scoring.credit import accuracy_value, judge_cases, score_response
from litsynth.scoring.judges import PanelVote
from litsynth.scoring.tally import Tally, tally
from litsynth.scoring.traceability import trace_fact, verbatim_quotations

YES, NO = PanelVote(True, ()), PanelVote(False, ())
OPEN, DOWN = PanelVote(None, (), "unparsed", "undecided (a: ?)"), PanelVote(None, (), "failed", "undecided (a: down)")


def _trace(**changes: Any):
    return trace_fact(response(**changes), FACTS["F1"], PAPERS, 1)


def _values(question: Question, given_response: Response, **votes: PanelVote) -> dict[str, tuple[float | None, str]]:
    rows = score_response(question, "T1", FACTS, PAPERS, given_response, votes)
    assert len({(row.item, row.metric) for row in rows}) == len(rows)
    return {row.metric if row.item == question.id else f"{row.metric} {row.item}": (row.value, row.status)
            for row in rows}


@pytest.mark.parametrize(("changes", "parts", "reason"), [
    ({}, (True, True, True), ""),
    ({"paper_ids": ("B2",)}, (False, True, True), "the source is quoted but not named"),
    ({"paper_ids": ()}, (False, True, True), "the source is quoted but not named"),
    ({"quotations": ()}, (True, False, False), "no quotation from the source"),
    ({"quotations": (), "paper_ids": ("B2",)}, (False, False, False), "named B2"),
    ({"quotations": (Quotation("B2", RELAPSE),)}, (True, False, False), "no quotation from the source"),
    ({"quotations": (Quotation("A1", DOSE),)}, (True, False, False), "not verbatim in this paper"),  # of another paper
    ({"quotations": (Quotation("A1", "One half of the adults had a relapse"),)}, (True, False, False),
     "not verbatim in this paper"),
    ({"quotations": (Quotation("A1", "204 adults were enrolled in 1998 in all"),)}, (True, True, False),
     "another passage of the source"),
    # Only as many papers and quotations count as there are facts.
    ({"paper_ids": ("B2", "A1")}, (False, True, True), "the source is quoted but not named"),
    ({"quotations": (Quotation("B2", DOSE), Quotation("A1", RELAPSE))}, (True, False, False),
     "no quotation from the source"),
])
def test_source_and_span_are_told_apart(changes: dict[str, Any], parts: tuple[bool, bool, bool], reason: str) -> None:
    traced = _trace(**changes)
    assert (traced.source, traced.verbatim, traced.overlap) == parts
    assert traced.traceable is all(parts)
    assert traced.reason == reason


def test_offsets_of_the_quotation_are_kept() -> None:
    check = _trace().check
    text = PAPERS["A1"].sections[check.section].text
    assert [text[start:end] for start, end in check.spans] == [RELAPSE.rstrip(".")]


def test_quotations_are_faithful_to_the_papers_they_name() -> None:
    given_response = response(DOUBLE, quotations=(Quotation("B2", DOSE), Quotation("Z9", RELAPSE)))
    assert verbatim_quotations(given_response, PAPERS, 2) == (1, 2)


def test_credit_and_traceability_are_reported_apart_and_together() -> None:
    assert _values(SINGLE, response(), F1=YES) == dict.fromkeys(
        ("credit", "source", "verbatim", "overlap", "traceable", "credit_and_traceable", "quotations_verbatim"),
        (1.0, "scored"))
    told = _values(SINGLE, response(quotations=()), F1=YES)
    assert (told["credit"], told["traceable"], told["credit_and_traceable"]) == (
        (1.0, "scored"), (0.0, "scored"), (0.0, "scored"))
    denied = _values(SINGLE, response(), F1=NO)
    assert (denied["credit"], denied["traceable"], denied["credit_and_traceable"]) == (
        (0.0, "scored"), (1.0, "scored"), (0.0, "scored"))


def test_undecided_panels_leave_credit_open_and_nothing_else() -> None:
    still_open = _values(SINGLE, response(), F1=OPEN)
    assert (still_open["credit"], still_open["traceable"]) == ((None, "unparsed"), (1.0, "scored"))
    assert still_open["credit_and_traceable"] == (None, "unparsed")
    assert _values(SINGLE, response(), F1=DOWN)["credit"] == (None, "failed")
    assert _values(SINGLE, response(quotations=()), F1=OPEN)["credit_and_traceable"] == (0.0, "scored")


@pytest.mark.parametrize(("first", "second", "both"), [
    (YES, YES, (1.0, "scored")), (YES, NO, (0.0, "scored")), (OPEN, NO, (0.0, "scored")),
    (OPEN, YES, (None, "unparsed")), (DOWN, YES, (None, "failed")), (DOWN, OPEN, (None, "unparsed")),
])
def test_two_facts_have_a_vote_each_and_credit_needs_both(first: PanelVote, second: PanelVote, both: tuple) -> None:
    values = _values(DOUBLE, response(DOUBLE), F1=first, F2=second)
    assert values["credit"] == both
    assert values["fact_credit Q2/F1"] == (None if first.verdict is None else float(first.verdict), first.status)
    assert values["fact_traceable Q2/F2"] == (1.0, "scored")


def test_one_declined_fact_costs_the_credit_and_has_no_case() -> None:
    half = response(DOUBLE, refusals=(False, True), paper_ids=("A1",), quotations=(Quotation("A1", RELAPSE),))
    assert list(judge_cases(DOUBLE, FACTS, half)) == ["F1"]
    values = _values(DOUBLE, half, F1=YES)
    assert values["credit"] == (0.0, "scored")
    assert values["fact_credit Q2/F1"] == (1.0, "scored")
    assert values["fact_credit Q2/F2"] == (None, "refused")


@pytest.mark.parametrize(("changes", "status"), [
    ({"refused": True, "status": "refused"}, "refused"),
    ({"refusals": (True,), "status": "refused"}, "refused"),
    ({"status": "unparsed", "reason": "no JSON"}, "unparsed"), ({"status": "failed", "reason": "HTTP 500"}, "failed"),
])
def test_responses_with_nothing_to_score_keep_their_status_in_every_row(changes: dict[str, Any], status: str) -> None:
    lost = response(**changes)
    assert judge_cases(SINGLE, FACTS, lost) == {}
    assert set(_values(SINGLE, lost).values()) == {(None, status)}


def test_missing_votes_are_an_error() -> None:
    with pytest.raises(ScoringError, match="fact F1 of Q1 has no vote"):
        score_response(SINGLE, "T1", FACTS, PAPERS, response(), {})


def test_accuracy_counts_refusals_as_lost_and_leaves_out_what_could_not_be_judged() -> None:
    def row(value: float | None, status: Any, reason: str = "") -> ScoreRow:
        return ScoreRow("s", "T1", "Q1", "credit", value, status, reason)

    assert [accuracy_value(r) for r in (row(1.0, "scored"), row(0.0, "scored"), row(None, "refused"),
                                        row(None, "unparsed", "no JSON"), row(None, "failed"))] == [1, 0, 0, None, None]
    assert accuracy_value(row(None, "unparsed", "no JSON"), count_unreadable=True) == 0.0
    assert accuracy_value(row(None, "unparsed", "undecided (a: ?)"), count_unreadable=True) is None
    assert accuracy_value(row(None, "failed"), count_unreadable=True) is None


statuses = st.sampled_from(["scored", "refused", "unparsed", "failed"])


@given(st.lists(statuses, max_size=30))
def test_total_is_the_sum_of_the_statuses(ended: list[Any]) -> None:
    counted = tally([ScoreRow("s", "T1", str(i), "credit", None, status) for i, status in enumerate(ended)])
    assert counted.total == len(ended)
    assert counted == Tally(*(ended.count(status) for status in ("scored", "refused", "unparsed", "failed")))


@given(statuses, st.booleans(), st.sampled_from([(), (True, True), (True, False), (False, False)]),
       st.sampled_from([YES, NO, OPEN, DOWN]), st.sampled_from([YES, NO, OPEN, DOWN]))
def test_whatever_comes_back_every_metric_of_a_cell_ends_in_one_status(
        status: Any, refused: bool, refusals: tuple[bool, ...], first: PanelVote, second: PanelVote) -> None:
    ended = response(DOUBLE, status=status, refused=refused, refusals=refusals)
    rows = score_response(DOUBLE, "T5", FACTS, PAPERS, ended, {"F1": first, "F2": second})
    assert len(rows) == 7 + 2 * 6
    assert all((row.value is None) == (row.status != "scored") for row in rows)
    assert all(row.value in (None, 0.0, 1.0) for row in rows)
    assert tally(rows).total == len(rows)
