"""The pictures of judge concordance, each saved with what it plots and a description in words."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.experiments.judge_concordance.comparing import THIS_RUN
from litsynth.experiments.judge_concordance.published import published_table
from litsynth.experiments.judge_concordance.rated import human_name
from litsynth.experiments.judge_concordance.reading import MEASURES, said
from litsynth.experiments.store import Run
from litsynth.plots import concordance as draw
from litsynth.plots.style import figure

_FOREST = ("agreement", "cohen_kappa", "pabak", "gwet_ac1", "krippendorff_alpha", "positive_agreement",
           "negative_agreement", "sensitivity", "specificity")
_COUNTS = ("both", "panel_only", "human_only", "neither")


def coefficient_forest(run: Run, table: pd.DataFrame) -> Any:
    """Draw the coefficients of panel against human with the published ones beside them; returns the figure."""
    part = table[table["comparison"].str.startswith("panel against") & table["measure"].isin(_FOREST)]
    names = {THIS_RUN: f"this run: panel and {human_name(run)}"}
    data = part.assign(measure=part["measure"].map(MEASURES), source=part["source"].map(
        lambda source: names.get(source, f"{source}: panel and clinician")))
    fig, axes = figure(1, 1, width=8, height=5)
    draw.forest(axes[0], data, [MEASURES[name] for name in _FOREST])
    axes[0].set_xlim(min(-0.02, float(data["low"].astype(float).min()) - 0.02), 1.02)
    words = "; ".join(f"{MEASURES[row.measure]} {said(row.value, row.low, row.high, row.reason)}"
                      for row in part[part["source"] == THIS_RUN].itertuples())
    run.save_figure("coefficients", fig, data, alt=(
        f"Forest plot of agreement between the panel and the {human_name(run)}, with the published concordance beside "
        f"it (agreement 0.890, Cohen's κ 0.774, 0.67 to 0.87). This run: {words}."))
    return fig


def two_by_two(run: Run, directions: pd.DataFrame) -> Any:
    """Draw the table of panel and human next to the published one; returns the figure."""
    own = directions[directions["group_kind"] == "all"].iloc[0]
    there = published_table()["value"].astype(int)
    tables = [("this run", human_name(run), [int(own[name]) for name in _COUNTS]),
              ("published", "clinician", [int(there[name]) for name in ("panel_and_human", *_COUNTS[1:])])]
    fig, axes = figure(1, 2, width=8, height=4)
    for ax, (title, human, (both, panel, other, neither)) in zip(axes, tables, strict=True):
        draw.confusion(ax, ((both, panel), (other, neither)), rows="panel", columns=human,
                       title=f"{title}: {both + panel + other + neither} cells")
    data = pd.DataFrame([{"table": title, "human": human, **dict(zip(_COUNTS, counts, strict=True))}
                         for title, human, counts in tables])
    words = "; ".join(f"{title}: both credit {c[0]}, panel alone {c[1]}, {human} alone {c[2]}, neither {c[3]}"
                      for title, human, c in tables)
    run.save_figure("two_by_two", fig, data, alt=f"Two-by-two tables of panel and human verdicts. {words}.")
    return fig


def judge_forest(run: Run, table: pd.DataFrame) -> Any:
    """Draw κ of each judge against the human, the panel and the others; returns the figure."""
    kinds = ("judge and human", "panel and human", "the others and human", "judge and the others", "two judges")
    part = table[table["kind"].isin(kinds)]
    data = part.assign(pair=part["a"] + " / " + part["b"]).sort_values(
        "kind", key=lambda column: column.map(kinds.index), kind="stable")
    data["kind"] = data["kind"].str.replace("human", human_name(run))
    pairs = list(dict.fromkeys(data["pair"]))
    fig, axes = figure(1, 1, width=9, height=1.4 + 0.34 * len(pairs))
    draw.forest(axes[0], data, pairs, by="kind", of="pair", stagger=False, xlabel="Cohen's κ (95 % interval)")
    words = "; ".join(f"{row.pair} {said(row.value, row.low, row.high, row.reason)}" for row in data.itertuples())
    run.save_figure("judges", fig, data, alt=f"Forest plot of Cohen's κ between raters. {words}.")
    return fig


def direction_by_condition(run: Run, directions: pd.DataFrame) -> Any:
    """Draw who credits more by condition; returns the figure."""
    part = directions[directions["group_kind"].isin(["all", "condition"])]
    fig, axes = figure(1, 1, width=9, height=1.3 + 0.42 * len(part))
    draw.direction_bars(axes[0], part, human=human_name(run))
    words = "; ".join(f"{row.group}: panel alone {row.panel_only}, {human_name(run)} alone {row.human_only}"
                      for row in part.itertuples())
    run.save_figure("direction", fig, part, alt=(
        f"Bars of cells on which panel and human differ, by condition. {words}."))
    return fig


def raw_and_corrected(run: Run, table: pd.DataFrame) -> Any:
    """Draw raw and corrected credit by condition; returns the figure."""
    part = table[table["group_kind"].isin(["all", "condition"])]
    groups = list(dict.fromkeys(part["group"]))
    fig, axes = figure(1, 1, width=8, height=1.4 + 0.55 * len(groups))
    draw.forest(axes[0], part, groups, by="method_name", of="group", xlabel=(
        f"Share of answered facts credited (95 % interval; corrected with the ratings of the {human_name(run)})"))
    axes[0].set_xlim(-0.02, 1.02)
    words = "; ".join(f"{row.method_name} {said(row.value, row.low, row.high, row.reason)}"
                      for row in part[part["group_kind"] == "all"].itertuples())
    run.save_figure("corrected", fig, part, alt=f"Forest plot of raw and corrected credit by condition. All: {words}.")
    return fig
