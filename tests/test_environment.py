"""The three descriptions of the environment agree, and the README's commands are tried somewhere."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pair) == 2 for pair in pairs), "constraints.txt pins every package with =="
    return {canonicalize_name(name): version for name, version in pairs}


def _requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(entry) for group in groups for entry in group]


@pytest.mark.parametrize("requirement", _requirements(), ids=lambda requirement: requirement.name)
def test_each_dependency_is_pinned_within_its_bounds(requirement):
    if requirement.marker and not requirement.marker.evaluate({"python_version": "3.11"}):
        return
    pins = _pins()
    name = canonicalize_name(requirement.name)
    assert name in pins, f"{requirement.name} is not in constraints.txt"
    assert requirement.specifier.contains(Version(pins[name]), prereleases=True)


def test_pins_are_plain_versions_for_any_package_index():
    for name, version in _pins().items():
        assert Version(version).local is None, f"{name}=={version} exists on one machine only"
    assert _pins()["torch"] == "2.13.0"
    assert "litsynth" not in _pins()


def test_conda_installs_the_same_versions():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, packages = environment["dependencies"]
    assert python == "python=3.11"
    assert pip == "pip"
    assert packages == {"pip": ["--constraint constraints.txt", "--editable .[dev]"]}


# Dependencies that the package works with and does not import, each with the reason.
TOOLS = {
    "jupyterlab": "where people open the notebooks; `make lab` starts it",
    "jupyter-book": "renders the book, started as a command",
    "sphinxcontrib-bibtex": "an extension of the book, named in _config.yml",
    "ipykernel": "the kernel that the notebooks run in",
    "nbclient": "papermill executes notebooks with it; tests do so directly",
    "nbformat": "papermill reads and writes notebooks with it; tests do so directly",
}


def _runtime_dependencies() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [canonicalize_name(Requirement(entry).name) for entry in project["dependencies"]]


@cache
def _imported_distributions() -> frozenset[str]:
    """Return the canonical names of the distributions that some module of the package imports, at its top or later."""
    modules = set()
    for path in (ROOT / "lib").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [
                node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            modules.update(name.split(".")[0] for name in names)
    providers = packages_distributions()  # a module that is not installed here (tomli) stands under its own name
    return frozenset(canonicalize_name(name) for module in modules for name in providers.get(module, [module]))


@pytest.mark.parametrize("name", _runtime_dependencies())
def test_each_runtime_dependency_is_used(name):
    used = name in _imported_distributions()
    assert used or name in TOOLS, f"{name} is declared in pyproject.toml and no module under lib/ imports it"
    assert not (used and name in TOOLS), f"{name} is imported and needs no reason among the tools"


def test_each_imported_distribution_is_declared():
    """What comes only through another package can leave with it."""
    standard = {canonicalize_name(name) for name in sys.stdlib_module_names}
    undeclared = _imported_distributions() - standard - {*_runtime_dependencies(), "litsynth"}
    assert not undeclared, f"imported under lib/ and not declared in pyproject.toml: {', '.join(sorted(undeclared))}"


def test_no_reason_outlives_its_dependency():
    assert set(TOOLS) <= set(_runtime_dependencies())


def test_no_committed_setting_names_a_package_host():
    for name in ("Makefile", "constraints.txt", "environment.yml", "pyproject.toml", ".ci/run"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"index-url|find-links|trusted-host", text), name


# Commands of the README that no test runs, each with the reason.
NOT_RUN = {
    "make lab": "opens a browser and waits; the kernel it installs is the one that CI's notebooks run with",
    "make bench": "measures for minutes; the speeds that are promised are in the tests of their rooms",
    "conda env create -f environment.yml": "needs conda; the file is compared with the others above",
    "conda activate litsynth": "needs conda",
}


def _readme_commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:console|sh|bash)\n(.*?)```", text, re.DOTALL)
    lines = [line.split("  #")[0].removeprefix("$ ").strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def test_readme_has_commands():
    assert len(_readme_commands()) >= 5


@pytest.mark.parametrize("command", _readme_commands())
def test_readme_command_is_tried_by_continuous_integration(command):
    """`.ci/run` holds the very line, or the list above says why not."""
    tried = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert command in NOT_RUN or re.search(rf"(^|\s){re.escape(command)}(\s+[|>2].*)?$", tried, re.MULTILINE), command
