"""Fingerprints of the source that a result rests on, so that changed code makes a new run and other code does not."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import litsynth
from litsynth.errors import RunError
from litsynth.files import sha256_of

# Rooms that cannot change a number: they print, draw, or start other code. Drawing has its own fingerprint.
_NEUTRAL_ROOMS = frozenset({"cli", "plots", "progress", "experiments"})
# Modules of the experiments room that compute or store nothing of their own.
_NEUTRAL_MODULES = frozenset({
    "litsynth.experiments", *(f"litsynth.experiments.{name}" for name in (
        "book", "coercion", "fingerprint", "locks", "manifest", "notebooks", "pages", "parameters", "promote",
        "runner", "store"))})


def package_folder() -> Path:
    """Return the folder of the installed package."""
    return Path(litsynth.__file__).resolve().parent


def _imported(source: str, where: Path) -> set[str]:
    """Return the dotted names of this package that a module imports anywhere, inside functions too."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise RunError(f"{where}, line {error.lineno}: {error.msg}", expected="valid Python") from None
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in found if name.split(".")[0] == "litsynth"}


def _own_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*")
                  if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc")


def _room_files(room: str) -> list[Path]:
    """Return all files of a room (a top-level module or package), its data files included."""
    folder, module = package_folder() / room, package_folder() / f"{room}.py"
    return _own_files(folder) if folder.is_dir() else [module] if module.exists() else []


def _experiment_files(dotted: str) -> list[Path]:
    """Return the files of one experiment module or folder; an imported name inside it counts as the module."""
    parts = dotted.split(".")[2:]
    base = package_folder() / "experiments"
    for length in range(len(parts), 0, -1):
        place = base.joinpath(*parts[:length])
        if place.is_dir():
            return _own_files(place)
        if place.with_suffix(".py").exists():
            return [place.with_suffix(".py")]
    return []


def result_files(module_name: str, notebook_code: Iterable[str] = ()) -> list[Path]:
    """Return the source files that can change an experiment's numbers, sorted.

    Starts at the experiment's module and its notebook's cells and follows imports. Rooms are taken whole,
    because they choose implementations by name at run time; of `experiments` only what is reached is taken.
    """
    files, waiting, seen = set(), [module_name], set()
    for cell in notebook_code:
        waiting.extend(_imported(cell, Path("notebook")))
    spec = None if module_name.startswith("litsynth.") else find_spec(module_name)
    if spec and spec.origin:
        path = Path(spec.origin)
        files.add(path)
        waiting.extend(_imported(path.read_text(encoding="utf-8"), path))
    while waiting:
        name = waiting.pop()
        room = name.split(".")[1] if "." in name else ""
        if room == "experiments":
            neutral = name in _NEUTRAL_MODULES or name.rsplit(".", 1)[0] in _NEUTRAL_MODULES - {"litsynth.experiments"}
            new = [] if neutral else _experiment_files(name)
        else:
            new = [] if not room or room in _NEUTRAL_ROOMS else _room_files(room)
        for path in new:
            if path not in seen:
                seen.add(path)
                files.add(path)
                if path.suffix == ".py":
                    waiting.extend(_imported(path.read_text(encoding="utf-8"), path))
    return sorted(files)


def _digest(files: Iterable[Path]) -> str:
    base = package_folder()
    named = {str(path.relative_to(base)) if path.is_relative_to(base) else path.name: path for path in files}
    return sha256_of([[name, hashlib.sha256(path.read_bytes()).hexdigest()] for name, path in sorted(named.items())])


def result_fingerprint(module_name: str, notebook_code: list[str]) -> str:
    """Return the hash of the source that decides an experiment's numbers, in the package and in its notebook."""
    return sha256_of([_digest(result_files(module_name, notebook_code)), notebook_code])


def drawing_fingerprint(notebook_prose: list[str]) -> str:
    """Return the hash of what decides only looks: plots and prose.

    When it changes, a finished run is drawn anew from its items.
    """
    return sha256_of([_digest(_room_files("plots")), notebook_prose])
