"""A human's ratings: the values they take, the file they come in, and what became of every row."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from litsynth.datasets.tables import Field
from litsynth.errors import DataError
from litsynth.experiments.judge_concordance.csv_files import NO, YES, read_rows

CREDIT, NO_CREDIT, CANNOT_TELL = "credit", "no credit", "cannot tell"
RATINGS = (CREDIT, NO_CREDIT, CANNOT_TELL)
_UNSURE = frozenset({"cannot tell", "cannottell", "can't tell", "unsure", "unclear", "?", "don't know"})
COLUMNS = (Field("blinded_id", ("id", "blinded", "cell"), required=True),
           Field("rating", ("human", "verdict", "value"), required=True), Field("comment", ("note", "remark")))
_SHOWN = 5  # rows that an error names


def parse_rating(text: str) -> str | None:
    """Return one of `RATINGS`, None for a blank; raises `ValueError` for anything else."""
    word = " ".join(text.replace("_", " ").replace("\u2019", "'").split()).casefold()
    if not word:
        return None
    for rating, words in ((CREDIT, YES), (NO_CREDIT, NO), (CANNOT_TELL, _UNSURE)):
        if word in words:
            return rating
    raise ValueError(text)


def read_ratings(path: Path, ids: Iterable[str]) -> pd.DataFrame:
    """Return one row for each of `ids` (the sample's blinded ids, in that order) with what the human said of it.

    Columns: blinded_id, human (1, 0 or null), status (rated, cannot tell, unrated: a blank; absent: no row in the
    file), comment. Every row of the file is accounted for: an id that the sample does not have, a cell rated twice and
    a value that is no rating raise one `DataError` that names the lines.
    """
    known = dict.fromkeys(ids)
    seen: dict[str, tuple[int, str | None, str]] = {}
    problems: dict[str, list[str]] = {"unknown": [], "twice": [], "invalid": []}
    for line, row in read_rows(path, COLUMNS):
        name = row["blinded_id"].strip().lstrip("'")
        try:
            rating = parse_rating(row["rating"])
        except ValueError:
            problems["invalid"].append(f"line {line} ({name or 'no id'}): {row['rating']!r}")
            continue
        if name not in known:
            problems["unknown"].append(f"line {line}: {name!r}")
        elif name in seen:
            problems["twice"].append(f"lines {seen[name][0]} and {line}: {name}")
        else:
            seen[name] = line, rating, row.get("comment", "").strip()
    _refuse(path, problems, len(known))
    rows = []
    for name in known:
        _, rating, comment = seen.get(name, (0, None, ""))
        status = "absent" if name not in seen else "unrated" if rating is None else (
            CANNOT_TELL if rating == CANNOT_TELL else "rated")
        rows.append({"blinded_id": name, "human": {CREDIT: 1, NO_CREDIT: 0}.get(rating or ""), "status": status,
                     "comment": comment})
    return pd.DataFrame(rows, columns=["blinded_id", "human", "status", "comment"]).astype({"human": "Int64"})


def _refuse(path: Path, problems: dict[str, list[str]], size: int) -> None:
    """Raise one error that names the lines of everything wrong, if anything is."""
    words = {"unknown": f"ids that are none of the sample's {size}", "twice": "cells rated twice",
             "invalid": "values that are no rating"}
    found = [f"{len(lines)} {words[kind]} ({'; '.join(lines[:_SHOWN])}{'; …' if len(lines) > _SHOWN else ''})"
             for kind, lines in problems.items() if lines]
    if not found:
        return
    remedies = ["correct these rows"]
    if problems["unknown"]:
        remedies.append("or give the verdict table, strata, sample size and seed that this sample was drawn with")
    raise DataError(f"{path}: " + ", ".join(found), expected="each blinded id of the sample at most once, rated "
                    f"{CREDIT}, {NO_CREDIT} or {CANNOT_TELL} (also 1, 0 and ?), or blank", remedy=" ".join(remedies))
