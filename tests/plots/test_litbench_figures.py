"""LitBench's pictures: the bands of report cards, what is absent from curves, shares that add up."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litsynth.plots.decomposition import decomposition_bars, stacked_shares
from litsynth.plots.degradation import degradation_panel
from litsynth.plots.pair_graph import draw_pair_graph
from litsynth.plots.refusal import refusal_panel
from litsynth.plots.report_card import WORDS, band, card, legend, shown_percent
from litsynth.plots.style import figure


@pytest.mark.parametrize(("percent", "wanted"), [
    # The benchmark: green above 80 %, yellow 60 to 80 %, red below 60 %.
    (80.01, "green"), (80.0, "yellow"), (60.0, "yellow"), (59.99, "red"), (100.0, "green"), (0.0, "red"),
    (100 * (4 / 5), "yellow"), (100 * (12 / 20), "yellow"), (100 * (3 / 5), "yellow"), (100 * (401 / 500), "green"),
])
def test_bands(percent, wanted):
    assert band(percent) == wanted


def test_cells_without_a_value_are_white_or_grey_and_never_red():
    assert band(None, "no question") == "white"
    assert band(0.0, "no question") == "white"
    assert band(None, "not evaluated") == "grey"
    assert band(None) == "grey"
    assert band(float("nan")) == "grey"


@given(st.integers(0, 2000), st.integers(1, 2000))
def test_the_number_in_a_cell_is_of_the_cells_band(credited, counted):
    percent = 100 * min(credited, counted) / counted
    assert band(float(shown_percent(percent))) == band(percent)


def test_numbers_near_a_limit_keep_a_decimal():
    assert shown_percent(80.2) == "80.2"  # 80 would be yellow
    assert shown_percent(59.6) == "59.6"  # 60 would be yellow
    assert shown_percent(71.4) == "71"


def _card_frame() -> pd.DataFrame:
    rows = [("a", "T1", 90.0, 9, "value"), ("a", "T2", 70.0, 9, "value"), ("b", "T1", 10.0, 1234, "value"),
            ("b", "T2", None, 0, "no question")]
    return pd.DataFrame(rows, columns=["domain", "condition", "percent", "questions", "state"])


def test_a_card_says_value_number_and_band_without_colour():
    _, (ax,) = figure()
    returned = card(ax, _card_frame(), rows=["a", "b"], columns=["T1", "T2", "T3"], row="domain", column="condition")
    assert returned is ax
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["90", "n 9", "70", "n 9", "10", "n 1,234", "–"]
    filled = [patch for patch in ax.patches if patch.get_fill()]
    assert len(filled) == 6
    # Bands in reading order: green, yellow, grey (T3 was never run), red, white, grey.
    marks = [(patch.get_hatch() or "", patch.get_facecolor()) for patch in filled]
    assert marks[2] == marks[5]
    assert len(set(marks)) == 5
    by_hatch = {marks[0][0], marks[1][0], marks[3][0], marks[2][0]}
    assert len(by_hatch) == 4, "green, yellow, red and grey can be told apart in black and white"


def test_the_legend_names_every_band():
    _, (ax,) = figure()
    legend(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(WORDS.values())


def _curve() -> pd.DataFrame:
    rows = [("s", "T2", "semantic", 10, 0.9, 0.8, 0.95), ("s", "T2", "semantic", 100, None, None, None),
            ("s", "T2", "semantic", 500, 0.5, 0.4, 0.6), ("s", "T2", "composite", 100, 0.1, 0.0, 0.2),
            ("t", "T3", "semantic", 10, 0.3, 0.2, 0.4), ("s", "T4·∞", "semantic", 0, 0.2, 0.1, 0.3)]
    return pd.DataFrame(rows, columns=["system", "condition", "metric", "n_papers", "value", "low", "high"])


def test_numbers_of_papers_that_were_not_run_are_absent_and_not_zero():
    _, (ax,) = figure()
    assert degradation_panel(ax, _curve(), "T2") is ax
    (line,) = ax.get_lines()
    assert line.get_xdata().tolist() == [10, 500]
    assert line.get_ydata().tolist() == [90.0, 50.0]
    assert ax.get_xscale() == "log"


def test_a_live_pool_has_no_place_on_the_axis():
    _, (ax,) = figure()
    degradation_panel(ax, _curve(), "T4·∞")
    assert not ax.get_lines()


def test_a_system_keeps_its_colour_over_all_panels():
    _, axes = figure(1, 2)
    for ax, condition in zip(axes, ("T2", "T3"), strict=True):
        degradation_panel(ax, _curve(), condition, systems=["s", "t"])
    assert axes[0].get_lines()[0].get_color() != axes[1].get_lines()[0].get_color()
    assert axes[0].get_lines()[0].get_marker() != axes[1].get_lines()[0].get_marker()


def test_refusal_curves_leave_out_what_has_no_control():
    table = pd.DataFrame([
        {"system": "s", "condition": "T7", "n_papers": 1, "rate": 0.9, "low": 0.8, "high": 1.0},
        {"system": "s", "condition": "T7", "n_papers": 10, "rate": 0.7, "low": 0.6, "high": 0.8, "control_rate": 0.2,
         "control_low": 0.1, "control_high": 0.3},
        {"system": "s", "condition": "T7", "n_papers": 0, "rate": 0.8, "low": 0.6, "high": 0.9, "control_rate": 0.2},
        {"system": "p", "condition": "T7", "n_papers": 10, "rate": 1.0, "low": 0.9, "high": 1.0}])
    _, (ax,) = figure()
    refusal_panel(ax, table, "T7", apart={"p"})
    drawn = {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}
    assert drawn["s, answer withheld"].get_xdata().tolist() == [1, 10]
    assert drawn["s, control: answer present"].get_xdata().tolist() == [10]
    assert drawn["s, control: answer present"].get_linestyle() == "--"
    assert drawn["p, answer withheld"].get_linestyle() == "None"


def test_stacked_shares_add_up_to_the_whole_and_say_when_there_is_nothing():
    table = pd.DataFrame({"label": ["T1", "T2"], "counted": [8, 0], "good": [2, 0], "bad": [6, 0]})
    _, (ax,) = figure()
    stacked_shares(ax, table, {"good": "right", "bad": "wrong"})
    widths = [patch.get_width() for patch in ax.patches]
    assert widths[0] + widths[2] == pytest.approx(100)
    assert widths[1] == widths[3] == 0
    assert "nothing counted" in [text.get_text() for text in ax.texts]


def test_decomposition_marks_what_asking_separately_would_give():
    parts = {"both": 0.25, "one": 0.5, "neither": 0.25, "both_separately": 0.6}
    table = pd.DataFrame([("s", *part) for part in parts.items()], columns=["system", "part", "value"])
    _, (ax,) = figure()
    decomposition_bars(ax, table)
    (mark,) = ax.get_lines()
    assert list(mark.get_xdata()) == [60.0, 60.0]


def test_the_pair_graph_is_drawn_the_same_each_time_and_marks_hubs():
    pairs = [("hub", f"p{i}") for i in range(10)] + [("x", "y")]
    drawn = []
    for order in (pairs, pairs[::-1]):
        _, (ax,) = figure()
        draw_pair_graph(ax, order, seed=3)
        drawn.append(sorted(tuple(point) for part in ax.collections for point in part.get_offsets().tolist()))
        assert "10" in [text.get_text() for text in ax.texts]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 13
