"""Values and files that break programs are refused with a plain error, and shown without effect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from litsynth import datasets
from litsynth.errors import DataError, LitsynthError

REVIEW = {"ID": 1, "split": "test", "Research_Question": "Does it work", "matched_corpus_ids": [1]}
ARTICLE = {"ID": 1, "title": "A title", "abstract": "Text", "year": 2004}


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Write a data set of one review and two articles with changes to the first of each."""

    def write(review: dict | None = None, article: dict | None = None) -> Path:
        rows = [{**ARTICLE, **(article or {})}, {**ARTICLE, "ID": 2}]
        (tmp_path / "reviews.jsonl").write_text(json.dumps({**REVIEW, **(review or {})}))
        (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
        return tmp_path

    return write


@pytest.mark.parametrize("number", [2**63, 10**30, "9" * 40])
def test_identifiers_fit_into_an_array(folder: Callable[..., Path], number: object) -> None:
    with pytest.raises(DataError, match=r"corpus\.jsonl, line 1: ID is .*at most 63 bits"):
        datasets.load(folder(article={"ID": number}))
    with pytest.raises(DataError, match=r"reviews\.jsonl, line 1: ID is"):
        datasets.load(folder(review={"ID": number}))


@pytest.mark.parametrize("year", [-5, 99999, 10**30])
def test_years_are_years(folder: Callable[..., Path], year: int) -> None:
    with pytest.raises(DataError, match=r"corpus\.jsonl, line 1: year is"):
        datasets.load(folder(article={"year": year}))


def test_half_a_character_is_refused_with_its_row(folder: Callable[..., Path]) -> None:
    assert datasets.load(folder(article={"title": "whole \U0001f600"})).corpus[1].title == "whole \U0001f600"
    with pytest.raises(DataError, match=r"corpus\.jsonl, line 1 holds .*half of a character"):
        datasets.load(folder(article={"title": "half \ud83d"}))


@pytest.mark.parametrize(("text", "says"), [("[" * 100_000, "nested too deeply"),
                                            ('{"ID": 1, "ID": 2, "title": "a", "abstract": "b"}', "'ID' occurs twice")])
@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.json"])
def test_json_that_says_two_things_or_never_ends(folder: Callable[..., Path], name: str, text: str, says: str) -> None:
    place = folder()
    (place / "corpus.jsonl").unlink()
    (place / name).write_text(text)
    with pytest.raises(DataError, match=says):
        datasets.load(place)


def test_a_broken_readme_head_is_named(folder: Callable[..., Path]) -> None:
    place = folder()
    (place / "corpus.jsonl").rename(place / "articles.jsonl")
    (place / "README.md").write_text("---\n: : [\n---\n")
    with pytest.raises(DataError, match=r"README\.md has a head that is no YAML"):
        datasets.load(place)


@pytest.mark.parametrize("name", ["", "  ", "x" * 5000, "a\0b", "~nobody-of-this-name/x"])
def test_odd_names_are_no_data_sets(name: str) -> None:
    with pytest.raises(LitsynthError):
        datasets.load(name)


def test_hostile_text_reaches_no_terminal(folder: Callable[..., Path]) -> None:
    """Escape sequences colour, move the cursor or set titles; U+202E turns text round; line ends forge lines."""
    for place in (folder(review={"split": "te\x1b[31mst\u202e"}), folder(review={"Effect_Direction": "up\x1b]0;x\x07"}),
                  folder(review={"\x1b[2Jnew\nline": 1}, article={"title": None, "abstract": None, "y\x9bear": "z"})):
        command = [sys.executable, "-c", "from litsynth.cli import main; main()", "data", "info", str(place)]
        done = subprocess.run(command,
                              capture_output=True, timeout=60, env={**os.environ, "PYTHONIOENCODING": "utf-8"})
        text = (done.stdout + done.stderr).decode()
        assert all(mark == "\n" or mark.isprintable() for mark in text), text
        assert not done.stderr or done.stderr.count(b"\n") == 1
