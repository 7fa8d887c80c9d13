"""Figures of screening and training: what is drawn is what the tables say."""

from __future__ import annotations

import pandas as pd
import pytest

from litsynth.plots import screening as draw
from litsynth.plots import training
from litsynth.plots.style import figure


def test_a_line_a_ranker_with_workload_in_percent_and_its_band():
    rows = [{"ranker": name, "workload": share, "value": value, "low": value - 0.1, "high": value + 0.1}
            for name, value in (("trained", 0.8), ("bm25", 0.6)) for share in (0.1, 0.2)]
    _, axes = figure()
    ax = draw.workload_curve(axes[0], pd.DataFrame(rows), ["trained", "bm25"])
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert list(lines["trained"].get_xdata()) == [10, 20]
    assert list(lines["bm25"].get_ydata()) == [0.6, 0.6]
    assert "random order" in lines
    assert len(ax.collections) == 2, "a band each"


def test_differences_without_an_interval_are_drawn_without_bars():
    table = pd.DataFrame([{"measure": "recall", "workload": 0.2, "a": "trained", "b": "bm25", "value": 0.1, "low": None,
                           "high": None}])
    _, axes = figure()
    ax = draw.difference_lines(axes[0], table)
    segment = ax.containers[0].lines[2][0].get_segments()[0]
    assert segment[0][1] == pytest.approx(segment[1][1]) == pytest.approx(0.1)


def test_every_bin_stands_at_its_probability_with_its_count():
    bins = pd.DataFrame({"mean_probability": [0.05, 0.6], "value": [0.02, 0.5], "low": [0.01, 0.3], "high": [0.05, 0.7],
                         "count": [1200, 7]})
    _, axes = figure()
    ax = draw.reliability_plot(axes[0], bins)
    assert [text.get_text() for text in ax.texts] == ["1,200", "7"]
    assert list(ax.containers[0].lines[0].get_xdata()) == [0.05, 0.6]


def test_bars_carry_their_counts_and_absent_criteria_none():
    criteria = pd.DataFrame([
        {"screener": "trained", "point": "best F1", "criterion": "design", "candidates": 8, "included": 2,
         "value": 0.25, "low": 0.1, "high": 0.5},
        {"screener": "model", "point": "decisions", "criterion": "date", "candidates": 4, "included": 4, "value": 1.0,
         "low": 0.5, "high": 1.0}])
    _, axes = figure()
    ax = draw.criterion_bars(axes[0], criteria)
    assert sorted(text.get_text() for text in ax.texts) == ["2/8", "4/4"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["date", "design"]


def test_a_review_without_a_value_has_no_point_and_tables_may_be_joined():
    one = pd.DataFrame([{"review": 1, "measure": "recall", "depth": 200, "value": 0.3}])
    none = one.assign(review=2, value=None)
    joined = pd.concat([part.assign(encoder=name) for name in ("minilm", "trained") for part in (one, none)])
    _, axes = figure()
    lines = {line.get_label(): line.get_ydata() for line in training.review_slopes(
        axes[0], joined, "recall", 200, ["minilm", "trained"]).get_lines()}
    assert pd.isna(list(lines["review 2"])).all()
    assert list(lines["macro mean"]) == [0.3, 0.3]


def test_loss_and_review_lines():
    steps = pd.DataFrame({"encoder": "trained", "step": [1, 2], "loss": [2.0, 1.0]})
    _, axes = figure(1, 2)
    assert list(training.loss_curve(axes[0], steps).get_lines()[0].get_ydata()) == [2.0, 1.0]
    found = {"minilm": (0.2, 0.4), "trained": (0.4, 0.4)}
    rows = [{"encoder": name, "review": review, "measure": "recall", "depth": 200, "value": value}
            for name, values in found.items() for review, value in enumerate(values)]
    ax = training.review_slopes(axes[1], pd.DataFrame(rows), "recall", 200, ["minilm", "trained"])
    mean = next(line for line in ax.get_lines() if line.get_label() == "macro mean")
    assert list(mean.get_ydata()) == pytest.approx([0.3, 0.4])
    reviews = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines() if line is not mean}
    assert reviews == {"review 0": [0.2, 0.4], "review 1": [0.4, 0.4]}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["minilm", "trained"]
    assert ax.get_legend() is None, "one legend for several panels is the caller's to draw"
