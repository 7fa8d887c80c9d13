"""Where things lie on disk: one root, found the same way from any working directory."""

from __future__ import annotations

import os
from pathlib import Path

from litsynth.errors import RunError

_MARKERS = ("_toc.yml", "notebooks", "data")


def expanded(path: str | Path) -> Path:
    """Return a path with `~` expanded; a `~name` of nobody stays as it is."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def existing(path: str | Path) -> Path | None:
    """Return the path with `~` expanded when something lies there, else None; never raises for odd texts."""
    try:
        return expanded(path) if str(path).strip() and expanded(path).exists() else None
    except (OSError, ValueError):  # too long for a file name, or with a null byte
        return None


def resolved(path: str | Path) -> Path:
    """Return an absolute path without links, with `~` expanded; a loop of links stays as it is."""
    given = expanded(path)
    try:
        return given.resolve()
    except (OSError, RuntimeError):
        return given.absolute()


def _is_root(folder: Path) -> bool:
    return all((folder / name).exists() for name in _MARKERS)


def project_root() -> Path:
    """Return the workspace's root folder.

    `LITSYNTH_HOME` wins; else the working directory or the nearest parent of it that looks like a
    workspace; else the checkout that this package was installed from in editable mode. Raises
    `RunError` when none of them is a workspace.
    """
    chosen = os.environ.get("LITSYNTH_HOME")
    if chosen:
        home = resolved(chosen)
        if not home.is_dir():
            raise RunError(f"LITSYNTH_HOME is {chosen!r}, which is no folder",
                           expected="a folder with " + ", ".join(_MARKERS),
                           remedy="unset LITSYNTH_HOME, or set it to the checkout")
        return home
    here = Path.cwd().resolve()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if _is_root(folder):
            return folder
    raise RunError(
        f"no litsynth workspace found from {here}",
        expected="a folder with " + ", ".join(_MARKERS),
        remedy="run from the checkout or set LITSYNTH_HOME to its folder",
    )


def data_dir(*parts: str) -> Path:
    """Return a path under the workspace's `data/` folder (`LITSYNTH_DATA` moves that folder)."""
    moved = os.environ.get("LITSYNTH_DATA")
    base = resolved(moved) if moved else project_root() / "data"
    return base.joinpath(*parts)


def runs_dir() -> Path:
    """Return the folder of runs, one directory an experiment and run id (not in git)."""
    return data_dir("runs")


def results_dir() -> Path:
    """Return the folder of promoted runs: what the book reads."""
    return data_dir("results")


def indexes_dir() -> Path:
    """Return the folder of search indexes and cached embeddings (not in git)."""
    return data_dir("indexes")


def completions_dir() -> Path:
    """Return the folder of the completion cache (not in git)."""
    return data_dir("completions")


def raw_dir() -> Path:
    """Return the folder of fetched raw data sets (not in git)."""
    return data_dir("raw")


def notebooks_dir() -> Path:
    """Return the folder of the parameterised notebooks."""
    return project_root() / "notebooks"


def figures_dir() -> Path:
    """Return the folder of exported figures."""
    moved = os.environ.get("LITSYNTH_FIGURES")
    return resolved(moved) if moved else project_root() / "figures"
