"""The parts of a report that may be its final list of included articles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from litsynth.scoring.selection.corpus_ids import mentions
from litsynth.scoring.selection.headings import (
    Role,
    closes_list,
    heading_text,
    is_plain_exclusion,
    is_replacement,
    is_sentence,
    role_of,
)
from litsynth.scoring.selection.lines import LABEL_LEVEL, Line, as_item

_INLINE = re.compile(r"(\*\*|__)?([^:*]{3,160}?)(?:\1)?\s{0,2}:(?(1)\1?)\s{0,3}(.*)")
_GLUED = re.compile(r"[.!?]\s{0,3}([^.!?:]{3,100}:)\s{0,3}$")
_LONGEST_LABEL_WORDS = 12
_MOST_SECTIONS = 60  # headings looked at; keeps the time linear for a report made of headings
_STRENGTH: dict[Role, int] = {"final_list": 3, "list": 2, "evidence": 1, "exclusion": 0, "other": 0}


@dataclass(frozen=True, slots=True)
class Section:
    """A heading that announces included articles and the lines that belong to it.

    `start` and `end` are line indices; `contested` holds the numbers of lines under a bold near-miss heading
    ("Borderline but excluded") that follows the list without a Markdown heading of its own.
    """

    heading: str
    role: Role
    start: int
    end: int
    lines: tuple[Line, ...]
    contested: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Head:
    index: int
    text: str
    level: int
    role: Role
    inline: str = ""


def _label_head(index: int, line: Line, following: Line | None) -> _Head | None:
    """Return the heading that a plain line is: a label with a colon, or a short line that is nothing but the label."""
    # A label may stand behind the sentence before it: "… with exact titles. Included studies:"
    glued = _GLUED.search(line.marked[-200:]) if len(line.text) > 40 else None
    match = _INLINE.fullmatch(glued.group(1) if glued else line.marked[:5000])
    label, rest = (match.group(2), match.group(3)) if match else (line.text, "")
    if len(label.split()) > _LONGEST_LABEL_WORDS:
        return None
    role = role_of(label)
    announces = _STRENGTH[role] >= 2 or (role == "exclusion" and len(label.split()) <= 5)
    if not announces or is_sentence(label) or mentions(label) or (not match and not _bare_label(line, following)):
        return None
    return _Head(index, label.strip("*_ "), LABEL_LEVEL, role, rest.strip("*_ ") if rest.strip("*_ :.") else "")


def _bare_label(line: Line, following: Line | None) -> bool:
    short = len(line.text.split()) <= 7 and not line.text.rstrip().endswith((".", "?", "!", ";", ","))
    return short and line.kind == "text" and following is not None and following.kind in ("item", "row", "blank")


def find_heads(lines: Sequence[Line]) -> list[_Head]:
    """Return every heading, bold line and list label outside quotations, in order."""
    heads = []
    for index, line in enumerate(lines):
        if line.quoted or line.kind in ("blank", "rule", "row"):
            continue
        if line.kind in ("heading", "bold"):
            inline = _INLINE.fullmatch(line.marked[:5000]) if line.kind == "bold" else None
            head = _label_head(index, line, None) if inline and inline.group(3).strip("*_ :.") else None
            heads.append(head or _Head(index, line.text, line.level, role_of(line.text)))
            continue
        following = lines[index + 1] if index + 1 < len(lines) else None
        opens = index == 0 or lines[index - 1].kind in ("blank", "rule", "heading", "bold")
        may_head = opens and (line.kind == "text" or line.marked.startswith(("**", "__")))
        head = _label_head(index, line, following) if may_head else None
        if head:
            heads.append(head)
    return heads


def _is_entry(line: Line, after: Sequence[Line]) -> bool:
    """Tell whether a heading-like line is an entry of the list: it names an ID, or an ID line comes next."""
    if mentions(line.text):
        return True
    if role_of(line.text) != "other" or closes_list(line.text):
        return False
    following = [other for other in after if other.kind != "blank"][:1]
    return (
        bool(following)
        and following[0].kind in ("text", "bold")
        and any(m.start < 4 for m in mentions(following[0].text))
    )


def _section(lines: Sequence[Line], head: _Head, by_index: Mapping[int, _Head]) -> Section:
    """Return the section under `head`: deeper neutral headings stay inside, exclusions and conclusions end it."""
    taken = [as_item(lines[head.index], head.inline)] if head.inline else []
    contested: set[int] = set()
    part, index = "list", head.index + 1
    while index < len(lines):
        line, other = lines[index], by_index.get(index)
        follows_id = line.kind == "bold" and bool(mentions(lines[index - 1].text))  # the title below its ID line
        if other and not follows_id and not _is_entry(line, lines[index + 1 : index + 4]):
            if _ends(head, other):
                break
            aside = other.level > 6 and other.role != "exclusion" and closes_list(other.text)
            part = "near miss" if other.role == "exclusion" else "aside" if aside else "list"
        if part == "near miss":
            contested.add(line.number)
        if part != "aside":
            taken.append(line)
        index += 1
    return Section(head.text, head.role, head.index, index, tuple(taken), frozenset(contested))


def _ends(head: _Head, other: _Head) -> bool:
    lists = other.role in ("list", "final_list")
    if other.level <= 6:
        return other.level <= head.level or other.role == "exclusion" or (closes_list(other.text) and not lists)
    if other.role == "exclusion":
        return is_plain_exclusion(other.text)
    if head.level <= 6:
        return False  # a bold line below a Markdown heading is part of its section
    return other.level <= head.level if lists else closes_list(other.text)


def candidate_sections(lines: Sequence[Line]) -> list[Section]:
    """Return the sections that may hold the list, the likeliest first.

    By wording; among equals headings (and labels of a corrected list) before other plain labels, and later ones before
    earlier ones.
    """
    heads = find_heads(lines)
    by_index = {head.index: head for head in heads}
    ordered = sorted(
        (h for h in heads if _STRENGTH[h.role] and not mentions(h.text)),
        key=lambda h: (-_STRENGTH[h.role], h.level == LABEL_LEVEL and not is_replacement(h.text), -h.index),
    )
    return [_section(lines, head, by_index) for head in ordered[:_MOST_SECTIONS]]


def excluded_line_numbers(lines: Sequence[Line]) -> set[int]:
    """Return the lines that stand under a heading of exclusions or criteria: IDs there are not included."""
    heads, numbers = find_heads(lines), set()
    for position, head in enumerate(heads):
        if head.role != "exclusion" and not re.search(
            r"criteri|reference|bibliograph|sources?\b", heading_text(head.text)
        ):
            continue
        end = next((other.index for other in heads[position + 1 :] if other.level <= head.level), len(lines))
        numbers.update(range(head.index, end))
    return numbers
