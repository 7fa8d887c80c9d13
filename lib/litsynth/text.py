"""Folding of text, so that the same words compare equal however they were typeset."""

from __future__ import annotations

import json
import re
import unicodedata

# The benchmark's own list: BM25 scores depend on it, so it is part of the retriever's definition.
STOP_WORDS = frozenset(
    """the a an and or but in on at to for of with by from is are was were be been this that these those it its as
    also can have has had do does did will would could should may might must than into through during before after
    above below between under again further then once here there when where why how all each few more most other some
    such no nor not only own same so just now""".split()
)
_WORD = re.compile(r"\b\w+\b")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-")
_QUOTES = {**dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u00b4\u0060"), "'"),
           **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"')}
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), None)


def printable(text: str) -> str:
    """Return `text` with every character that could steer a terminal written as JSON would escape it (`\\u001b`).

    Control, format (bidirectional, zero-width) and other invisible characters, lone surrogates among them; line feeds,
    tabs and all kinds of spaces stay. JSON stays the same JSON.
    """
    if text.isprintable():
        return text
    return "".join(mark if mark in "\n\t" or mark.isprintable() or unicodedata.category(mark) == "Zs" else
                   json.dumps(mark)[1:-1] for mark in text.replace("\x7f", "\\u007f"))


def words(text: str) -> list[str]:
    """Return the lower-cased word tokens of more than two characters that are no stop words, in order."""
    return [word for word in _WORD.findall(text.lower()) if len(word) > 2 and word not in STOP_WORDS]


def fold(text: str) -> str:
    """Return `text` with compatibility characters, dashes, quotation marks, invisible characters and spaces made plain.

    Unicode NFKC (ligatures, superscripts, full-width forms), every dash as `-`, every quotation mark
    as `'` or `"`, runs of white space as one space, case folded.
    """
    plain = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).translate(_DASHES).translate(_QUOTES)
    return " ".join(plain.split()).casefold()


def fold_title(title: str) -> str:
    """Return the folded letters and digits of a title, separated by single spaces: its identity for exact matching."""
    return " ".join(re.findall(r"\w+", fold(title)))
