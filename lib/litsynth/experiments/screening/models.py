"""Explicit screening by a model beside the trained screener, on the candidates that the model's own queries found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from litsynth.experiments.screening.learning import OPERATING_POINTS
from litsynth.experiments.screening.screening import Bench, failing_criteria
from litsynth.experiments.store import Run
from litsynth.llm import Budget, open_model
from litsynth.records import LanguageModel, Report, Review, Usage
from litsynth.retrieval import protocol_query
from litsynth.retrieval.hybrid import HybridRetriever
from litsynth.scoring.screening import Decisions, criterion_errors, decisions_of
from litsynth.scoring.selection import parse_selection
from litsynth.systems import open_system
from litsynth.systems.screening_model import FittedRanker
from litsynth.systems.screening_steps import SearchingCandidates

_DECISION_COLUMNS = ["review", "article", "relevant", "status", "include", "criterion", "fails", "asked",
                     "trained_include", "trained_chance"]
_COUNT_COLUMNS = ["review", "screener", "candidates", "relevant", "decided", "unparsed", "failed", "tp", "fp", "fn",
                  "tn", "recall", "precision"]


def screen_by_model(run: Run, bench: Bench | None = None) -> list[dict[str, Any]]:
    """Let the run's model screen its reviews; returns one item a review, none when no model was asked for.

    What a model wrote is kept in the item on synthetic data only, as it may quote articles.
    """
    chosen = run.parameters
    if not chosen.model:
        return []
    bench = bench or Bench(run)
    reviews = sorted(run.dataset.split("test").values(), key=lambda review: review.id)[:chosen.model_reviews]
    cap = Budget(tokens=chosen.token_cap) if chosen.token_cap else None
    with open_model(chosen.model, cap=cap) as model:
        def work() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
            for review in reviews:
                yield f"model/{chosen.model}/{review.id:09d}", lambda review=review: _item(run, bench, review, model)

        run.record(weak_model=model.weak, models={chosen.model: model.identity})
        items = run.compute(work(), stage=f"screen with {model.name}")
    run.record(usage=Usage(sum(item["usage"]["prompt_tokens"] for item in items),
                           sum(item["usage"]["completion_tokens"] for item in items),
                           any(item["usage"]["estimated"] for item in items)))
    return items


def _item(run: Run, bench: Bench, review: Review, model: LanguageModel) -> dict[str, Any]:
    chosen, data = run.parameters, run.dataset
    system = open_system("screening", top_k=chosen.model_candidates, batch_size=chosen.model_batch)
    parts = list(bench.signals.values())
    retriever = HybridRetriever("fused", parts) if len(parts) > 1 else parts[0]
    searcher = SearchingCandidates(protocol_query(review), retriever, data.corpus, tuple(review.source_ids))
    report: Report = system.review(review, searcher, model)
    details = report.details
    keep = data.synthetic
    titles = [{"corpus_id": candidate.corpus_id, "title": candidate.title} for candidate in report.candidates]
    selection = parse_selection(report.text, titles) if report.text else None
    item: dict[str, Any] = {
        "review": review.id, "status": report.status, "reason": report.reason, "model": report.model,
        "shown": [candidate.corpus_id for candidate in report.candidates],
        "relevant": sorted(set(data.gold[review.id].included_ids) - set(review.source_ids)),
        "decisions": [decision.as_dict(keep_text=keep) for decision in details.get("decisions", ())],
        "selected": list(selection.included_ids) if selection and selection.resolved else None,
        "flow": details.get("flow", {}), "pooled": details.get("pooled", []),
        "effects": list(details.get("effects", ())),
        "unknown_ids": details["unknown_ids"], "contradicted_ids": details["contradicted_ids"],
        "failures": details["failures"], "unread": details["unread"] if keep else len(details["unread"]),
        "calls": details["calls"], "prompt_version": details["prompt_version"],
        "fails": {str(article): why for article, why in failing_criteria(data, review.id).items()},
        "usage": {"prompt_tokens": report.usage.prompt_tokens, "completion_tokens": report.usage.completion_tokens,
                  "estimated": report.usage.estimated, "cost": report.usage.cost},
        "trained": _trained(bench, review, report),
    }
    if keep:
        item |= {"queries": details.get("queries", []), "report": report.text}
    return {**item, "retry": True} if details["retry"] else item


def _trained(bench: Bench, review: Review, report: Report) -> dict[str, Any]:
    """Return what the trained screener makes of the very candidates that the model screened."""
    if not report.candidates:
        return {"chances": [], "threshold": None}
    learned = bench.learned_on_train
    chances = FittedRanker(learned.model, bench.signals).probabilities(review, report.candidates)
    return {"chances": chances.tolist(), "threshold": learned.thresholds[OPERATING_POINTS[1]]}


def model_tables(run: Run, items: list[dict[str, Any]]) -> pd.DataFrame:
    """Return counts a review and screener, on the same candidates; saves `model_counts` and `model_decisions`.

    Candidates without a decision are neither included nor excluded: they have their own columns and leave precision and
    recall, whose denominators are therefore tp + fp and tp + fn.
    """
    decisions, counts = [], []
    for item in items:
        relevant, shown = set(item["relevant"]), item["shown"]
        by_id = {row["corpus_id"]: row for row in item["decisions"]}
        threshold = item["trained"]["threshold"]
        chances = dict(zip(shown, item["trained"]["chances"], strict=True))
        for number in shown:
            row = by_id[number]
            decisions.append([item["review"], number, number in relevant, row["status"], row["include"],
                              row["criterion"], item["fails"].get(str(number)), row["asked"],
                              chances[number] >= threshold, chances[number]])
        decided = [number for number in shown if by_id[number]["status"] == "decided"]
        wanted = [number for number in decided if by_id[number]["include"]]
        others = [sum(by_id[number]["status"] == status for number in shown) for status in ("unparsed", "failed")]
        counts.append(_count_row(item, item["model"], len(decided), others, decisions_of(decided, wanted, relevant)))
        trained = [number for number in shown if chances[number] >= threshold]
        counts.append(_count_row(item, "trained, best F1", len(shown), [0, 0], decisions_of(shown, trained, relevant)))
    run.save_table("model_decisions", pd.DataFrame(decisions, columns=_DECISION_COLUMNS).astype(
        {"include": "boolean", "trained_include": "boolean"}))
    frame = pd.DataFrame(counts, columns=_COUNT_COLUMNS)
    run.save_table("model_counts", frame)
    return frame


def _count_row(item: dict[str, Any], screener: str, decided: int, others: list[int], made: Decisions) -> list[Any]:
    shown = item["shown"]
    return [item["review"], screener, len(shown), len(set(shown) & set(item["relevant"])), decided, *others, made.tp,
            made.fp, made.fn, made.tn, made.recall, made.precision]


def model_criteria(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, by criterion, the annotated candidates that the model included, and those it excluded for that reason."""
    rows: dict[str, dict[str, Any]] = {}
    for item in items:
        decided = [row for row in item["decisions"] if row["status"] == "decided"]
        fails = {int(number): why for number, why in item["fails"].items()}
        named = {d["corpus_id"]: d["criterion"] for d in decided}
        for row in criterion_errors(list(named), [d["corpus_id"] for d in decided if d["include"]], fails, named):
            kept = rows.setdefault(row.criterion, {"screener": item["model"], "point": "decisions",
                                                   "criterion": row.criterion, "candidates": 0, "included": 0,
                                                   "named": 0})
            kept["candidates"] += row.candidates
            kept["included"] += row.included
            kept["named"] += row.named or 0
    return [rows[name] for name in sorted(rows)]
