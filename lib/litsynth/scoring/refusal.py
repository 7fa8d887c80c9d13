"""Declining to answer: from the explicit field alone, never from words and never from a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from litsynth.errors import ScoringError
from litsynth.records import Question, Response, ScoreRow

REFUSAL = "refusal"


def declined(response: Response, sources: int) -> bool:
    """Tell whether a response declines everything that was asked: the whole, or each of `sources` facts.

    Raises `ScoringError` when the number of refusals is not the number of facts.
    """
    if response.refusals and len(response.refusals) != sources:
        raise ScoringError(f"{response.system} gave {len(response.refusals)} refusals for {response.question_id}",
                           expected=f"none or {sources}, one for each fact", remedy="correct the system's response")
    return response.refused or (bool(response.refusals) and all(response.refusals))


def refusal_row(question: Question, condition: str, response: Response) -> ScoreRow:
    """Score one response as refusal: 1.0 (status refused), 0.0 (status scored) or None (unparsed, failed).

    The same row serves a condition with the answer withheld, where 1.0 is right, and its matched control with the
    answer present, where 1.0 is an over-refusal. Infrastructure errors (failed) have no value and so leave the
    denominator; unparsed responses have none either and are counted beside it. Declining one fact of two is no
    refusal.
    """
    row = {"system": response.system, "condition": condition, "item": question.id, "metric": REFUSAL}
    if response.status in ("unparsed", "failed"):
        return ScoreRow(**row, value=None, status=response.status, reason=response.reason)
    if declined(response, len(question.fact_ids)):
        return ScoreRow(**row, value=1.0, status="refused")
    partly = f"declined {sum(response.refusals)} of {len(response.refusals)} facts" if any(response.refusals) else ""
    return ScoreRow(**row, value=0.0, reason=partly)


@dataclass(frozen=True, slots=True)
class MatchedRefusals:
    """Refusals of the items that have a value both with the answer withheld and with it present.

    `withheld` and `present` have shape (n,) with values 0 or 1, in the order of `items`; `dropped` counts items
    without a value on either side.
    """

    items: tuple[str, ...]
    withheld: np.ndarray
    present: np.ndarray
    dropped: int


def matched(withheld: Sequence[ScoreRow], controls: Sequence[ScoreRow]) -> MatchedRefusals:
    """Match rows of a refusal cell with those of its control by item, for correct refusal minus over-refusal.

    Raises `ScoringError` when one of them has an item twice: match one system, condition and N at a time.
    """
    tables = []
    for rows in (withheld, controls):
        table = {row.item: row.value for row in rows}
        if len(table) < len(rows):
            raise ScoringError("an item stands twice among the rows to match", expected="one system, condition and N",
                               remedy="match each cell with its own control")
        tables.append(table)
    everything = sorted(set(tables[0]) | set(tables[1]))
    items = [item for item in everything if all(table.get(item) is not None for table in tables)]
    values = [np.array([table[item] for item in items], dtype=np.float64) for table in tables]
    return MatchedRefusals(tuple(items), values[0], values[1], len(everything) - len(items))
