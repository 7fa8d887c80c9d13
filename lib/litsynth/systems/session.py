"""One question being answered: what was asked, seen and spent so far, and the response it ends in."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litsynth.errors import DataError, ParameterError
from litsynth.llm.fencing import one_line
from litsynth.records import (
    Completion,
    LanguageModel,
    ModelRequest,
    Passage,
    QuestionTask,
    Quotation,
    Response,
    Searcher,
    Trace,
    Usage,
)
from litsynth.records.results import Status

KEPT_TEXT = 2000  # characters of an unreadable reply that the trace keeps
WEAK_LIMIT = 240  # characters a text for models marked weak, which ramble to the end of their budget otherwise


class Ended(Exception):
    """The question cannot be carried on; `response` says how it ended."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.reason)
        self.response = response


@dataclass
class Session:
    """Counts and keeps everything that happens while one system answers one question."""

    task: QuestionTask
    system: str
    searcher: Searcher
    llm: LanguageModel
    queries: list[str] = field(default_factory=list)
    steps: list[Mapping[str, Any]] = field(default_factory=list)
    seen: dict[tuple[str, int, int], None] = field(default_factory=dict)
    shown_papers: dict[str, None] = field(default_factory=dict)
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    begin: float = field(default_factory=time.perf_counter)

    def search(self, query: str, k: int) -> list[Passage]:
        """Search the candidates; a search service that fails ends the question as `failed`."""
        self.queries.append(query)
        try:
            passages = self.searcher.search(query, k)
        except (DataError, OSError) as error:
            raise Ended(self.end("failed", f"search failed: {error}")) from error
        self.note_seen(passages)
        return passages

    def note_seen(self, passages: Sequence[Passage]) -> None:
        """Remember passages that a search or a read returned."""
        self.seen.update(dict.fromkeys((p.paper_id, p.section, p.start) for p in passages))

    def ask(self, request: ModelRequest) -> Completion:
        """Ask the model; a call that fails ends the question as `failed`, a withheld answer as `unparsed`.

        A content filter is part of the system under test, so what it withholds stays in the denominators.
        """
        completion = self.llm.complete(request)
        self.calls += 1
        self.usage = self.usage + completion.usage
        if completion.status in ("failed", "filtered"):
            raise Ended(self.end("failed" if completion.status == "failed" else "unparsed",
                                 f"model call {completion.status}: {completion.reason}"))
        return completion

    def trace(self) -> Trace:
        """Return what has happened so far."""
        return Trace(tuple(self.queries), tuple(dict.fromkeys(key[0] for key in self.seen)), len(self.seen), self.calls,
                     self.usage, time.perf_counter() - self.begin, tuple(self.steps))

    def end(self, status: Status, reason: str) -> Response:
        """Return a response without an answer; it is never a refusal."""
        return Response(self.task.id, self.system, "", False, trace=self.trace(), status=status, reason=reason)

    def respond(self, answer: Mapping[str, Any]) -> Response:
        """Turn a validated final answer (`findings_schema`) into a response.

        A refused entry contributes its refusal only. Papers cited without having been shown to the model stay as
        the model named them, and `reason` lists them.
        """
        findings = answer["findings"]
        refusals = tuple(bool(finding["refused"]) for finding in findings)
        given = [finding for finding in findings if not finding["refused"]]
        cited = tuple(dict.fromkeys(one_line(f["paper_id"]) for f in given if f["paper_id"].strip()))
        unknown = [paper_id for paper_id in cited if paper_id not in self.shown_papers]
        problems = [f"cited without having been supplied: {', '.join(unknown)}"] if unknown else []
        if self.task.sources == 2 and len(given) == 2 and len(cited) < 2:
            problems.append("one paper for both facts")
        if any(not finding["answer"].strip() for finding in given):
            problems.append("an answer is empty without being refused")
        return Response(
            self.task.id, self.system, "\n".join(finding["answer"].strip() for finding in given), all(refusals), cited,
            tuple(Quotation(one_line(f["paper_id"]), f["quotation"].strip()) for f in given if f["quotation"].strip()),
            refusals if self.task.sources == 2 else (), self.trace(), "refused" if all(refusals) else "scored",
            "; ".join(problems),
        )


def require_model(system: str, llm: LanguageModel | None) -> LanguageModel:
    """Return the model; raises `ParameterError` where none was given."""
    if llm is None:
        raise ParameterError(f"system {system!r} was given no model", expected="a language model",
                             remedy="name a model profile, or use the system 'extractive', which needs none")
    return llm


def text_limit(chosen: int | None, llm: LanguageModel) -> int | None:
    """Return the longest text in an answer, in characters: as chosen, else `WEAK_LIMIT` for a weak model, else None."""
    return chosen if chosen is not None else WEAK_LIMIT if llm.weak else None
