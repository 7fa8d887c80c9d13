"""Text of papers and models put into prompts as data: on one line each, between marks that it does not contain."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import count


def one_line(text: str) -> str:
    """Return `text` on one line, so that no text of a paper can begin a line of its own in a prompt."""
    return " ".join(text.split())


def shorten(text: str, characters: int | None) -> str:
    """Return the beginning of `text`, at most `characters` long (None: all), ending at a word where possible."""
    if characters is None or len(text) <= characters:
        return text
    head = text[:characters + 1]
    cut = head.rfind(" ")
    return head[:cut] if cut > characters // 2 else head[:characters]


def fence_for(texts: Sequence[str]) -> str:
    """Return a mark that occurs in none of `texts`; the same texts give the same mark."""
    joined = "\n".join(texts)
    marks = (hashlib.sha256(f"{attempt}\n{joined}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
             for attempt in count())
    return next(mark for mark in marks if mark not in joined)


def fenced(lines: Sequence[str], fence: str) -> str:
    """Return `lines` between two lines that hold the mark."""
    return "\n".join((f"<<{fence}", *lines, f"{fence}>>"))
