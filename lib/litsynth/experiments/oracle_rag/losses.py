"""Who is included and who is not: by place in the list, by missing abstract, by the criterion that an article fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.store import Run
from litsynth.stats import cluster_bootstrap

BINS = ((1, 10), (11, 25), (26, 50), (51, 100), (101, 200), (201, None))
WHO = {True: "reference", False: "other"}


def place_name(rank: int) -> str:
    """Return the bin of a rank in the list shown, such as `11–25`."""
    for first, last in BINS:
        if last is None or rank <= last:
            return f"{first}–{last}" if last else f"from {first}"
    raise AssertionError("the last bin is open")


PLACES = tuple(place_name(first) for first, _ in BINS)


def decisions(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return a row a candidate shown and decided: system, mode, review, article, rank, place, who, included, traits.

    Only items with a readable list. `fails` is, where the data set's notes know it, the one criterion that a hard
    negative of this review fails, or `near duplicate`; empty else.
    """
    rows = []
    for item in items:
        if item["included"] is None:
            continue
        included, reference = set(item["included"]), set(item["reference"])
        for rank, number in enumerate(item["shown"], start=1):
            rows.append({"system": item["system"], "mode": item["mode"], "review": item["review"], "article": number,
                         "rank": rank, "place": place_name(rank), "who": WHO[number in reference],
                         "included": number in included, "fails": _fails(run, item["review"], number),
                         "abstract": "with" if run.dataset.corpus[number].abstract.strip() else "without"})
    columns = ["system", "mode", "review", "article", "rank", "place", "who", "included", "fails", "abstract"]
    return pd.DataFrame(rows, columns=columns)


def _fails(run: Run, review: int, article: int) -> str:
    note = run.dataset.notes.get(article)
    if not note or note.get("review_id") != review:
        return ""
    return "near duplicate" if note.get("kind") == "near_duplicate" else str(note.get("fails") or "")


def _rates(run: Run, table: pd.DataFrame, keys: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the share included of each group with an interval that resamples whole reviews."""
    for names, part in table.groupby(keys, sort=True, observed=True):
        estimate = cluster_bootstrap(part["included"].astype(float), part["review"], seed=run.parameters.seed,
                                     resamples=run.parameters.resamples)
        yield {**dict(zip(keys, names, strict=True)), "included": int(part["included"].sum()), **estimate_row(estimate)}


def by_place(run: Run, table: pd.DataFrame) -> pd.DataFrame:
    """Return the share of candidates included by their place in the list, reference and other apart; saved as `places`.

    `n` counts candidates, `clusters` reviews.
    """
    table = table.assign(place=pd.Categorical(table["place"], PLACES, ordered=True))
    frame = _frame(_rates(run, table, ["system", "mode", "who", "place"]), ["system", "mode", "who", "place"])
    run.save_table("places", frame.astype({"place": str}))
    return frame


def by_abstract(run: Run, table: pd.DataFrame) -> pd.DataFrame:
    """Return the share of candidates included with and without an abstract; saved as `abstracts`."""
    keys = ["system", "mode", "who", "abstract"]
    frame = _frame(_rates(run, table, keys), keys)
    run.save_table("abstracts", frame)
    return frame


def by_criterion(run: Run, table: pd.DataFrame) -> pd.DataFrame:
    """Return the share of hard negatives that were included by the criterion that they fail; saved as `criteria`.

    Empty where the data set has no such notes. Only articles that were shown count, so that retrieval is not blamed.
    """
    keys = ["system", "mode", "fails"]
    frame = _frame(_rates(run, table[(table["fails"] != "") & (table["who"] == "other")], keys), keys)
    run.save_table("criteria", frame)
    return frame


def _frame(rows: Iterable[dict[str, Any]], keys: list[str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=[*keys, "included", *COLUMNS]).astype(
        {"value": "float64", "low": "float64", "high": "float64"})
