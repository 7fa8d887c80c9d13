"""A workspace with one tiny experiment, driven through real processes."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from litsynth.experiments import EXPERIMENTS

HERE = Path(__file__).resolve().parent
MAIN = "import tiny\nfrom litsynth.cli import main\nmain()\n"
PARAMETERS = 'numbers = [1, 2, 3]\nlabel = "squares"\nexact = True\nscale = 1.0\npause = 0.0\nbreak_at = -1'
OPEN = ('run = open_run("tiny", numbers=numbers, label=label, exact=exact, scale=scale, pause=pause, '
        "break_at=break_at)")


class House:
    """A workspace folder and the commands that run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marks = folder / "marks.txt"
        self.environment = {**os.environ, "LITSYNTH_HOME": str(folder), "TINY_MARKS": str(self.marks),
                            "PYTHONPATH": str(HERE), "JUPYTER_PLATFORM_DIRS": "1"}

    def start(self, *arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Start `litsynth` with these arguments in a process of its own."""
        return subprocess.Popen([sys.executable, "-c", MAIN, *arguments], cwd=cwd or self.folder, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def litsynth(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run `litsynth` with these arguments to its end."""
        process = self.start(*arguments, cwd=cwd)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def run_directories(self) -> list[Path]:
        """Return the run directories of the tiny experiment."""
        return sorted(path.parent for path in self.folder.glob("data/runs/tiny/*/manifest.json"))

    def marked(self) -> list[int]:
        """Return the numbers that were really computed, in order."""
        return [int(line) for line in self.marks.read_text().split()] if self.marks.exists() else []


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A workspace with `notebooks/tiny.ipynb`; this process uses it too."""
    folder = tmp_path / "house"
    (folder / "notebooks").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "_toc.yml").write_text("")
    parameters = new_code_cell(PARAMETERS)
    parameters.metadata["tags"] = ["parameters"]
    cells = [new_markdown_cell("# Squares"), parameters,
             new_code_cell("import tiny\nfrom litsynth.experiments import open_run\n\n" + OPEN),
             new_code_cell("tiny.squares(run)[:2]"), new_code_cell("run.finish()")]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "some-foreign-kernel", "language": "python",
                                                                  "display_name": "Foreign"}})
    nbformat.write(notebook, folder / "notebooks" / "tiny.ipynb")
    made = House(folder)
    for name in ("LITSYNTH_HOME", "TINY_MARKS", "PYTHONPATH"):
        monkeypatch.setenv(name, made.environment[name])
    monkeypatch.syspath_prepend(HERE)
    tiny = importlib.import_module("tiny")
    EXPERIMENTS.pop("tiny", None)
    monkeypatch.setitem(EXPERIMENTS, "tiny", tiny.EXPERIMENT)  # for this test alone
    return made
