"""The run id changes with what decides a result, and with nothing else."""

from __future__ import annotations

import shutil

import pytest

from litsynth.experiments import fingerprint


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in the shape of ours, which tests may change."""
    folder = tmp_path / "litsynth"
    for name, text in {
        "errors.py": "", "retrieval/__init__.py": "from litsynth import errors\n", "retrieval/bm25.py": "K = 1\n",
        "llm/__init__.py": "", "plots/style.py": "", "cli/__init__.py": "", "experiments/store.py": "",
        "experiments/sweep/__init__.py": "def f():\n    from litsynth.retrieval import bm25\n",
        "experiments/sweep/tables.py": "", "experiments/other.py": "", "experiments/shared_maths.py": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(fingerprint, "package_folder", lambda: folder)
    return folder


def _value(code=("run.finish()",)):
    return fingerprint.result_fingerprint("litsynth.experiments.sweep", list(code))


@pytest.mark.parametrize("name", ["retrieval/bm25.py", "retrieval/__init__.py", "errors.py",
                                  "experiments/sweep/tables.py"])
def test_code_that_can_change_numbers_makes_another_run(package, name):
    before = _value()
    (package / name).write_text((package / name).read_text() + "X = 2\n")
    assert _value() != before


@pytest.mark.parametrize("name", ["llm/__init__.py", "plots/style.py", "cli/__init__.py", "experiments/store.py",
                                  "experiments/other.py"])
def test_other_code_does_not(package, name):
    before = _value()
    (package / name).write_text("X = 2\n")
    assert _value() == before


def test_imports_are_followed_into_the_experiments_room(package):
    (package / "experiments/sweep/__init__.py").write_text("from litsynth.experiments import shared_maths\n")
    before = _value()
    (package / "experiments/shared_maths.py").write_text("X = 2\n")
    assert _value() != before


def test_notebook_code_counts_and_place_does_not(package, tmp_path, monkeypatch):
    before = _value()
    assert _value(["other()"]) != before
    moved = tmp_path / "moved" / "litsynth"
    shutil.copytree(package, moved)
    monkeypatch.setattr(fingerprint, "package_folder", lambda: moved)
    assert _value() == before


def test_plots_and_prose_have_a_fingerprint_of_their_own(package):
    before = fingerprint.drawing_fingerprint(["# Title"])
    assert fingerprint.drawing_fingerprint(["# Another"]) != before
    (package / "plots/style.py").write_text("X = 2\n")
    assert fingerprint.drawing_fingerprint(["# Title"]) != before
