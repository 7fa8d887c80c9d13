"""The pictures of the retrieval sweep, each saved with what it plots and a description in words."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown
from litsynth.experiments.store import Run
from litsynth.plots import retrieval as draw
from litsynth.plots.style import figure


def recall_by_depth(run: Run, summary: pd.DataFrame) -> Any:
    """Draw recall and nDCG against depth; returns the figure."""
    fig, axes = figure(1, 2, width=10, height=4)
    draw.depth_curve(axes[0], summary, "recall", reference=_best_recall(run))
    draw.depth_curve(axes[1], summary, "ndcg")
    axes[1].get_legend().remove()
    data = summary[summary["measure"].isin(["recall", "ndcg"])]
    last = data[(data["measure"] == "recall") & (data["depth"] == max(run.parameters.depths))]
    words = "; ".join(f"{row.retriever} {shown(row.value, row.low, row.high)}" for row in last.itertuples())
    run.save_figure("recall_by_depth", fig, data, alt=(
        f"Line charts of recall and nDCG against depth for {_whom(run, last)}. Recall at depth "
        f"{max(run.parameters.depths)}: {words}."))
    return fig


def _best_recall(run: Run) -> dict[int, float]:
    """Return the macro recall of a perfect ranking at each depth: large reviews cannot reach 1."""
    reviews = run.dataset.split(run.parameters.split)
    sizes = [len(set(run.dataset.gold[i].included_ids) - set(r.source_ids)) for i, r in reviews.items()]
    sizes = [size for size in sizes if size]
    return {depth: sum(min(1.0, depth / size) for size in sizes) / len(sizes)
            for depth in sorted(set(run.parameters.depths))} if sizes else {}


def _whom(run: Run, part: pd.DataFrame) -> str:
    reviews = int(part["reviews"].max()) if len(part) else 0
    synthetic = " of synthetic data" if run.dataset.synthetic else ""
    return f"{reviews} reviews{synthetic}"


def recall_by_review(run: Run, scores: pd.DataFrame) -> Any:
    """Draw recall at the largest depth for every review and retriever; returns the figure."""
    depth = max(run.parameters.depths)
    part = scores[(scores["measure"] == "recall") & (scores["depth"] == depth)]
    fig, axes = figure(1, 1, width=10, height=1.2 + 0.5 * part["retriever"].nunique())
    draw.review_heatmap(axes[0], scores, depth)
    spread = part.groupby("retriever")["value"].agg(["min", "max"])
    words = "; ".join(f"{name} from {row['min']:.2f} to {row['max']:.2f}" for name, row in spread.iterrows())
    run.save_figure("recall_by_review", fig, part, alt=f"Heat map of recall at depth {depth} by review: {words}.")
    return fig


def paired_differences(run: Run, table: pd.DataFrame) -> Any:
    """Draw the paired differences in recall and nDCG between retrievers; returns the figure."""
    fig, axes = figure(1, 2, width=10, height=4)
    for ax, measure in zip(axes, ("recall", "ndcg"), strict=True):
        draw.difference_forest(ax, table, measure)
    part = table[table["measure"].isin(["recall", "ndcg"])]
    last = part[(part["measure"] == "recall") & (part["depth"] == max(run.parameters.depths))]
    words = "; ".join(f"{row.a} minus {row.b} {shown(row.value, row.low, row.high, signed=True)}"
                      for row in last.itertuples())
    run.save_figure("paired_differences", fig, part, alt=(
        "Differences in recall and nDCG between each two retrievers at every depth, with intervals. "
        f"Recall at depth {max(run.parameters.depths)}: {words}."))
    return fig


def where_the_misses_are(run: Run, summary: pd.DataFrame) -> Any:
    """Draw which included studies are missed at the largest depth; returns the figure."""
    depth = max(run.parameters.depths)
    fig, axes = figure(1, 1, width=7, height=4)
    draw.miss_bars(axes[0], summary, depth)
    words = "; ".join(f"{row.retriever}, {row.trait}: {row.missed} of {row.studies}" for row in summary.itertuples())
    run.save_figure("misses", fig, summary, alt=f"Bars of included studies missed within depth {depth}. {words}.")
    return fig


def hnsw_against_flat(run: Run, table: pd.DataFrame) -> Any:
    """Draw HNSW's recall of exact search against efSearch; returns the figure, or None when no retriever is dense."""
    if table.empty:
        return None
    fig, axes = figure(1, 1, width=6, height=4)
    draw.hnsw_curve(axes[0], table)
    words = "; ".join(f"{row.retriever} at efSearch {row.ef_search}: {row.recall:.3f}" for row in table.itertuples())
    run.save_figure("hnsw_against_flat", fig, table, alt=f"Share of the exact top results that HNSW finds. {words}.")
    return fig
