"""A clone of the public MetaSyn release as item rows, each checked against its report and its own counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litsynth.errors import DataError, LitsynthError
from litsynth.files import read_json
from litsynth.progress import progress
from litsynth.scoring.evaluation import METRICS
from litsynth.scoring.identifiers import ID_METRICS, id_metrics, unmatched_count
from litsynth.scoring.selection import parse_selection
from litsynth.scoring.submission import StrictSelection, Submission, read_submission, strict_selection

_SKIPPED = {
    "inclusion_consistency": "inclusion_consistency_skipped",
    "exclusion_consistency": "exclusion_consistency_skipped",
    "conclusion_direction_accuracy": "conclusion_direction_skipped",
    "insights_consistency": "insights_consistency_skipped",
}
_TOLERANCE = 6e-5  # published values are rounded to four places at worst
_MOST_PROBLEMS = 20
_ABSENT_ID = 10**9  # reference articles that were not retrieved get IDs above every corpus ID


@dataclass(frozen=True)
class ReleasedRecord:
    """One configuration's result for one review, with its report and its published metrics."""

    configuration: str
    submission: Submission
    selection: StrictSelection
    metrics: Mapping[str, Any]
    status: str

    @property
    def review_id(self) -> int:
        """The review's ID."""
        return self.submission.review_id


@dataclass(frozen=True)
class ReleaseTables:
    """A release as tidy tables.

    `items`: one row for each configuration, review and metric (value None unless scored). `checks`: one row
    for each record: counts, whether the ID metrics follow from the record's own counts, and how the selection that is
    read from the report compares with the published one.
    """

    items: Any
    checks: Any
    reviews: tuple[int, ...]


def configuration_parts(name: str) -> tuple[str, str, str]:
    """Return system, model and retriever of a folder name such as `rag__gpt-5.4__bm25`."""
    parts = name.split("__")
    if len(parts) != 3 or not all(parts):
        raise DataError(
            f"{name!r} is no configuration",
            expected="system__model__retriever",
            remedy="remove the folder from the release",
        )
    return parts[0], parts[1], parts[2]


def import_release(folder: Path, *, reparse: bool = True) -> ReleaseTables:
    """Read a release: `generation_results/<configuration>/review_<ID>/` and `evaluation_results/<configuration>/`.

    `reparse` reads every report's final list too. The release holds IDs without titles, so reports that name
    articles by
    title only cannot be resolved, which the checks then show. Raises `DataError` that names every folder and file that
    is missing, broken or of another review.
    """
    import pandas

    folder = Path(folder)
    records = list(_read_all(folder))
    items = [row for record in records for row in _item_rows(record)]
    checks = [
        _check_row(record, reparse=reparse) for record in progress(records, total=len(records), stage="import-release")
    ]
    return ReleaseTables(
        pandas.DataFrame(items), pandas.DataFrame(checks), tuple(sorted({record.review_id for record in records}))
    )


def _configurations(folder: Path) -> list[str]:
    generated, evaluated = folder / "generation_results", folder / "evaluation_results"
    for part in (generated, evaluated):
        if not part.is_dir():
            raise DataError(
                f"{folder} has no {part.name}",
                expected="a clone of the MetaSyn repository",
                remedy="give the folder that holds generation_results and evaluation_results",
            )
    names = {p.name for p in generated.iterdir() if p.is_dir()}
    other = {p.name for p in evaluated.iterdir() if p.is_dir()}
    if names != other or not names:
        raise DataError(
            f"{folder}: configurations differ between generation_results and evaluation_results: "
            f"{', '.join(sorted(names ^ other)) or 'there are none'}",
            expected="the same configurations in both",
            remedy="fetch the release again",
        )
    return sorted(names)


def _read_all(folder: Path) -> Iterator[ReleasedRecord]:
    problems: list[str] = []
    records: list[ReleasedRecord] = []
    for name in _configurations(folder):
        configuration_parts(name)
        generated = {p.name: p for p in (folder / "generation_results" / name).glob("review_*") if p.is_dir()}
        evaluated = {p.stem: p for p in (folder / "evaluation_results" / name).glob("review_*.json")}
        problems += [f"{name}/{review} is on one side only" for review in sorted(set(generated) ^ set(evaluated))]
        for review in sorted(set(generated) & set(evaluated), key=_review_number):
            try:
                records.append(_read_one(name, generated[review], evaluated[review]))
            except LitsynthError as error:
                problems.append(error.problem)
    if problems:
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        raise DataError(
            f"{folder}: {len(problems)} problems: " + "; ".join(problems[:_MOST_PROBLEMS]) + more,
            expected="a whole release",
            remedy="fetch the release again, or remove what is broken",
        )
    return iter(records)


def _review_number(name: str) -> tuple[int, str]:
    digits = name.removeprefix("review_")
    return (int(digits) if digits.isdecimal() else 10**12, name)


def _read_one(configuration: str, folder: Path, evaluation_path: Path) -> ReleasedRecord:
    submission = read_submission(folder / "results.json", folder / "report.md")
    evaluation = read_json(evaluation_path)
    wanted = folder.name.removeprefix("review_")
    metrics = evaluation.get("metrics") if isinstance(evaluation, dict) else None
    if not isinstance(metrics, dict):
        raise DataError(f"{evaluation_path} has no metrics", expected="a released evaluation", remedy="fetch it again")
    for path, number in ((submission.source, submission.review_id), (evaluation_path, evaluation.get("review_id"))):
        if str(number) != wanted:
            raise DataError(
                f"{path} is of review {number!r}",
                expected=f"review {wanted}, as its folder says",
                remedy="fetch the release again",
            )
    for name in METRICS:
        value = metrics.get(name)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value)
        ):
            raise DataError(
                f"{evaluation_path}: {name} is {value!r}", expected="a number or null", remedy="fetch it again"
            )
    return ReleasedRecord(
        configuration, submission, strict_selection(submission), metrics, str(evaluation.get("status"))
    )


def _item_rows(record: ReleasedRecord) -> list[dict[str, Any]]:
    system, model, retriever = configuration_parts(record.configuration)
    rows = []
    for name in METRICS:
        value, reason = record.metrics.get(name), ""
        if record.status != "succeeded" and value is None:
            status, reason = "failed", f"the published status is {record.status}"
        elif record.metrics.get(_SKIPPED.get(name, "")):
            value, status, reason = None, "scored", "skipped in the release: the review has no reference for it"
        else:
            status = "scored"
            reason = "undefined for this review" if value is None else ""
        rows.append(
            {
                "configuration": record.configuration,
                "system": system,
                "model": model,
                "retriever": retriever,
                "review": record.review_id,
                "metric": name,
                "value": None if value is None else float(value),
                "status": status,
                "reason": reason,
            }
        )
    return rows


def implied_reference(record: ReleasedRecord) -> set[int]:
    """Return a reference set with the counts that the record's published metrics imply.

    The release has no reference sets. Its precisions, recall and the record's own lists fix |G|, |P∩G| and |L∩G|, and
    with these every one of the eight metrics, so a wrong published metric would not come out again.
    """
    chosen, published = record.selection, record.metrics
    predicted = len(chosen.included_ids) + unmatched_count(chosen.unmatched_ids, chosen.unmatched_entries)
    hits = round((published["inclusion_precision"] or 0) * predicted)
    found = round((published["retrieval_precision"] or 0) * len(chosen.retrieved_ids))
    size = round(found / published["retrieval_recall"]) if published["retrieval_recall"] else max(1, found)
    inside = set(chosen.included_ids)
    others = [i for i in chosen.retrieved_ids if i not in inside]
    absent = range(_ABSENT_ID, _ABSENT_ID + size - found)
    return {*chosen.included_ids[:hits], *others[: found - hits], *absent}


def _check_row(record: ReleasedRecord, *, reparse: bool) -> dict[str, Any]:
    chosen, published = record.selection, record.metrics
    ours = id_metrics(
        implied_reference(record),
        chosen.included_ids,
        chosen.retrieved_ids,
        chosen.unmatched_ids,
        chosen.unmatched_entries,
    )
    unequal = [name for name in ID_METRICS if not _same(ours[name], published.get(name))]
    row: dict[str, Any] = {
        "configuration": record.configuration,
        "review": record.review_id,
        "retrieved": len(chosen.retrieved_ids),
        "included": len(chosen.included_ids),
        "unmatched": unmatched_count(chosen.unmatched_ids, chosen.unmatched_entries),
        "metrics_equal": not unequal,
        "metrics_unequal": ", ".join(unequal),
    }
    if reparse:
        row |= _reread(record)
    return row


def _same(ours: float | None, published: float | None) -> bool:
    if ours is None or published is None:
        return ours is None and published is None
    return abs(ours - published) < _TOLERANCE


def _reread(record: ReleasedRecord) -> dict[str, Any]:
    chosen = record.selection
    selection = parse_selection(
        record.submission.report or "", [{"corpus_id": i, "title": ""} for i in chosen.retrieved_ids]
    )
    ours, published = set(selection.included_ids), set(chosen.included_ids)
    return {
        "method": selection.method,
        "heading": selection.heading,
        "selection_equal": ours == published,
        "unmatched_equal": set(selection.unmatched_ids) == set(chosen.unmatched_ids),
        "only_ours": sorted(ours - published),
        "only_published": sorted(published - ours),
        "contested": len(selection.contested_ids),
        "withdrawn": len(selection.withdrawn),
    }
