"""Questions for two papers: neither, one or both facts, the synthesis penalty, and how the questions hang together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from litsynth.conditions import condition_named
from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.litbench_conditions.accuracy import mean_estimate, pairs_of, question_means
from litsynth.experiments.litbench_conditions.cells import in_order
from litsynth.experiments.store import Run
from litsynth.records import Estimate
from litsynth.stats import PairGraph, pair_bootstrap, pair_graph, two_paper_decomposition, without_hubs

JOINT, SEPARATE = "T5", "T4"
JOINT_PARTS = ("neither", "one", "both", "at_least_one")
SEPARATE_PARTS = ("both_separately", "synthesis_penalty")


def decomposition(run: Run, cells: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Return what becomes of the two facts, a row a system and part, saved as `decomposition`.

    `neither`, `one`, `both`, `at_least_one`: shares of questions in T5 over all N. `both_separately`: both facts are
    credited when their own single-paper questions are asked in T4 with the same number of papers;
    `synthesis_penalty`: that minus both jointly, over the same questions and N. `single_T1_T4` is the mean accuracy of
    single-paper questions, to set beside. Papers are resampled.
    """
    rows = []
    for system in sorted(set(cells["system"])):
        own = facts[facts["system"] == system]
        joint, separate = (own[own["condition"] == name] for name in (JOINT, SEPARATE))
        estimates = _parts(run, joint, separate)
        single = _single(run, cells[cells["system"] == system])
        if single is not None:
            estimates["single_T1_T4"] = single
        rows += [{"system": system, "part": part, **estimate_row(made)} for part, made in estimates.items()]
    frame = pd.DataFrame(rows, columns=["system", "part", *COLUMNS])
    run.save_table("decomposition", frame)
    return frame


def _parts(run: Run, joint: pd.DataFrame, separate: pd.DataFrame) -> dict[str, Estimate]:
    if joint.empty:
        return {}
    shared = sorted(set(joint["n"]) & set(separate["n"]))
    everything = _decomposed(run, joint, separate, sorted(set(joint["n"])))
    made = {name: everything[name] for name in JOINT_PARTS if name in everything}
    matched = _decomposed(run, joint, separate, shared) if shared else {}
    reason = "T4 and T5 share no number of papers" if not shared else "no question was answered both ways"
    missing = Estimate(None, None, None, 0, 0, reason=reason)
    return made | {name: matched.get(name, missing) for name in SEPARATE_PARTS}


def _decomposed(run: Run, joint: pd.DataFrame, separate: pd.DataFrame, grid: list[int]) -> dict[str, Estimate]:
    """Decompose the questions that have a cell with both facts decided at one of the numbers of papers in `grid`."""
    asked_alone = {tuple(question.fact_ids): question.id for question in run.dataset.questions.values()
                   if question.kind == "single"}
    joint_credit = _credit_by(joint, ["question", "fact", "n"])
    single_credit = _credit_by(separate, ["question", "n"])
    columns: list[list[list[int | None]]] = [[], [], [], []]
    pairs = []
    for question_id in sorted(set(joint["question"])):
        question = run.dataset.questions[question_id]
        together = [[joint_credit.get((question_id, fact_id, n)) for n in grid] for fact_id in question.fact_ids]
        if not any(a is not None and b is not None for a, b in zip(*together, strict=True)):
            continue
        alone = [[single_credit.get((asked_alone.get((fact_id,)), n)) for n in grid] for fact_id in question.fact_ids]
        for column, values in zip(columns, (*together, *alone), strict=True):
            column.append(values)
        pairs.append(question.paper_ids)
    if not pairs:
        return {}
    return two_paper_decomposition(*columns, pairs, seed=run.parameters.seed, resamples=run.parameters.resamples)


def _credit_by(facts: pd.DataFrame, keys: list[str]) -> Mapping[Any, int]:
    known = facts.dropna(subset=["credit"])
    return dict(zip(known[keys].itertuples(index=False, name=None), known["credit"].astype(int), strict=True))


def _single(run: Run, own: pd.DataFrame) -> Estimate | None:
    """Estimate mean accuracy over the single-paper conditions: a question counts once, whatever it was asked in."""
    part = own[own["condition"].isin(("T1", "T2", "T3", "T4"))]
    if part.empty:
        return None
    means = question_means(part, "semantic").groupby("question", sort=True).agg(
        value=("value", "mean"), paper_a=("paper_a", "first"), kind=("kind", "first")).reset_index()
    return mean_estimate(run, means)


def graph_of(run: Run, cells: pd.DataFrame) -> PairGraph:
    """Return the graph of papers that share the two-paper questions asked."""
    return pair_graph(_asked_pairs(cells))


def _asked_pairs(cells: pd.DataFrame) -> list[tuple[str, str]]:
    return pairs_of(cells[cells["kind"] == "two_paper"].drop_duplicates("question").sort_values("question"))


def pair_graph_table(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the counts of the pair graph, a row a quantity, saved as `pair_graph`; no rows without such questions."""
    if not _asked_pairs(cells):
        frame = pd.DataFrame({"quantity": pd.Series(dtype=str), "value": pd.Series(dtype=float)})
    else:
        graph = graph_of(run, cells)
        degrees = list(graph.degrees.values())
        facts = {
            "papers": graph.papers, "questions": graph.pairs, "most questions of one paper": max(degrees),
            "median questions of a paper": float(np.median(degrees)), f"hubs (degree ≥ {graph.hub_degree})":
            len(graph.hubs), "share of questions that touch a hub": graph.hub_share,
            "connected components": len(graph.components),
            "questions in the largest component": graph.largest_component_pairs,
            "effective number of independent pairs": graph.effective}
        frame = pd.DataFrame({"quantity": list(facts), "value": list(map(float, facts.values()))})
    run.save_table("pair_graph", frame)
    return frame


def without_hub_papers(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return each two-paper result with all questions and without those that touch a hub, saved as `without_hubs`."""
    rows = []
    for (system, condition), own in cells[cells["kind"] == "two_paper"].groupby(["system", "condition"], sort=True):
        measure = "semantic" if condition_named(condition).answer_present else "refusal"
        part = question_means(own, measure).dropna(subset=["value"])
        options = {"seed": run.parameters.seed, "resamples": run.parameters.resamples}
        whole = pair_bootstrap(part["value"], pairs_of(part), **options)
        made = without_hubs(pair_bootstrap, part["value"], pairs_of(part), **options)
        rows.append({"system": system, "condition": condition, "metric": measure, "all": whole.value,
                     "all_questions": whole.n, **estimate_row(made), "left_out": made.details["left_out"],
                     "hubs": made.details["hubs"]})
    columns = ["system", "condition", "metric", "all", "all_questions", *COLUMNS, "left_out", "hubs"]
    frame = in_order(pd.DataFrame(rows, columns=columns), "system")
    run.save_table("without_hubs", frame)
    return frame
