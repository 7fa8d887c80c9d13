"""MetaSyn's card: configurations × stage metrics as a heat table of values with their intervals.

Each cell says its value and interval in figures; its shade goes from light to dark within the metric's own range, in
one colour, so that it reads in print and with any colour vision. The best value of a metric has a frame, a missing one
a dash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

# In the order of the pipeline: what was found, what was kept, what was written. 1: more is better; -1: less.
STAGE_METRICS: Mapping[str, tuple[str, int]] = {
    "retrieval_recall": ("Retrieval\nrecall", 1), "retrieval_precision": ("Retrieval\nprecision", 1),
    "conditional_retention": ("Conditional\nretention", 1), "post_retrieval_loss": ("Post-retrieval\nloss", -1),
    "inclusion_recall": ("Inclusion\nrecall", 1), "inclusion_precision": ("Inclusion\nprecision", 1),
    "inclusion_f1": ("Inclusion\nF1", 1), "screening_accuracy": ("Screening\naccuracy", 1),
    "inclusion_consistency": ("Inclusion\nconsistency", 1), "exclusion_consistency": ("Exclusion\nconsistency", 1),
    "conclusion_direction_accuracy": ("Direction\naccuracy", 1), "insights_consistency": ("Insights\nconsistency", 1),
    "structure_quality": ("Structure\nquality (1–5)", 1)}
_SCALE = {"structure_quality": (1.0, 5.0)}  # all others are shares
_MAP = "Blues"
_LIGHT, _DARK = 0.05, 0.62  # the part of the map on which black figures can be read


def metasyn_card(ax: Axes, frame: pd.DataFrame, *, configurations: Sequence[str] | None = None,
                 metrics: Sequence[str] | None = None, own: Sequence[str] = (), apart: bool = False) -> Axes:
    """Draw the card. `frame` is tidy: configuration, metric, value, low, high, n; bounds may be null.

    `configurations` and `metrics` give rows and columns in order (default: as they come, and the stage metrics that the
    frame has); `own` names the rows that are one's own, set in bold with a marker; with `apart` they are of
    other data than the rest, and no value of theirs is framed as the best. A metric that is not in
    `STAGE_METRICS` is shown under its name as a share where more is better.
    """
    from seaborn import heatmap

    rows = list(configurations) if configurations is not None else list(dict.fromkeys(frame["configuration"]))
    there = set(frame["metric"])
    columns = list(metrics) if metrics is not None else [
        *(name for name in STAGE_METRICS if name in there), *sorted(there - set(STAGE_METRICS))]
    cells = {(line.configuration, line.metric): line for line in frame.itertuples()}
    shades = [[_shade(cells.get((row, name)), name) for name in columns] for row in rows]
    heatmap(shades, vmin=0, vmax=1, cmap=_MAP, cbar=False, linewidths=1.2, xticklabels=False, yticklabels=False, ax=ax)
    compared = [row for row in rows if not (apart and row in own)]
    best = {name: _best([cells.get((row, name)) for row in compared], name) for name in columns}
    for y, row in enumerate(rows):
        for x, name in enumerate(columns):
            line = cells.get((row, name))
            first = row in compared and _known(line) and _printed(line.value, name) == best[name]
            _cell(ax, x, y, line, name, first)
    ax.set_xticks([place + 0.5 for place in range(len(columns))], [_heading(name) for name in columns], fontsize=7)
    ax.set_yticks([place + 0.5 for place in range(len(rows))], [f"▸ {row}" if row in own else row for row in rows])
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row in own else "normal")
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    ax.grid(visible=False)
    return ax


def _heading(name: str) -> str:
    label, sense = STAGE_METRICS.get(name, (name.replace("_", " "), 1))
    return f"{label}\n({'more' if sense > 0 else 'less'} is better)" if sense < 0 else label


def _known(line: Any) -> bool:
    return line is not None and line.value is not None and line.value == line.value


def _printed(value: float, name: str) -> str:
    return f"{value:.2f}" if name in _SCALE else f"{value:.3f}"


def _best(lines: Sequence[Any], name: str) -> str | None:
    """Return the best value of a metric as it is printed; equal figures are all best."""
    values = [line.value for line in lines if _known(line)]
    if not values:
        return None
    sense = STAGE_METRICS.get(name, ("", 1))[1]
    return _printed(max(values) if sense > 0 else min(values), name)


def _shade(line: Any, name: str) -> float:
    """Return where a value lies in the part of the map in use, NaN without a value."""
    if not _known(line):
        return float("nan")
    least, most = _SCALE.get(name, (0.0, 1.0))
    share = min(1.0, max(0.0, (line.value - least) / (most - least)))
    return _LIGHT + (_DARK - _LIGHT) * share


def _cell(ax: Axes, x: int, y: int, line: Any, name: str, first: bool) -> None:
    middle = {"x": x + 0.5, "ha": "center", "va": "center"}
    if not _known(line):
        ax.add_patch(Rectangle((x, y), 1, 1, facecolor="white", edgecolor="0.85", hatch="xx", linewidth=0.8))
        ax.text(y=y + 0.5, s="–", fontsize=8, bbox=_box("white"), **middle)
        return
    if first:
        ax.add_patch(Rectangle((x + 0.04, y + 0.06), 0.92, 0.88, fill=False, edgecolor="black", linewidth=1.3))
    bounded = all(bound is not None and bound == bound for bound in (line.low, line.high))
    ax.text(y=y + (0.34 if bounded else 0.5), s=_printed(line.value, name), fontsize=8,
            fontweight="bold" if first else "normal", **middle)
    if bounded:
        ax.text(y=y + 0.7, s=f"{_printed(line.low, name)}–{_printed(line.high, name)}", fontsize=5.2, **middle)


def _box(colour: str) -> dict[str, Any]:
    return {"facecolor": colour, "edgecolor": "none", "boxstyle": "round,pad=0.15"}


def card_size(rows: int, columns: int) -> tuple[float, float]:
    """Return width and height in inches at which a card of this many rows and columns can be read."""
    return 2.4 + 0.82 * columns, 0.9 + 0.38 * rows


def description(frame: pd.DataFrame, metrics: Sequence[str] = ("retrieval_recall", "inclusion_f1")) -> str:
    """Return an alternative text: how many configurations, and the best and worst of the metrics named."""
    parts = []
    for name in metrics:
        known = frame[(frame["metric"] == name) & frame["value"].notna()].sort_values("value", kind="stable")
        if len(known):
            low, high = known.iloc[0], known.iloc[-1]
            label = STAGE_METRICS.get(name, (name.replace("_", " "), 1))[0].replace("\n", " ").lower()
            parts.append(f"{label} from {_printed(low['value'], name)} ({low['configuration']}) to "
                         f"{_printed(high['value'], name)} ({high['configuration']})")
    return (f"Table of {frame['configuration'].nunique()} configurations by {frame['metric'].nunique()} stage metrics "
            f"with intervals where they are known: {'; '.join(parts) or 'no values'}.")
