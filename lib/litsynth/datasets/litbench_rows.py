"""Rows of a question bank's tables as records, with the place that each row has in its file."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litsynth.datasets.tables import TABLE_SUFFIXES, Block, Field, match_columns, read_blocks
from litsynth.datasets.values import year_or_none
from litsynth.errors import DataError
from litsynth.records import Fact, Paper, Question, Section

Record = Paper | Fact | Question

PAPER_FIELDS = (
    Field("paper_id", ("id",), required=True), Field("role", required=True), Field("stratum", ("specialty",)),
    Field("identifier_type"), Field("identifier"), Field("doi"), Field("title"), Field("journal"),
    Field("year", ("publication_year",)), Field("url"), Field("sections"),
)
FACT_FIELDS = (
    Field("fact_id", ("id",), required=True), Field("paper_id", required=True), Field("section", required=True),
    Field("fact_type", ("type",), required=True), Field("statement", ("fact",), required=True),
    Field("quote", ("quotation",), required=True), Field("label"),
)
QUESTION_FIELDS = (
    Field("question_id", ("id", "query_id"), required=True), Field("kind", required=True),
    Field("question", ("text",), required=True), Field("fact_ids", ("fact_id",), required=True),
    Field("paper_ids", ("paper_id",), required=True),
)
_ROLES = {"gold (carries answers)": "gold", "decoy (no answer)": "decoy"}
_FACT_TYPES = {"recall": "stated", "thinking": "interpretation", "": "unclassified"}
_KINDS = {"single_paper": "single", "single_hop": "single", "two": "two_paper", "two_papers": "two_paper",
          "two_hop": "two_paper", "pair": "two_paper"}
_SECTIONS = {"intro": "introduction", "background": "introduction", "method": "methods", "result": "results",
             "conclusion": "discussion", "conclusions": "discussion", "tables": "table", "figures": "figure"}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a bank's table: the file, its number there (from 1), and the record made of it."""

    file: str
    number: int
    record: Record


def table_path(folder: Path, name: str) -> Path | None:
    """Return the file that holds the table `name` in `folder`, or None."""
    return next((path for suffix in TABLE_SUFFIXES if (path := folder / (name + suffix)).is_file()), None)


def read_paper_rows(path: Path) -> Iterator[Row]:
    """Yield the papers of a table or of a manifest CSV."""
    blocks = [_read_csv(path)] if path.suffix.lower() == ".csv" else read_blocks(path, PAPER_FIELDS)
    for block in blocks:
        for row in range(len(block)):
            text = _Texts(block, row)
            year = year_or_none(block.column("year")[row], block.where(row, "year"))
            yield Row(path.name, block.numbers[row], Paper(
                text("paper_id"), _choice(text("role"), _ROLES), text("stratum"), text("title"),
                _sections(block.column("sections")[row], block.where(row, "sections")),
                text("identifier_type") or None, text("identifier") or None, text("doi") or None,
                text("journal") or None, year, text("url") or None,
            ))


def read_fact_rows(path: Path) -> Iterator[Row]:
    """Yield the facts of a table; `recall` and `thinking` are other words for `stated` and `interpretation`."""
    for block in read_blocks(path, FACT_FIELDS):
        for row in range(len(block)):
            text = _Texts(block, row)
            yield Row(path.name, block.numbers[row], Fact(
                text("fact_id"), text("paper_id"), _choice(text("section"), _SECTIONS),
                _choice(text("fact_type"), _FACT_TYPES), text("statement"), text("quote"), text("label") or None,
            ))


def read_question_rows(path: Path) -> Iterator[Row]:
    """Yield the questions of a table."""
    for block in read_blocks(path, QUESTION_FIELDS):
        for row in range(len(block)):
            text = _Texts(block, row)
            yield Row(path.name, block.numbers[row], Question(
                text("question_id"), _choice(text("kind"), _KINDS), text("question"),
                _ids(block.column("fact_ids")[row], block.where(row, "fact_ids")),
                _ids(block.column("paper_ids")[row], block.where(row, "paper_ids")),
            ))


class _Texts:
    """Reads cells of one row as text: missing is empty, whole numbers are written out, anything else is an error."""

    def __init__(self, block: Block, row: int) -> None:
        self._block, self._row = block, row

    def __call__(self, name: str) -> str:
        return _text(self._block.column(name)[self._row], self._block.where(self._row, name))


def _text(value: Any, where: str) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and float(value).is_integer():
        return str(int(value))
    raise DataError(f"{where} is {str(value)[:40]!r}", expected="text",
                    remedy="write it as text, or null when there is none")


def _choice(value: str, spellings: Mapping[str, Any]) -> Any:
    """Return the known spelling of a controlled word; an unknown one stays as it is, for validation to name."""
    plain = re.sub(r"[\s-]+", "_", value.strip().casefold())
    return spellings.get(value.strip().casefold(), spellings.get(plain, plain))


def _ids(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = _json_list(value) if value.lstrip().startswith("[") else re.split(r"[;,|]", value)
    elif isinstance(value, (int, float)) or value is None:
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise DataError(f"{where} is {str(value)[:40]!r}", expected="a list of ids", remedy="store a list of texts")
    return tuple(text.strip() for text in (_text(item, where) for item in value) if text.strip())


def _sections(value: Any, where: str) -> tuple[Section, ...]:
    if isinstance(value, str):
        value = _json_list(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ()
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise DataError(f"{where} is no list of objects", expected="a list of {heading, text, section}")
    parts = [Section(_text(item.get("heading"), where), _text(item.get("text"), where),
                     _choice(_text(item.get("section"), where), _SECTIONS)) for item in value]
    return tuple(part for part in parts if part.heading or part.text)


def _json_list(value: str) -> Any:
    try:
        return json.loads(value) if value.strip() else None
    except ValueError:
        return value


def _read_csv(path: Path) -> Block:
    """Read a manifest CSV: comma, semicolon or tab, with or without a byte order mark, quoted line breaks."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not readable ({error})", expected="a CSV file in UTF-8",
                        remedy="save it as UTF-8 CSV") from None
    head = text.split("\n", 1)[0]
    reader = csv.reader(text.splitlines(keepends=True), delimiter=max(",;\t", key=head.count))
    names = next(reader, [])
    matched = match_columns(names, PAPER_FIELDS, path)
    rows = [row for row in reader if any(cell.strip() for cell in row)]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise DataError(f"{path}, row {number} has {len(row)} cells", expected=f"{len(names)} as in the header",
                            remedy="quote fields that hold the separator")
    columns = {name: [row[names.index(column)] or None for row in rows] for name, column in matched.items()}
    return Block(path, "row", range(1, len(rows) + 1), columns)
