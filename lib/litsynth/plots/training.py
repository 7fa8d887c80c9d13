"""Pictures of training an encoder: the loss of its steps, and what it changed on each review."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from litsynth.plots.style import colours, markers


def loss_curve(ax: Axes, steps: pd.DataFrame) -> Axes:
    """Draw the loss of every step, one line an encoder; `steps` has encoder, step, loss."""
    names = list(dict.fromkeys(steps["encoder"]))
    for name, colour, marker in zip(names, colours(len(names)), markers(len(names)), strict=True):
        own = steps[steps["encoder"] == name]
        ax.plot(own["step"], own["loss"], color=colour, linewidth=0.6, alpha=0.6)
        width = max(1, len(own) // 10)
        ax.plot(own["step"], own["loss"].rolling(width, min_periods=1).mean(), color=colour, marker=marker,
                markevery=max(1, len(own) // 8), label=f"{name} (mean of {width} steps)" if width > 1 else name)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("Step")
    ax.set_ylabel("Loss")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def review_slopes(ax: Axes, measures: pd.DataFrame, measure: str, depth: int, encoders: Sequence[str]) -> Axes:
    """Draw each review's value with each encoder as a line from left to right, and the macro mean in black."""
    from seaborn import pointplot

    part = measures[(measures["measure"] == measure) & (measures["depth"] == depth)].reset_index(drop=True)
    reviews, order = sorted(part["review"].unique()), list(encoders)
    pointplot(part, x="encoder", y="value", order=order, hue="review", hue_order=reviews, legend=False, errorbar=None,
              palette=colours(len(reviews)), markers=markers(len(reviews)), alpha=0.75, linewidth=1, markersize=4.5,
              ax=ax)
    pointplot(part, x="encoder", y="value", order=order, color="black", errorbar=None, marker="_", markersize=14,
              markeredgewidth=1, linewidth=2.4, ax=ax)
    for line, name in zip(ax.get_lines(), [*(f"review {review}" for review in reviews), "macro mean"], strict=True):
        line.set_label(name)
    ax.set_xticks(range(len(order)), [name.replace(", ", ",\n") for name in order])
    ax.set_xlim(-0.25, len(order) - 0.75)
    ax.set_ylim(0, 1.02)
    ax.set(xlabel="", ylabel="")
    return ax
