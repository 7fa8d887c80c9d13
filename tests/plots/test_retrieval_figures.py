"""Figures of retrieval: the heat map of reviews says every value, marks what is missing and draws alike each time."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb

from litsynth.plots.retrieval import review_heatmap
from litsynth.plots.style import figure


def _scores(reviews: int = 3) -> pd.DataFrame:
    """Return recall at two depths that rises with the review's number; the second retriever lacks the first review."""
    rows = [{"retriever": name, "review": review, "measure": "recall", "depth": depth, "relevant": 10 + review,
             "value": None if name == "dense" and review == 0 else review / reviews + lift}
            for name, lift in (("bm25", 0.0), ("dense", 0.05)) for review in range(reviews) for depth in (50, 200)]
    return pd.DataFrame(rows).sample(frac=1, random_state=4)


def _luminance(colour) -> float:
    return sum(weight * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
               for weight, c in zip((0.2126, 0.7152, 0.0722), to_rgb(colour), strict=True))


def test_each_cell_shows_its_value_and_a_missing_one_a_dash():
    _, (ax,) = figure(width=10, height=2.2)
    assert review_heatmap(ax, _scores(), 200) is ax
    said = {text.get_position(): text.get_text() for text in ax.texts}
    # Hardest first: the reviews' means are 0 (bm25 alone), 0.358 and 0.692.
    assert said == {(0.5, 0.5): "0.00", (1.5, 0.5): "0.33", (2.5, 0.5): "0.67", (0.5, 1.5): "–", (1.5, 1.5): "0.38",
                    (2.5, 1.5): "0.72"}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0\n(10)", "1\n(11)", "2\n(12)"]
    assert [(label.get_text(), label.get_rotation()) for label in ax.get_yticklabels()] == [("bm25", 0), ("dense", 0)]
    assert ax.collections[0].get_array().mask.sum() == 1
    assert ax.collections[0].get_clim() == (0, 1)


def test_values_can_be_read_on_every_shade():
    _, (ax,) = figure(width=10, height=2.2)
    review_heatmap(ax, _scores(60), 200)
    (mesh,) = ax.collections
    shown = [colour for colour, value in zip(mesh.get_facecolors(), mesh.get_array().ravel(), strict=True)
             if value is not np.ma.masked]
    texts = [text for text in ax.texts if text.get_text() != "–"]
    for colour, text in zip(shown, texts, strict=True):
        light, dark = sorted((_luminance(colour), _luminance(text.get_color())), reverse=True)
        # On the shade where black and white read equally well either has a contrast of 4.58 (the root of 21).
        assert (light + 0.05) / (dark + 0.05) >= 4.4, text.get_text()


def test_words_of_many_reviews_stand_upright():
    _, (ax,) = figure(width=10, height=2.2)
    review_heatmap(ax, _scores(60), 200)
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {90}
    assert ax.get_xticklabels()[0].get_text() == "0 (10)"
    assert {text.get_rotation() for text in ax.texts if text.get_text() != "–"} == {90}


def test_the_same_scores_give_the_same_bytes():
    drawn = []
    for _ in range(2):
        shown, (ax,) = figure(width=10, height=2.2)
        review_heatmap(ax, _scores(), 200)
        buffer = io.BytesIO()
        shown.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        drawn.append(buffer.getvalue())
    assert drawn[0] == drawn[1]
