"""One style for every figure, and its export as SVG, PNG, PDF, plotted data and description.

Colours are those of Okabe and Ito (Color Universal Design, 2008), which people with any colour vision can
tell apart; markers differ too, so that a figure also works printed in grey.
"""

from __future__ import annotations

import io
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure

from litsynth.errors import RunError
from litsynth.files import atomic_path, write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HIGHLIGHT, MUTED = PALETTE[1], "#7F7F7F"
SEQUENTIAL, DIVERGING = "cividis", "PuOr"

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 10, "axes.labelsize": 9, "legend.fontsize": 8,
    "xtick.labelsize": 8, "ytick.labelsize": 8, "axes.titlelocation": "left", "axes.titleweight": "bold",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "0.9", "grid.linewidth": 0.6,
    "axes.axisbelow": True, "lines.linewidth": 1.6, "lines.markersize": 4.5, "legend.frameon": False,
    "figure.dpi": 110, "savefig.dpi": 200, "figure.constrained_layout.use": True, "image.cmap": SEQUENTIAL,
    # Text stays text in vector files; equal figures give equal bytes.
    "svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "litsynth",
}
# Dates and versions in a file would change its bytes although the picture is the same.
_METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None},
                                         "pdf": {"CreationDate": None, "Creator": None, "Producer": None}}


class StyledFigure(Figure):
    """A figure that shows itself in a notebook without pyplot, so that nothing is drawn twice or kept in memory.

    `description` is its alternative text, known once it was exported; notebooks keep it beside the picture.
    """

    description: str = ""

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=144, metadata=_METADATA["png"])
        return buffer.getvalue(), {"alt": self.description} if self.description else {}


def apply() -> None:
    """Make this style the process's default, also for figures that a reader makes by hand."""
    matplotlib.rcParams.update(_STYLE)
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=list(PALETTE))


def figure(rows: int = 1, columns: int = 1, *, width: float = 7.0, height: float = 4.0,
           **options: Any) -> tuple[StyledFigure, list[Axes]]:
    """Return a styled figure and its axes, row by row; `width` and `height` in inches (7.0 fits a printed page).

    `options` go to `Figure.subplots` (sharex, width_ratios, …).
    """
    apply()
    made = StyledFigure(figsize=(width, height))
    axes = made.subplots(rows, columns, squeeze=False, **options)
    return made, list(axes.ravel())


def stamp(shown: Figure, words: str) -> None:
    """Write words such as "synthetic data" at the foot of a figure, so that they travel with the picture."""
    engine = shown.get_layout_engine()
    if engine is not None:
        strip = 0.16 / shown.get_figheight()
        engine.set(rect=(0, strip, 1, 1 - strip))
    shown.text(0.995, 0.01, words, ha="right", va="bottom", fontsize=7, style="italic", color="0.25")


def colours(number: int) -> list[str]:
    """Return `number` colours; after eight they repeat, which `markers` then tells apart."""
    return list(islice(cycle(PALETTE), number))


def markers(number: int) -> list[str]:
    """Return `number` markers; with `colours`, the first 56 pairs differ."""
    return list(islice(cycle(MARKERS), number))


def export(shown: Figure, directory: Path, name: str, data: pd.DataFrame, alt: str) -> Path:
    """Write `<name>.svg`, `.png`, `.pdf`, `.csv` (the plotted data) and `.alt.txt`; returns the path of the SVG.

    Each file is written whole or not at all, and equal figures give equal bytes. Raises `RunError` when the
    description is missing, because a picture without one says nothing to people who cannot see it.
    """
    if not alt.strip():
        raise RunError(f"figure {name!r} has no description", expected="alt text that says what the figure shows",
                       remedy="pass alt=... with the main numbers in words")
    apply()
    directory = Path(directory)
    shown.draw_without_rendering()
    shown.set_layout_engine("none")  # laid out once, not again for every format
    for kind, metadata in _METADATA.items():
        with atomic_path(directory / f"{name}.{kind}") as temporary:
            shown.savefig(temporary, format=kind, metadata=metadata)
    with atomic_path(directory / f"{name}.csv") as temporary:
        data.to_csv(temporary, index=False, lineterminator="\n")
    words = " ".join(alt.split())
    write_text(directory / f"{name}.alt.txt", words + "\n")
    if isinstance(shown, StyledFigure):
        shown.description = words
    return directory / f"{name}.svg"
