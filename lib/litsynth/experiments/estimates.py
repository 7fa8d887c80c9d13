"""Estimates as table rows and as words, the same way in every experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from litsynth.records import Estimate

COLUMNS = ("value", "low", "high", "n", "clusters", "method", "reason")


def estimate_row(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as the columns `COLUMNS`, unrounded, None where it has no value or no interval."""
    return {name: getattr(estimate, name) for name in COLUMNS}


def shown(value: float | None, low: float | None = None, high: float | None = None, *, digits: int = 3,
          signed: bool = False) -> str:
    """Return a number with its interval for reading, such as `0.712 (0.650 to 0.771)`; a dash where undefined."""
    form = f"{{:{'+' if signed else ''}.{digits}f}}"
    if value is None or value != value:
        return "–"
    if low is None or high is None or low != low or high != high:
        return form.format(value) + " (no interval)"
    return f"{form.format(value)} ({form.format(low)} to {form.format(high)})"


def side_by_side(rows: Iterable[tuple[Mapping[str, str], str, str, str]], *, counted: str = "reviews",
                 named: bool = True) -> pd.DataFrame:
    """Return estimates for reading, what is compared side by side: a row for each key, a column for each name.

    `rows` are (key, name, estimate in words, how many are in it), such as ({"measure": "recall@20"}, "bm25", "0.5 (0.4
    to 0.6)", "8 of 8"). The last column, `counted`, has these numbers, once where they are the same in the whole row,
    else each with its name, or without names (`named` false) as "2,184 or 2,188".
    """
    made: dict[tuple[str, ...], dict[str, str]] = {}
    numbers: dict[tuple[str, ...], dict[str, str]] = {}
    for key, name, words, number in rows:
        place = tuple(key.values())
        made.setdefault(place, dict(key))[name] = words
        numbers.setdefault(place, {})[name] = number
    for place, row in made.items():
        said = numbers[place]
        distinct = list(dict.fromkeys(said.values()))
        row[counted] = "; ".join(f"{n}: {words}" for n, words in said.items()) if named and len(distinct) > 1 else (
            " or ".join(distinct))
    frame = pd.DataFrame(made.values())
    return frame[[name for name in frame if name != counted] + [counted]].fillna("–") if len(frame) else frame
