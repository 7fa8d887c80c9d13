"""Pictures of retrieval: recall against depth, reviews side by side, differences, misses, HNSW against exact search."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from litsynth.plots.style import SEQUENTIAL, colours, markers

LABELS = {"recall": "Recall", "precision": "Precision", "ndcg": "nDCG", "average_precision": "Average precision",
          "rank_of_last": "Rank of the last included study", "wss95": "Work saved at 95 % recall",
          "wss95_screened": "Work saved at 95 % recall, screened records only"}

_BLACK_FROM = 0.47  # on the map of the heat map, whose relative luminance is then 0.18


def depth_curve(ax: Axes, summary: pd.DataFrame, measure: str = "recall", *,
                reference: Mapping[int, float] | None = None) -> Axes:
    """Draw a measure against depth, one line a retriever with its 95 % band; `reference` adds the best possible values.

    `summary` has retriever, measure, depth, value, low, high. Depth is logarithmic; depths not run are absent.
    """
    part = summary[(summary["measure"] == measure) & (summary["depth"] > 0)]
    names = list(dict.fromkeys(part["retriever"]))
    for name, colour, marker in zip(names, colours(len(names)), markers(len(names)), strict=True):
        line = part[part["retriever"] == name].sort_values("depth")
        ax.plot(line["depth"], line["value"], color=colour, marker=marker, label=name)
        ax.fill_between(line["depth"], line["low"].astype(float), line["high"].astype(float), color=colour, alpha=0.15,
                        linewidth=0)
    if reference:
        ax.plot(list(reference), list(reference.values()), color="0.4", linestyle=":", label="best possible")
    depths = sorted(part["depth"].unique())
    ax.set_xscale("log")
    ax.set_xticks(depths, [str(depth) for depth in depths])
    ax.minorticks_off()
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("Depth (articles retrieved)")
    ax.set_ylabel(f"{LABELS[measure]} (macro mean, 95 % interval)")
    ax.legend(title="Retriever", frameon=False)
    return ax


def review_heatmap(ax: Axes, scores: pd.DataFrame, depth: int, measure: str = "recall") -> Axes:
    """Draw one measure at one depth for every review (columns) and retriever (rows); each cell shows its value.

    Reviews stand in order of their mean, hardest first; a cell without a value is left white and marked.
    """
    from seaborn import heatmap

    part = scores[(scores["measure"] == measure) & (scores["depth"] == depth)]
    wide = part.pivot(index="retriever", columns="review", values="value")
    wide = wide[wide.mean().sort_values(kind="stable").index]
    wide = wide.astype(float)
    relevant = part.groupby("review")["relevant"].first()
    crowded = wide.shape[1] > 30  # words then stand upright, to fit into their columns
    counts = "{} ({})" if crowded else "{}\n({})"
    heatmap(wide, vmin=0, vmax=1, cmap=SEQUENTIAL, cbar=False, annot=True, fmt=".2f", ax=ax, linewidths=0.5,
            annot_kws={"fontsize": 9 if wide.shape[1] <= 12 else 6, "rotation": 90 if crowded else 0},
            xticklabels=[counts.format(review, relevant[review]) for review in wide.columns],
            yticklabels=list(wide.index))
    # Black from where it has the greater contrast with the shade; seaborn keeps white longer than it reads well.
    values = wide.to_numpy()
    for text, value in zip(ax.texts, values[~np.isnan(values)], strict=True):
        text.set_color("black" if value > _BLACK_FROM else "white")
    for row, column in np.argwhere(np.isnan(values)):
        ax.text(column + 0.5, row + 0.5, "–", ha="center", va="center")
    ax.tick_params(axis="y", rotation=0)
    if crowded:
        ax.tick_params(axis="x", rotation=90, labelsize=6)
    ax.set_xlabel("Review (number of included studies), hardest first")
    ax.set_ylabel("")
    ax.grid(visible=False)
    return ax


def difference_forest(ax: Axes, table: pd.DataFrame, measure: str = "recall") -> Axes:
    """Draw every paired difference of two retrievers with its interval, one row a pair and depth; zero is marked."""
    part = table[(table["measure"] == measure) & table["value"].notna()]
    pairs = list(dict.fromkeys(zip(part["a"], part["b"], strict=True)))
    depths = sorted(part["depth"].unique(), reverse=True)
    height = 0.8 / max(1, len(pairs))
    for number, (pair, colour, marker) in enumerate(zip(pairs, colours(len(pairs)), markers(len(pairs)), strict=True)):
        rows = part[(part["a"] == pair[0]) & (part["b"] == pair[1])].set_index("depth").loc[depths]
        at = np.arange(len(depths)) + (number - (len(pairs) - 1) / 2) * height
        low = (rows["value"] - rows["low"].astype(float)).fillna(0).clip(lower=0)
        high = (rows["high"].astype(float) - rows["value"]).fillna(0).clip(lower=0)
        ax.errorbar(rows["value"], at, xerr=np.vstack([low, high]), fmt=marker, color=colour, capsize=2,
                    label=f"{pair[0]} − {pair[1]}")
    ax.axvline(0, color="0.4", linewidth=1)
    ax.set_yticks(range(len(depths)), [str(depth) if depth else "all" for depth in depths])
    ax.set_ylabel("Depth")
    ax.set_xlabel(f"Difference in {_in_a_sentence(measure)} (paired over reviews, 95 % interval)")
    if pairs:  # one retriever alone has no difference
        ax.legend(frameon=False, fontsize="small")
    return ax


def _in_a_sentence(measure: str) -> str:
    label = LABELS[measure]
    return label if label[1:2].isupper() else label[0].lower() + label[1:]


def miss_bars(ax: Axes, summary: pd.DataFrame, depth: int) -> Axes:
    """Draw the share of included studies that each retriever misses within `depth`, by trait, with counts."""
    traits, names = sorted(summary["trait"].unique()), list(dict.fromkeys(summary["retriever"]))
    width = 0.8 / max(1, len(names))
    for number, (name, colour) in enumerate(zip(names, colours(len(names)), strict=True)):
        rows = summary[summary["retriever"] == name].set_index("trait").reindex(traits)
        at = np.arange(len(traits)) + (number - (len(names) - 1) / 2) * width
        bars = ax.bar(at, rows["share_missed"].fillna(0), width, color=colour, label=name, edgecolor="white")
        counts = zip(rows["missed"], rows["studies"], strict=True)
        labels = ["" if np.isnan(studies) else f"{int(missed)}/{int(studies)}" for missed, studies in counts]
        ax.bar_label(bars, labels, fontsize=7, padding=1)
    ax.set_xticks(range(len(traits)), traits)
    ax.set_ylim(0, 1.08)
    ax.set_ylabel(f"Included studies missed within {depth} (share)")
    ax.legend(title="Retriever", frameon=False)
    return ax


def hnsw_curve(ax: Axes, table: pd.DataFrame) -> Axes:
    """Draw HNSW's recall of the exact top k against efSearch, one line an encoder; the target of 0.99 is marked."""
    names = list(dict.fromkeys(table["retriever"]))
    for name, colour, marker in zip(names, colours(len(names)), markers(len(names)), strict=True):
        rows = table[table["retriever"] == name].sort_values("ef_search")
        ax.plot(rows["ef_search"], rows["recall"], color=colour, marker=marker, label=name)
    ax.axhline(0.99, color="0.4", linestyle=":", linewidth=1)
    settings = sorted(table["ef_search"].unique())
    ax.set_xscale("log", base=2)
    ax.set_xticks(settings, [str(setting) for setting in settings])
    ax.minorticks_off()
    ax.set_xlabel("efSearch")
    ax.set_ylabel("Share of the exact top 200 found")
    ax.legend(frameon=False)
    return ax
