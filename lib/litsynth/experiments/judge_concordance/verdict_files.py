"""Verdict tables as files: one's own panel, from any benchmark, with a row a cell or a row a vote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from litsynth.datasets.tables import Field, plain_name, read_blocks
from litsynth.errors import DataError
from litsynth.experiments.judge_concordance.csv_files import NO, YES, read_rows
from litsynth.stats import strict_majority
from litsynth.stats.inputs import is_missing

CELL_COLUMNS = ("item", "condition", "domain", "system", "paper", "panel", "reference", "question", "reference_fact",
                "quote", "response")
# Accepted columns. Judges: columns whose name begins with `judge` (judge_a, judge b), or a row a vote with the columns
# `judge` and `verdict`.
FIELDS = (Field("item", ("id", "case", "cell"), required=True), Field("condition", required=True),
          Field("domain", ("fact_domain",)), Field("system"), Field("paper", ("cluster", "source_paper", "pmid")),
          Field("panel", ("panel_verdict", "majority")), Field("reference", ("truth", "gold")), Field("question"),
          Field("reference_fact", ("fact", "statement")), Field("quote", ("reference_quote",)),
          Field("response", ("answer",)))
_TEXTS = ("condition", "domain", "system", "paper", "question", "reference_fact", "quote", "response")


def read_file(path: Path) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """Return cells (`CELL_COLUMNS`), votes (a column a judge: 1, 0, null) and notes of a CSV, Parquet or JSON file.

    Without a column `panel` the panel is the strict majority of the votes. Raises `DataError` that names file and row
    for a value that is no verdict, an item twice, or a table without judges.
    """
    rows = _rows(Path(path))
    if not rows:
        raise DataError(f"{path} has no rows", expected="a row a cell")
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    plain = {plain_name(name): name for name in columns}
    if "judge" in plain and "verdict" in plain:
        rows, judges = _from_votes(path, rows, plain["judge"], plain["verdict"])
    else:
        judges = {name: _judge_name(name) for name in columns if plain_name(name).startswith("judge")}
    if not judges:
        raise DataError(f"{path} has no judges; columns found: {', '.join(columns)}", remedy="name them so",
                        expected="a column for each judge whose name begins with `judge`, or columns judge and verdict")
    cells, votes, seen = [], [], {}
    for number, row in rows:
        item = str(row.get("item") or "").strip()
        if not item or item in seen:
            raise DataError(f"{path}, row {number}: " + (f"item {item!r} was in row {seen[item]} already" if item else
                                                         "no item"), expected="each item once, with its id")
        seen[item] = number
        cells.append({**dict.fromkeys(CELL_COLUMNS), "item": item,
                      **{name: _text(row.get(name)) for name in _TEXTS},
                      **{name: verdict(row.get(name), path, number, name) for name in ("panel", "reference")}})
        votes.append({shown: verdict(row.get(name), path, number, name) for name, shown in judges.items()})
    return _finished(pd.DataFrame(cells, columns=list(CELL_COLUMNS)), pd.DataFrame(votes), "panel" in columns)


def _rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        return list(read_rows(path, FIELDS))
    rows = []
    for block in read_blocks(path, FIELDS, extra=True):
        columns = {**block.columns, **block.extra}
        rows += [(number, {name: values[i] for name, values in columns.items()})
                 for i, number in enumerate(block.numbers)]
    return rows


def _judge_name(column: str) -> str:
    return column[len("judge"):].strip(" _:-.") or column


def _from_votes(path: Path, rows: list[tuple[int, dict[str, Any]]], judge: str,
                vote: str) -> tuple[list[tuple[int, dict[str, Any]]], dict[str, str]]:
    """Turn a row a vote into a row an item with a column for each judge."""
    merged: dict[str, tuple[int, dict[str, Any]]] = {}
    judges: dict[str, str] = {}
    for number, row in rows:
        name = str(row[judge] or "").strip()
        column = f"judge {name}"
        judges[column] = name
        _, made = merged.setdefault(str(row.get("item") or "").strip(), (number, dict(row)))
        if column in made:
            raise DataError(f"{path}, row {number}: judge {name!r} votes twice on {row.get('item')!r}",
                            expected="one vote of a judge on an item")
        made[column] = row[vote]
    return list(merged.values()), judges


def verdict(value: Any, path: Path, number: int, column: str) -> int | None:
    """Return 1, 0 or None for a verdict as people write it; raises `DataError` that names row and column."""
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    word = " ".join(str(value).replace("_", " ").split()).casefold()
    if word in YES or word in NO:
        return int(word in YES)
    raise DataError(f"{path}, row {number}: {column} is {value!r}", expected="1 or 0, yes or no, or nothing",
                    remedy="leave a vote that was not given empty")


def _text(value: Any) -> str | None:
    return None if is_missing(value) or not str(value).strip() else str(value)


def _finished(cells: pd.DataFrame, votes: pd.DataFrame,
              given: bool) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    votes = votes.astype("Int64")
    majority = pd.Series(pd.array(strict_majority(votes.astype(object).where(votes.notna(), None)), dtype="Int64"))
    cells = cells.astype({"panel": "Int64", "reference": "Int64"})
    cells["condition"] = cells["condition"].fillna("none")
    if not given:
        return cells.assign(panel=majority), votes, ()
    differs = int(((cells["panel"] != majority) & cells["panel"].notna() & majority.notna()).sum())
    note = (f"On {differs} cells the column `panel` is not the strict majority of the votes; the column is used.",)
    return cells, votes, note if differs else ()
