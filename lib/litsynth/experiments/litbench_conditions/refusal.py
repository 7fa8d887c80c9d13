"""Declining to answer: by number of papers, against the matched control in which the answer is there."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.conditions import condition_named
from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.litbench_conditions.accuracy import mean_estimate, pairs_of, question_means
from litsynth.experiments.litbench_conditions.cells import in_order
from litsynth.experiments.store import Run
from litsynth.records import Estimate
from litsynth.stats import pair_bootstrap_difference, paired_bootstrap, wilson_interval

ALL_N = 0  # the row of a condition over all its numbers of papers


def refusal(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return refusals with the answer withheld, over-refusals of the matched control, and the difference.

    Saved as `refusal`; a row a system, refusal condition and N, and one over all N (`n_papers` 0). At one N
    proportions have Wilson's interval; over all N a question counts once. The difference, correct refusal minus
    over-refusal, is taken over the questions that count on both sides at the same N, resampling source papers. A
    system that refuses whatever it is asked has a difference of 0.
    """
    rows = []
    for (system, condition), own in cells.groupby(["system", "condition"], sort=True):
        rule = condition_named(condition)
        if rule.answer_present:
            continue
        control = cells[(cells["system"] == system) & (cells["condition"] == rule.control)]
        for n_papers in (*sorted(own["n"].unique()), ALL_N):
            rows.append({"system": system, "condition": condition, "n_papers": n_papers, "control": rule.control,
                         **_row(run, own, control, n_papers)})
    names = ["refused", "of", "rate", "low", "high", "control_refused", "control_of", "control_rate", "control_low",
             "control_high"]
    columns = ["system", "condition", "n_papers", "control", *names, *(f"difference_{name}" for name in COLUMNS)]
    frame = in_order(pd.DataFrame(rows, columns=columns), "system", "n_papers")
    run.save_table("refusal", frame)
    return frame


def _row(run: Run, own: pd.DataFrame, control: pd.DataFrame, n_papers: int) -> dict[str, Any]:
    withheld, present = ((part if n_papers == ALL_N else part[part["n"] == n_papers]) for part in (own, control))
    row: dict[str, Any] = {}
    for part, names in ((withheld, ("refused", "of", "rate", "low", "high")),
                        (present, ("control_refused", "control_of", "control_rate", "control_low", "control_high"))):
        values = part["refusal"].dropna()
        made = _rate(run, part, n_papers)
        row |= dict(zip(names, (int(values.sum()), len(values), made.value, made.low, made.high), strict=True))
    made = _difference(run, withheld, present)
    return row | {f"difference_{name}": value for name, value in estimate_row(made).items()}


def _rate(run: Run, part: pd.DataFrame, n_papers: int) -> Estimate:
    if n_papers == ALL_N:
        return mean_estimate(run, question_means(part, "refusal"))
    values = part["refusal"].dropna()
    return wilson_interval(int(values.sum()), len(values))


def _difference(run: Run, withheld: pd.DataFrame, present: pd.DataFrame) -> Estimate:
    """Estimate correct refusal minus over-refusal over the cells that count on both sides."""
    both = withheld.dropna(subset=["refusal"]).merge(
        present.dropna(subset=["refusal"])[["n", "question", "refusal"]], on=["n", "question"],
        suffixes=("", "_control"))
    if both.empty:
        return Estimate(None, None, None, 0, 0, reason="no matched control at this number of papers")
    means = both.groupby("question", sort=True).agg(
        a=("refusal", "mean"), b=("refusal_control", "mean"), kind=("kind", "first"), paper_a=("paper_a", "first"),
        paper_b=("paper_b", "first")).astype({"a": float, "b": float})
    options = {"seed": run.parameters.seed, "resamples": run.parameters.resamples}
    if means["kind"].iloc[0] == "two_paper":
        return pair_bootstrap_difference(means["a"], means["b"], pairs_of(means), **options)
    return paired_bootstrap(means["a"], means["b"], clusters=means["paper_a"], **options)
