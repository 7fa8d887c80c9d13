"""MetaSyn's card: values and intervals in figures, the best framed, the missing marked, readable in grey."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from litsynth.plots.metasyn_card import STAGE_METRICS, card_size, description, metasyn_card
from litsynth.plots.style import figure

FRAME = pd.DataFrame([
    ("alpha", "retrieval_recall", 0.7235, 0.70, 0.75, 86), ("beta", "retrieval_recall", 0.79, None, None, 86),
    ("mine", "retrieval_recall", 0.12, 0.0, 0.3, 10), ("alpha", "post_retrieval_loss", 0.42, 0.4, 0.44, 86),
    ("beta", "post_retrieval_loss", 0.30, 0.28, 0.32, 86), ("alpha", "structure_quality", 4.07, 3.9, 4.2, 86),
    ("beta", "structure_quality", None, None, None, 0)],
    columns=["configuration", "metric", "value", "low", "high", "n"])


def _card(**options):
    width, height = card_size(3, 3)
    fig, (ax,) = figure(width=width, height=height)
    metasyn_card(ax, FRAME, own=["mine"], **options)
    fig.canvas.draw()
    return ax


def test_every_cell_says_its_value_and_interval_or_that_it_has_none():
    texts = [text.get_text() for text in _card().texts]
    assert "0.723" in texts or "0.724" in texts
    assert "0.700–0.750" in texts
    assert "4.07" in texts
    assert "3.90–4.20" in texts
    assert texts.count("–") == 3  # mine has no loss and no quality, beta no quality


def test_the_best_of_a_metric_is_framed_and_less_is_better_for_a_loss():
    bold = {text.get_text() for text in _card().texts if text.get_fontweight() == "bold"}
    assert bold == {"0.790", "0.300", "4.07"}


def test_own_rows_are_marked_in_words_and_order_is_as_asked():
    ax = _card(configurations=["mine", "alpha", "beta"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["▸ mine", "alpha", "beta"]
    assert [label.get_text().split("\n")[0] for label in ax.get_xticklabels()] == [
        "Retrieval", "Post-retrieval", "Structure"]


def test_an_unknown_metric_is_shown_under_its_name():
    fig, (ax,) = figure()
    metasyn_card(ax, FRAME.assign(metric="own_measure").drop_duplicates("configuration"))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["own measure"]
    fig.canvas.draw()


def test_black_figures_stay_readable_on_every_shade():
    ax = _card()
    (mesh,) = ax.collections
    known = mesh.to_rgba(mesh.get_array().compressed())
    assert len(known) == 6
    for colour in [*known, *(patch.get_facecolor() for patch in ax.patches if patch.get_fill())]:
        red, green, blue = to_rgb(colour)
        luminance = sum(weight * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
                        for weight, c in ((0.2126, red), (0.7152, green), (0.0722, blue)))
        assert (luminance + 0.05) / 0.05 >= 4.5  # WCAG 2.1, contrast of black text


def test_shades_follow_the_values_and_missing_cells_are_hatched():
    ax = _card()
    (mesh,) = ax.collections
    shades = mesh.get_array().reshape(3, 3)  # rows alpha, beta, mine; columns recall, loss, quality
    assert shades.mask.tolist() == [[False, False, False], [False, False, True], [False, True, True]]
    # 0.05 to 0.62 of the map for shares 0 to 1, and for qualities 1 to 5.
    assert shades[2, 0] == pytest.approx(0.05 + 0.57 * 0.12)
    assert shades[0, 2] == pytest.approx(0.05 + 0.57 * (4.07 - 1) / 4)
    assert {patch.get_xy() for patch in ax.patches if patch.get_hatch()} == {(2, 1), (1, 2), (2, 2)}


def test_the_description_names_best_and_worst():
    words = description(FRAME)
    assert "3 configurations by 3 stage metrics" in words
    assert "retrieval recall from 0.120 (mine) to 0.790 (beta)" in words


def test_the_published_table_fits(root):
    published = pd.read_csv(root / "data" / "published" / "metasyn_main_table.csv")
    name = published["system"] + " · " + published["model"] + " · " + published["retriever"]
    tidy = published.assign(configuration=name, value=published["macro_mean"], low=None, high=None,
                            n=published["reviews_counted"])
    rows, columns = tidy["configuration"].nunique(), tidy["metric"].nunique()
    assert set(tidy["metric"]) == set(STAGE_METRICS)
    width, height = card_size(rows, columns)
    fig, (ax,) = figure(width=width, height=height)
    metasyn_card(ax, tidy)
    fig.canvas.draw()
    assert len(ax.get_yticklabels()) == 12
