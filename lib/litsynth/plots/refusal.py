"""Refusal against the number of papers: right where the answer is withheld, wrong in the matched control."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from litsynth.plots.degradation import set_axis
from litsynth.plots.style import colours, markers


def refusal_panel(ax: Axes, table: pd.DataFrame, condition: str, *, systems: Sequence[str] | None = None,
                  apart: Collection[str] = ()) -> Axes:
    """Draw refusals of one condition: solid and filled with the answer withheld, dashed and hollow with it present.

    `table` has system, condition, n_papers, rate, low, high and control_rate, control_low, control_high (shares). N
    that were not run, and N without a control, are absent. A good system's solid line is high, its dashed line low.
    The points of systems in `apart` are not joined: what lies between them is not known.
    """
    part = table[(table["condition"] == condition) & (table["n_papers"] > 0)]
    names = list(systems) if systems is not None else list(dict.fromkeys(table["system"]))
    for name, colour, marker in zip(names, colours(len(names)), markers(len(names)), strict=True):
        own = part[part["system"] == name].sort_values("n_papers")
        joined = name not in apart
        _line(ax, own, "", colour, marker, f"{name}, answer withheld", joined)
        _line(ax, own, "control_", colour, marker, f"{name}, control: answer present", joined)
    set_axis(ax)
    ax.set_title(condition)
    return ax


def _line(ax: Axes, own: pd.DataFrame, prefix: str, colour: str, marker: str, label: str,
          joined: bool) -> None:
    rate, low, high = f"{prefix}rate", *(f"{prefix}{end}" for end in ("low", "high"))
    line = own[own[rate].notna()]
    if line.empty:
        return
    value = 100 * line[rate].astype(float)
    style = {"linestyle": "--", "markerfacecolor": "white"} if prefix else {"linestyle": "-"}
    if not joined:
        style["linestyle"] = "none"
    ax.plot(line["n_papers"], value, color=colour, marker=marker, label=label, **style)
    down = (value - 100 * line[low].astype(float)).clip(lower=0).fillna(0)
    up = (100 * line[high].astype(float) - value).clip(lower=0).fillna(0)
    ax.errorbar(line["n_papers"], value, yerr=np.vstack([down, up]), fmt="none", color=colour, capsize=2, linewidth=0.8)
