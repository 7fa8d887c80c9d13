"""Tables of Parquet, JSON and JSON Lines as blocks of columns, forgiving about names, exact about rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litsynth.errors import DataError
from litsynth.files import dumps, parse_json

TABLE_SUFFIXES = (".parquet", ".jsonl", ".json")
_BLOCK_ROWS = 16_384


@dataclass(frozen=True)
class Field:
    """One column of a table: its name, the other names accepted for it, and whether it must be there."""

    name: str
    aliases: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Block:
    """Some consecutive rows of a table by column; `numbers` are the rows' places in the file, counted from 1."""

    path: Path
    unit: str
    numbers: Sequence[int]
    columns: dict[str, list[Any]]
    extra: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)

    def where(self, row: int, name: str = "") -> str:
        """Return "file, row n: column" for messages about the block's row with index `row`."""
        return f"{self.path}, {self.unit} {self.numbers[row]}" + (f": {name}" if name else "")

    def column(self, name: str) -> list[Any]:
        """Return a column's values; None for every row when the table has no such column."""
        return self.columns.get(name) or [None] * len(self)


def plain_name(name: str) -> str:
    """Return a column name without case, spaces and punctuation, which is how names are compared."""
    return re.sub(r"[\W_]+", "", str(name)).casefold()


def match_columns(found: Sequence[str], fields: Sequence[Field], path: Path) -> dict[str, str]:
    """Return {field name: column found}; exact names win over aliases, aliases in their order.

    Raises `DataError` that lists the columns found and those accepted when a required one is missing, and when
    two columns have the same plain name.
    """
    plain: dict[str, str] = {}
    for column in found:
        twin = plain.setdefault(plain_name(column), column)
        if twin != column:
            raise DataError(
                f"{path} has two columns of one name, {twin!r} and {column!r}", remedy="rename or drop one of them"
            )
    matched, missing = {}, []
    for item in fields:
        names = [plain[p] for p in map(plain_name, (item.name, *item.aliases)) if p in plain]
        if names:
            matched[item.name] = names[0]
        elif item.required:
            missing.append(item)
    if missing:
        accepted = "; ".join(" or ".join((item.name, *item.aliases)) for item in missing)
        raise DataError(
            f"{path} has no column {', '.join(item.name for item in missing)}; "
            f"columns found: {', '.join(map(str, found)) or 'none'}",
            expected=f"{accepted} (case, spaces and punctuation do not matter)",
            remedy="rename the column or add it",
        )
    return matched


def read_blocks(path: Path, fields: Sequence[Field], *, extra: bool = False) -> Iterator[Block]:
    """Yield a table's rows in order, in blocks, with columns named as in `fields`; `extra` keeps the other columns too.

    Raises `DataError` when the file is missing, unreadable, truncated, or lacks a required column.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist", expected="a Parquet, JSON or JSON Lines file")
    if path.suffix.lower() == ".parquet":
        yield from _read_parquet(path, fields, extra)
    else:
        yield from _read_records(path, fields, extra)


def _read_parquet(path: Path, fields: Sequence[Field], extra: bool) -> Iterator[Block]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as source:
            names = list(source.schema_arrow.names)
            matched = match_columns(names, fields, path)
            others = [name for name in names if name not in matched.values()] if extra else []
            start = 1
            for batch in source.iter_batches(_BLOCK_ROWS, columns=[*matched.values(), *others], use_threads=False):
                columns = {name: batch.column(column).to_pylist() for name, column in matched.items()}
                rest = {name: batch.column(name).to_pylist() for name in others}
                yield Block(path, "row", range(start, start + batch.num_rows), columns, rest)
                start += batch.num_rows
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(
            f"{path} is not a readable Parquet file ({(str(error) or type(error).__name__).splitlines()[0]})",
            expected="a complete Parquet file",
            remedy="copy or fetch the file again; it may have been cut off",
        ) from None


def _read_records(path: Path, fields: Sequence[Field], extra: bool) -> Iterator[Block]:
    unit, numbers, records = read_json_records(path)
    if not records:
        return
    found = list(dict.fromkeys(key for record in records for key in record))
    matched = match_columns(found, fields, path)
    others = [name for name in found if name not in matched.values()] if extra else []
    columns = {name: [record.get(column) for record in records] for name, column in matched.items()}
    yield Block(path, unit, numbers, columns, {name: [record.get(name) for record in records] for name in others})


def read_json_records(path: Path) -> tuple[str, Sequence[int], list[dict[str, Any]]]:
    """Return (what a row is called, row numbers, objects) of a JSON or JSON Lines file.

    A JSON file holds a list of objects, or one object of objects by ID. NaN is read as null.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not readable ({error})", expected="UTF-8 text") from None
    if path.suffix.lower() != ".jsonl":
        try:
            read = _from_value(parse_json(text, nan_as_null=True), path)
        except ValueError as error:
            # Files of one object a line are often named .json; anything else that fails to parse is broken.
            if not str(error).startswith("Extra data"):
                raise _broken(path, error) from None
            read = _from_lines(text, path)
    else:
        read = _from_lines(text, path)
    _refuse_half_characters(text, *read, path)
    return read


def _from_value(value: Any, path: Path) -> tuple[str, Sequence[int], list[dict[str, Any]]]:
    if isinstance(value, dict) and value and all(isinstance(item, dict) for item in value.values()):
        value = [item if "ID" in item or "id" in item else {"ID": key, **item} for key, item in value.items()]
    if not isinstance(value, list):
        raise DataError(
            f"{path} holds {type(value).__name__}", expected="a list of objects, or one object of objects by ID"
        )
    return "record", range(1, len(value) + 1), _objects(value, range(1, len(value) + 1), "record", path)


def _from_lines(text: str, path: Path) -> tuple[str, Sequence[int], list[dict[str, Any]]]:
    numbers, values = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(parse_json(line, nan_as_null=True))
        except ValueError as error:
            raise _broken(f"{path}, line {number}", error) from None
        numbers.append(number)
    return "line", numbers, _objects(values, numbers, "line", path)


def _objects(values: Iterable[Any], numbers: Sequence[int], unit: str, path: Path) -> list[dict[str, Any]]:
    records = []
    for number, value in zip(numbers, values, strict=True):
        if not isinstance(value, dict):
            raise DataError(
                f"{path}, {unit} {number}: {type(value).__name__} instead of an object",
                expected="a JSON object per row",
            )
        records.append(value)
    return records


def _refuse_half_characters(text: str, unit: str, numbers: Iterable[int], records: list, path: Path) -> None:
    r"""Raise `DataError` for half of a surrogate pair (`\ud800`), which JSON can write and no file can hold."""
    if "\\ud" not in text and "\\uD" not in text:
        return
    for number, record in zip(numbers, records, strict=True):
        try:
            dumps(record).encode("utf-8")
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise DataError(
                f"{path}, {unit} {number} holds {half!r}, half of a character",
                expected="whole Unicode characters",
                remedy="write the file again, with the character whole or left out",
            ) from None


def _broken(place: Path | str, error: Exception) -> DataError:
    return DataError(
        f"{place} is not readable JSON ({error})",
        expected="UTF-8 JSON or JSON Lines",
        remedy="copy or fetch the file again; it may have been cut off",
    )
