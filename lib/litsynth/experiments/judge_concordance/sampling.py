"""The sample that a human rates: drawn by stratum, blinded, and written without anything that would give it away."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from litsynth import files
from litsynth.errors import DataError
from litsynth.experiments.judge_concordance.csv_files import write_rows

ID_DIGITS = 12
SHOWN_COLUMNS = ("question", "reference_fact", "quote", "response")
SAMPLE_HEADER = ("blinded_id", *SHOWN_COLUMNS, "rating", "comment")
KEY_COLUMNS = ("blinded_id", "item", "condition", "domain", "system")
Allocation = Literal["proportional", "equal"]

GUIDE = """How to rate

Each row of sample.csv is one answer. Read the question, the reference fact with its quote, and the answer. Write into
the column `rating`:

  credit        the answer states the reference fact, in whatever words
  no credit     it leaves out what was asked for, gives another value or direction, or contradicts the fact
  cannot tell   you cannot decide; the cell then counts for nothing and is reported

Rate by yourself, in one sitting or several, and leave `blinded_id` as it is. Rows left blank count as not rated. The
folder `key` says where each answer is from; open it only when all rows are rated.
"""


def blinded_id(seed: int, item: str) -> str:
    """Return an id that says nothing of the item, its system, condition or place: the start of a SHA-256.

    The letter before it keeps spreadsheets from reading an id such as 12e34567890 as a number.
    """
    return "c" + hashlib.sha256(f"{seed}\n{item}".encode()).hexdigest()[:ID_DIGITS]


def allocate(sizes: Mapping[tuple[str, ...], int], total: int, allocation: Allocation) -> dict[tuple[str, ...], int]:
    """Return how many cells each stratum gives, `total` in all or everything there is.

    Proportional: by size with largest remainders, at least one from each stratum while `total` allows. Equal: as many
    from each, small strata whole, the rest spread over the others.
    """
    names = sorted(sizes)
    total = min(total, sum(sizes.values()))
    taken = dict.fromkeys(names, 0)
    if allocation == "equal":
        while total:
            still = [name for name in names if taken[name] < sizes[name]]
            share = max(1, total // len(still))
            for name in still:
                more = min(share, sizes[name] - taken[name], total)
                taken[name], total = taken[name] + more, total - more
        return taken
    quotas = {name: total * sizes[name] / sum(sizes.values()) for name in names}
    least = 1 if total >= len(names) else 0
    taken = {name: max(least, math.floor(quotas[name])) for name in names}
    by_remainder = sorted(names, key=lambda name: (taken[name] - quotas[name], name))
    while sum(taken.values()) < total:
        for name in by_remainder[:total - sum(taken.values())]:
            taken[name] += taken[name] < sizes[name]
    while sum(taken.values()) > total:
        spare = [name for name in names if taken[name] > least]
        fullest = max(spare, key=lambda name: (taken[name] - quotas[name], name))
        taken[fullest] -= 1
    return taken


def draw_sample(cells: pd.DataFrame, *, strata: Sequence[str], size: int, allocation: Allocation,
                seed: int) -> pd.DataFrame:
    """Return the drawn rows of `cells` with a `blinded_id`, ordered by it.

    `cells` has a row an item with the columns named in `strata`. Neither the order of its rows nor the sizes of other
    strata decide which cells of a stratum are drawn, and a larger sample of a stratum holds every smaller one.
    """
    keys = cells[list(strata)].astype(str).agg(tuple, axis=1) if strata else pd.Series([()] * len(cells), cells.index)
    groups = {key: sorted(cells.loc[keys == key, "item"]) for key in sorted(set(keys))}
    wanted = allocate({key: len(items) for key, items in groups.items()}, size, allocation)
    chosen: list[str] = []
    for key, items in groups.items():
        # A stream of its own for each stratum, so that new cells elsewhere change nothing here.
        stratum = int(hashlib.sha256("\n".join(key).encode()).hexdigest()[:12], 16)
        order = np.random.default_rng([seed, stratum]).permutation(len(items))
        chosen += [items[i] for i in order[:wanted[key]]]
    ids = {item: blinded_id(seed, item) for item in chosen}
    if len(set(ids.values())) < len(ids):
        raise DataError("two cells of the sample got the same blinded id", expected="ids that differ",
                        remedy="draw with another seed")
    drawn = cells[cells["item"].isin(ids)]
    drawn = drawn.assign(blinded_id=drawn["item"].map(ids))
    return drawn.sort_values("blinded_id", ignore_index=True)


def sample_id(drawn: pd.DataFrame) -> str:
    """Return the name of a sample: it follows from the blinded ids and from what the human is shown."""
    shown = drawn[["blinded_id", *SHOWN_COLUMNS]].astype(object)
    return files.sha256_of(shown.where(shown.notna(), None).values.tolist())[:ID_DIGITS]


def write_sample(folder: Path, drawn: pd.DataFrame) -> Path:
    """Write `sample.csv` (what the human sees), `HOW_TO_RATE.txt` and, apart, `key/key.csv`; returns `folder`.

    The human's file has blinded id, question, reference fact, quote and response: never the panel's verdict, the system
    or the condition. Ratings that lie there already stay.
    """
    folder = Path(folder)
    texts = drawn[list(SHOWN_COLUMNS)].fillna("").astype(str)
    rows = [[name, *shown, "", ""] for name, shown in zip(drawn["blinded_id"], texts.values.tolist(), strict=True)]
    write_rows(folder / "sample.csv", SAMPLE_HEADER, rows)
    files.write_text(folder / "HOW_TO_RATE.txt", GUIDE)
    write_rows(folder / "key" / "key.csv", KEY_COLUMNS, drawn[list(KEY_COLUMNS)].astype(str).values.tolist())
    return folder
