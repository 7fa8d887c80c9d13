"""One LitBench response scored: semantic credit, traceability, and both together, each with its own status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from litsynth.errors import ScoringError
from litsynth.records import Fact, Paper, Question, Response, ScoreRow
from litsynth.records.results import Status
from litsynth.scoring.judges import JudgeCase, PanelVote
from litsynth.scoring.refusal import declined
from litsynth.scoring.traceability import FactTrace, trace_fact, verbatim_quotations

METRICS = ("credit", "source", "verbatim", "overlap", "traceable", "credit_and_traceable")


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The outcome of one metric: a value only where the status is scored."""

    value: float | None
    status: Status = "scored"
    reason: str = ""


def judge_cases(question: Question, facts: Mapping[str, Fact], response: Response,
                answered_by: str | None = None) -> dict[str, JudgeCase]:
    """Return the cases to put before a panel, by fact id: none for a response that refused, failed or was unreadable.

    A fact that was declined by itself has no case. `answered_by` is the identity of the model behind the system.
    """
    return {fact_id: JudgeCase.of(question.text, facts[fact_id], response, answered_by)
            for fact_id, refused in zip(question.fact_ids, _refusals(question, response), strict=True)
            if response.status in ("scored", "refused") and not refused}


def score_response(question: Question, condition: str, facts: Mapping[str, Fact], papers: Mapping[str, Paper],
                   response: Response, votes: Mapping[str, PanelVote]) -> list[ScoreRow]:
    """Score one response in a condition with the evidence present; `votes` holds the panel's decision by fact id.

    Rows: one for each of `METRICS` and `quotations_verbatim` with the question as item, and for a question of
    several facts one for each metric and fact, named `fact_...`, with the item `question/fact`. Credit of several
    facts needs each. A response that declined has status refused and no value; an undecided panel leaves credit
    unparsed (or failed, where only infrastructure kept judges from voting). What is already lost is 0 even where
    the rest is undecided. Raises `ScoringError` for a fact without its vote.
    """
    lost = _lost(question, response)
    refusals = _refusals(question, response)
    by_fact: list[dict[str, _Outcome]] = []
    for fact_id, refused in zip(question.fact_ids, refusals, strict=True):
        if lost or refused:
            by_fact.append(dict.fromkeys(METRICS, lost or _Outcome(None, "refused", "this fact was declined")))
            continue
        if fact_id not in votes:
            raise ScoringError(f"fact {fact_id} of {question.id} has no vote",
                               expected="a panel's decision for each case",
                               remedy="let the panel decide all of `judge_cases`")
        traced = trace_fact(response, facts[fact_id], papers, len(question.fact_ids))
        by_fact.append(_fact_outcomes(votes[fact_id], traced))
    cell = {metric: lost or _all_of([outcomes[metric] for outcomes in by_fact]) for metric in METRICS}
    rows = [_row(response, condition, question.id, metric, outcome) for metric, outcome in cell.items()]
    faithful = lost or _faithful(question, papers, response)
    rows.append(_row(response, condition, question.id, "quotations_verbatim", faithful))
    if len(by_fact) > 1:
        rows += [_row(response, condition, f"{question.id}/{fact_id}", f"fact_{metric}", outcome)
                 for fact_id, outcomes in zip(question.fact_ids, by_fact, strict=True)
                 for metric, outcome in outcomes.items()]
    return rows


def accuracy_value(row: ScoreRow, *, count_unreadable: bool = False) -> float | None:
    """Return what a credit row adds to accuracy, None where it leaves the denominator.

    A refusal with the evidence at hand earns nothing: 0. Rows that are unparsed (an unreadable response, an undecided
    panel) or failed leave the denominator, as the published figures leave missing responses out; with
    `count_unreadable` an unreadable response counts 0, which is the stricter figure to show beside it.
    """
    if row.status == "scored":
        return row.value
    unreadable = row.status == "unparsed" and not row.reason.startswith("undecided")
    return 0.0 if row.status == "refused" or (count_unreadable and unreadable) else None


def _refusals(question: Question, response: Response) -> tuple[bool, ...]:
    if declined(response, len(question.fact_ids)):
        return (True,) * len(question.fact_ids)
    return response.refusals or (False,) * len(question.fact_ids)


def _lost(question: Question, response: Response) -> _Outcome | None:
    """Return the outcome of everything when there is nothing to score, else None."""
    if response.status in ("unparsed", "failed"):
        return _Outcome(None, response.status, response.reason)
    if declined(response, len(question.fact_ids)):
        return _Outcome(None, "refused", response.reason)
    return None


def _fact_outcomes(vote: PanelVote, traced: FactTrace) -> dict[str, _Outcome]:
    credit = _Outcome(None if vote.verdict is None else float(vote.verdict), vote.status, vote.reason)
    traceable = _Outcome(float(traced.traceable), reason=traced.reason)
    return {
        "credit": credit, "source": _Outcome(float(traced.source), reason=traced.reason),
        "verbatim": _Outcome(float(traced.verbatim), reason=traced.reason),
        "overlap": _Outcome(float(traced.overlap), reason=traced.reason),
        "traceable": traceable, "credit_and_traceable": _all_of([credit, traceable]),
    }


def _all_of(outcomes: Sequence[_Outcome]) -> _Outcome:
    """Return the outcome of needing every one: 0 as soon as one is lost, open while one is open, else 1."""
    reasons = "; ".join(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason))
    if any(outcome.value == 0.0 or outcome.status == "refused" for outcome in outcomes):
        return _Outcome(0.0, reason=reasons)
    still_open = [outcome for outcome in outcomes if outcome.value is None]
    if still_open:
        worst: Status = "unparsed" if any(outcome.status == "unparsed" for outcome in still_open) else "failed"
        return _Outcome(None, worst, reasons)
    return _Outcome(1.0, reason=reasons)


def _faithful(question: Question, papers: Mapping[str, Paper], response: Response) -> _Outcome:
    verbatim, given = verbatim_quotations(response, papers, len(question.fact_ids))
    return _Outcome(float(given > 0 and verbatim == given), reason=f"{verbatim} of {given} verbatim")


def _row(response: Response, condition: str, item: str, metric: str, outcome: _Outcome) -> ScoreRow:
    return ScoreRow(response.system, condition, item, metric, outcome.value, outcome.status, outcome.reason)
