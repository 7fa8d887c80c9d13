"""Pictures of losses on the way from the reference set to the final list, and of who gets included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from litsynth.plots.style import MUTED, PALETTE, colours, markers

PARTS = {"kept": ("kept", PALETTE[2]), "dropped": ("retrieved, then dropped", PALETTE[4]),
         "not_retrieved": ("not retrieved", PALETTE[7]), "wrong": ("wrongly added", PALETTE[1])}
REFERENCE_PARTS = ("kept", "dropped", "not_retrieved")


def funnel_bars(ax: Axes, shares: pd.DataFrame, *, scale: str = "share of the reference set, mean over reviews",
                hatched: Sequence[str] = ()) -> Axes:
    """Draw one bar a row of `shares` (label, kept, dropped, not_retrieved): where the reference set went.

    `wrong`, where present, is what was wrongly added, drawn as a thin bar below in the same unit. Rows whose label is
    in `hatched` are drawn with hatching: numbers of other data.
    """
    at = np.arange(len(shares))
    left = np.zeros(len(shares))
    hatches = ["///" if label in set(hatched) else "" for label in shares["label"]]
    for name in REFERENCE_PARTS:
        words, colour = PARTS[name]
        values = shares[name].astype(float).fillna(0).to_numpy()
        bars = ax.barh(at, values, 0.5, left=left, color=colour, label=words, edgecolor="white")
        for bar, hatch in zip(bars, hatches, strict=True):
            bar.set_hatch(hatch)
        left += values
    if "wrong" in shares and shares["wrong"].notna().any():
        words, colour = PARTS["wrong"]
        ax.barh(at + 0.36, shares["wrong"].astype(float).fillna(0), 0.16, color=colour, label=words, edgecolor="white")
    for position, (share, total) in enumerate(zip(shares["kept"], left, strict=True)):
        if not total:
            ax.text(0.01, position, "no readable list", va="center", fontsize=7, color="0.3")
        elif share == share and share is not None:
            text = f"{share:.2f}" if scale.startswith("share") else f"{int(share)}"
            ax.text(0.006 * max(1.0, left.max()), position, text, va="center", fontsize=7, color="black",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85})
    ax.set_yticks(at, shares["label"])
    wrong = shares["wrong"].astype(float).fillna(0).max() if "wrong" in shares and len(shares) else 0.0
    longest = max(left.max(initial=1.0), wrong)
    ax.set_xlim(0, 1.02 * longest)
    ax.invert_yaxis()
    ax.set_xlabel(scale[0].upper() + scale[1:])
    ax.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.4, 1.0))
    return ax


def retention_scatter(ax: Axes, points: pd.DataFrame, released: pd.DataFrame) -> Axes:
    """Draw conditional retention against retrieval recall, a point a system and mode with both intervals.

    Both frames have label, x, x_low, x_high, y, y_low, y_high; `released` is drawn muted, with a number a point.
    """
    for number, row in enumerate(released.itertuples(), start=1):
        ax.errorbar(row.x, row.y, xerr=_arms(row.x, row.x_low, row.x_high), yerr=_arms(row.y, row.y_low, row.y_high),
                    fmt="o", color=MUTED, alpha=0.7, capsize=0, linewidth=0.8, markersize=3)
        ax.annotate(str(number), (row.x, row.y), xytext=(3, 3), textcoords="offset points", fontsize=7, color="0.3")
    for row, colour, marker in zip(points.itertuples(), colours(len(points)), markers(len(points)), strict=True):
        if row.y == row.y:
            ax.errorbar(row.x, row.y, xerr=_arms(row.x, row.x_low, row.x_high),
                        yerr=_arms(row.y, row.y_low, row.y_high), fmt=marker, color=colour, capsize=2, label=row.label)
    for level in (0.25, 0.5, 0.75):
        recall = np.linspace(level, 1, 50)
        ax.plot(recall, level / recall, color="0.85", linewidth=0.8, zorder=0)
        ax.text(1.005, level, f"{level:g}", fontsize=7, color="0.5", va="center")
    ax.set_xlim(0, 1.06)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("Retrieval recall (macro mean, 95 % interval)")
    ax.set_ylabel("Conditional retention (macro mean, 95 % interval)")
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return ax


def _arms(value: float, low: float, high: float) -> np.ndarray | None:
    """Return the lengths of an interval's arms, None where it has none."""
    if low is None or low != low or high != high:
        return None
    return np.array([[max(0.0, value - low)], [max(0.0, high - value)]])


def place_lines(ax: Axes, places: pd.DataFrame, order: Sequence[str], *, legend: bool = True) -> Axes:
    """Draw the share included by place in the list, a line a system for reference (filled) and other (open) articles.

    The numbers are the candidates behind each point.
    """
    systems = sorted(places["system"].unique())
    shown = [name for name in order if name in set(places["place"].astype(str))]
    for number, (system, colour, marker) in enumerate(zip(systems, colours(len(systems)), markers(len(systems)),
                                                          strict=True)):
        for who, style, aside in (("reference", "-", 0.0), ("other", ":", 0.08)):
            rows = places[(places["system"] == system) & (places["who"] == who)]
            if rows.empty:
                continue
            at = np.array([shown.index(str(place)) for place in rows["place"]]) + 0.16 * number + aside
            low = (rows["value"] - rows["low"]).fillna(0).clip(lower=0)
            high = (rows["high"] - rows["value"]).fillna(0).clip(lower=0)
            ax.errorbar(at, rows["value"], yerr=np.vstack([low, high]), linestyle=style, marker=marker, color=colour,
                        capsize=2, markerfacecolor=colour if who == "reference" else "white", label=f"{system}, {who}")
            for x, value, count in zip(at, rows["value"], rows["n"], strict=True):
                ax.annotate(str(count), (x, value), xytext=(4, 4), textcoords="offset points", fontsize=6, color="0.4")
    ax.set_xticks(range(len(shown)), shown)
    ax.set_xlim(-0.4, max(0.6, len(shown) - 0.5))
    ax.set_ylim(-0.03, 1.05)
    ax.set_xlabel("Place in the list shown")
    ax.set_ylabel("Share included (95 % interval)")
    if legend:
        ax.legend(frameon=False, fontsize="small")
    return ax


def criterion_bars(ax: Axes, criteria: pd.DataFrame) -> Axes:
    """Draw the share of hard negatives included by the criterion that they fail, a bar a system, with counts."""
    names = sorted(criteria["fails"].unique())
    arms = sorted({(row.system, row.mode) for row in criteria.itertuples()})
    width = 0.8 / max(1, len(arms))
    for number, ((system, mode), colour) in enumerate(zip(arms, colours(len(arms)), strict=True)):
        rows = criteria[(criteria["system"] == system) & (criteria["mode"] == mode)].set_index("fails").reindex(names)
        at = np.arange(len(names)) + (number - (len(arms) - 1) / 2) * width
        low = (rows["value"] - rows["low"]).fillna(0).clip(lower=0)
        high = (rows["high"] - rows["value"]).fillna(0).clip(lower=0)
        bars = ax.bar(at, rows["value"].fillna(0), width, yerr=np.vstack([low, high]), color=colour, edgecolor="white",
                      capsize=2, label=f"{system}, {mode}", error_kw={"linewidth": 0.8})
        labels = ["" if np.isnan(n) else f"{int(k)}/{int(n)}" for k, n in zip(rows["included"], rows["n"], strict=True)]
        ax.bar_label(bars, labels, fontsize=6, padding=2)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylim(0, 1.08)
    ax.set_xlabel("The one criterion that the article fails")
    ax.set_ylabel("Share wrongly included (95 % interval)")
    ax.legend(frameon=False, fontsize="small")
    return ax
