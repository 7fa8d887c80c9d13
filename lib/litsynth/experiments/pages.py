"""Book pages that are made from the code and from promoted results: parameters, status, executed notebooks."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litsynth import files, paths
from litsynth.experiments.notebooks import source
from litsynth.experiments.parameters import EXPERIMENTS, Experiment


def escaped(text: object) -> str:
    """Return text that stands for itself in a Markdown table cell, whatever markup it holds."""
    plain = html.escape(" ".join(str(text).split()), quote=False)
    return re.sub(r"([\\`*_{}\[\]|$#~])", r"\\\1", plain)


def markdown_table(header: list[str], rows: list[list[object]]) -> str:
    """Return a Markdown table; cells are escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(map(escaped, row)) + " |" for row in rows)]) + "\n"


def parameter_table(experiment: Experiment) -> str:
    """Return the Markdown section of one experiment: what it does, and its parameters with types and defaults."""
    rows = [[row["name"], row["default"], row["type"], row["meaning"]] for row in experiment.rows()]
    notes = " Asks a language model." if experiment.calls_model else ""
    notes += " Uses reference labels and says so." if experiment.uses_gold else ""
    return (f"### `{experiment.name}`\n\n{escaped(experiment.description)}{notes}\n\n"
            + markdown_table(["parameter", "default", "type", "meaning"], rows))


def promoted_results() -> dict[str, dict[str, Any]]:
    """Return the manifests of all promoted results by name."""
    found = {path.parent.name: files.read_json(path) for path in sorted(paths.results_dir().glob("*/manifest.json"))}
    return {name: facts for name, facts in found.items() if not name.startswith(".")}


def provenance(facts: Mapping[str, Any]) -> str:
    """Return one Markdown line that says which run a result is from, on which data, and whether they are synthetic."""
    data = facts["dataset"]
    about = f"data set {escaped(data['name'])} (SHA-256 {data['checksum'][:12]})" if data else "no data set"
    label = " **Synthetic data: no number here says anything about the real world.**" if facts["synthetic"] else ""
    gold = " Label-informed: systems saw reference labels." if facts["uses_gold"] else ""
    return f"Run `{facts['experiment']}/{facts['id']}` of {facts['ended']}, {about}.{label}{gold}"


def _status_page(results: Mapping[str, Mapping[str, Any]]) -> str:
    if not results:
        return "No results yet: `litsynth run EXPERIMENT` and `litsynth promote RUN` make them.\n"
    rows: list[list[object]] = []
    for name, facts in results.items():
        data, code = facts["dataset"] or {}, facts["code"]
        commit = (code.get("commit") or "no commit")[:12] + (" with changes" if code.get("dirty") else "")
        rows.append([name, data.get("name", "none"), "yes" if facts["synthetic"] else "no",
                     "yes" if facts["uses_gold"] else "no", facts["items"], facts["ended"], facts["id"], commit])
    packages: dict[str, set[str]] = {}
    for facts in results.values():
        for package, version in facts["packages"].items():
            packages.setdefault(package, set()).add(version)
    versions = [[package, ", ".join(sorted(versions))] for package, versions in sorted(packages.items())]
    header = ["result", "data set", "synthetic", "label-informed", "items", "finished", "run", "commit"]
    return (markdown_table(header, rows) + "\n## Versions that these results were made with\n\n"
            + markdown_table(["package", "version"], versions))


def _shown_notebook(notebook: dict[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return an executed notebook as a book page: named with its data set and its run, without progress lines."""
    where = facts["dataset"]["name"] if facts["dataset"] else facts["promoted_as"]
    where = re.sub(r"[^\w .,-]", "", where)  # the theme repeats titles without escaping them
    cells = []
    for cell in notebook["cells"]:
        cell = {**cell}
        if cell["cell_type"] == "code":
            cell["outputs"] = [output for output in cell["outputs"] if output.get("name") != "stderr"]
        cells.append(cell)
    title = source(cells[0]) if cells and cells[0]["cell_type"] == "markdown" else f"# {facts['experiment']}"
    first, _, rest = title.partition("\n")
    lead = {"cell_type": "markdown", "metadata": {}, "id": "provenance",
            "source": f"{first} ({where})\n\n{provenance(facts)}\n{rest}"}
    body = cells[1:] if cells and cells[0]["cell_type"] == "markdown" else cells
    return {**notebook, "cells": [lead, *body]}


def _write_if_changed(path: Path, text: str) -> None:
    """Leave an unchanged page alone, so that its time stamp does not ask for a new build."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        files.write_text(path, text)


def write_pages(book: Path) -> None:
    """Write the generated parts of the book, `generated/*.md` and `runs/<result>.ipynb`; gone results leave."""
    results = promoted_results()
    tables = "\n".join(parameter_table(EXPERIMENTS[name]) for name in sorted(EXPERIMENTS))
    _write_if_changed(book / "generated" / "parameters.md", tables)
    _write_if_changed(book / "generated" / "status.md", _status_page(results))
    shown = set()
    for name, facts in results.items():
        executed = paths.results_dir() / name / "notebook.ipynb"
        if executed.exists():
            page = book / "runs" / f"{name}.ipynb"
            shown.add(page.name)
            text = json.dumps(_shown_notebook(files.read_json(executed), facts), indent=1, ensure_ascii=False)
            _write_if_changed(page, text + "\n")
    for page in (book / "runs").glob("*.ipynb"):
        if page.name not in shown:
            page.unlink()
