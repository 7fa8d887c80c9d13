"""Imports go down only, systems and scoring never meet, and reference answers stay behind the gold wall."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "lib" / "litsynth"
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))

# A room may import rooms of a lower storey and itself; rooms of one storey do not import each other.
STOREY = {
    "errors": 0, "text": 0, "paths": 1, "progress": 1, "files": 1, "records": 1,
    "datasets": 2, "stats": 2, "llm": 2,
    "conditions": 3, "retrieval": 3,
    "systems": 4, "scoring": 4,
    "serving": 5,  # offers searches to agents outside
    "experiments": 6, "plots": 5,
    "cli": 7,
}
# Rooms of one storey that may use each other, with the reason.
SIDEWAYS = {
    ("files", "records"), ("records", "files"),  # the foundation
    ("conditions", "retrieval"), ("retrieval", "conditions"),  # candidate sets need similar papers
}
GOLD_ROOMS = {"datasets", "conditions", "scoring", "experiments", "records"}
GOLD_MODULES = {"retrieval/oracle.py"}
GOLD_NAMES = {"Gold", "Fact"}
GOLD_ATTRIBUTES = {"gold", "facts"}
GOLD_OF_A_DATASET = {"notes", "screened"}  # common words, so only as attributes of a data set


def room_of(path: Path) -> str:
    """Return the room of a module: its top-level folder or file."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[int, str]]:
    """Return line and dotted name of every import of this package in a module, inside functions too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: relative import; write the full name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [(node.lineno, name if node.module == "litsynth" else node.module) for name in names]
    return [(line, name) for line, name in found if name and name.split(".")[0] == "litsynth"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path):
    room = room_of(path)
    if room == "__init__":
        assert not imports(path)
        return
    assert room in STOREY, f"{room} is a new room: give it a storey here"
    for line, name in imports(path):
        other = name.split(".")[1] if "." in name else "__init__"
        if other in (room, "__init__", "__version__") or (room, other) in SIDEWAYS:
            continue
        assert STOREY.get(other, 99) < STOREY[room], f"{path}:{line}: {room} may not import {name}"


@pytest.mark.parametrize("path", [path for path in MODULES if room_of(path) in STOREY
                                  and room_of(path) not in GOLD_ROOMS
                                  and str(path.relative_to(PACKAGE)) not in GOLD_MODULES],
                         ids=lambda path: str(path.relative_to(PACKAGE)))
def test_gold_wall(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = node.id if isinstance(node, ast.Name) else node.name if isinstance(node, ast.alias) else ""
        assert name not in GOLD_NAMES, f"{path}:{getattr(node, 'lineno', '?')}: names {name}"
        if isinstance(node, ast.Attribute):
            secret = node.attr in GOLD_ATTRIBUTES or (
                node.attr in GOLD_OF_A_DATASET and "data" in ast.unparse(node.value))
            assert not secret, f"{path}:{node.lineno}: reads .{node.attr}"


def test_systems_and_scoring_never_import_each_other():
    for path in MODULES:
        for line, name in imports(path):
            pair = {room_of(path), name.split(".")[1] if "." in name else ""}
            assert pair != {"systems", "scoring"}, f"{path}:{line}"
