"""`litsynth data`: its text, its JSON, and its errors without a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from litsynth.cli import data
from litsynth.errors import DataError

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    """An application with the data commands alone."""
    made = typer.Typer()
    data.register(made)
    return made


def _run(app: typer.Typer, *arguments: str) -> str:
    result = RUNNER.invoke(app, ["data", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list_shows_what_is_here_and_what_is_synthetic(app: typer.Typer, workspace: Path) -> None:
    text = _run(app, "list")
    assert "sample  [both, synthetic]  here," in text
    assert "metasyn  [reviews]  not here: litsynth data fetch metasyn" in text
    assert "licence: " in text
    rows = {row["name"]: row for row in json.loads(_run(app, "list", "--json"))}
    assert rows["sample"]["present"]
    assert rows["sample"]["bytes"] > 1000
    assert not rows["metasyn"]["present"]
    assert rows["metasyn"]["bytes"] is None


def test_info_counts_and_names_the_checksum(app: typer.Typer) -> None:
    text = _run(app, "info", "sample")
    assert "SYNTHETIC" in text
    assert "splits: test 8, train 16" in text or "splits: train 16, test 8" in text
    facts = json.loads(_run(app, "info", "sample", "--json"))
    assert f"checksum  {facts['checksum']}" in text
    assert f"linked from several splits: {facts['reviews']['linked_from_several_splits']}" in text
    assert f"year first: {facts['corpus']['year_first']}" in text


def test_import_writes_a_data_set(app: typer.Typer, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("title,abstract,label\nA title,Text,1\nAnother,Text,0\n")
    output = tmp_path / "mine"
    text = _run(
        app, "import", str(tmp_path / "a.csv"), "--labels", "label", "--question", "Q?", "--output", str(output)
    )
    assert "read 2 = kept 2 + merged 0 + rejected 0" in text
    assert "reviews: 1" in _run(app, "info", str(output))


def test_fetch_of_the_sample_is_refused(app: typer.Typer) -> None:
    with pytest.raises(DataError, match="part of the repository"):
        RUNNER.invoke(app, ["data", "fetch", "sample"], catch_exceptions=False)


def test_an_error_is_one_line_and_an_exit_status() -> None:
    done = subprocess.run([sys.executable, "-c", "from litsynth.cli import main; main()", "data", "info", "sampel"],
                          capture_output=True, text=True, env={**os.environ})  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown data set 'sampel'")
    assert "did you mean 'sample'" in done.stderr
    assert "Traceback" not in done.stderr
