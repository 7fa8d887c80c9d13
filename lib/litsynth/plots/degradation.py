"""Accuracy against the number of candidate papers, a panel a condition on one shared logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from litsynth.plots.style import colours, markers

_TICKS = (1, 10, 100, 1000)


def degradation_panel(ax: Axes, by_n: pd.DataFrame, condition: str, *, metric: str = "semantic",
                      systems: Sequence[str] | None = None) -> Axes:
    """Draw one condition: a line a system with the 95 % Wilson band of each N.

    `by_n` has system, condition, metric, n_papers, value, low and high (shares). A number of papers that was not run
    or has no value is absent and never drawn as 0; the live pool (N 0) has no place on the axis. `systems` fixes
    colours and markers over several panels.
    """
    part = by_n[(by_n["condition"] == condition) & (by_n["metric"] == metric)]
    names = list(systems) if systems is not None else list(dict.fromkeys(by_n["system"]))
    for name, colour, marker in zip(names, colours(len(names)), markers(len(names)), strict=True):
        line = drawn_points(part[part["system"] == name])
        if line.empty:
            continue
        ax.plot(line["n_papers"], 100 * line["value"], color=colour, marker=marker, label=name)
        low, high = (100 * line[end].astype(float) for end in ("low", "high"))
        if len(line) == 1:
            ax.errorbar(line["n_papers"], 100 * line["value"], color=colour, capsize=3, fmt="none",
                        yerr=[(100 * line["value"] - low).clip(lower=0), (high - 100 * line["value"]).clip(lower=0)])
        ax.fill_between(line["n_papers"], low, high, color=colour, alpha=0.15, linewidth=0)
    set_axis(ax)
    ax.set_title(condition)
    return ax


def drawn_points(line: pd.DataFrame) -> pd.DataFrame:
    """Return the points of one line in order: those with a number of papers and a value."""
    return line[(line["n_papers"] > 0) & line["value"].notna()].sort_values("n_papers")


def set_axis(ax: Axes) -> None:
    """Give an axes the shared logarithmic N axis from 1 to 2,000 and percentages."""
    ax.set_xscale("log")
    ax.set_xlim(0.8, 2500)
    ax.set_xticks(_TICKS, [f"{tick:,}" for tick in _TICKS])
    ax.minorticks_off()
    ax.set_ylim(-2, 102)
