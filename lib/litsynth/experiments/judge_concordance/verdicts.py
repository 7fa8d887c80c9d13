"""The verdict table: which cells the panel decided, how each judge voted, and the words they judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from litsynth import files, paths
from litsynth.errors import DataError, ParameterError, RunError
from litsynth.experiments import manifest
from litsynth.experiments.judge_concordance.verdict_files import CELL_COLUMNS, read_file
from litsynth.experiments.litbench_conditions.asking import RESPONSES, responses
from litsynth.experiments.litbench_conditions.design import LEXICAL_JUDGES, panel_of
from litsynth.experiments.promote import find_run
from litsynth.experiments.store import read_table
from litsynth.records import Dataset
from litsynth.scoring.judges import JudgeCase, votes_by_judge
from litsynth.stats import strict_majority

LEXICAL = "lexical"
SOURCE_EXPERIMENT = "litbench_conditions"


@dataclass(frozen=True)
class Verdicts:
    """A verdict table. `cells` has `CELL_COLUMNS` (null where unknown), a row an item, ordered by item.

    `votes` has a column for each judge in the same order of rows: 1, 0 or null. `source` says in words where it is
    from, `notes` what to know of it.
    """

    cells: pd.DataFrame
    votes: pd.DataFrame
    source: str
    notes: tuple[str, ...] = ()

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges' names."""
        return tuple(self.votes.columns)

    @property
    def has_words(self) -> bool:
        """Whether question, reference fact and response are there to be rated by somebody."""
        return bool(len(self.cells)) and bool(self.cells["response"].notna().all())


def locate(source: str, dataset: Dataset | None) -> Path:
    """Return the verdict file, or the directory of the run or promoted result, that `source` names.

    `lexical` takes the finished run of litbench_conditions on the data set that is promoted, so that the book's pages
    belong together, else the newest one, in either case before those of demonstration models; it must have kept its
    answers. Raises `ParameterError` or `RunError` where there is none, or where it belongs to another data set.
    """
    if source == LEXICAL:
        return _answered_run(_needed(dataset))
    given = Path(source).expanduser()
    for place in (given, paths.project_root() / given, paths.results_dir() / source):
        if place.is_file():
            if dataset is not None:
                raise ParameterError(f"verdicts {source!r} is a file, which stands for itself, but dataset is "
                                     f"{dataset.name!r}", expected="no data set beside a file",
                                     remedy="give -p dataset=null")
            return place
        if (place / "manifest.json").exists():
            return _checked(place, _needed(dataset))
    try:
        return _checked(find_run(source), _needed(dataset))
    except RunError as error:
        raise ParameterError(f"verdicts {source!r} is no file, promoted result or run ({error})",
                             expected=f"`{LEXICAL}`, a run id, the name of a result, or a CSV or Parquet file",
                             remedy="`litsynth runs litbench_conditions` lists the runs") from None


def _needed(dataset: Dataset | None) -> Dataset:
    if dataset is None:
        raise ParameterError("dataset is null, but the verdicts of a run refer to a data set",
                             expected="the run's data set", remedy="give -p dataset=NAME, or a verdict file")
    return dataset


def _answered_run(dataset: Dataset) -> Path:
    found = [run for run in manifest.all_runs()
             if run["experiment"] == SOURCE_EXPERIMENT and run["status"] == "finished"
             and run["dataset"]["checksum"] == dataset.checksum and (run["directory"] / RESPONSES).exists()]
    promoted = {files.read_json(path)["id"] for path in paths.results_dir().glob("*/manifest.json")}
    # Whole results go before a demonstration model's handful of answers; of equals the newest, as they are listed.
    for run in sorted(found, key=lambda run: (run["id"] not in promoted, bool(run.get("facts", {}).get("weak_model")))):
        return run["directory"]
    raise ParameterError(f"no finished run of {SOURCE_EXPERIMENT} on data set {dataset.name!r} lies on this machine",
                         expected="a run whose answers can be judged",
                         remedy=f"litsynth run {SOURCE_EXPERIMENT} -p dataset={dataset.name}, or name a verdict table")


def _checked(directory: Path, dataset: Dataset) -> Path:
    facts = manifest.read(directory) or {}
    theirs = facts.get("dataset") or {}
    if theirs.get("checksum") != dataset.checksum:
        raise ParameterError(f"{directory.name} was made on data set {theirs.get('name')!r}, not on {dataset.name!r}",
                             expected="verdicts and data set that belong together",
                             remedy=f"give -p dataset={theirs.get('name')}")
    return directory


def content_digest(place: Path) -> str:
    """Return a hash of what decides the verdict table: the file, or the run's votes, spans and answers."""
    if place.is_file():
        return files.sha256_file(place)
    tables = [files.sha256_file(place / "tables" / f"{name}.parquet") for name in ("verdicts", "facts")
              if (place / "tables" / f"{name}.parquet").exists()]
    log = place / RESPONSES
    answers = sorted(log.read_text(encoding="utf-8").splitlines()) if log.exists() else []
    return files.sha256_of([tables, answers])


def load_verdicts(source: str, dataset: Dataset | None) -> Verdicts:
    """Return the verdict table that `source` names; raises what `locate` raises, and `DataError` without any cell."""
    place = locate(source, dataset)
    if place.is_file():
        cells, votes, notes = read_file(place)
        return _whole(cells, votes, f"file {place.name}", notes)
    made = _of_run(place, _needed(dataset), anew=source == LEXICAL)
    return _whole(*made)


def _whole(cells: pd.DataFrame, votes: pd.DataFrame, source: str, notes: Iterable[str] = ()) -> Verdicts:
    if cells.empty:
        raise DataError(f"{source} has no cell that a panel decided", expected="answers with verdicts",
                        remedy="run conditions in which the evidence is present (T1 to T5)")
    order = cells["item"].argsort(kind="stable")
    return Verdicts(cells.iloc[order].reset_index(drop=True), votes.iloc[order].reset_index(drop=True), source,
                    tuple(notes))


def _of_run(place: Path, dataset: Dataset, *, anew: bool) -> tuple[pd.DataFrame, pd.DataFrame, str, tuple[str, ...]]:
    table = read_table(place, "verdicts")
    facts_seen = manifest.read(place) or {}
    shown = facts_seen.get("promoted_as") or f"run {SOURCE_EXPERIMENT}/{place.name}"
    cases = table.drop_duplicates("case").reset_index(drop=True)
    words = responses(place) if (place / RESPONSES).exists() else {}
    if anew:
        votes = _lexical_votes(cases, words, dataset)
        what = f"answers of {shown}, judged by three judges without a model"
    else:
        votes = table.pivot(index="case", columns="judge", values="verdict").reindex(cases["case"])
        votes, what = votes.reset_index(drop=True).astype("Int64"), f"{shown}, votes as recorded"
        votes.columns.name = None
    notes = () if words else ("The answers are not kept with this result, so nothing can be given to a human.",)
    if (facts_seen.get("facts") or {}).get("weak_model"):
        notes += ("A weak demonstration model took part in this run.",)
    cells = pd.DataFrame([_cell(row, words, dataset) for row in cases.itertuples()], columns=list(CELL_COLUMNS))
    cells["panel"] = pd.array(strict_majority(votes.astype(object).where(votes.notna(), None)), dtype="Int64")
    cells["reference"] = _references(place, cases)
    return cells, votes, what, notes


def _cell(row: Any, words: Mapping[str, Mapping[str, Any]], dataset: Dataset) -> dict[str, Any]:
    fact, question = dataset.facts[row.fact], dataset.questions[row.question]
    said = words.get(row.case.rpartition("/")[0])
    return {"item": row.case, "condition": row.condition, "domain": f"{row.section} {row.fact_type}",
            "system": row.system, "paper": row.paper, "question": question.text, "reference_fact": fact.statement,
            "quote": fact.quote, "response": _as_judged(said) if said else None}


def _as_judged(said: Mapping[str, Any]) -> str:
    """Return the answer with its quotations, without the papers' names: what the judges were given."""
    quotations = "".join(f"\n\nQuoted: {text}" for _, text in said["quotations"])
    return said["answer"] + quotations


def _references(place: Path, cases: pd.DataFrame) -> pd.Series:
    """Return whether a quotation overlaps the reference quote, the one thing known without a judge; null if unknown."""
    keys = ["system", "condition", "n", "question", "fact"]
    if not (place / "tables" / "facts.parquet").exists():
        return pd.Series(pd.array([None] * len(cases), dtype="Int64"))
    spans = read_table(place, "facts")[[*keys, "overlap"]]
    return cases[keys].merge(spans, on=keys, how="left")["overlap"].astype("Int64")


def _lexical_votes(cases: pd.DataFrame, words: Mapping[str, Mapping[str, Any]], dataset: Dataset) -> pd.DataFrame:
    panel = panel_of(SimpleNamespace(judges=list(LEXICAL_JUDGES)))
    judged = []
    for row in cases.itertuples():
        said = words.get(row.case.rpartition("/")[0])
        if said is None:
            raise RunError(f"the answer of {row.case} is missing", expected="an answer for each case of the run",
                           remedy="run litbench_conditions again with --force")
        judged.append(JudgeCase(dataset.questions[row.question].text, dataset.facts[row.fact], said["answer"],
                                tuple(text for _, text in said["quotations"])))
    made = votes_by_judge(panel.vote_many(judged, stage="judges without a model"))
    return pd.DataFrame({name: pd.array(verdicts, dtype="boolean") for name, verdicts in sorted(made.items())}
                        ).astype("Int64")
