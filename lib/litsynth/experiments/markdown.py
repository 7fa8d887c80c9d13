"""Markdown for the book's generated pages, in which text of data stands for itself."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence


class Ready(str):
    """Text that is Markdown already; everything else in a table is escaped."""

    __slots__ = ()


def escaped(text: object) -> str:
    """Return text that stands for itself in a Markdown table cell, whatever markup it holds."""
    if isinstance(text, Ready):
        return text
    plain = html.escape(" ".join(str(text).split()), quote=False)
    return re.sub(r"([\\`*_{}\[\]|$#~])", r"\\\1", plain)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; cells are escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(map(escaped, row)) + " |" for row in rows)]) + "\n"
