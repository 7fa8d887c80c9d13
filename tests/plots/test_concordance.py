"""Pictures of concordance: every row is drawn, what has no value says so, and counts stand where they belong."""

from __future__ import annotations

import pandas as pd

from litsynth.plots import concordance
from litsynth.plots.style import figure

COLUMNS = ["measure", "source", "value", "low", "high"]


def _texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_forest_draws_values_intervals_and_what_is_undefined():
    table = pd.DataFrame([("κ", "here", 0.7, 0.6, 0.8), ("κ", "published", 0.774, 0.67, 0.87),
                          ("raw", "here", 0.9, None, None), ("raw", "published", None, None, None)], columns=COLUMNS)
    fig, (ax,) = figure()
    concordance.forest(ax, table, ["κ", "raw"])
    drawn = {round(float(x), 3) for line in ax.lines for x in line.get_xdata()}
    assert {0.7, 0.774, 0.9} <= drawn
    assert _texts(ax) == ["undefined"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["κ", "raw"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["here", "published"]
    fig.canvas.draw()


def test_a_long_legend_does_not_squeeze_the_axes():
    table = pd.DataFrame([("κ", "derived from the published table: panel and clinician", 0.7, 0.6, 0.8),
                          ("κ", "this run: panel and simulated human", 0.7, 0.6, 0.8)], columns=COLUMNS)
    fig, (ax,) = figure(width=8, height=4)
    concordance.forest(ax, table, ["κ"])
    fig.canvas.draw()
    assert ax.get_position().width > 0.7


def test_confusion_puts_agreement_on_the_diagonal():
    _, (ax,) = figure()
    concordance.confusion(ax, ((81, 12), (5, 56)), rows="panel", columns="clinician")
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert places == {"81\n53%": (0.5, 0.5), "12\n8%": (1.5, 0.5), "5\n3%": (0.5, 1.5), "56\n36%": (1.5, 1.5)}
    both, panel_only, human_only, neither = map(tuple, ax.collections[0].get_facecolors())
    assert both == neither != panel_only == human_only
    hatched = {patch.get_xy() for patch in ax.patches if patch.get_hatch()}
    assert hatched == {(1, 0), (0, 1)}, "disagreement can be told apart in black and white"
    assert ax.yaxis_inverted(), "credit is the first row"


def test_direction_bars_with_and_without_disagreement():
    table = pd.DataFrame({"group": ["all", "T1"], "panel_only": [12, 0], "human_only": [5, 0], "value": [0.045, 0.0],
                          "low": [-0.008, None], "high": [0.098, None]})
    _, (ax,) = figure()
    concordance.direction_bars(ax, table, human="clinician")
    assert [bar.get_width() for bar in ax.patches] == [-5, 0, 12, 0]
    assert _texts(ax) == ["+4% (−1% to +10%)", "+0%"]
