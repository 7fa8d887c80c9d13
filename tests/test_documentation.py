"""What the pages tell people to type: commands and options exist, parameters parse, programs do what is shown."""

from __future__ import annotations

import re
import shlex
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from litsynth import datasets
from litsynth.cli import app
from litsynth.experiments.oracle_rag.bench import Bench
from litsynth.experiments.parameters import get_experiment
from litsynth.experiments.system_names import read_name
from litsynth.systems import open_system

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("book/*.md"), ROOT / "README.md"])
BLOCK = re.compile(r"^ *```([^\n`]*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
SHELL = {"{code-block} console", "console", "sh", "bash", ""}
PLACEHOLDERS = {"RUN", "EXPERIMENT", "DATASET", "NAME"}


def _commands() -> list[tuple[str, str]]:
    """Return every `litsynth …` line of every code block, continued lines joined, with the page that it is on."""
    found = []
    for page in PAGES:
        for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind in SHELL:
                for line in block.replace("\\\n", " ").splitlines():
                    match = re.match(r"\s*(?:\w+=\S+ +)*(?:\.venv/bin/)?litsynth (.*)", line)
                    if match and "…" not in line:
                        line = re.sub(r"\$\w+", "1", match[1])  # a shell's variable
                        found.append((page.name, re.split(r"\s(?:[|>&]|&&|#)", line)[0]))
    return found


def _parsed(arguments: list[str]) -> dict[str, Any]:
    """Parse a command line as the command would, without doing anything; returns the options' values."""
    command: Any = typer.main.get_command(app)
    context = command.context_class(command, info_name="litsynth")
    while hasattr(command, "commands"):
        name, *arguments = arguments
        assert name in command.commands, f"there is no command {name!r}"
        command = command.commands[name]
        context = command.context_class(command, parent=context, info_name=name)
    command.parse_args(context, list(arguments))
    return dict(context.params)


def test_there_are_commands_on_the_pages():
    assert len(_commands()) > 40


@pytest.mark.parametrize(("page", "line"), _commands())
def test_a_command_exists_with_its_options_and_parameters(page, line):
    arguments = shlex.split(line)
    assert _parsed(arguments) or len(arguments) == 1  # what the command does not know raises
    if arguments[0] == "run" and arguments[1] not in PLACEHOLDERS:
        given = [value for flag, value in pairwise(arguments) if flag == "-p"]
        values = dict(pair.split("=", 1) for pair in given)
        assert get_experiment(arguments[1]).parse(values).model_fields_set == set(values)


def test_an_unknown_option_is_noticed():
    with pytest.raises(Exception, match="No such option"):
        _parsed(["retrieve", "--datasett", "sample"])


def _program(page: str, first_line: str) -> str:
    text = (ROOT / "book" / page).read_text(encoding="utf-8")
    return next(block for kind, block in BLOCK.findall(text) if kind == "python" and block.startswith(first_line))


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The classes of the page, importable as it says."""
    for name in ("my_system", "my_reviewer"):
        (tmp_path / f"{name}.py").write_text(_program("bring_your_own.md", f"# {name}.py"), encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_the_reviewer_of_the_page_takes_part(own):
    data = datasets.load("sample")
    chosen = get_experiment("oracle_rag").parse({
        "systems": "my_reviewer:FirstRandomised", "top_k": 50, "options": "{my_reviewer:FirstRandomised: {most: 5}}"})
    bench = Bench(SimpleNamespace(dataset=data, parameters=chosen))
    made = [bench.item(read_name(chosen.systems[0]), mode, review, None) for mode in ("actual", "oracle")
            for review in list(data.split("test").values())[:2]]
    assert {item["status"] for item in made} == {"scored"}
    assert all(len(item["included"]) <= 5 for item in made)
    assert any(item["included"] for item in made)


def test_the_system_of_the_page_answers(own):
    from litsynth.records import QuestionTask
    from litsynth.retrieval.passages import PassageIndex

    data = datasets.load("sample")
    question = next(question for question in data.questions.values() if question.kind == "single")
    searcher = PassageIndex(data.papers).searcher(list(data.papers)[:20])
    answered = open_system("my_system:FirstSentence", least_score=0.0).answer(
        QuestionTask(question.id, question.text, 1), searcher, None)
    assert not answered.refused
    assert answered.quotations
    assert open_system("my_system:FirstSentence", least_score=1e9).answer(
        QuestionTask(question.id, question.text, 1), searcher, None).refused


@pytest.mark.slow
def test_the_five_minutes_of_evaluation_print_what_the_page_shows(tmp_path, monkeypatch):
    page = (ROOT / "book" / "evaluate_your_system.md").read_text(encoding="utf-8")
    monkeypatch.setenv("LITSYNTH_HOME", str(ROOT))
    monkeypatch.chdir(tmp_path)
    exec(compile(_program("evaluate_your_system.md", "import json"), "page", "exec"), {})  # the page's own program
    run = CliRunner()

    def shown(*arguments: str) -> list[str]:
        done = run.invoke(app, arguments)
        assert done.exit_code == 0, done.output
        return [line.rstrip() for line in done.output.splitlines() if re.match(r"[a-z_0-9]+ +\S", line)]

    common = ("--dataset", "sample", "--id-only", "--output")
    first = shown("evaluate-all", *common, "my_system/evaluation.json", "--results-dir", "my_system",
                  "--selection-source", "json")
    for review in re.search(r"for review in ([\d ]+); do", page)[1].split():
        done = run.invoke(app, ["rag", "--dataset", "sample", "--retriever", "bm25", "--review-id", review,
                                "--top-k", "50", "--system", "extractive", "--output", f"extractive/review_{review}"])
        assert done.exit_code == 0, done.output
    shown("evaluate-all", *common, "extractive/evaluation.json", "--results-dir", "extractive", "--selection-source",
          "report")
    second = shown("compare", "my_system/evaluation.json", "extractive/evaluation.json")
    on_the_page = {line.rstrip() for line in page.splitlines()}
    assert not [line for line in first if line not in on_the_page]
    compared = [line for line in page.splitlines() if re.match(r"\w+ +[\d.]+ [\d.]+ [+-]", line)]
    assert compared
    assert not [line for line in compared if line.rstrip() not in second]
