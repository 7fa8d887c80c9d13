"""Notebooks as files: their code, their prose, and the parameters that papermill put into a running one."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

from litsynth.errors import RunError
from litsynth.files import read_json


def read(path: Path) -> dict[str, Any]:
    """Return the notebook's JSON; raises `RunError` when there is no such notebook."""
    if not path.exists():
        raise RunError(f"there is no notebook {path}", expected="the experiment's notebook in the workspace",
                       remedy="run from the checkout, or set LITSYNTH_HOME to it")
    notebook = read_json(path)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise RunError(f"{path} is no notebook", expected="a file of notebook format 4")
    return notebook


def source(cell: dict[str, Any]) -> str:
    """Return a cell's text."""
    text = cell.get("source", "")
    return text if isinstance(text, str) else "".join(text)


def is_parameters(cell: dict[str, Any]) -> bool:
    """Say whether this is the cell that papermill fills."""
    return "parameters" in cell.get("metadata", {}).get("tags", [])


def code(notebook: dict[str, Any]) -> list[str]:
    """Return the code cells in order, without the parameters (whose values are known otherwise)."""
    return [source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code" and not is_parameters(cell)]


def prose(notebook: dict[str, Any]) -> list[str]:
    """Return the text cells in order."""
    return [source(cell) for cell in notebook["cells"] if cell["cell_type"] != "code"]


def assigned(text: str) -> dict[str, Any]:
    """Return the literal values that a parameters cell assigns, in order; other statements are passed over."""
    values: dict[str, Any] = {}
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and getattr(node, "value", None) is not None:
            try:
                values[target.id] = ast.literal_eval(node.value)
            except ValueError:
                values[target.id] = None
    return values


def injected_parameters() -> dict[str, Any]:
    """Return what papermill injected into the notebook that runs in this process, empty elsewhere.

    Papermill only warns about a name that the notebook does not declare; its cell is still executed, so its names
    can be found among the kernel's inputs and refused.
    """
    if "IPython" not in sys.modules:
        return {}
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return {}
    for text in reversed(shell.user_ns.get("In", [])):
        if text.lstrip().startswith("# Parameters\n"):
            try:
                return assigned(text)
            except SyntaxError:
                return {}
    return {}
