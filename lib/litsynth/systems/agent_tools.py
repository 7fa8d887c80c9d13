"""Task-scoped search and fetch: all that an agent may see of a corpus while it works on one review."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from litsynth.errors import LitsynthError, ParameterError, unknown_name
from litsynth.llm.fencing import one_line, shorten
from litsynth.records import Article, Candidate, Ranking, Review
from litsynth.retrieval import protocol_query
from litsynth.retrieval.oracle import oracle_ranking
from litsynth.systems.agent_prompts import build_agent_prompt
from litsynth.systems.agent_replies import FetchReply, SearchReply

__all__ = ["PUBLISHED_SETTINGS", "AgentCorpusTools", "CorpusPermissionError", "ToolBudgetError", "ToolLimits",
           "build_agent_prompt"]

LONGEST_QUERY = 8000  # characters; protocol queries stay far below
RECORD = "record"  # the section that stands for title, abstract and all sections together
ABSTRACT = "abstract"

# The published settings of the two agents that the benchmark ran; what is left out here is the default below.
PUBLISHED_SETTINGS: Mapping[str, Mapping[str, int]] = {
    "gpt-researcher": {"search_abstract_characters": 4000, "fetch_characters": 6000, "max_fetch_characters": 6000},
    "open-deep-research": {"search_abstract_characters": 2500, "fetch_characters": 3000, "max_fetch_characters": 12000,
                           "max_searches": 10, "max_fetches": 100},
}


class CorpusPermissionError(LitsynthError, PermissionError):
    """A record that this task's searches have not returned."""


class ToolBudgetError(LitsynthError):
    """A call for which the task has no budget left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """What one task may see: records a search, distinct articles, characters, and calls (None: as many as it likes).

    `search_abstract_characters` cuts each abstract in search results (None: not at all), `fetch_characters` is the
    length of a chunk where none is asked for, and `max_fetch_characters` the longest that may be asked for.
    """

    k: int = 20
    max_distinct_articles: int = 200
    search_abstract_characters: int | None = 4000
    fetch_characters: int = 6000
    max_fetch_characters: int = 12000
    max_searches: int | None = None
    max_fetches: int | None = None

    def __post_init__(self) -> None:
        optional = ("search_abstract_characters", "max_searches", "max_fetches")
        for field in fields(self):
            value, least = getattr(self, field.name), 0 if field.name in optional else 1
            if value is None and field.name in optional:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(f"{field.name} is {value!r}", expected=f"a whole number of at least {least}",
                                     remedy=f"choose another `{field.name}`")
        if self.fetch_characters > self.max_fetch_characters:
            raise ParameterError(
                f"fetch_characters is {self.fetch_characters}, max_fetch_characters {self.max_fetch_characters}",
                expected="a usual chunk that is not longer than the longest", remedy="raise `max_fetch_characters`")


class AgentCorpusTools:
    """Search and fetch for one task, with what the task has been shown as its state.

    Every search leaves out the review's own records before the ranking is cut, returns at most `k` records and shows no
    further article once `max_distinct_articles` have been shown; those may come again. A record can be fetched only
    after a search of this task returned it. Failed calls use up no budget. `trace` has one step for every call, failed
    ones too, which `on_call` is given as they end. Calls from several threads are served one at a time.

    An HNSW retriever is searched with its setting for agents. `oracle_ids` puts these articles in front of every
    result (labels: `uses_gold` is then true). `limits` are the fields of `ToolLimits`.
    """

    def __init__(self, retriever: Any, review: Review, *, corpus: Mapping[int, Article],
                 oracle_ids: Iterable[int] | None = None, on_call: Callable[[Mapping[str, Any]], None] | None = None,
                 **limits: Any) -> None:
        known = [field.name for field in fields(ToolLimits)]
        for name in limits:
            if name not in known:
                raise unknown_name("limit of the agent's tools", name, known)
        self.limits = ToolLimits(**limits)
        hnsw = getattr(retriever, "kind", "") == "hnsw"
        self.retriever = retriever.with_ef_search("agent") if hnsw else retriever
        self.review, self.query = review, protocol_query(review)
        self._oracle_ids = None if oracle_ids is None else tuple(oracle_ids)
        self._corpus, self._on_call, self._lock = corpus, on_call, threading.RLock()
        self._shown: dict[int, Candidate] = {}
        self._fetched: dict[int, None] = {}
        self._used = {"search": 0, "fetch": 0}
        self._trace: list[Mapping[str, Any]] = []

    @property
    def uses_gold(self) -> bool:
        """Whether labels decided the order of results."""
        return self._oracle_ids is not None

    @property
    def mode(self) -> str:
        """`oracle` where labels decided the order of results, else `actual`."""
        return "oracle" if self.uses_gold else "actual"

    @property
    def trace(self) -> tuple[Mapping[str, Any], ...]:
        """Every call so far: tool, arguments, ids returned, seconds, and the problem of a failed one."""
        return tuple(self._trace)

    @property
    def shown_ids(self) -> tuple[int, ...]:
        """The distinct articles that searches have returned, in the order of their first appearance."""
        return tuple(self._shown)

    @property
    def fetched_ids(self) -> tuple[int, ...]:
        """The distinct articles that were fetched, in order."""
        return tuple(self._fetched)

    def candidates(self, k: int | None = None) -> tuple[Candidate, ...]:
        """Return the articles shown so far (the first `k`), in the order of their first appearance, ranks from 1."""
        return tuple(self._shown.values())[:k]

    @property
    def remaining(self) -> dict[str, int | None]:
        """What is left of the budget; None where a kind of call is not limited."""
        most = {"search": self.limits.max_searches, "fetch": self.limits.max_fetches}
        left = {tool: None if limit is None else limit - self._used[tool] for tool, limit in most.items()}
        return {"distinct_articles": self.limits.max_distinct_articles - len(self._shown),
                "searches": left["search"], "fetches": left["fetch"]}

    def search(self, query: str, k: int | None = None) -> SearchReply:
        """Return the records that match `query` best, at most `k` (None: the task's k, which is also the most).

        Raises `ParameterError` for a bad argument and `ToolBudgetError` when no search is left.
        """
        with self._step("search", {"query": query, "k": k}) as step:
            asked = self.limits.k if k is None else _whole("k", k)
            words = _words(query)
            self._spend("search", self.limits.max_searches)
            depth = min(asked, self.limits.k)
            records, new, withheld = self._admit(self._ranking(words, depth))
            step.update(returned=[record["corpus_id"] for record in records], new=new, withheld=withheld)
            return SearchReply(tuple(records), tuple(self._search_notes(asked, depth, records, withheld)),
                               self.remaining)

    def fetch(self, corpus_id: int | str, section: str | int | None = None, chunk: int = 1,
              chunk_chars: int | None = None) -> FetchReply:
        """Return one chunk of a record that a search of this task has returned; chunks count from 1.

        `section`: nothing for the whole record, `abstract`, or the number or heading of a section of the article. The
        chunks of a section, joined, are its text. A longer chunk than allowed is cut to what is allowed, which the
        reply says. Raises `CorpusPermissionError` for any other record (and does not tell whether it exists),
        `ParameterError` for a bad argument, and `ToolBudgetError` when no fetch is left.
        """
        arguments = {"corpus_id": corpus_id, "section": section, "chunk": chunk, "chunk_chars": chunk_chars}
        with self._step("fetch", arguments) as step:
            number, wanted = _corpus_id(corpus_id), _whole("chunk", chunk)
            asked = self.limits.fetch_characters if chunk_chars is None else _whole("chunk_chars", chunk_chars)
            if number not in self._shown:
                raise CorpusPermissionError(
                    f"Corpus ID {number} was not returned by a search of this task",
                    expected="a Corpus ID from the search results of this task", remedy="search for the article first")
            size = min(asked, self.limits.max_fetch_characters)
            article = self._corpus[number]
            name, text = _section(article, section)
            chunks = max(1, -(-len(text) // size))
            if wanted > chunks:
                raise ParameterError(f"chunk is {wanted}, but {name} of Corpus ID {number} has {chunks} of {size} "
                                     "characters", expected=f"a number from 1 to {chunks}")
            self._spend("fetch", self.limits.max_fetches)
            self._fetched[number] = None
            part = text[(wanted - 1) * size:wanted * size]
            step.update(returned=[number], characters=len(part))
            notes = [f"chunk_chars is at most {size}"] if asked > size else []
            return FetchReply(number, article.title, article.year, name, wanted, chunks, part,
                              tuple(_section_names(article)), tuple(notes), self.remaining)

    def refuse(self, tool: str, arguments: Mapping[str, Any], error: LitsynthError) -> None:
        """Put a call into the trace that was refused before it reached a tool, and raise its error."""
        with self._step(shorten(tool, 80), {"arguments": repr(dict(arguments))}):
            raise error

    def _ranking(self, query: str, depth: int) -> Ranking:
        if self._oracle_ids is None:
            return self.retriever.search(query, depth, exclude=self.review.source_ids)
        return oracle_ranking(self.retriever, query, depth, included_ids=self._oracle_ids,
                              exclude=self.review.source_ids)

    def _admit(self, ranking: Ranking) -> tuple[list[dict[str, Any]], list[int], int]:
        """Return the records to show, the ids that are new to the task, and how many the ceiling held back."""
        records, new, withheld = [], [], 0
        for number, score in zip(ranking.ids.tolist(), ranking.scores.tolist(), strict=True):
            article = self._corpus[number]
            if number not in self._shown:
                if len(self._shown) >= self.limits.max_distinct_articles:
                    withheld += 1
                    continue
                self._shown[number] = Candidate(number, article.title, article.abstract, article.year,
                                                len(self._shown) + 1, score)
                new.append(number)
            whole = one_line(article.abstract or "")
            abstract = shorten(whole, self.limits.search_abstract_characters)
            records.append({"corpus_id": number, "title": article.title, "year": article.year, "abstract": abstract,
                            "abstract_cut": abstract != whole, "seen_before": number not in new})
        return records, new, withheld

    def _search_notes(self, asked: int, depth: int, records: Sequence[Any], withheld: int) -> Iterator[str]:
        if asked > depth:
            yield f"a search returns at most {depth} records"
        if withheld:
            yield (f"{withheld} further matches are withheld: this task has been shown its "
                   f"{self.limits.max_distinct_articles} distinct articles; those shown may come again")
        if not records and not withheld:
            yield "no record matches"

    def _spend(self, tool: str, limit: int | None) -> None:
        if limit is not None and self._used[tool] >= limit:
            raise ToolBudgetError(f"no {tool} is left: this task had {limit}", expected="no further call of this tool",
                                  remedy="finish with what was found")
        self._used[tool] += 1

    def _step(self, tool: str, arguments: Mapping[str, Any]) -> _Step:
        return _Step(self._lock, self._close, {"tool": tool, **_traceable(arguments), "returned": []})

    def _close(self, step: dict[str, Any]) -> None:
        kept = {"call": len(self._trace) + 1, **step, "left": self.remaining}
        self._trace.append(kept)
        if self._on_call:
            self._on_call(kept)

    def describe(self) -> dict[str, Any]:
        """Return what decides the results of a task: review, retriever, mode and limits."""
        return {"review_id": self.review.id, "retriever": self.retriever.name, "mode": self.mode,
                "uses_gold": self.uses_gold, "limits": asdict(self.limits)}


class _Step:
    """One call: alone on its task, timed, and in the trace however it ends."""

    def __init__(self, lock: Any, close: Callable[[dict[str, Any]], None], facts: dict[str, Any]) -> None:
        self._lock, self._close, self._facts = lock, close, facts

    def __enter__(self) -> dict[str, Any]:
        self._lock.acquire()
        self._begin = time.perf_counter()
        return self._facts

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> None:
        try:
            self._close({**self._facts, "problem": "" if error is None else str(error),
                         "error": None if kind is None else kind.__name__,
                         "seconds": round(time.perf_counter() - self._begin, 6)})
        finally:
            self._lock.release()


def _traceable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as JSON can hold them, whatever a client sent."""
    plain = (str, int, type(None))
    return {name: shorten(value, LONGEST_QUERY) if isinstance(value, str) else value if isinstance(value, plain)
            else repr(value)[:200] for name, value in arguments.items()}


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name} is {value!r}"[:200], expected="a whole number of at least 1")
    return value


def _words(query: Any) -> str:
    if not isinstance(query, str) or not query.strip():
        raise ParameterError(f"query is {query!r}"[:200], expected="words that the records wanted would contain")
    if len(query) > LONGEST_QUERY:
        raise ParameterError(f"query has {len(query)} characters", expected=f"at most {LONGEST_QUERY}",
                             remedy="ask for one thing at a time")
    return one_line(query)


def _corpus_id(value: Any) -> int:
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 20:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(f"corpus_id is {value!r}"[:200], expected="a Corpus ID, a whole number")
    return value


def _section_names(article: Article) -> list[str]:
    return [ABSTRACT, *(f"{number}: {one_line(part.heading) or part.name or 'section'}"
                        for number, part in enumerate(article.sections, start=1))]


def _section(article: Article, wanted: Any) -> tuple[str, str]:
    """Return name and text of one section, or of the whole record; raises `ParameterError` for an unknown one."""
    if wanted is not None and (isinstance(wanted, bool) or not isinstance(wanted, (str, int))):
        raise ParameterError(f"section is {wanted!r}"[:200], expected="a heading, a number, or nothing")
    key = one_line(str(wanted if wanted is not None else "")).casefold()
    if key in ("", RECORD):
        parts = [article.title, article.abstract, *(f"{part.heading}\n{part.text}" for part in article.sections)]
        return RECORD, "\n\n".join(part for part in parts if part)
    if key == ABSTRACT:
        return ABSTRACT, article.abstract or ""
    for number, part in enumerate(article.sections, start=1):
        heading = one_line(part.heading)
        if key in (str(number), heading.casefold(), part.name.casefold(), f"{number}: {heading}".casefold()):
            return heading or f"section {number}", part.text
    raise ParameterError(f"Corpus ID {article.id} has no section {str(wanted)[:80]!r}",
                         expected="nothing for the whole record, or one of " + "; ".join(_section_names(article))[:600])
