"""Book pages that are made from the code and from promoted results: parameters, status, executed notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litsynth import files, paths
from litsynth.datasets.catalogue import sources
from litsynth.experiments.markdown import escaped, markdown_table
from litsynth.experiments.notebooks import source
from litsynth.experiments.parameters import EXPERIMENTS, Experiment
from litsynth.experiments.status import status_page
from litsynth.experiments.systems_page import retrievers_table, systems_table


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


def source_list() -> str:
    """Return the catalogue of data sets as a Markdown list: where each is from, its revision and its licence."""
    catalogue = paths.data_dir("SOURCES.toml")
    if not catalogue.exists():
        return "This workspace has no catalogue of data sets.\n"
    entries = []
    for name, entry in sources(catalogue).items():
        place = entry.homepage or entry.location
        origin = f"<{place}>" if place.startswith("https://") else f"data/{escaped(place)}"
        revision = f", revision {escaped(entry.revision)}" if entry.revision else ""
        marks = " **Synthetic.**" if entry.synthetic else ""
        entries.append(f"{escaped(name)}\n: {escaped(entry.description)}.{marks} From {origin}{revision}. "
                       f"Licence: {escaped(entry.licence)}. Cite: {escaped(entry.citation or 'its page')}.\n")
    return "\n".join(entries)


def _shown_notebook(notebook: dict[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return an executed notebook as a book page: named with its data set and its run, without progress lines."""
    # Two results of one data set have different names; those that promotion gives repeat the experiment's.
    where = str(facts["promoted_as"]).removeprefix(f"{facts['experiment']}-")
    where = re.sub(r"[^\w .,-]", "", where)  # the theme repeats titles without escaping them
    cells = [_shown_code(cell, facts) if cell["cell_type"] == "code" else cell for cell in notebook["cells"]]
    title = source(cells[0]) if cells and cells[0]["cell_type"] == "markdown" else f"# {facts['experiment']}"
    first, _, rest = title.partition("\n")
    lead = {"cell_type": "markdown", "metadata": {}, "id": "provenance",
            "source": f"{first} ({where})\n\n{provenance(facts)}\n{rest}"}
    body = cells[1:] if cells and cells[0]["cell_type"] == "markdown" else cells
    return {**notebook, "cells": [lead, *body]}


def _shown_code(cell: dict[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a code cell without progress lines and with words for its pictures, in the form that the book reads."""
    outputs = [output for output in cell["outputs"] if output.get("name") != "stderr"]
    pictures = [output for output in outputs if any(kind.startswith("image/") for kind in output.get("data", {}))]
    metadata = cell.get("metadata", {})
    if pictures:
        words = " ".join(dict.fromkeys(_described(output, source(cell), facts) for output in pictures))
        metadata = {**metadata, "mystnb": {**metadata.get("mystnb", {}), "image": {"alt": words}}}
    return {**cell, "metadata": metadata, "outputs": outputs}


def _described(output: Mapping[str, Any], code: str, facts: Mapping[str, Any]) -> str:
    """Return a picture's alternative text: what was kept beside it, else that of the run's figure that it draws."""
    for about in output.get("metadata", {}).values():
        if isinstance(about, Mapping) and about.get("alt"):
            return str(about["alt"])
    drawn = [figure for name, figure in facts.get("figures", {}).items() if re.search(rf"\b{re.escape(name)}\(", code)]
    if len(drawn) == 1:
        return str(drawn[0]["alt"])
    return f"A picture without a description, made by: {' '.join(code.split())}"


def _write_if_changed(path: Path, text: str) -> None:
    """Leave an unchanged page alone, so that its time stamp does not ask for a new build."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        files.write_text(path, text)


def write_pages(book: Path) -> None:
    """Write the generated parts of the book, `generated/*.md` and `runs/<result>.ipynb`; gone results leave."""
    results = promoted_results()
    tables = "\n".join(parameter_table(EXPERIMENTS[name]) for name in sorted(EXPERIMENTS))
    _write_if_changed(book / "generated" / "parameters.md", tables)
    _write_if_changed(book / "generated" / "systems.md", systems_table())
    _write_if_changed(book / "generated" / "retrievers.md", retrievers_table())
    _write_if_changed(book / "generated" / "status.md", status_page(results))
    _write_if_changed(book / "generated" / "sources.md", source_list())
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
