"""What a rater said, click by click: an append-only log that survives a kill, and the CSV that is made from it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from litsynth import paths
from litsynth.datasets.tables import Field
from litsynth.errors import DataError, ParameterError
from litsynth.experiments.judge_concordance.csv_files import original, read_rows, write_rows
from litsynth.experiments.judge_concordance.ratings import RATINGS
from litsynth.experiments.judge_concordance.sampling import SAMPLE_HEADER
from litsynth.files import ItemLog

LOG, TABLE = "ratings.jsonl", "ratings.csv"


@dataclass(frozen=True)
class Case:
    """What a rater sees of one cell, and nothing else of it."""

    blinded_id: str
    question: str
    reference_fact: str
    quote: str
    response: str


def ratings_dir() -> Path:
    """Return the folder of samples for people to rate (not in git)."""
    return paths.data_dir("ratings")


def find_sample(name: str = "") -> Path:
    """Return a sample's folder by its name or path; the newest one when `name` is empty.

    Raises `ParameterError` where there is none.
    """
    places = [Path(name).expanduser(), ratings_dir() / name] if name else sorted(
        (path.parent for path in ratings_dir().glob("*/sample.csv")),
        key=lambda folder: ((folder / "sample.csv").stat().st_mtime_ns, folder.name), reverse=True)
    for folder in places:
        if (folder / "sample.csv").exists():
            return folder
    there = ", ".join(sorted(path.parent.name for path in ratings_dir().glob("*/sample.csv")))
    raise ParameterError(f"there is no sample {name!r} to rate" if name else f"no sample lies in {ratings_dir()}",
                         expected=f"one of {there}" if there else "a folder with sample.csv",
                         remedy="the judge_concordance notebook draws one: litsynth run judge_concordance")


def read_cases(folder: Path) -> list[Case]:
    """Return the cells of a sample in the order of their blinded ids; raises `DataError` without any."""
    path = Path(folder) / "sample.csv"
    fields = [Field(name, required=name not in ("rating", "comment")) for name in SAMPLE_HEADER]
    cases = [Case(*(original(row[name]) for name in SAMPLE_HEADER[:5])) for _, row in read_rows(path, fields)]
    if not cases:
        raise DataError(f"{path} has no cells", expected="a row a cell", remedy="draw the sample again")
    return cases


class RatingStore:
    """The ratings of one sample. Every call of `save` is on disk before it returns; the last word on a cell holds."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.cases = read_cases(self.folder)
        self.reload()

    def reload(self) -> None:
        """Read the log, also what another open page has written to it."""
        self._log = ItemLog(self.folder / LOG)
        self.ratings: dict[str, Mapping[str, str]] = {}
        for item in self._log.items():
            self.ratings[item["blinded_id"]] = {"rating": item["rating"], "comment": item["comment"]}

    def save(self, blinded_id: str, rating: str, comment: str = "") -> None:
        """Keep a rating (one of `RATINGS`, or empty for a comment alone) and write the CSV anew."""
        if rating and rating not in RATINGS:
            raise ParameterError(f"{rating!r} is no rating", expected=", ".join(RATINGS))
        if blinded_id not in {case.blinded_id for case in self.cases}:
            raise ParameterError(f"{blinded_id!r} is no cell of {self.folder}", expected="a blinded id of the sample")
        key = f"{time.time_ns():020d}-{os.getpid()}"  # in order of time, and no two pages write the same
        self.reload()
        self._log.append({"key": key, "blinded_id": blinded_id, "rating": rating, "comment": comment})
        self.ratings[blinded_id] = {"rating": rating, "comment": comment}
        empty = {"rating": "", "comment": ""}
        rows = [[case.blinded_id, *self.ratings.get(case.blinded_id, empty).values()] for case in self.cases]
        write_rows(self.folder / TABLE, ("blinded_id", "rating", "comment"), rows)

    def rating(self, blinded_id: str) -> str:
        """Return the rating of a cell, empty when it has none."""
        return self.ratings.get(blinded_id, {}).get("rating", "")

    def comment(self, blinded_id: str) -> str:
        """Return the comment on a cell, empty when it has none."""
        return self.ratings.get(blinded_id, {}).get("comment", "")

    def rated(self) -> int:
        """Return how many cells have a rating."""
        return sum(bool(self.rating(case.blinded_id)) for case in self.cases)

    def next_unrated(self, start: int = 0) -> int | None:
        """Return the place of the first cell without a rating from `start` on, going round; None when all have one."""
        places = [*range(start, len(self.cases)), *range(min(start, len(self.cases)))]
        return next((place for place in places if not self.rating(self.cases[place].blinded_id)), None)
