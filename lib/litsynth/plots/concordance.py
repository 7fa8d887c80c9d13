"""Pictures of concordance: coefficients, the two-by-two table, who credits more, raw against corrected credit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from litsynth.plots.style import colours, markers


def _bars(rows: pd.DataFrame) -> np.ndarray:
    """Return the two lengths of each interval, 0 where there is none."""
    value, low, high = (rows[name].astype(float) for name in ("value", "low", "high"))
    return np.vstack([(value - low).fillna(0).clip(lower=0), (high - value).fillna(0).clip(lower=0)])


def forest(ax: Axes, table: pd.DataFrame, labels: Sequence[str], *, by: str = "source", of: str = "measure",
           xlabel: str = "Coefficient (95 % interval)", stagger: bool = True) -> Axes:
    """Draw values with intervals, a row for each of `labels` (values of the column `of`), a marker for each `by`.

    A row without a value says that it is undefined; one without an interval has an open marker. Zero is marked.
    `stagger` sets the markers of one row one below the other.
    """
    names = list(dict.fromkeys(table[by]))
    height = 0.7 / max(1, len(names)) if stagger else 0.0
    for number, (name, colour, marker) in enumerate(zip(names, colours(len(names)), markers(len(names)), strict=True)):
        rows = table[table[by] == name].drop_duplicates(of).set_index(of)
        at = pd.Series({label: place + (number - (len(names) - 1) / 2) * height for place, label in enumerate(labels)
                        if label in rows.index}, dtype=float)
        rows = rows.loc[at.index]
        known, bounded = rows["value"].notna(), rows["low"].notna() & rows["high"].notna()
        for part, face in ((known & bounded, colour), (known & ~bounded, "white")):
            if part.any() or face == colour:
                ax.errorbar(rows.loc[part, "value"].astype(float), at[part], xerr=_bars(rows[part]), fmt=marker,
                            color=colour, markerfacecolor=face, capsize=2.5, label=name if face == colour else None)
        for label in rows.index[~known]:
            ax.text(0.01, at[label], "undefined", color=colour, fontsize=7, va="center", style="italic")
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.axvline(0, color="0.4", linewidth=1)
    ax.set_xlabel(xlabel)
    if len(names) > 1:
        longest = max(map(len, names))  # a legend wider than the axes would squeeze them
        columns = 3 if longest <= 24 else 2 if longest <= 36 else 1
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(columns, len(names)), frameon=False)
    return ax


def confusion(ax: Axes, counts: Sequence[Sequence[int]], *, rows: str, columns: str, title: str = "") -> Axes:
    """Draw a two-by-two table of counts, credit first; agreement is shaded, disagreement hatched.

    `counts` is ((both, row only), (column only, neither)): the row rater's verdict in rows.
    """
    from matplotlib.patches import Rectangle
    from seaborn import heatmap

    total = sum(map(sum, counts)) or 1
    words = ["credit", "no credit"]
    behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "boxstyle": "round,pad=0.2"}
    heatmap([[1, 0], [0, 1]], vmin=0, vmax=1, cmap=["#F6D5B8", "#B8D9EC"], cbar=False, square=True, linewidths=2,
            annot=[[f"{count}\n{count / total:.0%}" for count in row] for row in counts], fmt="",
            annot_kws={"fontsize": 12, "color": "black", "bbox": behind}, xticklabels=words, yticklabels=words, ax=ax)
    for corner in ((0, 1), (1, 0)):
        ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="white", hatch="//", linewidth=0))
    ax.tick_params(rotation=0)
    ax.set_xlabel(columns)
    ax.set_ylabel(rows)
    ax.grid(visible=False)
    ax.set_title(title)
    return ax


def direction_bars(ax: Axes, table: pd.DataFrame, *, human: str) -> Axes:
    """Draw disagreements by group: cells that only the human credits to the left, only the panel to the right.

    `table` has group, panel_only, human_only, value, low, high; the right-hand labels give the difference in share.
    """
    at = np.arange(len(table))
    ax.barh(at, -table["human_only"], color="#0072B2", edgecolor="white", hatch="//", label=f"{human} alone credits")
    ax.barh(at, table["panel_only"], color="#E69F00", edgecolor="white", label="panel alone credits")
    ax.axvline(0, color="0.2", linewidth=1)
    most = max(1, int(table[["panel_only", "human_only"]].to_numpy().max(initial=0)))
    for place, row in zip(at, table.itertuples(), strict=True):
        known = row.value is not None and row.value == row.value
        words = f"{row.value:+.0%}" if known else "–"
        if known and row.low == row.low and row.low is not None:
            words += f" ({row.low:+.0%} to {row.high:+.0%})"
        ax.text(most * 1.12, place, words.replace("-", "−"), va="center", fontsize=7.5)
    ax.set_yticks(at, table["group"])
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(-most * 1.1, most * 1.9)
    step = max(1, round(most / 3))
    ticks = [*range(-step * (most // step), 0, step), *range(0, most + 1, step)]
    ax.set_xticks(ticks, [str(abs(tick)) for tick in ticks])
    ax.set_xlabel(f"Cells on which they differ; right: share credited, panel less {human} (95 % interval)")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)
    return ax
