"""Pictures of screening: recall against reading, calibration, and errors by criterion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from litsynth.plots.style import colours, markers


def workload_curve(ax: Axes, summary: pd.DataFrame, rankers: Sequence[str]) -> Axes:
    """Draw macro recall against the share of candidates read, one line a ranker with its 95 % band.

    `summary` has ranker, workload, value, low, high. The dotted diagonal is reading in random order.
    """
    for name, colour, marker in zip(rankers, colours(len(rankers)), markers(len(rankers)), strict=True):
        line = summary[summary["ranker"] == name].sort_values("workload")
        read = 100 * line["workload"]
        ax.plot(read, line["value"], color=colour, marker=marker, markevery=5, label=name)
        ax.fill_between(read, line["low"].astype(float), line["high"].astype(float), color=colour, alpha=0.12,
                        linewidth=0)
    ax.plot([0, 100], [0, 1], color="0.4", linestyle=":", linewidth=1, label="random order")
    ax.axhline(0.95, color="0.6", linewidth=0.8)
    ax.set_xlim(0, 100)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("Candidates read (%)")
    ax.set_ylabel("Recall (macro mean, 95 % interval)")
    ax.legend()
    return ax


def difference_lines(ax: Axes, table: pd.DataFrame, measure: str = "recall") -> Axes:
    """Draw the paired differences in a measure at each workload with their intervals; zero is marked."""
    part = table[(table["measure"] == measure) & table["value"].notna()]
    pairs = list(dict.fromkeys(zip(part["a"], part["b"], strict=True)))
    for number, (pair, colour, marker) in enumerate(zip(pairs, colours(len(pairs)), markers(len(pairs)), strict=True)):
        rows = part[(part["a"] == pair[0]) & (part["b"] == pair[1])].sort_values("workload")
        at = 100 * rows["workload"] + (number - (len(pairs) - 1) / 2) * 1.2
        low = (rows["value"] - rows["low"].astype(float)).fillna(0).clip(lower=0)
        high = (rows["high"].astype(float) - rows["value"]).fillna(0).clip(lower=0)
        ax.errorbar(at, rows["value"], yerr=np.vstack([low, high]), fmt=marker, color=colour, capsize=2,
                    label=f"{pair[0]} − {pair[1]}")
    ax.axhline(0, color="0.4", linewidth=1)
    ax.set_xlabel("Candidates read (%)")
    ax.set_ylabel("Difference in recall (paired, 95 % interval)")
    ax.legend()
    return ax


def reliability_plot(ax: Axes, bins: pd.DataFrame) -> Axes:
    """Draw the share really included against the mean probability of each bin, with intervals and counts.

    `bins` has mean_probability, value, low, high, count. On the dotted diagonal probabilities are right.
    """
    low = (bins["value"] - bins["low"]).clip(lower=0)
    high = (bins["high"] - bins["value"]).clip(lower=0)
    ax.plot([0, 1], [0, 1], color="0.4", linestyle=":", linewidth=1)
    ax.errorbar(bins["mean_probability"], bins["value"], yerr=np.vstack([low, high]), fmt="o-", capsize=2)
    for row in bins.itertuples():
        ax.annotate(f"{row.count:,}", (row.mean_probability, row.value), xytext=(5, -9), textcoords="offset points",
                    fontsize=6, color="0.3")
    ax.set_xscale("symlog", linthresh=0.02)
    ax.set_yscale("symlog", linthresh=0.02)
    ticks = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_ticks([], minor=True)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.05)
    ax.set_xlabel("Mean probability of the bin")
    ax.set_ylabel("Share that reviewers included")
    return ax


def criterion_bars(ax: Axes, criteria: pd.DataFrame) -> Axes:
    """Draw the share of candidates that fail one criterion and were included nonetheless, by criterion and screener.

    `criteria` has screener, point, criterion, candidates, included, value, low, high.
    """
    names = sorted(criteria["criterion"].unique())
    kinds = list(dict.fromkeys(zip(criteria["screener"], criteria["point"], strict=True)))
    width = 0.8 / max(1, len(kinds))
    for number, (kind, colour) in enumerate(zip(kinds, colours(len(kinds)), strict=True)):
        rows = criteria[(criteria["screener"] == kind[0]) & (criteria["point"] == kind[1])]
        rows = rows.set_index("criterion").reindex(names)
        at = np.arange(len(names)) + (number - (len(kinds) - 1) / 2) * width
        value = rows["value"].astype(float)
        error = np.vstack([(value - rows["low"].astype(float)).fillna(0).clip(lower=0),
                           (rows["high"].astype(float) - value).fillna(0).clip(lower=0)])
        ax.bar(at, value.fillna(0), width, color=colour, edgecolor="white", label=", ".join(kind), yerr=error,
               error_kw={"elinewidth": 0.8, "ecolor": "0.3"})
        counts = zip(rows["included"], rows["candidates"], at, rows["high"].astype(float), strict=True)
        for included, candidates, place, high in counts:
            if candidates == candidates:
                ax.text(place, high + 0.01, f"{int(included)}/{int(candidates)}", ha="center", fontsize=6)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylim(0, 1.08)
    ax.set_ylabel("Included although it fails (share)")
    ax.legend(fontsize=7)
    return ax
