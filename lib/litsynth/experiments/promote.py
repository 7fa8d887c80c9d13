"""Promotes a finished run: copies it to `data/results/<name>/`, from which the book is made."""

from __future__ import annotations

import filecmp
import gzip
import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litsynth import files, paths
from litsynth.errors import RunError
from litsynth.experiments import manifest

ITEMS_LIMIT = 5_000_000  # bytes, compressed: item rows are the truth, but git is no place for large files
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")


def find_run(reference: str) -> Path:
    """Return the run directory for a run id or its beginning, `experiment/id`, or a directory.

    Raises `RunError` when there is none, or more than one.
    """
    if (Path(reference) / "manifest.json").exists():
        return Path(reference).resolve()
    experiment, _, run_id = reference.rpartition("/")
    found = [run["directory"] for run in manifest.all_runs()
             if run["id"].startswith(run_id) and experiment in ("", run["experiment"])]
    if len(found) == 1 and run_id:
        return found[0]
    what = f"{len(found)} runs match {reference!r}" if found and run_id else f"no run matches {reference!r}"
    raise RunError(what, expected="a run id (or enough of its beginning), experiment/id, or a run directory",
                   remedy="`litsynth runs` lists them")


def default_name(facts: Mapping[str, Any]) -> str:
    """Return the name under which a run is promoted unless told otherwise: experiment and data set."""
    data = facts["dataset"]
    cleaned = re.sub(r"[^a-z0-9_.-]+", "-", data["name"].lower()).strip("-") if data else ""
    return f"{facts['experiment']}-{cleaned}" if cleaned else facts["experiment"]


def promote(reference: str, name: str | None = None) -> tuple[Path, bool]:
    """Copy a finished run to `data/results/<name>/` and its figures to `figures/<name>/`.

    Returns the result's folder and whether anything changed; promoting an identical run again changes no byte.
    Both folders are exchanged whole. Raises `RunError` for a run that is not finished or whose tables are not those it
    recorded.
    """
    directory = find_run(reference)
    facts = manifest.read(directory)
    if facts is None or facts["status"] != "finished":
        raise RunError(f"run {reference} is {facts['status'] if facts else 'empty'}", expected="a finished run",
                       remedy="`litsynth run EXPERIMENT` with the same parameters resumes it")
    name = default_name(facts) if name is None else name
    if not _NAME.fullmatch(name):
        raise RunError(f"{name!r} is no name for a result", expected="lower-case letters, digits, dots, - and _")
    _check_tables(directory, facts)
    target = paths.results_dir() / name
    changed = _exchange(target, lambda staging: _copy(directory, facts, staging, name))
    figures = directory / "figures"
    if figures.is_dir():
        changed |= _exchange(paths.figures_dir() / name, lambda staging: shutil.copytree(figures, staging))
    return target, changed


def _check_tables(directory: Path, facts: Mapping[str, Any]) -> None:
    if path := manifest.altered_table(directory, facts):
        raise RunError(f"{path} is not the table that the run recorded",
                       expected=f"SHA-256 {facts['tables'][path.stem]['sha256']}",
                       remedy=f"`litsynth run {facts['experiment']} …` with the same parameters makes it anew")


def _copy(directory: Path, facts: Mapping[str, Any], staging: Path, name: str) -> None:
    staging.mkdir()
    for folder in ("tables", "figures"):
        if (directory / folder).is_dir():
            shutil.copytree(directory / folder, staging / folder)
    published = {**facts, "promoted_as": name}
    published.pop("directory", None)
    log = directory / "items.jsonl"
    if log.exists():
        packed = gzip.compress(log.read_bytes(), mtime=0)
        kept = len(packed) <= ITEMS_LIMIT
        published["items_file"] = "items.jsonl.gz" if kept else f"left out: {len(packed):,} bytes compressed"
        if kept:
            (staging / "items.jsonl.gz").write_bytes(packed)
    hide = _private_places(facts)
    files.write_json(staging / "manifest.json", _hidden(published, hide))
    if (directory / "notebook.ipynb").exists():
        notebook = files.read_json(directory / "notebook.ipynb")
        for holder in (notebook, *notebook["cells"]):
            holder["metadata"].pop("papermill", None)  # paths and clock times of this machine
        text = json.dumps(_hidden(notebook, hide), indent=1, ensure_ascii=False)
        files.write_text(staging / "notebook.ipynb", text + "\n")


def _private_places(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return folder names of this machine and what stands for them in published files."""
    given = (facts.get("parameters") or {}).get("dataset")
    places = {str(paths.project_root()): ".", str(Path.home()): "~"}
    if given and facts["dataset"] and given != facts["dataset"]["name"]:
        places = {given: facts["dataset"]["name"], **places}
    return {place: shown for place, shown in places.items() if len(place) > 1}


def _hidden(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for place, shown in places.items():
            value = value.replace(place, shown)
        return value
    if isinstance(value, Mapping):
        return {key: _hidden(inner, places) for key, inner in value.items()}
    return [_hidden(inner, places) for inner in value] if isinstance(value, list) else value


def _exchange(target: Path, build: Any) -> bool:
    """Build a folder beside `target` and put it in its place when it differs; returns whether it did."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as holder:
        staging = Path(holder) / "new"
        build(staging)
        if target.is_dir() and _same(staging, target):
            return False
        with files.atomic_path(target) as temporary:
            staging.rename(temporary)
    return True


def _same(one: Path, other: Path) -> bool:
    names = [sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
             for folder in (one, other)]
    return names[0] == names[1] and not any(filecmp.cmpfiles(one, other, names[0], shallow=False)[1:])
