"""The common style: the same figure gives the same bytes, and colours can be told apart."""

from __future__ import annotations

import pandas as pd
import pytest

from litsynth.errors import RunError
from litsynth.plots.style import PALETTE, colours, export, figure, markers


def _draw():
    shown, (ax,) = figure(width=4, height=3)
    ax.plot([1, 2, 3], [0.2, 0.5, 0.9], label="bm25")
    ax.legend()
    return shown


def test_export_writes_five_files_with_the_same_bytes_each_time(tmp_path):
    data = pd.DataFrame({"depth": [1, 2, 3], "recall": [0.2, 0.5, 0.9]})
    for folder in ("first", "second"):
        path = export(_draw(), tmp_path / folder, "curve", data, "Recall rises\n from 0.2 to 0.9.")
        assert path == tmp_path / folder / "curve.svg"
    first, second = sorted((tmp_path / "first").iterdir()), sorted((tmp_path / "second").iterdir())
    assert [path.name for path in first] == ["curve.alt.txt", "curve.csv", "curve.pdf", "curve.png", "curve.svg"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    assert (tmp_path / "first" / "curve.alt.txt").read_text() == "Recall rises from 0.2 to 0.9.\n"
    assert (tmp_path / "first" / "curve.csv").read_text() == "depth,recall\n1,0.2\n2,0.5\n3,0.9\n"
    svg = (tmp_path / "first" / "curve.svg").read_text()
    assert "bm25" in svg  # text is kept as text
    assert "dc:date" not in svg


def test_a_figure_without_description_is_refused(tmp_path):
    with pytest.raises(RunError, match="no description"):
        export(_draw(), tmp_path, "curve", pd.DataFrame(), " ")
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_the_figure_itself_with_its_description(tmp_path):
    shown = _draw()
    picture, about = shown._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert about == {}
    export(shown, tmp_path, "curve", pd.DataFrame(), "Recall rises\n from 0.2 to 0.9.")
    assert shown._repr_png_()[1] == {"alt": "Recall rises from 0.2 to 0.9."}


def test_colours_and_markers_together_stay_distinct():
    pairs = list(zip(colours(56), markers(56), strict=True))
    assert len(set(pairs)) == 56
    assert colours(3) == list(PALETTE[:3])
