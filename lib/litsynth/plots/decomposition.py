"""Stacked shares: what becomes of the two facts of a question, and where credit was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from litsynth.plots.style import PALETTE

_HATCHES = ("", "///", "...", "xxx", "\\\\\\")
PARTS = {"both": "both facts", "one": "one fact", "neither": "neither fact"}


def stacked_shares(ax: Axes, table: pd.DataFrame, parts: Mapping[str, str], *, label: str = "label",
                   counted: str = "counted", colours: Sequence[str] = PALETTE) -> Axes:
    """Draw one horizontal bar a row of `table`: the columns `parts` (column to words) as shares of `counted`.

    Shares of 6 % and more are written into their part; each part has hatching of its own. Rows with nothing counted say
    so.
    """
    rows = table.reset_index(drop=True)
    left = np.zeros(len(rows))
    for (column, words), colour, hatch in zip(parts.items(), colours, _HATCHES, strict=False):
        share = 100 * rows[column].astype(float) / rows[counted].where(rows[counted] > 0)
        share = share.fillna(0).to_numpy()
        bars = ax.barh(range(len(rows)), share, left=left, color=colour, hatch=hatch, edgecolor="white", label=words)
        texts = ax.bar_label(bars, [f"{value:.0f}" if value >= 6 else "" for value in share], label_type="center",
                             fontsize=7)
        for text in texts:
            text.set_bbox({"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85})
        left += share
    for place, n in enumerate(rows[counted]):
        if not n:
            ax.text(1, place, "nothing counted", va="center", fontsize=7, color="0.4")
    ax.set_yticks(range(len(rows)), rows[label])
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    ax.set_xlabel("Share of responses (%)")
    ax.legend(frameon=False, fontsize=7, ncols=len(parts), loc="lower right", bbox_to_anchor=(1, 1))
    return ax


def decomposition_bars(ax: Axes, table: pd.DataFrame) -> Axes:
    """Draw both, one and neither fact for each system, and a mark where both facts asked separately would lie.

    `table` has system, part and value (shares), as parts both, one, neither and, where known, both_separately. The
    distance from the end of the first bar to the mark is the synthesis penalty.
    """
    wide = table.pivot(index="system", columns="part", values="value")
    wide = wide.assign(counted=1.0, label=wide.index)
    stacked_shares(ax, wide, PARTS)
    separately = wide["both_separately"] if "both_separately" in wide else pd.Series(dtype=float)
    for place, value in enumerate(separately.astype(float)):
        if value == value:
            ax.plot([100 * value] * 2, [place - 0.45, place + 0.45], color="black", linewidth=2.5,
                    label="both, asked separately (T4)" if not place else None)
    ax.set_xlabel("Share of two-paper questions (%)")
    ax.legend(frameon=False, fontsize=7, ncols=4, loc="lower right", bbox_to_anchor=(1, 1))
    return ax
