"""Text folded for the verbatim check, with the way back to the offsets of the original."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from litsynth.text import fold

_MARK = "[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\ufe20-\ufe2f]"  # combining marks
# Runs of plain characters, white space, and single characters with their combining marks.
_PIECE = re.compile(rf"[!-_a-~]+(?!{_MARK})|\s+|\S{_MARK}*")
_SOFT_LINE_END = re.compile(r"\u00ad(?=\s)")  # a soft hyphen that was really printed, at the end of a line
_AROUND_DASH = re.compile(r" ?- ?")
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")


@dataclass(frozen=True, eq=False)
class FoldedText:
    """A text as it is compared, and where each of its characters stood.

    `starts` and `ends` have shape (len(text),): character i of `text` came from original[starts[i]:ends[i]].
    """

    text: str
    starts: np.ndarray
    ends: np.ndarray


@lru_cache(maxsize=2048)
def fold_with_offsets(original: str) -> FoldedText:
    """Fold `original` so that the same words compare equal however they were typeset.

    As `litsynth.text.fold` (NFKC: ligatures, superscripts as plain digits, full-width forms; one kind of dash and of
    quotation mark; no invisible characters; one space for any white space; case folded). Besides, spaces
    around a dash go, and a dash between two letters goes, so that a word hyphenated at a line's end, a
    compound and its dash-less spelling are one; a dash beside a digit stays, since it may be a range or a sign.
    """
    text, starts, ends = _fold_pieces(_SOFT_LINE_END.sub("-", original))
    text, starts, ends = _cut(_AROUND_DASH, text, starts, ends, "-")
    text, starts, ends = _cut(_BETWEEN_LETTERS, text, starts, ends, "")
    return FoldedText(text, starts, ends)


def _fold_pieces(original: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Fold piece by piece, remembering for each folded character the piece of `original` it came from."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _PIECE.finditer(original):
        piece, start = match.group(), match.start()
        if piece.isspace():
            if pieces and pieces[-1] != " ":
                pieces.append(" ")
                starts.append(start)
                ends.append(match.end())
        elif piece.isascii() and piece != "`":
            pieces.append(piece.lower())
            starts.extend(range(start, match.end()))
            ends.extend(range(start + 1, match.end() + 1))
        else:
            folded = fold(piece)
            if not folded:
                continue
            pieces.append(folded)
            starts.extend([start] * len(folded))
            ends.extend([match.end()] * len(folded))
    return "".join(pieces), np.array(starts, dtype=np.int32), np.array(ends, dtype=np.int32)


def _cut(pattern: re.Pattern[str], text: str, starts: np.ndarray, ends: np.ndarray,
         kept: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Reduce every match of `pattern` to `kept` (one character of the match, or nothing)."""
    keep = np.ones(len(text), dtype=bool)
    for match in pattern.finditer(text):
        keep[match.start():match.end()] = False
        if kept:
            keep[match.start() + match.group().index(kept)] = True
    if keep.all():
        return text, starts, ends
    return "".join(np.array(list(text))[keep]), starts[keep], ends[keep]
