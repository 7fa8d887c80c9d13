"""One review by one system, read and scored: the item of the experiment and the result of `litsynth rag`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from litsynth.records import Report
from litsynth.records.results import Status
from litsynth.scoring.identifiers import ID_METRICS, id_metrics, unmatched_count
from litsynth.scoring.selection import Selection, parse_selection

# These two are known without a selection: the system was shown what it was shown.
POOL_METRICS = ("retrieval_recall", "retrieval_precision")


@dataclass(frozen=True)
class Reading:
    """A report with its selection (None when there is none to score), and how that came out."""

    report: Report
    selection: Selection | None
    status: Status
    reason: str = ""

    @property
    def shown_ids(self) -> tuple[int, ...]:
        """The candidates that the system was shown, in their order."""
        return tuple(candidate.corpus_id for candidate in self.report.candidates)


def read_report(report: Report) -> Reading:
    """Read the final list of a report: from the system's own IDs where it gives them, else from the text.

    A text without a readable list is `unparsed`, never an empty selection.
    """
    if report.status != "scored":
        return Reading(report, None, report.status, report.reason)
    if report.included_ids is not None:
        return Reading(report, _given(report), "scored")
    titles = [{"corpus_id": candidate.corpus_id, "title": candidate.title} for candidate in report.candidates]
    selection = parse_selection(report.text, titles)
    if not selection.resolved:
        return Reading(report, None, "unparsed", "no final list of included articles was recognised in the report")
    return Reading(report, selection, "scored")


def _given(report: Report) -> Selection:
    """Return the selection that a system resolved itself; an ID that is no candidate's is unmatched, as in a text."""
    shown = {candidate.corpus_id for candidate in report.candidates}
    given = tuple(dict.fromkeys(report.included_ids or ()))
    return Selection(tuple(i for i in given if i in shown), tuple(i for i in given if i not in shown), resolved=True,
                     strict=True)


def metrics_of(reading: Reading, reference: Collection[int]) -> dict[str, float | None]:
    """Return the eight identifier metrics; without a selection only those of the candidate pool, the others None."""
    chosen = reading.selection
    if chosen is None:
        if reading.status == "failed":
            return dict.fromkeys(ID_METRICS)
        pool = id_metrics(reference, (), reading.shown_ids)
        return {name: pool[name] if name in POOL_METRICS else None for name in ID_METRICS}
    return id_metrics(reference, chosen.included_ids, reading.shown_ids, chosen.unmatched_ids,
                      chosen.unmatched_entries)


def item_of(reading: Reading, reference: Collection[int], *, keep_text: bool) -> dict[str, Any]:
    """Return what the experiment keeps: status, metrics, IDs and counts; the report's text only with `keep_text`."""
    report, chosen = reading.report, reading.selection
    usage = report.usage
    item: dict[str, Any] = {
        "review": report.review_id, "status": reading.status, "reason": reading.reason, "query_mode": report.mode,
        "reference": sorted(reference), "shown": list(reading.shown_ids), "metrics": metrics_of(reading, reference),
        "included": list(chosen.included_ids) if chosen else None,
        "unmatched": unmatched_count(chosen.unmatched_ids, chosen.unmatched_entries) if chosen else None,
        "strict": chosen.strict if chosen else None, "method": chosen.method if chosen else None,
        "truncation": report.details.get("truncation"), "model": report.model,
        "usage": {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
                  "estimated": usage.estimated, "cost": usage.cost},
    }
    if report.details.get("retry"):
        item["retry"] = True
    return {**item, "report": report.text} if keep_text else item
