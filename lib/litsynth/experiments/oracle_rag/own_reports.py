"""What a system of one's own hands in, held to the rules of every submission before anything is scored."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from litsynth.errors import DataError, LitsynthError, RunError
from litsynth.files import dumps
from litsynth.llm.replies import clean
from litsynth.records import Candidate, Dataset, Report, Review, Usage

STATUSES = ("scored", "unparsed", "failed")
_KEPT_DETAILS = ("truncation", "retry")


def own_report(system: Any, label: str, review: Review, searcher: Any, model: Any, mode: str, data: Dataset) -> Report:
    """Return the report of one's own system, checked and in plain types; errors name the system and the review.

    The class gets copies of task and searcher, so that what it changes changes nothing for others. Candidates and
    included IDs count once each, in their order. Raises `RunError` when the class raises (or ends the process),
    `DataError` for what is no report of this review over this corpus.
    """
    try:
        shielded = replace(searcher, articles=MappingProxyType(searcher.articles))
        report = system.review(replace(review), shielded, model)
    except LitsynthError:
        raise
    except (Exception, SystemExit) as error:
        raise RunError(
            f"system {label!r} failed on review {review.id} in {mode} order ({type(error).__name__}: {error})",
            expected="a `review` that returns a litsynth.records.Report, with status 'failed' and a reason where it "
            "cannot", remedy="mend the class, then the same command resumes; in oracle order there is no "
            "`search(query, k)`, so give -p modes=actual where the class needs it") from error
    return _Check(label, review, data).report(report, mode)


class _Check:
    """Checks the fields of one report; `label` and `review` name it in errors."""

    def __init__(self, label: str, review: Review, data: Dataset) -> None:
        self.label, self.review, self.data = label, review, data

    def wrong(self, what: str, expected: str, remedy: str) -> DataError:
        return DataError(f"system {self.label!r} returned {what} for review {self.review.id}", expected=expected,
                         remedy=remedy)

    def report(self, report: Any, mode: str) -> Report:
        if not isinstance(report, Report):
            raise self.wrong(f"a {type(report).__name__}", "litsynth.records.Report", "return one from `review`")
        if isinstance(report.review_id, bool) or report.review_id != self.review.id:
            raise self.wrong(f"the report of review {report.review_id}", "a report of the review that was asked for",
                             "set `review_id` to the task's ID")
        if report.status not in STATUSES:
            raise self.wrong(f"the status {report.status!r}", "one of " + ", ".join(STATUSES), "give one of these")
        self._types(report)
        included = None if report.included_ids is None else self._included(report.included_ids)
        if included is None and report.status == "scored" and not isinstance(report.text, str):
            raise self.wrong(f"a text that is a {type(report.text).__name__}", "a str, or included_ids",
                             "give the report as text")
        return replace(report, review_id=self.review.id, mode=mode, candidates=self._candidates(report.candidates),
                       included_ids=included, text=clean(report.text), reason=clean(report.reason),
                       query=clean(report.query), model=clean(report.model),
                       details={name: report.details[name] for name in _KEPT_DETAILS if name in report.details})

    def _types(self, report: Report) -> None:
        if not isinstance(report.details, Mapping):
            raise self.wrong(f"details that are a {type(report.details).__name__}", "a mapping", "leave them out")
        try:
            dumps([report.details.get(name) for name in _KEPT_DETAILS])
        except (TypeError, ValueError) as error:
            raise self.wrong(f"details that JSON cannot hold ({error})", "plain values", "leave them out") from None
        usage = report.usage
        numbers = (usage.prompt_tokens, usage.completion_tokens) if isinstance(usage, Usage) else ()
        costs = isinstance(usage, Usage) and (
            usage.cost is None or (isinstance(usage.cost, (int, float)) and math.isfinite(usage.cost)))
        if not costs or not all(type(number) is int and number >= 0 for number in numbers):
            raise self.wrong(f"the usage {usage!r}", "litsynth.records.Usage with whole numbers of tokens and a finite "
                             "cost or None", "give the model's usage, or leave it out")

    def _whole(self, value: Any, what: str) -> int:
        """Return an ID as a plain int (numpy's integers too); a Boolean, text, fraction or negative number is none."""
        try:
            number = -1 if isinstance(value, bool) else operator.index(value)
        except TypeError:
            number = -1
        if number < 0 or type(value).__name__ in ("bool_", "bool"):
            raise self.wrong(f"{what} {value!r} ({type(value).__name__})", "non-negative integers",
                             "give corpus IDs as the candidates have them")
        return number

    def _included(self, values: Any) -> tuple[int, ...]:
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            raise self.wrong(f"included_ids that are a {type(values).__name__}", "a tuple of corpus IDs, or None where "
                             "the list stands in the text", "give the IDs in a tuple")
        return tuple(dict.fromkeys(self._whole(value, "the included ID") for value in values))

    def _candidates(self, values: Any) -> tuple[Candidate, ...]:
        found: dict[int, Candidate] = {}
        for value in values if isinstance(values, Iterable) else (values,):
            if not isinstance(value, Candidate):
                raise self.wrong(f"a candidate that is a {type(value).__name__}", "litsynth.records.Candidate",
                                 "give those that the searcher returned")
            number = self._whole(value.corpus_id, "the candidate")
            if number not in self.data.corpus:
                raise self.wrong(f"candidate {number}, which the corpus of {self.data.name} lacks",
                                 "articles of the corpus", "give those that the searcher returned")
            if number in self.review.source_ids:
                raise self.wrong(f"candidate {number}, which is the review itself", "other articles",
                                 "give those that the searcher returned")
            found.setdefault(number, replace(value, corpus_id=number, title=self.data.corpus[number].title))
        return tuple(found.values())
