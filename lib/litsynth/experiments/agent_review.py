"""One review by an agent: by our own, or by any other through its tools' trace and the report that it wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litsynth import __version__
from litsynth.errors import DataError, unknown_name
from litsynth.llm import open_model
from litsynth.records import Candidate, Dataset, Report, Review
from litsynth.retrieval import open_retriever, protocol_query
from litsynth.systems import open_system
from litsynth.systems.agent_tools import AgentCorpusTools
from litsynth.systems.candidates import MODES

# What a small demonstration model can take in; what is given by name wins.
WEAK_LIMITS: Mapping[str, int] = {"k": 4, "search_abstract_characters": 240, "fetch_characters": 800, "max_searches": 3,
                                  "max_fetches": 2}
WEAK_STEPS = 8


@dataclass(frozen=True)
class AgentReview:
    """What `litsynth agent` writes: the report, its results.json, and the trace, one item a step or call."""

    report: str
    results: dict[str, Any]
    trace: tuple[dict[str, Any], ...]


def open_tools(dataset: Dataset, review: Review, retriever: Any, *, mode: str = "actual",
               on_call: Callable[[Mapping[str, Any]], None] | None = None,
               limits: Mapping[str, Any] | None = None) -> AgentCorpusTools:
    """Return fresh tools for one review; in `oracle` mode its reference articles come first in every search.

    Raises `DataError` in that mode for a review without a reference set.
    """
    if mode not in MODES:
        raise unknown_name("mode", mode, MODES)
    reference = None
    if mode == "oracle":
        from litsynth.experiments.oracle_rag.pools import reference_of  # brings drawing libraries along

        reference = reference_of(dataset, review)
    if mode == "oracle" and not reference:
        raise DataError(f"review {review.id} of {dataset.name} has no reference set, so there is no oracle order",
                        expected="a review with linked articles", remedy="use mode actual")
    return AgentCorpusTools(retriever, review, corpus=dataset.corpus, on_call=on_call, **(limits or {}),
                            oracle_ids=None if reference is None else sorted(reference))


def write_agent_review(dataset: Dataset, review: Review, *, retriever: str, profile: str, mode: str = "actual",
                       index: Path | None = None, device: str = "auto", kind: str | None = None,
                       limits: Mapping[str, Any] | None = None,
                       options: Mapping[str, Any] | None = None) -> AgentReview:
    """Let our agent work on one review; `limits` are those of `ToolLimits`, `options` those of `Agent`.

    For a weak model, what they leave out is `WEAK_LIMITS` and `WEAK_STEPS`. Answers that the completion cache has are
    not asked for again, so a run that was killed goes on where it stopped.
    """
    opened: Any = open_retriever(retriever, dataset, index, device=device, kind=kind)
    with open_model(profile) as model:
        weak = model.weak
        given = {**(WEAK_LIMITS if weak else {}), **(limits or {})}
        chosen = {**({"max_steps": WEAK_STEPS} if weak else {}), **(options or {})}
        tools = open_tools(dataset, review, opened, mode=mode, limits=given)
        report = open_system("agent", **chosen).review(review, tools, model)
    steps = tuple({"key": f"{number:06d}", **step} for number, step in enumerate(report.details["trace"], start=1))
    return AgentReview(report.text, _results(dataset, report, weak=weak, seed=chosen.get("seed", 0),
                                             identity=tools.retriever.identity, index=index), steps)


def review_from_trace(dataset: Dataset, review: Review, rows: Iterable[Mapping[str, Any]], text: str, *,
                      client: str | None = None, system: str = "agent", model: str = "") -> dict[str, Any]:
    """Return the results.json of an agent that worked through `litsynth serve-corpus`, from its trace and report.

    `client` names the task or session whose calls count; it may be left out where the trace has one. Raises `DataError`
    when the trace holds no call of that client for this review of this data set.
    """
    ours = [row for row in rows if row.get("review_id") == review.id and row.get("dataset") == dataset.checksum]
    clients = sorted({str(row["client"]) for row in ours})
    if (client not in clients) if client is not None else (len(clients) != 1):
        raise DataError(f"the trace has calls of {len(clients)} clients for review {review.id} of {dataset.name}"
                        + (f", none of them {client!r}" if client is not None else ""),
                        expected="one client" + (f", or the name of one: {', '.join(clients[:20])}" if clients else ""),
                        remedy="choose it with --client")
    calls = [row for row in ours if client in (None, row["client"])]
    shown = dict.fromkeys(number for row in calls for number in row.get("new", ()))
    articles = [dataset.corpus[number] for number in shown]
    candidates = tuple(Candidate(article.id, article.title, article.abstract, article.year, rank)
                       for rank, article in enumerate(articles, start=1))
    fetched = [row["returned"][0] for row in calls if row["tool"] == "fetch" and row["returned"]]
    details = {"tools": {key: calls[0][key] for key in ("review_id", "retriever", "mode", "uses_gold", "limits")},
               "fetched_ids": list(dict.fromkeys(fetched)), "calls": len(calls), "client": calls[0]["client"]}
    report = Report(review.id, system, str(calls[0]["mode"]), text, candidates, model=model,
                    query=protocol_query(review), details=details)
    return _results(dataset, report, weak=False, seed=None, identity=None, index=None)


def _results(dataset: Dataset, report: Report, *, weak: bool, seed: int | None, identity: Any,
             index: Path | None) -> dict[str, Any]:
    """Return what results.json holds, in the form of `litsynth rag`: an unreadable list leaves the selection out."""
    from litsynth.experiments.oracle_rag.reviewing import read_report

    reading = read_report(report)
    chosen, usage = reading.selection, report.usage
    tools = report.details["tools"]
    details = {name: value for name, value in report.details.items()
               if name not in ("trace", "retry", "prompt_version")}
    found: dict[str, Any] = {} if chosen is None else {
        "included_article_ids": list(chosen.included_ids),
        "unmatched_included_article_ids": list(chosen.unmatched_ids),
        "unmatched_included_entries": list(chosen.unmatched_entries),
        "selection": {"method": chosen.method, "heading": chosen.heading, "strict": chosen.strict,
                      "withdrawn": list(chosen.withdrawn), "contested_ids": list(chosen.contested_ids)},
    }
    spent = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
             "total_tokens": usage.prompt_tokens + usage.completion_tokens, "estimated": usage.estimated}
    return {
        "review_id": report.review_id, "system": report.system, "model": report.model or None, "weak_model": weak,
        "retriever": tools["retriever"], "mode": tools["mode"], "uses_gold": tools["uses_gold"], "query": report.query,
        "top_k": tools["limits"]["max_distinct_articles"], "seed": seed,
        "dataset": {"name": dataset.name, "checksum": dataset.checksum, "revision": dataset.revision,
                    "synthetic": dataset.synthetic},
        "prompt_version": report.details.get("prompt_version"), "token_usage": spent if spent["total_tokens"] else None,
        "status": reading.status, "reason": reading.reason, "seconds": round(report.seconds, 3),
        "retrieved_articles": [{"rank": candidate.rank, "corpus_id": candidate.corpus_id, "title": candidate.title,
                                "year": candidate.year, "score": candidate.score} for candidate in report.candidates],
        "retrieved_article_ids": list(reading.shown_ids), **found, "usage": {"cost": usage.cost},
        "details": {**details, "index": {"directory": None if index is None else str(index), "identity": identity}},
        "litsynth_version": __version__,
    }
