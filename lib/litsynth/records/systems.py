"""What systems are given (searchers) and what they return (reports and responses)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from litsynth.records.articles import Passage
from litsynth.records.models import Usage
from litsynth.records.results import Ranking, Status


class Retriever(Protocol):
    """Ranks the corpus of one data set for a query."""

    name: str

    def search(self, query: str, k: int, *, exclude: Iterable[int] = (),
               allowed: Iterable[int] | None = None) -> Ranking:
        """Return at most `k` (1 or more) articles, best first; excluded rows leave before the ranking is cut."""
        ...


class Searcher(Protocol):
    """Searches the candidate papers of one question; the only way in which a LitBench system sees them."""

    paper_ids: tuple[str, ...]

    def search(self, query: str, k: int) -> list[Passage]:
        """Return the `k` best passages for `query`, best first, with positive scores only."""
        ...

    def read(self, paper_id: str) -> list[Passage]:
        """Return all passages of a candidate paper in reading order; raises `KeyError` for any other paper."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """One retrieved article as a system sees it."""

    corpus_id: int
    title: str
    abstract: str
    year: int | None = None
    rank: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Quotation:
    """A verbatim passage that a system offers as evidence, and the paper it says it is from."""

    paper_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about: queries in order, passages or papers seen, calls made, tokens and seconds."""

    queries: tuple[str, ...] = ()
    seen_paper_ids: tuple[str, ...] = ()
    passages_seen: int = 0
    calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    steps: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """A LitBench system's answer to one question over one candidate set.

    `refused` is the explicit refusal; `refusals` holds one for each fact of a two-paper question (empty when the
    system declines or answers as a whole). `status` is scored (something to score), refused, unparsed or failed.
    """

    question_id: str
    system: str
    answer: str
    refused: bool
    paper_ids: tuple[str, ...] = ()
    quotations: tuple[Quotation, ...] = ()
    refusals: tuple[bool, ...] = ()
    trace: Trace = Trace()
    status: Status = "scored"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A MetaSyn system's review: the report as written, the candidates it was shown, and what it cost.

    `included_ids` is None when the final list has to be read from `text` by the selection parser.
    """

    review_id: int
    system: str
    mode: str
    text: str
    candidates: tuple[Candidate, ...]
    query: str = ""
    model: str = ""
    included_ids: tuple[int, ...] | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    status: Status = "scored"
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
