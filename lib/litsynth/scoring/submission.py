"""What a system hands in for one review, and for a whole split: results.json and report.md, checked at the door."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litsynth.errors import LitsynthError, ScoringError, unknown_name
from litsynth.files import read_json
from litsynth.records import Article

ID_FIELDS = ("retrieved_article_ids", "included_article_ids", "unmatched_included_article_ids")
STRICT_FIELDS = ("review_id", *ID_FIELDS, "unmatched_included_entries")
DERIVED_FIELD = "unmatched_included_article_count"
# Facts about a run that are not part of the selection; released and own results carry them, and they are not read.
DESCRIPTIVE_FIELDS = frozenset(
    {
        "system",
        "model",
        "retriever",
        "mode",
        "query",
        "top_k",
        "seed",
        "dataset",
        "prompt_version",
        "token_usage",
        "usage",
        "seconds",
        "status",
        "reason",
        "behavior_counts",
        "retrieved_articles",
        "selection",
        "uses_gold",
        "details",
        "created_at",
        "weak_model",
        "truncated",
        "litsynth_version",
    }
)
_SCHEMA = "{review_id, " + ", ".join((*ID_FIELDS, "unmatched_included_entries")) + "}"
_REMEDY = "write the five fields as in `litsynth evaluate --help`"


@dataclass(frozen=True, slots=True)
class Submission:
    """One review's result: where it came from, its raw results.json, and its report (None when there is none)."""

    review_id: int
    source: str
    results: Mapping[str, Any]
    report: str | None

    @property
    def report_sha256(self) -> str | None:
        """The SHA-256 of the report's UTF-8 bytes, None without a report."""
        return None if self.report is None else hashlib.sha256(self.report.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class StrictSelection:
    """A selection that the system resolved itself, valid by every rule of the strict JSON format."""

    retrieved_ids: tuple[int, ...]
    included_ids: tuple[int, ...]
    unmatched_ids: tuple[int, ...] = ()
    unmatched_entries: tuple[str, ...] = field(default=())


def read_submission(results_path: Path, report_path: Path | None) -> Submission:
    """Read one results.json and its report; raises `DataError` or `ScoringError` that names the file and the field."""
    results = read_json(results_path)
    if not isinstance(results, dict):
        raise ScoringError(
            f"{results_path} holds a {type(results).__name__}", expected="one JSON object " + _SCHEMA, remedy=_REMEDY
        )
    if "review_id" not in results:
        raise ScoringError(f"{results_path} has no review_id", expected="the review's integer ID", remedy="add it")
    review_id = results["review_id"]
    if isinstance(review_id, bool) or not isinstance(review_id, int) or review_id < 0:
        raise ScoringError(
            f"{results_path}: review_id is {review_id!r}",
            expected="a non-negative integer",
            remedy="write the review's ID as a number",
        )
    return Submission(review_id, str(results_path), results, None if report_path is None else read_report(report_path))


def read_report(path: Path) -> str:
    """Read a report; a missing, unreadable or empty one raises `ScoringError`."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ScoringError(
            f"{path} does not exist",
            expected="the report in Markdown",
            remedy="write the report there, or use --selection-source json with --id-only",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScoringError(
            f"{path} is not readable ({error})", expected="UTF-8 text", remedy="save it as UTF-8"
        ) from None
    if not text.strip():
        raise ScoringError(
            f"{path} is empty",
            expected="the report in Markdown",
            remedy="run the system again for this review; an empty report is not an empty selection",
        )
    return text


def strict_selection(submission: Submission) -> StrictSelection:
    """Return the selection in a strict results.json; every broken rule raises `ScoringError` with field and value."""
    where, results = submission.source, submission.results
    if DERIVED_FIELD in results:
        raise ScoringError(
            f"{where} supplies {DERIVED_FIELD}",
            expected="only " + _SCHEMA,
            remedy="leave it out: it is derived from the unmatched IDs and entries",
        )
    missing = [name for name in STRICT_FIELDS if name not in results]
    if missing:
        raise ScoringError(f"{where} lacks {', '.join(missing)}", expected=_SCHEMA, remedy=_REMEDY)
    for name in results:
        if name not in STRICT_FIELDS and name not in DESCRIPTIVE_FIELDS:
            error = unknown_name("field", str(name), STRICT_FIELDS, remedy="or leave it out")
            raise ScoringError(f"{where}: {error.problem}", expected=error.expected, remedy=error.remedy)
    retrieved, included, unmatched = (_ids(where, name, results[name]) for name in ID_FIELDS)
    outside = sorted(set(included) - set(retrieved))
    if outside:
        raise ScoringError(
            f"{where}: included_article_ids {_some(outside)} are not in retrieved_article_ids",
            expected="included articles that were retrieved",
            remedy="put IDs that were not retrieved in unmatched_included_article_ids",
        )
    overlap = sorted(set(unmatched) & set(retrieved))
    if overlap:
        raise ScoringError(
            f"{where}: unmatched_included_article_ids {_some(overlap)} were retrieved",
            expected="unmatched IDs that are no retrieved article",
            remedy="move them to included_article_ids",
        )
    return StrictSelection(retrieved, included, unmatched, _entries(where, results["unmatched_included_entries"]))


def _some(values: Sequence[Any], limit: int = 8) -> str:
    shown = ", ".join(map(str, values[:limit]))
    return shown + (f" and {len(values) - limit} more" if len(values) > limit else "")


def _ids(where: str, name: str, values: Any) -> tuple[int, ...]:
    expected = "a list of distinct non-negative integers"
    if not isinstance(values, list):
        raise ScoringError(f"{where}: {name} is a {type(values).__name__}", expected=expected, remedy=_REMEDY)
    seen: set[int] = set()
    for position, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int):
            kind = "a Boolean" if isinstance(value, bool) else f"a {type(value).__name__}"
            problem = f"{value!r}, {kind}"
        elif value < 0:
            problem = f"{value}, a negative number"
        elif value in seen:
            problem = f"{value} for the second time"
        else:
            seen.add(value)
            continue
        raise ScoringError(
            f"{where}: {name}[{position}] is {problem}",
            expected=expected,
            remedy="write corpus IDs as numbers, once each",
        )
    return tuple(values)


def _entries(where: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise ScoringError(
            f"{where}: unmatched_included_entries is a {type(values).__name__}",
            expected="a list of texts",
            remedy=_REMEDY,
        )
    for position, value in enumerate(values):
        if not isinstance(value, str) or not value.strip():
            raise ScoringError(
                f"{where}: unmatched_included_entries[{position}] is {value!r}",
                expected="a text that is not empty",
                remedy="write the citation as the report states it",
            )
    return tuple(values)


def candidates_of(submission: Submission, corpus: Mapping[int, Article]) -> list[dict[str, Any]]:
    """Return the candidates that the report is read against: ID and title, in retrieved order, each once.

    From `retrieved_articles` (objects with corpus_id or id, and title), else from `retrieved_article_ids` with
    the titles of `corpus`.
    """
    where, articles = submission.source, submission.results.get("retrieved_articles")
    if articles is None:
        if "retrieved_article_ids" not in submission.results:
            raise ScoringError(
                f"{where} has neither retrieved_articles nor retrieved_article_ids",
                expected="the articles that the system was shown",
                remedy="add one of them",
            )
        articles = [
            {"corpus_id": i} for i in _ids(where, "retrieved_article_ids", submission.results["retrieved_article_ids"])
        ]
    if not isinstance(articles, list):
        raise ScoringError(
            f"{where}: retrieved_articles is a {type(articles).__name__}",
            expected="a list of objects",
            remedy="write one object with corpus_id and title for each article",
        )
    candidates: dict[int, dict[str, Any]] = {}
    for position, article in enumerate(articles):
        identifier = article.get("corpus_id", article.get("id")) if isinstance(article, dict) else None
        if isinstance(identifier, bool) or not isinstance(identifier, int) or identifier < 0:
            raise ScoringError(
                f"{where}: retrieved_articles[{position}] has the ID {identifier!r}",
                expected="an object with a non-negative integer corpus_id",
                remedy="add the corpus ID",
            )
        known = corpus.get(identifier)
        title = article.get("title") or (known.title if known else "")
        candidates.setdefault(identifier, {"corpus_id": identifier, "title": str(title)})
    return list(candidates.values())


def read_folder(
    folder: Path, wanted: Iterable[int], *, need_report: bool, dataset: str, split: str
) -> list[Submission]:
    """Read `FOLDER/*/results.json` for exactly the `wanted` reviews, ordered by ID.

    Missing, duplicate and extra reviews and missing or empty reports are found together, before anything is scored, and
    raise one `ScoringError` that names them all.
    """
    folder, wanted_ids = Path(folder), set(wanted)
    if not folder.is_dir():
        raise ScoringError(
            f"{folder} is no folder", expected="a folder with one subfolder per review", remedy="check --results-dir"
        )
    found: dict[int, list[Submission]] = {}
    problems: list[str] = []
    broken: set[str] = set()
    for path in sorted(folder.glob("*/results.json")):
        report = path.parent / "report.md"
        try:
            submission = read_submission(path, report if need_report or report.exists() else None)
        except LitsynthError as error:
            problems.append(error.problem)
            broken.add(path.parent.name)
            continue
        found.setdefault(submission.review_id, []).append(submission)
    missing = sorted(i for i in wanted_ids - set(found) if f"review_{i}" not in broken)
    extra = sorted(set(found) - wanted_ids)
    for review_id, copies in sorted(found.items()):
        if len(copies) > 1:
            problems.append(f"review {review_id} is there {len(copies)} times ({', '.join(c.source for c in copies)})")
    if missing:
        problems.append(f"missing reviews: {', '.join(map(str, missing))}")
    if extra:
        problems.append(f"extra reviews, not in split {split!r} of {dataset}: {', '.join(map(str, extra))}")
    if problems:
        raise ScoringError(
            f"{folder} does not hold split {split!r} of {dataset}: " + "; ".join(problems),
            expected=f"each of the {len(wanted_ids)} reviews exactly once, as SUBFOLDER/results.json"
            + (" with report.md" if need_report else ""),
            remedy="complete the folder; nothing was scored and no judge was asked",
        )
    return [found[review_id][0] for review_id in sorted(found)]
