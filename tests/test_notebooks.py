"""Notebooks hold no outputs and no logic, and their parameters are those that the code declares."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from litsynth.experiments import EXPERIMENTS
from litsynth.experiments.notebooks import assigned, is_parameters, source

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LINES_A_CELL = 10


def _cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_each_experiment_has_its_notebook_and_the_other_way_round():
    assert {experiment.notebook_file for experiment in EXPERIMENTS.values()} == {path.name for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_has_no_outputs_and_no_traces_of_a_machine(self, path):
        document = json.loads(path.read_text(encoding="utf-8"))
        assert "papermill" not in document["metadata"]
        assert document["metadata"]["kernelspec"]["name"] == "python3"
        for cell in document["cells"]:
            if cell["cell_type"] == "code":
                assert cell["outputs"] == []
                assert cell["execution_count"] is None
            assert set(cell["metadata"]) <= {"tags"}

    def test_parameters_equal_the_declared_ones(self, path):
        cells = [cell for cell in _cells(path) if is_parameters(cell)]
        assert len(cells) == 1
        experiment = next(known for known in EXPERIMENTS.values() if known.notebook_file == path.name)
        declared = experiment.parameters().model_dump(mode="json")
        assert assigned(source(cells[0])) == declared
        assert list(assigned(source(cells[0]))) == list(declared)

    def test_code_cells_are_calls_not_logic(self, path):
        for cell in _cells(path):
            if cell["cell_type"] != "code" or is_parameters(cell):
                continue
            text = source(cell)
            assert len(text.splitlines()) <= LINES_A_CELL, text
            tree = ast.parse(text)
            banned = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.Try, ast.With)
            found = [type(node).__name__ for node in ast.walk(tree) if isinstance(node, banned)]
            assert not found, f"{found} in a cell; put it into the experiment's module:\n{text}"

    def test_begins_with_a_title_and_explains_each_step(self, path):
        cells = _cells(path)
        assert cells[0]["cell_type"] == "markdown"
        assert source(cells[0]).startswith("# ")
        prose = sum(cell["cell_type"] == "markdown" for cell in cells)
        assert prose >= (len(cells) - 1) / 3
