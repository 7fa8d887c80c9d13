"""One review outside of a run: what `litsynth rag` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from litsynth import __version__
from litsynth.experiments.oracle_rag.calibration import Calibrator
from litsynth.experiments.oracle_rag.pools import ranked_candidates
from litsynth.experiments.oracle_rag.reviewing import Reading, read_report
from litsynth.experiments.oracle_rag.trained import Teacher, check_teachers
from litsynth.llm import open_model
from litsynth.records import Dataset, Report, Review
from litsynth.retrieval import open_retriever
from litsynth.retrieval.exclusion import check_depth
from litsynth.systems import open_system
from litsynth.systems.extractive_review import ExtractiveReview
from litsynth.systems.screening_steps import SearchingCandidates


def write_review(dataset: Dataset, review: Review, *, retriever: str, top_k: int, mode: str, system: str, profile: str,
                 index: Path | None, device: str, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the report of one review and its results.json, which the evaluator reads with either selection source.

    `options` are those of `OnePass`; `screening` takes its seed and abstract_characters. The systems without a model
    learn from the data set's train reviews, other than this one; `extractive` has defaults where there are none. A
    report without a readable list has no included articles in the results, so that nothing takes it for an empty
    selection.
    """
    check_depth(top_k)
    opened: Any = open_retriever(retriever, dataset, index, device=device)
    searcher: Any = ranked_candidates(dataset, review, opened, top_k, mode)
    weak, without = False, review.id if review.split == "train" else None
    if system == "extractive":
        chosen = Calibrator(dataset, opened, top_k).choose(without=without)
        report = (chosen.system(top_k) if chosen else ExtractiveReview(top_k=top_k)).review(review, searcher, None)
        calibration = chosen.as_dict() if chosen else "defaults: the data set has no train reviews"
        report = replace(report, details={**report.details, "calibration": calibration})
    elif system == "screener":
        check_teachers(dataset, review.split)
        report = Teacher(dataset, top_k, device).system(without=without).review(review, searcher, None)
    else:
        if system == "screening":
            options = {name: options[name] for name in ("seed", "abstract_characters") if options.get(name) is not None}
            if mode == "actual":
                searcher = SearchingCandidates(searcher.query, opened, dataset.corpus, tuple(review.source_ids))
        with open_model(profile) as model:
            weak = model.weak
            report = open_system(system, top_k=top_k, **options).review(review, searcher, model)
        if "decisions" in report.details:
            decisions = [decision.as_dict(keep_text=True) for decision in report.details["decisions"]]
            report = replace(report, details={**report.details, "decisions": decisions})
    found = read_report(report)
    return report.text, _results(dataset, found, opened, top_k=top_k, mode=mode, weak=weak,
                                 seed=options.get("seed"), index=index)


def _results(dataset: Dataset, reading: Reading, retriever: Any, *, top_k: int, mode: str, weak: bool,
             seed: int | None, index: Path | None) -> dict[str, Any]:
    report, chosen = reading.report, reading.selection
    usage = report.usage
    details = {name: value for name, value in report.details.items() if name not in ("truncation", "retry",
                                                                                    "prompt_version")}
    found: dict[str, Any] = {} if chosen is None else {
        "included_article_ids": list(chosen.included_ids),
        "unmatched_included_article_ids": list(chosen.unmatched_ids),
        "unmatched_included_entries": list(chosen.unmatched_entries),
        "selection": {"method": chosen.method if report.included_ids is None else "system",
                      "heading": chosen.heading, "strict": chosen.strict, "withdrawn": list(chosen.withdrawn),
                      "contested_ids": list(chosen.contested_ids)},
    }
    return {
        "review_id": report.review_id, "system": report.system, "model": report.model or None, "weak_model": weak,
        "retriever": retriever.name, "mode": mode, "uses_gold": mode == "oracle", "query": report.query,
        "top_k": top_k, "seed": seed,
        "dataset": {"name": dataset.name, "checksum": dataset.checksum, "revision": dataset.revision,
                    "synthetic": dataset.synthetic},
        "prompt_version": report.details.get("prompt_version"),
        "token_usage": _usage(report), "status": reading.status, "reason": reading.reason,
        "truncated": report.details.get("truncation"), "seconds": round(report.seconds, 3),
        "retrieved_articles": [{"rank": c.rank, "corpus_id": c.corpus_id, "title": c.title, "year": c.year,
                                "score": c.score} for c in report.candidates],
        "retrieved_article_ids": list(reading.shown_ids), **found, "usage": {"cost": usage.cost},
        "details": {**details, "index": {"directory": None if index is None else str(index),
                                         "identity": retriever.identity}},
        "litsynth_version": __version__,
    }


def _usage(report: Report) -> dict[str, Any] | None:
    usage = report.usage
    if not report.model:
        return None
    return {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.prompt_tokens + usage.completion_tokens, "estimated": usage.estimated}
