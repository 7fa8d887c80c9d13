"""Refusals: the explicit field, both facts of two, and matched controls."""

from __future__ import annotations

from typing import Any

import pytest
from litbench_cases import DOUBLE, SINGLE, response

from litsynth.errors import ScoringError
from litsynth.records import Question, ScoreRow
from litsynth.scoring.refusal import matched, refusal_row


@pytest.mark.parametrize(("question", "changes", "value", "status"), [
    (SINGLE, {"refused": True, "status": "refused"}, 1.0, "refused"),
    (SINGLE, {}, 0.0, "scored"),
    (SINGLE, {"answer": "I cannot answer this from the papers.", "paper_ids": (), "quotations": ()}, 0.0, "scored"),
    (SINGLE, {"answer": ""}, 0.0, "scored"),  # an empty answer is no refusal
    (SINGLE, {"status": "unparsed", "reason": "no JSON"}, None, "unparsed"),
    (SINGLE, {"status": "failed", "reason": "HTTP 500"}, None, "failed"),
    (SINGLE, {"status": "failed", "refused": True}, None, "failed"),  # nothing was said, whatever the field holds
    (DOUBLE, {"refused": True, "refusals": (True, True), "status": "refused"}, 1.0, "refused"),
    (DOUBLE, {"refused": True, "refusals": (), "status": "refused"}, 1.0, "refused"),  # the whole declined
    (DOUBLE, {"refusals": (True, False)}, 0.0, "scored"),
    (DOUBLE, {"refusals": (False, False)}, 0.0, "scored"),
    (DOUBLE, {"refusals": (True, True)}, 1.0, "refused"),
])
def test_refusal_is_what_the_field_says(question: Question, changes: dict[str, Any], value: float | None,
                                        status: str) -> None:
    row = refusal_row(question, "T6", response(question, **changes))
    assert (row.value, row.status, row.metric, row.condition) == (value, status, "refusal", "T6")


def test_one_declined_fact_of_two_is_named() -> None:
    assert refusal_row(DOUBLE, "T7", response(DOUBLE, refusals=(True, False))).reason == "declined 1 of 2 facts"


def test_wrong_number_of_refusals_is_an_error() -> None:
    with pytest.raises(ScoringError, match="s gave 2 refusals for Q1"):
        refusal_row(SINGLE, "T6", response(refusals=(True, True)))


def _rows(values: dict[str, float | None], condition: str) -> list[ScoreRow]:
    status = {1.0: "refused", 0.0: "scored", None: "failed"}
    return [ScoreRow("s", condition, item, "refusal", value, status[value]) for item, value in values.items()]


def test_controls_are_matched_by_item_and_failures_leave_the_denominator() -> None:
    withheld = _rows({"Q1": 1.0, "Q2": 1.0, "Q3": None, "Q4": 0.0}, "T6")
    controls = _rows({"Q2": 0.0, "Q1": 1.0, "Q3": 0.0, "Q4": 0.0, "Q5": 1.0}, "T6-control")
    pairs = matched(withheld, controls)
    assert pairs.items == ("Q1", "Q2", "Q4")
    assert pairs.dropped == 2
    # correct refusal 2/3, over-refusal 1/3
    assert pairs.withheld.mean() - pairs.present.mean() == pytest.approx(1 / 3)
    assert matched([], []).items == ()


def test_cells_are_matched_one_by_one() -> None:
    with pytest.raises(ScoringError, match="stands twice"):
        matched(_rows({"Q1": 1.0}, "T6") * 2, _rows({"Q1": 0.0}, "T6-control"))
