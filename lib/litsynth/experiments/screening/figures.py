"""The pictures of screening, each saved with what it plots and a description in words."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown
from litsynth.experiments.screening.screening import DESIGNS, TRAINED
from litsynth.experiments.screening.tables import CURVE_MEASURE
from litsynth.experiments.store import Run
from litsynth.plots import screening as draw
from litsynth.plots.style import figure


def _designs(frame: pd.DataFrame) -> list[str]:
    return [design for design in DESIGNS if design in set(frame["design"])]


def recall_by_workload(run: Run, summary: pd.DataFrame) -> Any:
    """Draw recall against the share of candidates read, a panel a design; returns the figure."""
    part = summary[summary["measure"] == CURVE_MEASURE]
    designs, rankers = _designs(part), [TRAINED, *run.parameters.signals]
    fig, axes = figure(1, len(designs), width=1 + 4.5 * len(designs), height=4, sharey=True)
    for ax, design in zip(axes, designs, strict=True):
        own = part[part["design"] == design]
        draw.workload_curve(ax, own, rankers)
        ax.set_title(f"{DESIGNS[design]} ({int(own['n'].max())} reviews)")
    fifth = part[part["workload"].round(6) == 0.2]
    words = "; ".join(f"{row.design}, {row.ranker} {shown(row.value, row.low, row.high)}" for row in fifth.itertuples())
    run.save_figure("recall_by_workload", fig, part, alt=(
        f"Line charts of recall against the share of candidates read. Recall when a fifth is read: {words}."))
    return fig


def paired_differences(run: Run, table: pd.DataFrame) -> Any:
    """Draw the differences in recall between the trained screener and each retriever's order; returns the figure."""
    part = table[table["measure"] == "recall"]
    designs = _designs(part)
    fig, axes = figure(1, len(designs), width=1 + 4.5 * len(designs), height=3.6, sharey=True)
    for ax, design in zip(axes, designs, strict=True):
        draw.difference_lines(ax, part[part["design"] == design])
        ax.set_title(DESIGNS[design])
    words = "; ".join(f"{row.design}, {row.workload:.0%} read, {row.a} minus {row.b} "
                      f"{shown(row.value, row.low, row.high, signed=True)}" for row in part.itertuples())
    run.save_figure("paired_differences", fig, part, alt=f"Differences in recall, paired over reviews. {words}.")
    return fig


def calibration(run: Run, bins: pd.DataFrame) -> Any:
    """Draw the share included against the probability given, a panel a design; returns the figure."""
    designs = _designs(bins)
    fig, axes = figure(1, len(designs), width=1 + 4 * len(designs), height=4)
    for ax, design in zip(axes, designs, strict=True):
        draw.reliability_plot(ax, bins[bins["design"] == design])
        ax.set_title(DESIGNS[design])
    words = "; ".join(f"{row.design}: {row.count} candidates given {row.mean_probability:.3f} on average, "
                      f"{row.value:.3f} included" for row in bins.itertuples())
    run.save_figure("calibration", fig, bins, alt=f"Reliability of the screener's probabilities. {words}.")
    return fig


def errors_by_criterion(run: Run, criteria: pd.DataFrame) -> Any:
    """Draw wrong inclusions by the criterion that fails; None where the data name no criteria."""
    if criteria.empty:
        return None
    fig, axes = figure(1, 1, width=8, height=3.8)
    draw.criterion_bars(axes[0], criteria)
    words = "; ".join(f"{row.screener} ({row.point}), {row.criterion}: {row.included} of {row.candidates}"
                      for row in criteria.itertuples())
    run.save_figure("errors_by_criterion", fig, criteria, alt=(
        f"Bars of candidates that fail exactly one criterion and were included nonetheless. {words}."))
    return fig
