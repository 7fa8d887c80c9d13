"""The pictures of the training, each saved with what it plots and a description in words."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown
from litsynth.experiments.store import Run
from litsynth.experiments.train_retriever.tables import order_of
from litsynth.plots import training as draw
from litsynth.plots.style import figure


def losses(run: Run, steps: pd.DataFrame) -> Any:
    """Draw the loss of every training; returns the figure."""
    fig, axes = figure(1, 1, width=7, height=3.4)
    draw.loss_curve(axes[0], steps)
    words = "; ".join(f"{name}: {part['loss'].iloc[0]:.3f} in the first and {part['loss'].iloc[-1]:.3f} in the last of "
                      f"{len(part)} steps" for name, part in steps.groupby("encoder", sort=False))
    run.save_figure("losses", fig, steps, alt=f"Loss of each training step. {words}.")
    return fig


def before_and_after(run: Run, measures: pd.DataFrame, summary: pd.DataFrame) -> Any:
    """Draw recall and nDCG at the largest depth and average precision of every test review; returns the figure."""
    depth, encoders = max(run.parameters.depths), order_of(run)
    fig, axes = figure(1, 3, width=11, height=4)
    shown_measures = (("recall", depth, f"Recall@{depth}"), ("ndcg", depth, f"nDCG@{depth}"),
                      ("average_precision", 0, "Average precision"))
    for ax, (measure, at, title) in zip(axes, shown_measures, strict=True):
        draw.review_slopes(ax, measures, measure, at, encoders)
        ax.set_title(title)
    axes[0].legend(fontsize=7, ncols=2)
    part = measures[measures["measure"].isin(["recall", "ndcg", "average_precision"])]
    rows = summary[(summary["measure"] == "recall") & (summary["depth"] == depth)]
    words = "; ".join(f"{row.encoder} {shown(row.value, row.low, row.high)}" for row in rows.itertuples())
    run.save_figure("before_and_after", fig, part, alt=(
        f"Lines of each test review's recall, nDCG and average precision from encoder to encoder. Mean recall at depth "
        f"{depth}: {words}."))
    return fig
