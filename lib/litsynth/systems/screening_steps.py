"""The steps of explicit screening: search with several queries, merge, decide on every candidate, extract effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol

from litsynth.errors import ParameterError
from litsynth.llm.fencing import one_line
from litsynth.records import Article, Candidate, Completion, LanguageModel, ModelRequest, Ranking, Retriever, Usage
from litsynth.retrieval.hybrid import RANK_CONSTANT
from litsynth.systems.screening_prompts import NO_CRITERION

CHARACTERS = 20_000  # of a query that a model wrote, far beyond any sensible one


class QuerySearcher(Protocol):
    """A MetaSyn searcher that also takes queries of one's own."""

    query: str
    mode: str

    def candidates(self, k: int) -> tuple[Candidate, ...]:
        """Return the first `k` candidates for the protocol's query."""
        ...

    def search(self, query: str, k: int) -> tuple[Candidate, ...]:
        """Return the first `k` candidates for a query, best first; the review's own records are never among them."""
        ...


@dataclass(frozen=True, eq=False)
class SearchingCandidates:
    """Searches one corpus for one review with any query; `exclude` holds the review's own records."""

    query: str
    retriever: Retriever
    articles: Mapping[int, Article]
    exclude: tuple[int, ...] = ()
    mode: str = "actual"

    def candidates(self, k: int) -> tuple[Candidate, ...]:
        """Return the first `k` candidates for the protocol's query."""
        return self.search(self.query, k)

    def search(self, query: str, k: int) -> tuple[Candidate, ...]:
        """Return the first `k` (at least 1) candidates for a query; a blank one finds nothing."""
        if k < 1:
            raise ParameterError(f"k = {k}", expected="at least 1", remedy="raise it")
        text = one_line(query)[:CHARACTERS]
        return candidates_of(self.retriever.search(text, k, exclude=self.exclude), self.articles) if text else ()


def candidates_of(ranking: Ranking, articles: Mapping[int, Article]) -> tuple[Candidate, ...]:
    """Return ranked articles as candidates, ranks counted from 1."""
    pairs = zip(ranking.ids.tolist(), ranking.scores.tolist(), strict=True)
    found = ((articles[number], rank, score) for rank, (number, score) in enumerate(pairs, start=1))
    return tuple(Candidate(article.id, article.title, article.abstract, article.year, rank, score)
                 for article, rank, score in found)


def merge(lists: Sequence[Sequence[Candidate]], limit: int) -> tuple[tuple[Candidate, ...], int]:
    """Return the best `limit` distinct candidates of several lists by reciprocal rank, and how many there were.

    Score: the sum of 1 / (60 + rank) over the lists (see `retrieval.hybrid`); ties by ID.
    """
    found: dict[int, Candidate] = {}
    scores: dict[int, float] = {}
    for own in lists:
        for rank, candidate in enumerate(own, start=1):
            found.setdefault(candidate.corpus_id, candidate)
            scores[candidate.corpus_id] = scores.get(candidate.corpus_id, 0.0) + 1.0 / (RANK_CONSTANT + rank)
    if not found:
        return (), 0
    ranking = Ranking.of(list(scores), list(scores.values()), limit)
    return tuple(replace(found[number], rank=rank, score=score) for rank, (number, score) in enumerate(
        zip(ranking.ids.tolist(), ranking.scores.tolist(), strict=True), start=1)), len(found)


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided on one candidate, and why.

    `status`: decided; unparsed (asked twice without a usable answer); failed (no answer from the endpoint; `reason`
    says why). `criterion` is the PI/ECO criterion that the candidate fails, or none. `asked` counts questions about it.
    """

    corpus_id: int
    status: Literal["decided", "unparsed", "failed"]
    include: bool | None
    criterion: str
    reason: str
    asked: int

    def as_dict(self, *, keep_text: bool) -> dict[str, Any]:
        """Return it as JSON-ready values; the model's reason only with `keep_text`, as it may quote an article."""
        made = asdict(self)
        return made if keep_text or self.status != "decided" else {**made, "reason": ""}


@dataclass
class Account:
    """What a review's screening has cost and what went wrong with answers, gathered over all steps."""

    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    unknown_ids: list[int] = field(default_factory=list)
    contradicted_ids: list[int] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def ask(self, llm: LanguageModel, requests: Sequence[ModelRequest], stage: str) -> list[Completion]:
        """Ask all requests and count them; what failed and what could not be read is noted."""
        answers = llm.complete_many(requests, stage=stage) if requests else []
        for answer in answers:
            self.calls += 1
            self.usage = self.usage + answer.usage
            if answer.status != "ok":
                kept = self.failures if answer.status == "failed" else self.unread
                kept.append(f"{stage}: {answer.status}: {answer.reason}".rstrip(": "))
        return answers


def read_decisions(answer: Mapping[str, Any], batch: Sequence[Candidate], account: Account,
                   asked: int) -> dict[int, Decision]:
    """Return the usable decisions of one answer by ID.

    IDs that are not in the batch are noted and never repaired. Two entries on one candidate that differ in the decision
    are noted and count as no answer; the first of two that agree counts.
    """
    known = {candidate.corpus_id for candidate in batch}
    made: dict[int, Decision] = {}
    contradicted: set[int] = set()
    for entry in answer["decisions"]:
        number = entry["id"]
        if number not in known:
            account.unknown_ids.append(number)
        elif number in made and made[number].include != entry["include"]:
            contradicted.add(number)
        elif number not in made:
            made[number] = Decision(number, "decided", bool(entry["include"]), entry["criterion"],
                                    one_line(entry["reason"]), asked)
    account.contradicted_ids.extend(sorted(contradicted))
    return {number: decision for number, decision in made.items() if number not in contradicted}


def without_answer(candidate: Candidate, failure: str, asked: int) -> Decision:
    """Return the decision on a candidate that got none: failed with the endpoint's reason, else unparsed."""
    if failure:
        return Decision(candidate.corpus_id, "failed", None, NO_CRITERION, failure, asked)
    reason = f"no usable answer in {asked} questions"
    return Decision(candidate.corpus_id, "unparsed", None, NO_CRITERION, reason, asked)
