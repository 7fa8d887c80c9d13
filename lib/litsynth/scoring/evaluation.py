"""The evaluation record of one review: selection, metrics, provenance, and the error when there is one."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from litsynth.errors import LitsynthError, ParameterError, ScoringError, unknown_name
from litsynth.files import sha256_of
from litsynth.records import Dataset, LanguageModel
from litsynth.scoring.evaluation_judge import JUDGE_METRICS, JudgeError, JudgeSession, judge_report
from litsynth.scoring.identifiers import ID_METRICS, id_metrics, unmatched_count
from litsynth.scoring.judge_prompts import PROMPT_VERSION
from litsynth.scoring.selection import Selection, parse_selection
from litsynth.scoring.submission import Submission, candidates_of, strict_selection
from litsynth.scoring.text_metrics import SentenceEncoder

EVALUATOR_VERSION = "1"
SCHEMA_VERSION = "1"
METRICS = ID_METRICS + JUDGE_METRICS
SOURCES = ("report", "json")
SelectionSource = Literal["report", "json"]


@dataclass(frozen=True)
class Evaluator:
    """How reviews are evaluated: the data set, where the selection is read, and the judge (None: identifiers only)."""

    dataset: Dataset
    selection_source: SelectionSource = "report"
    judge: LanguageModel | None = None
    encoder: SentenceEncoder | None = None

    def __post_init__(self) -> None:
        if self.selection_source not in SOURCES:
            raise unknown_name("selection source", self.selection_source, SOURCES)
        if self.judge is not None and self.encoder is None:
            raise ParameterError(
                "a judge needs a sentence encoder",
                expected="an encoder beside the judge",
                remedy="open one with litsynth.scoring.text_metrics.open_encoder",
            )

    @property
    def needs_report(self) -> bool:
        """Whether report.md has to be there: for a selection read from it, or for a judge."""
        return self.selection_source == "report" or self.judge is not None

    def provenance(self) -> dict[str, Any]:
        """Return what decides the result beside the submission, as it is recorded."""
        judge, encoder = self.judge, self.encoder if self.judge else None
        return {
            "version": EVALUATOR_VERSION,
            "prompt_version": PROMPT_VERSION if judge else None,
            "schema_version": SCHEMA_VERSION,
            "dataset_id": self.dataset.name,
            "dataset_revision": self.dataset.revision,
            "dataset_checksum": self.dataset.checksum,
            "dataset_synthetic": self.dataset.synthetic,
            "selection_source": self.selection_source,
            "judge_model": judge.name if judge else None,
            "judge_identity": judge.identity if judge else None,
            "judge_weak": judge.weak if judge else None,
            "encoder": encoder.name if encoder else None,
            "encoder_identity": encoder.identity if encoder else None,
            "id_only": judge is None,
        }


def fingerprint(submission: Submission, evaluator: Evaluator) -> str:
    """Return the SHA-256 of everything that decides a record, its time excepted: the key under which it is resumed."""
    return sha256_of(
        {"results": dict(submission.results), "report": submission.report_sha256, "evaluator": evaluator.provenance()}
    )


def evaluate_review(submission: Submission, evaluator: Evaluator) -> dict[str, Any]:
    """Return the evaluation record of one review, JSON-ready and unrounded.

    A selection that cannot be read gives status `failed` and null metrics; a judge that fails gives status
    `failed`, null judge metrics and the ID metrics. Raises `ScoringError` for a review that the data set does not have,
    for a result that says it is from other data, and for a report that the evaluator needs and the submission lacks.
    """
    dataset, review_id = evaluator.dataset, submission.review_id
    if review_id not in dataset.reviews or review_id not in dataset.gold:
        raise ScoringError(
            f"{submission.source} is of review {review_id}, which {dataset.name} does not have",
            expected="a review of the data set",
            remedy="check review_id and --dataset",
        )
    _same_data(submission, dataset)
    if evaluator.needs_report and submission.report is None:
        raise ScoringError(
            f"{submission.source} has no report beside it",
            expected="report.md",
            remedy="add the report, or use --selection-source json with --id-only",
        )
    record = _empty_record(submission, evaluator)
    try:
        selection, metrics, strict = _score_selection(submission, evaluator)
    except LitsynthError as error:
        return {**record, "status": "failed", "error": _error(error)}
    record |= {"selection": selection, "strict_metrics": strict}
    record["metrics"] |= metrics
    if evaluator.judge is None or evaluator.encoder is None:
        return record
    session = JudgeSession(evaluator.judge)
    try:
        judged, record["extracted"] = judge_report(
            submission.report or "", dataset.reviews[review_id], dataset.gold[review_id], session, evaluator.encoder
        )
        record["metrics"] |= judged
    except JudgeError as error:
        record |= {"status": "failed", "error": _error(error)}
    record["judge_usage"] = session.as_dict()
    return record


def _same_data(submission: Submission, dataset: Dataset) -> None:
    """Refuse a result that says it is from other data: IDs of its reviews and articles mean something else here.

    The same data set with corrected labels has its name still, and is scored.
    """
    stated = submission.results.get("dataset")
    if not isinstance(stated, Mapping) or "checksum" not in stated or "name" not in stated:
        return
    if stated["checksum"] != dataset.checksum and stated["name"] != dataset.name:
        raise ScoringError(
            f"{submission.source} was made from the data set {stated['name']!r} ({str(stated['checksum'])[:12]}), not "
            f"from {dataset.name!r} ({dataset.checksum[:12]})",
            expected="a result of the data set that it is scored against",
            remedy="give --dataset the data set that it was made from",
        )


def _empty_record(submission: Submission, evaluator: Evaluator) -> dict[str, Any]:
    return {
        "status": "succeeded",
        "evaluated_at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "review_id": submission.review_id,
        "report_sha256": submission.report_sha256,
        "evaluator": evaluator.provenance(),
        "selection": None,
        "metrics": dict.fromkeys(METRICS),
        "strict_metrics": None,
        "extracted": None,
        "judge_usage": None,
        "error": None,
    }


def _error(error: LitsynthError) -> dict[str, str]:
    return {"type": type(error).__name__, "message": str(error)}


def _score_selection(
    submission: Submission, evaluator: Evaluator
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any] | None]:
    """Return the selection as recorded, its ID metrics, and those of its strict reading (None without a list)."""
    reference = evaluator.dataset.gold[submission.review_id].included_ids
    if evaluator.selection_source == "json":
        given = strict_selection(submission)
        metrics = id_metrics(
            reference, given.included_ids, given.retrieved_ids, given.unmatched_ids, given.unmatched_entries
        )
        selection = Selection(
            given.included_ids, given.unmatched_ids, given.unmatched_entries, resolved=True, strict=True
        )
        return {**_recorded(selection, given.retrieved_ids, evaluator), "method": "json"}, metrics, dict(metrics)
    candidates = candidates_of(submission, evaluator.dataset.corpus)
    selection = parse_selection(submission.report or "", candidates)
    if not selection.resolved:
        raise ScoringError(
            f"review {submission.review_id}: no final list of included articles was recognised in the report",
            expected="a section such as `## Final included studies` with `Corpus ID: <n>` or exact titles",
            remedy="end the report with that list, or say there that no study was included",
        )
    retrieved = [candidate["corpus_id"] for candidate in candidates]
    entries = selection.unmatched_entries
    metrics = id_metrics(reference, selection.included_ids, retrieved, selection.unmatched_ids, entries)
    strict_ids, strict_unmatched = selection.strict_ids, selection.strict_unmatched_ids
    strict = (
        None
        if strict_ids is None or strict_unmatched is None
        else id_metrics(reference, strict_ids, retrieved, strict_unmatched, entries)
    )
    return _recorded(selection, retrieved, evaluator), metrics, strict


def _recorded(selection: Selection, retrieved: Any, evaluator: Evaluator) -> Mapping[str, Any]:
    corpus = evaluator.dataset.corpus
    return selection.as_dict() | {
        "source": evaluator.selection_source,
        "retrieved": len(retrieved),
        "retrieved_outside_corpus": sum(i not in corpus for i in retrieved),
        "unmatched_included_article_count": unmatched_count(selection.unmatched_ids, selection.unmatched_entries),
    }
