"""Accuracy by condition and by number of papers, contrasts between systems, stated facts against interpretation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pandas as pd

from litsynth.conditions import condition_named
from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.litbench_conditions.cells import in_order
from litsynth.experiments.store import Run
from litsynth.records import Estimate
from litsynth.stats import (
    cluster_bootstrap,
    pair_bootstrap,
    pair_bootstrap_difference,
    paired_bootstrap,
    ratio_bootstrap,
    ratio_difference_bootstrap,
    wilson_interval,
)

# What tables call a metric, and the column of `cells` that holds it.
MEASURES = {"semantic": "credit", "composite": "traceable", "both": "credit_and_traceable", "refusal": "refusal"}
SINGLE_CONDITIONS = ("T1", "T2", "T3", "T4")


def measures_of(condition: str) -> tuple[str, ...]:
    """Return the metrics of a condition: refusal where the evidence is withheld, and beside the others in controls."""
    rule = condition_named(condition)
    if not rule.answer_present:
        return ("refusal",)
    return ("semantic", "composite", "both", *(("refusal",) if rule.control_of else ()))


def question_means(cells: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the credit of each question of a system and condition: the mean over its numbers of papers that count.

    `value` is null where no cell counts; `cells` were asked and `counted` have a value.
    """
    column = MEASURES[measure]
    keys = ["system", "condition", "question"]
    grouped = cells.groupby(keys, sort=True)
    made = grouped.agg(cells=("n", "size"), counted=(column, "count"), total=(column, "sum"),
                       paper_a=("paper_a", "first"), paper_b=("paper_b", "first"), domain_a=("domain_a", "first"),
                       domain_b=("domain_b", "first"), kind=("kind", "first")).reset_index()
    value = made["total"].astype(float) / made["counted"].where(made["counted"] > 0)
    return made.assign(value=value.astype(float))


def pairs_of(part: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the two papers of every question."""
    return list(zip(part["paper_a"], part["paper_b"], strict=True))


def mean_estimate(run: Run, part: pd.DataFrame) -> Estimate:
    """Estimate the mean over questions of one condition, resampling source papers, or the papers of pairs."""
    valid = part[part["value"].notna()]
    options = {"seed": run.parameters.seed, "resamples": run.parameters.resamples}
    if len(part) and part["kind"].iloc[0] == "two_paper":
        return pair_bootstrap(valid["value"], pairs_of(valid), **options)
    return cluster_bootstrap(valid["value"], valid["paper_a"], **options)


def pooled_share(run: Run, values: pd.Series, part: pd.DataFrame) -> Estimate:
    """Estimate the share of responses with value 1 among the rows of `part`, resampling papers of pairs or clusters.

    Where single- and two-paper questions are pooled, the first paper of a pair stands for both.
    """
    options = {"seed": run.parameters.seed, "resamples": run.parameters.resamples}
    values = values.astype(float)
    if len(part) and (part["kind"] == "two_paper").all():
        return pair_bootstrap(values, pairs_of(part), **options)
    return ratio_bootstrap(values, [1.0] * len(part), part["paper_a"], **options)


def accuracy(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy (or refusal) by system, condition and metric with its interval, saved as `accuracy`.

    A question counts once: its credit is the mean over its numbers of papers. Single-paper conditions resample source
    papers, two-paper conditions the papers of the pairs; for these `low_components` and `high_components`
    are the wider interval of `stats.pair_interval`. `strict` is the value with unreadable responses counted 0.
    """
    rows = []
    for (system, condition), own in cells.groupby(["system", "condition"], sort=True):
        for measure in measures_of(condition):
            part = question_means(own, measure)
            estimate = mean_estimate(run, part)
            low, high = estimate.details.get("pair_interval", (None, None))
            rows.append({"system": system, "condition": condition, "metric": measure, **estimate_row(estimate),
                         "asked": len(part), "cells": int(part["cells"].sum()), "counted": int(part["counted"].sum()),
                         "low_components": low, "high_components": high, "strict": _strict(own, measure)})
    frame = in_order(pd.DataFrame(rows), "system")
    run.save_table("accuracy", frame)
    return frame


def _strict(own: pd.DataFrame, measure: str) -> float | None:
    column = MEASURES[measure]
    value = question_means(own.assign(**{column: own[column].mask(own["unreadable"], 0)}), measure)["value"].mean()
    return None if pd.isna(value) else float(value)


def by_n(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return every (system, condition, N) cell with Wilson's interval, saved as `by_n`; N not run have no row.

    `successes` of `n` responses that count; `asked` were asked. `papers` is the mean number of papers really searched.
    """
    rows = []
    for (system, condition, n_papers), part in cells.groupby(["system", "condition", "n"], sort=True):
        for measure in measures_of(condition):
            values = part[MEASURES[measure]].dropna()
            estimate = wilson_interval(int(values.sum()), len(values))
            rows.append({"system": system, "condition": condition, "n_papers": n_papers, "metric": measure,
                         "successes": int(values.sum()), **estimate_row(estimate), "asked": len(part),
                         "papers": float(part["total"].mean())})
    frame = in_order(pd.DataFrame(rows), "system", "n_papers")
    run.save_table("by_n", frame)
    return frame


def contrasts(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the difference a − b of every two systems in every condition and metric, saved as `contrasts`.

    Over the cells (question and N) that count for both. Questions are resampled, in two-paper conditions papers.
    """
    rows = []
    systems = list(dict.fromkeys(cells["system"]))
    for a, b in combinations(systems, 2):
        for condition, measure, both in _shared(cells, a, b):
            options = {"seed": run.parameters.seed, "resamples": run.parameters.resamples}
            if len(both) and both["kind"].iloc[0] == "two_paper":
                made = pair_bootstrap_difference(both["a"], both["b"], pairs_of(both), **options)
            else:
                made = paired_bootstrap(both["a"], both["b"], **options)
            rows.append({"condition": condition, "metric": measure, "a": a, "b": b, **estimate_row(made)})
    frame = in_order(pd.DataFrame(rows, columns=["condition", "metric", "a", "b", *COLUMNS]), "metric", "a", "b")
    run.save_table("contrasts", frame)
    return frame


def _shared(cells: pd.DataFrame, a: str, b: str) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield condition, metric and the question means of two systems over the cells that count for both."""
    keys = ["condition", "n", "question"]
    for condition, part in cells[cells["system"].isin([a, b])].groupby("condition", sort=True):
        for measure in measures_of(condition):
            column = MEASURES[measure]
            left, right = (part[part["system"] == name].dropna(subset=[column]) for name in (a, b))
            both = left.merge(right[[*keys, column]], on=keys, suffixes=("", "_b"))
            made = both.groupby("question", sort=True).agg(
                a=(column, "mean"), b=(f"{column}_b", "mean"), kind=("kind", "first"), paper_a=("paper_a", "first"),
                paper_b=("paper_b", "first")).reset_index()
            if len(made):
                yield condition, measure, made.astype({"a": float, "b": float})


def fact_types(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy on stated facts against interpretation, and the difference, saved as `fact_types`.

    Rows: each single-paper condition with a fixed corpus, and `T1–T4`, where a question's credit is the mean over
    those conditions that were run. Source papers are resampled, so facts of one paper stay together.
    """
    means = question_means(cells[cells["condition"].isin(SINGLE_CONDITIONS)], "semantic").dropna(subset=["value"])
    pooled = means.groupby(["system", "question"], sort=True).agg(
        value=("value", "mean"), paper_a=("paper_a", "first"), domain_a=("domain_a", "first")).reset_index()
    rows = []
    for (system, condition), part in [*means.groupby(["system", "condition"], sort=True),
                                      *(((name, "T1–T4"), own) for name, own in pooled.groupby("system", sort=True))]:
        rows.append({"system": system, "condition": condition, **_stated_against(run, part)})
    columns = ["system", "condition", "stated", "stated_questions", "interpretation", "interpretation_questions",
               *COLUMNS]
    frame = pd.DataFrame(rows, columns=columns).sort_values(["system", "condition"], kind="stable", ignore_index=True)
    run.save_table("fact_types", frame)
    return frame


def _stated_against(run: Run, part: pd.DataFrame) -> dict[str, Any]:
    kind = part["domain_a"].str.rsplit(" ", n=1).str[-1]
    row: dict[str, Any] = {}
    columns = []
    for name in ("stated", "interpretation"):
        inside = (kind == name).astype(float)
        row[name] = float(part.loc[kind == name, "value"].mean()) if inside.any() else None
        row[f"{name}_questions"] = int(inside.sum())
        columns += [inside * part["value"], inside]
    made = ratio_difference_bootstrap(*columns, part["paper_a"], seed=run.parameters.seed,
                                      resamples=run.parameters.resamples)
    return {**row, **estimate_row(made)}
