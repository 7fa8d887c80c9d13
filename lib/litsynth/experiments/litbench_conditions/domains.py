"""The report card: every system in every fact domain and condition, and its compact form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from litsynth.conditions import CONDITIONS, condition_named
from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.litbench_conditions import design
from litsynth.experiments.litbench_conditions.accuracy import pooled_share
from litsynth.experiments.store import Run

SECTIONS = ("abstract", "introduction", "methods", "results", "discussion", "table", "figure")
FACT_TYPES = ("stated", "interpretation")
DOMAINS = tuple(f"{section} {kind}" for kind in FACT_TYPES for section in SECTIONS)
# What one column of the compact card pools.
GROUPS = {"T1–T4": ("T1", "T2", "T3", "T4"), "T5": ("T5",), "T6–T7": ("T6", "T7"), "T6s–T7s": ("T6s", "T7s"),
          "T4·∞–T5·∞": ("T4·∞", "T5·∞")}
VALUE, NO_QUESTION, NOT_EVALUATED = "value", "no question", "not evaluated"


def card_conditions(cells: pd.DataFrame | None = None) -> list[str]:
    """Return the conditions that the card shows: all published ones, and of the others those that were run."""
    run = set(cells["condition"]) if cells is not None else set()
    return [rule.name for rule in CONDITIONS.values() if not rule.control_of and (
        rule.name in run or (rule.published and not rule.live))]


def domains(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the report card, saved as `domains`: a row a system, condition and fact domain, and a row a compact cell.

    Every row pools responses (`credited` of `counted`, which are added up) over N and questions; `questions` is their
    number. A credited response is one with all its facts credited, or a full refusal where the evidence is withheld; a
    two-paper question belongs to the domains of both its facts. `state` is value, no question (the bank asks
    none there) or not evaluated (it does, but nothing was run or nothing counts). `card` is full or
    compact; intervals resample source papers (of pairs both).
    """
    bank = _bank(run)
    rows = []
    for system in sorted(set(cells["system"])):
        own = cells[cells["system"] == system]
        for condition in card_conditions(cells):
            part = own[own["condition"] == condition]
            for name in DOMAINS:
                rows.append({"card": "full", "system": system, "condition": condition, "domain": name,
                             **_cell(run, part, {name}, bank[condition_named(condition).kind])})
        for group, members in GROUPS.items():
            part = own[own["condition"].isin(members)]
            if part.empty and group not in ("T1–T4", "T5", "T6–T7"):
                continue
            for kind in FACT_TYPES:
                inside = {f"{section} {kind}" for section in SECTIONS}
                asked = set().union(*(bank[condition_named(member).kind] for member in members))
                rows.append({"card": "compact", "system": system, "condition": group, "domain": kind,
                             **_cell(run, part, inside, asked)})
    frame = pd.DataFrame(rows)
    run.save_table("domains", frame)
    return frame


def _bank(run: Run) -> dict[str, set[str]]:
    """Return the domains in which the whole bank has questions, by kind: what decides between white and grey."""
    made: dict[str, set[str]] = {"single": set(), "two_paper": set()}
    for question in run.dataset.questions.values():
        made[question.kind] |= {" ".join(design.domain(run.dataset.facts[fact_id])) for fact_id in question.fact_ids}
    return made


def _cell(run: Run, part: pd.DataFrame, inside: set[str], asked: set[str]) -> dict[str, Any]:
    chosen = part[part["domain_a"].isin(inside) | part["domain_b"].isin(inside)]
    credit = chosen["refusal"].where(~chosen["condition"].map(_present), chosen["credit"])
    counted = chosen.assign(credited=credit).dropna(subset=["credited"])
    state = VALUE if len(counted) else NOT_EVALUATED if inside & asked else NO_QUESTION
    row: dict[str, Any] = {"state": state, "questions": counted["question"].nunique(),
                           "credited": int(counted["credited"].sum()), "counted": len(counted), "asked": len(chosen)}
    if state != VALUE:
        return {**row, **dict.fromkeys(COLUMNS)}
    return {**row, **estimate_row(pooled_share(run, counted["credited"], counted))}


def _present(condition: str) -> bool:
    return condition_named(condition).answer_present


def shown_cells(frame: pd.DataFrame, card: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each system with its rows of one card."""
    part = frame[frame["card"] == card]
    for system in dict.fromkeys(part["system"]):
        yield system, part[part["system"] == system]
