"""From items to rows: one a cell, one a fact, one a vote; and how every cell ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from litsynth.conditions import CONDITIONS, Pools, condition_named
from litsynth.experiments.litbench_conditions import design
from litsynth.experiments.litbench_conditions.design import LIVE_N
from litsynth.experiments.store import Run
from litsynth.records import ScoreRow
from litsynth.scoring.tally import tally as count_statuses

METRICS = ("refusal", "credit", "source", "verbatim", "overlap", "traceable", "credit_and_traceable",
           "quotations_verbatim")
_ORDER = {name: place for place, name in enumerate(CONDITIONS)}
_WHOLE = "Int64"  # whole numbers that may be missing: null means that the cell leaves the denominator


def in_order(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return rows in the order of the table of conditions, then by the columns `by`, renumbered."""
    place = frame["condition"].map(_ORDER)
    ordered = frame.assign(_place=place).sort_values(["_place", *by], kind="stable", ignore_index=True)
    return ordered.drop(columns="_place")


def design_table(run: Run) -> pd.DataFrame:
    """Return what is asked: a row a condition with its numbers of papers, questions and cells; saved as `design`.

    A condition without cells says why in `note`.
    """
    data, chosen = run.dataset, run.parameters
    questions = design.chosen_questions(data, chosen.questions, chosen.seed)
    grids = design.grids(chosen, data, Pools.of(data.papers))
    rows = []
    for rule in design.conditions_of(chosen):
        grid, asked = grids[rule.name], len(questions[rule.kind])
        note = "" if grid else "no question of this bank" if not asked else "no paper to compete with"
        shown = ", ".join("live" if n == LIVE_N else str(n) for n in grid)
        rows.append({"condition": rule.name, "candidates": rule.summary, "credited": rule.credited, "n_values": shown,
                     "questions": asked, "cells_a_system": len(grid) * asked, "note": note})
    frame = in_order(pd.DataFrame(rows))
    run.save_table("design", frame)
    return frame


def cell_table(run: Run, items: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row a cell, saved as `cells`: status, reason and what it adds to every metric (null: nothing).

    `domain_a` and `paper_a` belong to the question's first fact, `_b` to the second of a two-paper question; `seen`
    counts the answering papers among the passages that the system got, `total` the candidate papers really searched.
    Seconds are in the items alone.
    """
    questions, facts = run.dataset.questions, run.dataset.facts
    rows = []
    for item in items:
        question = questions[item["question"]]
        domains = [" ".join(design.domain(facts[fact_id])) for fact_id in question.fact_ids]
        rows.append({
            "system": item["system"], "condition": item["condition"], "n": item["n"], "question": question.id,
            "kind": question.kind, "domain_a": domains[0], "domain_b": domains[1] if len(domains) > 1 else None,
            "paper_a": question.paper_ids[0], "paper_b": question.paper_ids[-1] if len(domains) > 1 else None,
            "status": item["status"], "reason": item["reason"], "unreadable": item["unreadable"],
            **{name: item[name] for name in METRICS}, "seen": sum(fact["seen"] for fact in item["facts"]),
            **dict(zip(("gold", "similar", "unrelated"), item["set"], strict=True)), "total": sum(item["set"]),
            "passages": item["passages"], "searches": item["searches"], "calls": item["calls"],
            "prompt_tokens": item["tokens"][0], "completion_tokens": item["tokens"][1],
            "tokens_estimated": item["estimated"]})
    frame = pd.DataFrame(rows).astype(dict.fromkeys(METRICS, _WHOLE))
    frame = in_order(frame, "system", "n", "question")
    run.save_table("cells", frame)
    return frame


def fact_table(run: Run, items: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row a cell and fact where the evidence is present, saved as `facts`; metrics as in `cells`."""
    rows = []
    for item in items:
        if not condition_named(item["condition"]).answer_present:
            continue
        for made in item["facts"]:
            fact = run.dataset.facts[made["fact"]]
            rows.append({
                "system": item["system"], "condition": item["condition"], "n": item["n"], "question": item["question"],
                "fact": fact.id, "paper": fact.paper_id, "section": fact.section, "fact_type": fact.fact_type,
                "seen": made["seen"], **{name: made[name] for name in METRICS if name in made},
                "span": made.get("span", "")})
    columns = ["system", "condition", "n", "question", "fact", "paper", "section", "fact_type", "seen", "credit",
               "source", "verbatim", "overlap", "traceable", "span"]
    frame = pd.DataFrame(rows, columns=columns).astype(
        dict.fromkeys(("credit", "source", "verbatim", "overlap", "traceable"), _WHOLE))
    frame = in_order(frame, "system", "n", "question", "fact")
    run.save_table("facts", frame)
    return frame


def verdict_table(run: Run, items: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row a case and judge, saved as `verdicts`: the verdict (null without a vote), its status, the panel's.

    A case is one fact of one answered cell; `case` is the cell's key and the fact.
    """
    rows = []
    for item in items:
        for made in item["facts"]:
            for judge, vote in made.get("votes", {}).items():
                voted = isinstance(vote, bool)
                fact = run.dataset.facts[made["fact"]]
                rows.append({
                    "case": f"{item['key']}/{made['fact']}", "system": item["system"], "condition": item["condition"],
                    "n": item["n"], "question": item["question"], "fact": fact.id, "paper": fact.paper_id,
                    "section": fact.section, "fact_type": fact.fact_type, "judge": judge,
                    "verdict": int(vote) if voted else None, "status": "voted" if voted else vote,
                    "panel": made["credit"]})
    columns = ["case", "system", "condition", "n", "question", "fact", "paper", "section", "fact_type", "judge",
               "verdict", "status", "panel"]
    frame = pd.DataFrame(rows, columns=columns).astype({"verdict": _WHOLE, "panel": _WHOLE})
    frame = in_order(frame, "case", "judge")
    run.save_table("verdicts", frame)
    return frame


def composition(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return what the candidate sets really held, a row a condition and N, saved as `composition`.

    Least, mean and most of each kind of paper over the questions; `capped` counts sets smaller than N asked for.
    """
    drawn = cells.drop_duplicates(["condition", "n", "question"])
    rows = []
    for (condition, n), part in drawn[drawn["n"] != LIVE_N].groupby(["condition", "n"], sort=True):
        row = {"condition": condition, "n": n, "sets": len(part), "capped": int((part["total"] < n).sum())}
        for kind in ("gold", "similar", "unrelated", "total"):
            row |= {f"{kind}_least": int(part[kind].min()), f"{kind}_mean": float(part[kind].mean()),
                    f"{kind}_most": int(part[kind].max())}
        rows.append(row)
    kinds = ("gold", "similar", "unrelated", "total")
    columns = ["condition", "n", "sets", "capped",
               *(f"{kind}_{what}" for kind in kinds for what in ("least", "mean", "most"))]
    frame = in_order(pd.DataFrame(rows, columns=columns), "n")
    run.save_table("composition", frame)
    return frame


def tally(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return how cells ended, a row a system and condition, saved as `tally`.

    total = scored + refused + unparsed + failed. Where the evidence is present unparsed includes an undecided panel;
    in refusal conditions and controls the explicit refusal alone decides.
    """
    rows = []
    for (system, condition), part in cells.groupby(["system", "condition"], sort=True):
        counts = count_statuses(ScoreRow(system, condition, "", "", None, status) for status in part["status"])
        rows.append({"system": system, "condition": condition, "questions": part["question"].nunique(),
                     "total": counts.total, "scored": counts.scored, "refused": counts.refused,
                     "unparsed": counts.unparsed, "failed": counts.failed})
    frame = in_order(pd.DataFrame(rows), "system")
    run.save_table("tally", frame)
    return frame


def costs(run: Run, cells: pd.DataFrame, items: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return searches, passages, calls and tokens a question, a row a system and condition, saved as `costs`.

    The returned frame also has seconds a question, which differ from run to run and so are no part of the table.
    """
    keys = ["system", "condition"]
    means = cells.groupby(keys, sort=True).agg(
        cells=("question", "size"), searches=("searches", "mean"), passages=("passages", "mean"),
        calls=("calls", "mean"), prompt_tokens=("prompt_tokens", "mean"),
        completion_tokens=("completion_tokens", "mean"), total_tokens=("prompt_tokens", "sum"),
        tokens_estimated=("tokens_estimated", "any")).reset_index()
    answers = cells.groupby(keys, sort=True)["completion_tokens"].sum().reset_index(drop=True)
    means["total_tokens"] = means["total_tokens"] + answers
    frame = in_order(means, "system")
    run.save_table("costs", frame)
    seconds = pd.DataFrame([(item["system"], item["condition"], item["seconds"]) for item in items],
                           columns=[*keys, "seconds"]).groupby(keys)["seconds"].mean()
    return frame.assign(seconds=[seconds[row.system, row.condition] for row in frame.itertuples()])


