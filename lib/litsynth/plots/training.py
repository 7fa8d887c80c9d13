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
    part = measures[(measures["measure"] == measure) & (measures["depth"] == depth)]
    wide = part.pivot(index="review", columns="encoder", values="value")[list(encoders)]
    places = range(len(encoders))
    for (review, row), colour, marker in zip(wide.iterrows(), colours(len(wide)), markers(len(wide)), strict=True):
        ax.plot(places, row, color=colour, marker=marker, alpha=0.75, linewidth=1, label=f"review {review}")
    ax.plot(places, wide.mean(), color="black", marker="_", markersize=14, linewidth=2.4, label="macro mean")
    ax.set_xticks(list(places), [name.replace(", ", ",\n") for name in encoders])
    ax.set_ylim(0, 1.02)
    ax.margins(x=0.1)
    return ax
