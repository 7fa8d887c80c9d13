"""A report as a list of lines, each with its Markdown role and its plain text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["blank", "heading", "bold", "item", "row", "rule", "text"]

BOLD_LEVEL = 7  # a bold line stands below the six Markdown heading levels
LABEL_LEVEL = 8

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"), None)
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2212\ufe63\uff0d"), "-")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s+|(?=\*))(.*)")
_ITEM = re.compile(r"(\s*)([-*+•●◦▪‣–]|\(?[0-9]{1,4}[.)]|\(?[a-zA-Z][.)]|\[[0-9]{1,4}\])\s+(.*)")
_RULE = re.compile(r"\s*([-*_=])(?:\s*\1){2,}\s*")
_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
_TABLE_RULE = frozenset("|:+- ")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
_LINK = re.compile(r"\[([^\[\]]{0,1000})\]\(([^()\s]{0,1000})\)")
_URL_ID = re.compile(
    r"(?:[a-z]{2,12}:/{1,2}corpus/|\b(?:[a-z]{2,12}-)?corpus:/{1,2})([0-9]{1,12})\b", re.IGNORECASE
)
_TYPESET_NUMBER = re.compile(r"`([0-9]{1,12})`")
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `marked` keeps emphasis and links (title boundaries), `text` is plain, `indent` counts leading spaces.

    `quoted` lines stand in a code fence or a block quotation; `cells` are a table row's plain cells;
    `level` is 1 to 6 for Markdown headings and 7 for bold lines, else 0.
    """

    number: int
    kind: Kind
    text: str
    marked: str
    indent: int = 0
    level: int = 0
    marker: str = ""
    quoted: bool = False
    cells: tuple[str, ...] = ()


def _link_text(match: re.Match[str]) -> str:
    label, target = match.group(1), match.group(2)
    address = _URL_ID.search(target)
    if not address or _URL_ID.search(label):
        return label
    return f"{label} (Corpus ID: {address.group(1)})"


def plain(text: str) -> str:
    """Return `text` without emphasis marks and tags; links leave their label, corpus addresses `Corpus ID: n`."""
    text = _LINK.sub(_link_text, text)
    text = _URL_ID.sub(r"Corpus ID: \1", text)
    text = _TYPESET_NUMBER.sub(r"#\1", text)  # a number in code ticks is meant as an identifier
    return " ".join(_EMPHASIS.sub("", _TAG.sub(" ", text)).split())


def _is_bold(text: str) -> bool:
    for mark in ("**", "__"):
        body = text.rstrip(" :.")
        if len(body) > 2 * len(mark) and body.startswith(mark) and body.endswith(mark):
            inner = body[len(mark) : -len(mark)]
            return mark not in inner and bool(inner.strip())
    return False


def _row_cells(text: str) -> tuple[str, ...]:
    body = text.strip().strip("|").replace("\\|", "¦")
    return tuple(plain(cell) for cell in body.split("|"))


def _parse(number: int, raw: str, quoted: bool, *, continues: bool = False) -> Line:
    stripped = raw.strip()
    indent = len(raw) - len(raw.lstrip())
    if not stripped:
        return Line(number, "blank", "", "", quoted=quoted)
    if _RULE.fullmatch(raw):
        return Line(number, "rule", "", "", quoted=quoted)
    heading = _HEADING.fullmatch(raw)
    if heading:
        body = heading.group(2).rstrip("# ")
        return Line(number, "heading", plain(body), body, level=len(heading.group(1)), quoted=quoted)
    if stripped.startswith("|") or (stripped.count("|") >= 2 and stripped.endswith("|")):
        kind: Kind = "rule" if "-" in stripped and _TABLE_RULE.issuperset(stripped) else "row"
        return Line(number, kind, plain(stripped), stripped, indent, quoted=quoted, cells=_row_cells(stripped))
    item = _ITEM.fullmatch(raw)
    if item and not _is_bold(stripped):
        body = item.group(3)
        return Line(number, "item", plain(body), body, indent, marker=item.group(2), quoted=quoted)
    if _is_bold(stripped) and indent <= (1 if continues else 3):
        return Line(number, "bold", plain(stripped), stripped, indent, level=BOLD_LEVEL, quoted=quoted)
    return Line(number, "text", plain(stripped), stripped, indent, quoted=quoted)


def _without_hidden(report: str) -> str:
    """Drop HTML comments, scripts and styles, which no reader sees; the number of lines stays."""
    for opening, closing in (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>")):
        lowered, kept, position = report.lower(), [], 0
        if len(lowered) != len(report):  # lower-casing changed the length (İ): look for the plain spelling only
            lowered = report
        while (start := lowered.find(opening, position)) >= 0:
            end = lowered.find(closing, start)
            if end < 0:
                break
            kept += [report[position:start], "\n" * report.count("\n", start, end)]
            position = end + len(closing)
        report = "".join([*kept, report[position:]])
    return report


def read_lines(report: str) -> list[Line]:
    """Return the lines of a report; HTML comments and scripts are dropped, quoted lines are marked and not
    interpreted further.

    A fence that encloses the whole report is the wrapping some models put around Markdown, not a quotation.
    """
    text = unicodedata.normalize("NFKC", _without_hidden(report).translate(_INVISIBLE)).translate(_DASHES)
    raws = [raw.replace("\t", "    ") for raw in text.splitlines()]
    fenced, marks = _fenced(raws)
    lines: list[Line] = []
    for number, raw in enumerate(raws):
        if number in marks:
            lines.append(Line(number, "blank", "", "", quoted=number in fenced))
            continue
        body = raw.lstrip()
        quotation = body.startswith(">") and number not in fenced
        body = body.lstrip("> ") if quotation else raw
        lines.append(
            _parse(
                number,
                body,
                number in fenced or quotation,
                continues=bool(lines) and lines[-1].kind in ("item", "text"),
            )
        )
    return lines


def _fenced(raws: list[str]) -> tuple[set[int], set[int]]:
    """Return the line numbers inside closed code fences and those of all fence marks."""
    inside: set[int] = set()
    marks: set[int] = set()
    opened, mark = -1, ""
    for number, raw in enumerate(raws):
        fence = _FENCE.match(raw)
        if not fence:
            continue
        marks.add(number)
        if opened < 0:
            opened, mark = number, fence.group(1)
        elif fence.group(1).startswith(mark):
            inside.update(range(opened, number + 1))
            opened = -1
    filled = [number for number, raw in enumerate(raws) if raw.strip()]
    wraps_all = (
        bool(filled) and min(marks, default=-1) == filled[0] and inside.issuperset(range(filled[0], filled[-1] + 1))
    )
    return (set() if wraps_all and len(marks) == 2 else inside), marks


def as_item(line: Line, text: str) -> Line:
    """Return `line` as a plain text line that holds only `text`: what follows a label on the label's own line."""
    return replace(line, kind="text", text=plain(text), marked=text, level=0, cells=())
