"""What the book's result pages call: promoted results with their provenance, tables and figures, escaped.

Tables carry the class `sortable`, which the book's own script makes sortable and filterable; without the script they
are plain tables. Figures are embedded, with their description as alternative text.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from litsynth import files, paths
from litsynth.errors import RunError
from litsynth.experiments.pages import promoted_results
from litsynth.experiments.status import SAME, code_state
from litsynth.experiments.store import read_table


class Html:
    """A piece of HTML that a notebook or book page shows as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return self.text


@dataclass(frozen=True)
class Result:
    """One promoted result: its name, folder and manifest."""

    name: str
    folder: Path
    manifest: Mapping[str, Any]

    def table(self, name: str) -> pd.DataFrame:
        """Return a table of the result; raises `RunError` naming the tables that exist."""
        return read_table(self.folder, name)

    @property
    def label(self) -> str:
        """The data set's name, with what every number from it must be labelled with."""
        data = self.manifest["dataset"] or {}
        marks = [word for word, holds in (("synthetic", self.manifest["synthetic"]),
                                          ("weak demonstration model", self.manifest["facts"].get("weak_model")),
                                          ("label-informed", self.manifest["uses_gold"])) if holds]
        return str(data.get("name", self.name)) + (f" ({', '.join(marks)})" if marks else "")


def results_of(experiment: str) -> list[Result]:
    """Return the promoted results of an experiment, real data first, then by name."""
    found = [Result(name, paths.results_dir() / name, facts) for name, facts in promoted_results().items()
             if facts["experiment"] == experiment]
    return sorted(found, key=lambda result: (bool(result.manifest["synthetic"]), result.name))


def without_demonstrations(results: Sequence[Result]) -> list[Result]:
    """Leave out what a demonstration model answered to a handful of questions, where there is anything else."""
    return [result for result in results if not result.manifest["facts"].get("weak_model")] or list(results)


def older_code(manifest: Mapping[str, Any]) -> bool:
    """Return whether the code that decides a result's numbers has changed since it was made."""
    return code_state(manifest) != SAME


def the_result(name: str) -> Result:
    """Return one promoted result by name; raises `RunError` naming those that exist."""
    results = promoted_results()
    if name not in results:
        raise RunError(f"there is no promoted result {name!r}",
                       expected="one of " + (", ".join(results) or "(none yet)"),
                       remedy="litsynth run EXPERIMENT, then litsynth promote RUN")
    return Result(name, paths.results_dir() / name, results[name])


def show_provenance(result: Result) -> Html:
    """Show which run a result is from, on which data, with a warning where they are synthetic or a model is weak."""
    facts, data = result.manifest, result.manifest["dataset"]
    about = (f"data set {html.escape(data['name'])} (SHA-256 {html.escape(data['checksum'][:12])})" if data
             else "no data set")
    marks = []
    if facts["synthetic"]:
        marks.append("Synthetic data: no number here says anything about the real world.")
    if facts["facts"].get("weak_model"):
        marks.append("A weak demonstration model: its scores show the machinery, not what models can do.")
    if facts["uses_gold"]:
        marks.append("Label-informed: some systems were given candidates ordered by the reference set.")
    if older_code(facts):
        commit = str(facts["code"].get("commit") or "unknown")[:7]
        marks.append(f"Made with older code (commit {commit}): the numbers stand as they were computed.")
    warning = "".join(f" <strong>{html.escape(mark)}</strong>" for mark in marks)
    return Html(f'<p class="provenance">Run <code>{html.escape(facts["experiment"])}/{html.escape(facts["id"])}</code> '
                f'of {html.escape(str(facts["ended"]))}, {about}.{warning}</p>')


def show_words(result: Result, words: str) -> Html:
    """Show what a result says in sentences, a paragraph a line, with its data set and labels in front and its run."""
    run = f"{result.manifest['experiment']}/{result.manifest['id']}"
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in words.splitlines() if line.strip())
    return Html(f"<p><strong>{html.escape(result.label)}</strong>, run <code>{html.escape(run)}</code></p>{lines}")


def show_figure(result: Result, name: str) -> Html:
    """Show a figure of a result with its description; a figure that the run did not make is said to be absent.

    The first sentence of the description is the caption. The whole, with the numbers, is the alternative text, and
    unfolds below the caption.
    """
    folder = result.folder / "figures"
    picture, words = folder / f"{name}.svg", folder / f"{name}.alt.txt"
    if not picture.exists():
        return Html(f"<p>{html.escape(result.name)} has no figure “{html.escape(name)}”.</p>")
    alt = html.escape(words.read_text(encoding="utf-8").strip())
    data = base64.b64encode(picture.read_bytes()).decode("ascii")
    first, rest = _first_sentence(words.read_text(encoding="utf-8").strip())
    more = f"<details><summary>In words</summary>{html.escape(rest)}</details>" if rest else ""
    return Html(f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{data}" style="max-width:100%"/>'
                f"<figcaption>{html.escape(result.label)}. {html.escape(first)}{more}</figcaption></figure>")


def _first_sentence(words: str) -> tuple[str, str]:
    """Return the first sentence, or what stands before its colon when that is long, and the rest."""
    end = re.search(r"[.:](?= )", words)
    if end is None or end.end() == len(words):
        return words, ""
    return words[:end.start()] + ".", words[end.end():].strip()


def show_table(frame: pd.DataFrame, caption: str, *, columns: Mapping[str, str] | Sequence[str] | None = None) -> Html:
    """Show a data frame as a sortable, escaped HTML table; `columns` chooses, orders and renames columns.

    Missing values are shown as a dash. Floats are rounded to three places for reading; the stored table is not.
    """
    if columns is not None:
        names = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
        frame = frame[list(names)].rename(columns=names)
    head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in frame.columns)
    body = "".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>"
                   for row in frame.itertuples(index=False, name=None))
    return Html(f'<table class="sortable"><caption>{html.escape(caption)}</caption>'
                f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _cell(value: Any) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return '<td data-value="">–</td>'
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, float):
        return f'<td data-value="{value!r}">{value:.3f}</td>'
    return f"<td>{html.escape(str(value))}</td>"


def show_benchmarks() -> Html:
    """Show what every kept benchmark printed, with its data set and machine; says so when none was kept."""
    parts = []
    for path in sorted((paths.results_dir() / "benchmarks").glob("*.json")):
        facts = files.read_json(path)
        data = facts["dataset"]
        about = f"data set {data['name']}{' (synthetic)' if data['synthetic'] else ''}, " if data else ""
        words = (f"{about}{facts['processor']}, {facts['cores']} cores, "
                 f"load average {facts['load_average_before']} before, {facts['seconds']} s, {facts['date']}")
        parts.append(f"<h3>{html.escape(facts['benchmark'].replace('_', ' '))}</h3>"
                     f'<p class="provenance">{html.escape(words)}</p><pre>{html.escape(facts["printed"])}</pre>')
    return Html("".join(parts) or "<p>No benchmark was kept yet: <code>make bench</code> makes them.</p>")
