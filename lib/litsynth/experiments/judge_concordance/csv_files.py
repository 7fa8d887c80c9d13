"""Tables that people made or touched in a spreadsheet: any encoding, any delimiter, every row with its line number."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from litsynth.datasets.tables import Field, match_columns, plain_name
from litsynth.errors import DataError

LONGEST_FIELD = 16 * 1024 * 1024  # characters
_DELIMITERS = ",;\t|"
_FORMULA = re.compile(r"\s*[=+\-@]")
YES = frozenset({"1", "1.0", "yes", "y", "true", "credit"})
NO = frozenset({"0", "0.0", "no", "n", "false", "no credit", "nocredit"})


def decoded(path: Path) -> str:
    """Return a file's text: UTF-8 (with or without its mark), UTF-16 with its mark, else Windows-1252.

    Raises `DataError` when the file is missing or empty.
    """
    path = Path(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})", expected="a CSV file",
                        remedy="check the path") from None
    if not raw.strip():
        raise DataError(f"{path} is empty", expected="a CSV file with a header", remedy="save it again")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def read_rows(path: Path, fields: Sequence[Field]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number (of the row's end) and values by column; columns of `fields` are named as there.

    Comma, semicolon, tab or bar: the one under which the header has most of `fields`. Blank lines are passed over.
    Raises `DataError` that names a missing column or a row with more cells than the header.
    """
    csv.field_size_limit(LONGEST_FIELD)
    text = re.sub(r"\A\"?sep=.\"?\r?\n", "", decoded(path), flags=re.IGNORECASE)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, fields))
    try:
        header = [name.strip() for name in next(reader)]
        matched = match_columns([name for name in header if name], fields, path)
        named = {column: name for name, column in matched.items()}
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if any(cell.strip() for cell in row[len(header):]):
                raise DataError(f"{path}, line {reader.line_num}: {len(row)} cells where the header has {len(header)}",
                                expected="one cell a column", remedy="quote texts that hold the delimiter")
            cells = [*row, *[""] * (len(header) - len(row))]
            pairs = zip(header, cells, strict=False)
            yield reader.line_num, {named.get(name, name): cell for name, cell in pairs if name}
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}", expected="CSV text",
                        remedy="export the table again") from None


def _delimiter(text: str, fields: Sequence[Field]) -> str:
    known = {plain_name(name) for item in fields for name in (item.name, *item.aliases)}
    headers = {mark: next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), []) for mark in _DELIMITERS}
    return max(headers, key=lambda mark: (sum(plain_name(name) in known for name in headers[mark]), len(headers[mark])))


def inert(text: str) -> str:
    """Return text that a spreadsheet shows and does not compute: what begins like a formula gets an apostrophe."""
    return "'" + text if _FORMULA.match(text) else text


def original(text: str) -> str:
    """Return what `inert` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text


def write_rows(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a CSV file for spreadsheets atomically: UTF-8 with its mark, commas, nothing that is computed."""
    from litsynth.files import atomic_path

    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\r\n")
        writer.writerow(header)
        writer.writerows([inert(cell) for cell in row] for row in rows)
