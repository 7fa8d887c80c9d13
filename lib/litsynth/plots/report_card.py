"""Report cards: heat maps with traffic-light bands that read in print and with any colour vision.

A cell says its value and its number of questions; its band shows in colour and in hatching.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

Band = Literal["green", "yellow", "red", "white", "grey"]

ABOVE, BELOW = 80.0, 60.0  # percent: green above the first, red below the second, yellow from one to the other
WORDS: Mapping[Band, str] = {"green": "above 80 %", "yellow": "60 to 80 %", "red": "below 60 %",
                             "white": "no question exists", "grey": "not evaluated"}
# Light enough for black numbers; the three differ in brightness too, and each band has hatching of its own.
_FILL: Mapping[Band, str] = {"green": "#9BD8BF", "yellow": "#F7EFA0", "red": "#F0A58A", "white": "#FFFFFF",
                             "grey": "#D9D9D9"}
_HATCH: Mapping[Band, str] = {"green": "", "yellow": "...", "red": "///", "white": "", "grey": "xx"}
_HATCH_COLOUR = "#8A8A8A"


def band(percent: float | None, state: str = "value") -> Band:
    """Return the band of a cell: green above 80 %, yellow from 60 to 80 % (both included), red below 60 %.

    `state` "no question" is white and "not evaluated" grey, whatever the value.
    """
    if state == "no question":
        return "white"
    if state == "not evaluated" or percent is None or percent != percent:
        return "grey"
    return "green" if percent > ABOVE else "red" if percent < BELOW else "yellow"


def card(ax: Axes, frame: pd.DataFrame, *, rows: Sequence[str], columns: Sequence[str], row: str, column: str,
         title: str = "") -> Axes:
    """Draw one heat map: `frame` has the columns named by `row` and `column`, `percent`, `questions` and `state`.

    A cell that the frame lacks is grey. Cells with a value show it in percent, rounded, and below it the number of
    questions; where rounding would cross a band's limit a decimal is kept.
    """
    cells = {(getattr(line, row), getattr(line, column)): line for line in frame.itertuples()}
    for y, name in enumerate(rows):
        for x, heading in enumerate(columns):
            _cell(ax, x, y, cells.get((name, heading)))
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    ax.grid(visible=False)
    for side in ax.spines.values():
        side.set_visible(False)
    if title:
        ax.set_title(title, pad=18)
    return ax


def _cell(ax: Axes, x: int, y: int, line: object | None) -> None:
    state = "not evaluated" if line is None else line.state
    percent = None if line is None else line.percent
    kind = band(percent, state)
    ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=_FILL[kind], hatch=_HATCH[kind], edgecolor=_HATCH_COLOUR,
                           linewidth=0))
    ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor="white", linewidth=1.5))
    if kind == "white":
        ax.text(x, y, "–", ha="center", va="center", fontsize=8, color="0.4")
    elif kind != "grey":
        box = {"boxstyle": "round,pad=0.12", "facecolor": _FILL[kind], "edgecolor": "none"}
        middle = {"ha": "center", "va": "center", "bbox": box, "in_layout": False}
        ax.text(x, y - 0.13, shown_percent(percent), fontsize=8.5, fontweight="bold", **middle)
        ax.text(x, y + 0.26, f"n {_count(line.questions)}", fontsize=5.5, color="0.15", **middle)


def _count(questions: float | None) -> str:
    return "?" if questions is None or questions != questions else f"{int(questions):,}"


def shown_percent(percent: float) -> str:
    """Return a percentage as a cell shows it: whole, unless rounding would put it into another band."""
    whole = f"{percent:.0f}"
    return whole if band(float(whole)) == band(percent) else f"{percent:.1f}" if band(
        float(f"{percent:.1f}")) == band(percent) else f"{percent:.2f}"


def legend(ax: Axes, **options: object) -> None:
    """Add the legend of the bands to an axes."""
    handles = [Patch(facecolor=_FILL[name], hatch=_HATCH[name], edgecolor=_HATCH_COLOUR, label=words)
               for name, words in WORDS.items()]
    ax.legend(handles=handles, **{"loc": "upper center", "bbox_to_anchor": (0.5, -0.02), "ncols": 5, "frameon": False,
                                  "fontsize": 7, **options})
