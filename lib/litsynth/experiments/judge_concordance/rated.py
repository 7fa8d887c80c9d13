"""From verdicts to rated cells: identity of the run, the drawn sample, the human's ratings or simulated ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from litsynth import paths
from litsynth.errors import DataError, ParameterError
from litsynth.experiments.judge_concordance import verdicts as tables
from litsynth.experiments.judge_concordance.rating_store import ratings_dir
from litsynth.experiments.judge_concordance.ratings import CANNOT_TELL, read_ratings
from litsynth.experiments.judge_concordance.sampling import draw_sample, sample_id, write_sample
from litsynth.experiments.judge_concordance.verdicts import Verdicts
from litsynth.experiments.store import Run
from litsynth.files import sha256_file
from litsynth.records import Dataset

STRATA = ("condition", "domain", "system")
SIMULATED = "simulated human"


def identities(parameters: Any, dataset: Dataset | None) -> dict[str, Any]:
    """Return the hashes of the verdict table and of the human's ratings; raises for what cannot be read or found."""
    strata = parameters.strata
    unknown = [name for name in strata if name not in STRATA]
    if unknown or len(set(strata)) != len(strata):
        raise ParameterError(f"parameter 'strata' cannot be {strata!r}", expected=f"some of {', '.join(STRATA)}, once",
                             remedy="correct 'strata'")
    place = tables.locate(parameters.verdicts, dataset)
    ratings = ratings_file(parameters)
    return {"verdicts": tables.content_digest(place), "ratings": sha256_file(ratings) if ratings else "simulated"}


def ratings_file(parameters: Any) -> Path | None:
    """Return the CSV of ratings, given from the working directory or from the workspace; None for simulated ones."""
    if parameters.ratings is None:
        return None
    given = Path(parameters.ratings).expanduser()
    for path in (given, paths.project_root() / given):
        if path.is_file():
            return path
    raise ParameterError(f"parameter 'ratings' names {given}, which is no file", expected="a CSV of ratings",
                         remedy="rate the drawn sample first, or give null for simulated ratings")


def human_name(run: Run) -> str:
    """Return what the rater is called in every table and figure."""
    return "human" if run.parameters.ratings else SIMULATED


def read_verdicts(run: Run) -> Verdicts:
    """Read the verdict table and record where it is from."""
    made = tables.load_verdicts(run.parameters.verdicts, run.dataset)
    run.record(verdicts=made.source, judges=list(made.judges), notes=list(made.notes), human=human_name(run),
               weak_model=any("weak demonstration model" in note for note in made.notes))
    return made


def overview(verdicts: Verdicts) -> pd.DataFrame:
    """Return cells, panel decisions and credit by condition, for reading."""
    cells = verdicts.cells
    grouped = cells.groupby("condition", sort=True)
    made = pd.DataFrame({"cells": grouped.size(), "decided": grouped["panel"].count(),
                         "credited": grouped["panel"].sum(), "papers": grouped["paper"].nunique()})
    return made.assign(share_credited=(made["credited"] / made["decided"].where(made["decided"] > 0)).astype(float))


def draw(run: Run, verdicts: Verdicts) -> pd.DataFrame:
    """Draw the blinded sample, write it for a human where the answers' words are there, and return it.

    The files lie in `data/ratings/<sample>/`: `sample.csv` for the human, the key apart in `key/`. Only cells that the
    panel decided are drawn. Also saves `strata`: cells, decided, drawn by stratum.
    """
    chosen = run.parameters
    decided = verdicts.cells[verdicts.cells["panel"].notna()]
    if decided.empty:
        raise DataError(f"{verdicts.source}: the panel decided no cell", expected="decided cells to draw from",
                        remedy="look at the judges' votes")
    drawn = draw_sample(decided, strata=chosen.strata, size=chosen.sample_size, allocation=chosen.allocation,
                        seed=chosen.seed)
    run.save_table("strata", _strata(run, verdicts.cells, drawn))
    name = sample_id(drawn)
    if verdicts.has_words:
        write_sample(ratings_dir() / name, drawn)
    run.record(sample=name, sample_written=verdicts.has_words)
    return drawn


def _strata(run: Run, cells: pd.DataFrame, drawn: pd.DataFrame) -> pd.DataFrame:
    keys = list(run.parameters.strata)
    if not keys:
        return pd.DataFrame({"stratum": ["all"], "cells": [len(cells)], "decided": [int(cells["panel"].count())],
                             "drawn": [len(drawn)]})
    made = cells.fillna(dict.fromkeys(keys, "none")).groupby(keys, sort=True).agg(
        cells=("item", "size"), decided=("panel", "count"))
    counts = drawn.fillna(dict.fromkeys(keys, "none")).groupby(keys).size()
    return made.assign(drawn=counts).fillna({"drawn": 0}).astype({"drawn": "int64", "decided": "int64"}).reset_index()


def simulate(drawn: pd.DataFrame, *, missed: float, credited: float, unsure: float, seed: int) -> pd.DataFrame:
    """Return simulated ratings: the reference with stated errors, in the form of `read_ratings`.

    A cell whose quotation overlaps the reference quote gets credit, any other none; a share `missed` of the first and
    `credited` of the second is rated the other way, and a share `unsure` of all cells cannot be told. Each cell's luck
    follows from the seed and its blinded id. Cells without a reference stay unrated.
    """
    rows = []
    for row in drawn.itertuples():
        luck = np.random.default_rng([seed, int(hashlib.sha256(row.blinded_id.encode()).hexdigest()[:12], 16)])
        doubt, error = luck.random(2)
        if pd.isna(row.reference):
            rows.append((row.blinded_id, None, "unrated", ""))
        elif doubt < unsure:
            rows.append((row.blinded_id, None, CANNOT_TELL, ""))
        else:
            truth = int(row.reference)
            rows.append((row.blinded_id, 1 - truth if error < (missed if truth else credited) else truth, "rated", ""))
    frame = pd.DataFrame(rows, columns=["blinded_id", "human", "status", "comment"])
    return frame.astype({"human": "Int64"})


def rate(run: Run, verdicts: Verdicts, drawn: pd.DataFrame) -> pd.DataFrame:
    """Return the drawn cells with the human's ratings (or simulated ones), an item of the run each; saved as `sample`.

    Adds `human` (1, 0 or null), `status` (rated, cannot tell, unrated, absent), `comment`. The saved table has
    identifiers, votes and ratings, and no text.
    """
    chosen = run.parameters
    path = ratings_file(chosen)
    if path:
        ratings = read_ratings(path, drawn["blinded_id"])
    else:
        if drawn["reference"].isna().all():
            raise DataError(f"{verdicts.source} has no reference, so ratings cannot be simulated",
                            expected="a column `reference` with 1 or 0", remedy="give the CSV of a human's ratings")
        ratings = simulate(drawn, missed=chosen.simulated_missed, credited=chosen.simulated_credited,
                           unsure=chosen.simulated_unsure, seed=chosen.seed)
    rated = drawn.merge(ratings, on="blinded_id", how="left", validate="one_to_one")
    votes = verdicts.votes.set_index(verdicts.cells["item"]).loc[rated["item"]].reset_index(drop=True)
    items = run.compute(_work(rated, votes), stage="rated cells")
    table = pd.DataFrame([_row(item) for item in items]).astype({"panel": "Int64", "human": "Int64"})
    run.save_table("sample", table)
    return rated


def _work(rated: pd.DataFrame, votes: pd.DataFrame) -> Any:
    for row, own in zip(rated.itertuples(), votes.astype(object).where(votes.notna(), None).to_dict("records"),
                        strict=True):
        item = {"blinded_id": row.blinded_id, "item": row.item, "condition": row.condition, "domain": row.domain,
                "system": row.system, "paper": row.paper, "panel": int(row.panel),
                "human": None if pd.isna(row.human) else int(row.human), "status": row.status,
                "votes": {name: None if vote is None else int(vote) for name, vote in own.items()}}
        yield f"cell/{row.blinded_id}", lambda item=item: item


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: item[name] for name in ("blinded_id", "item", "condition", "domain", "system", "paper", "panel",
                                          "human", "status")}
    return {**kept, **{f"judge {name}": vote for name, vote in item["votes"].items()}}


def account(run: Run, rated: pd.DataFrame) -> str:
    """Say what became of every drawn cell: drawn = rated + cannot tell + unrated + absent."""
    counts = rated["status"].value_counts()
    parts = [f"{counts.get(name, 0)} {words}" for name, words in (
        ("rated", "rated"), (CANNOT_TELL, "where the rater could not tell"), ("unrated", "left blank"),
        ("absent", "absent from the file"))]
    chosen = run.parameters
    who = f"Ratings of {chosen.ratings.name}" if chosen.ratings else (
        f"SIMULATED human ratings (no human took part): the reference with {chosen.simulated_missed:.0%} of credits "
        f"missed, {chosen.simulated_credited:.0%} given wrongly, {chosen.simulated_unsure:.0%} undecidable")
    return f"{who}. {len(rated)} cells drawn: " + ", ".join(parts) + "."


def where(run: Run, verdicts: Verdicts, drawn: pd.DataFrame) -> str:
    """Say where the sample lies for a human, or why it could not be written."""
    if not verdicts.has_words:
        return " ".join(verdicts.notes) or "The verdict table has no answers, so nothing can be given to a human."
    return (f"{len(drawn)} cells lie in data/ratings/{sample_id(drawn)}/sample.csv, blinded; the key lies apart in "
            "key/. Rate them in notebooks/rating/rate_sample.ipynb or in a spreadsheet, then run this notebook again "
            f"with ratings = data/ratings/{sample_id(drawn)}/ratings.csv.")
