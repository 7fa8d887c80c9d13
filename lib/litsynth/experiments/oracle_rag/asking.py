"""Ask every system for every review in every mode, one resumable item each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from litsynth.errors import ParameterError
from litsynth.experiments.oracle_rag.calibration import Calibration, Calibrator
from litsynth.experiments.oracle_rag.naming import SystemName, read_name
from litsynth.experiments.oracle_rag.pools import ranked_candidates, reference_of
from litsynth.experiments.oracle_rag.released import release_checksum
from litsynth.experiments.oracle_rag.reviewing import Reading, item_of, read_report
from litsynth.experiments.retrieval_sweep.ranking import retriever_identity
from litsynth.experiments.store import Run
from litsynth.llm import Budget, BudgetExceeded, open_model
from litsynth.records import Dataset, LanguageModel, Report, Retriever, Review, Usage
from litsynth.retrieval import open_retriever
from litsynth.systems import open_system
from litsynth.systems.extractive_review import ExtractiveReview


def identities(parameters: Any, dataset: Dataset) -> Mapping[str, Any]:
    """Return what decides the results besides data and code: retriever, models, and the released table beside them."""
    if not dataset.reviews:
        raise ParameterError(f"data set {dataset.name!r} has no reviews",
                             expected="a data set in the MetaSyn shape", remedy="choose one with reviews and a corpus")
    names = [read_name(text) for text in parameters.systems]
    for what, given in (("systems", [name.label for name in names]), ("modes", parameters.modes)):
        if len(set(given)) != len(given):
            raise ParameterError(f"parameter {what!r} names one twice: {', '.join(given)}", expected="each once")
    if not dataset.split(parameters.split):
        splits = sorted({review.split for review in dataset.reviews.values()})
        raise ParameterError(f"data set {dataset.name!r} has no reviews in split {parameters.split!r}",
                             expected="a split with reviews: " + ", ".join(splits),
                             remedy="give -p split=all or another split")
    models = {}
    for name in names:
        if name.profile is not None:
            with open_model(name.profile) as model:
                models[name.profile] = model.identity
    return {"retriever": retriever_identity(parameters.retriever, "flat"), "models": models,
            "release": release_checksum(parameters.release)}


def chosen_reviews(run: Run) -> list[Review]:
    """Return the reviews of the run: those of its split in order of ID, at most `review_limit`."""
    reviews = sorted(run.dataset.split(run.parameters.split).values(), key=lambda review: review.id)
    return reviews[:run.parameters.review_limit]


@dataclass
class _Bench:
    """What the items of a run share, opened when the first of them needs it."""

    run: Run

    @cached_property
    def retriever(self) -> Retriever:
        return open_retriever(self.run.parameters.retriever, self.run.dataset, device=self.run.parameters.device)

    @cached_property
    def calibrator(self) -> Calibrator:
        return Calibrator(self.run.dataset, self.retriever, self.run.parameters.top_k)

    @cached_property
    def calibration(self) -> Calibration | None:
        return self.calibrator.choose()

    def system(self, name: SystemName, review: Review | None = None) -> Any:
        """Return a system for one review; a train review gets numbers that were chosen without it."""
        chosen = self.run.parameters
        if name.profile is None:
            trained = review is not None and review.split == "train"
            numbers = self.calibrator.choose(without=review.id) if trained else self.calibration
            return numbers.system(chosen.top_k) if numbers else ExtractiveReview(top_k=chosen.top_k)
        options: dict[str, Any] = {"top_k": chosen.top_k}
        if name.system == "one_pass":
            options |= {"truncate": chosen.truncation, "abstract_characters": chosen.abstract_characters,
                        "answer_tokens": chosen.answer_tokens, "seed": chosen.seed}
        return open_system(name.system, **options)

    def item(self, name: SystemName, mode: str, review: Review, model: LanguageModel | None) -> dict[str, Any]:
        data = self.run.dataset
        reference = reference_of(data, review)
        base = {"system": name.label, "mode": mode, "split": review.split}
        if not reference:
            empty = Report(review.id, name.system, mode, "", ())
            reading = Reading(empty, None, "failed", "no reference set")
            return {**base, **item_of(reading, reference, keep_text=False)}
        searcher = ranked_candidates(data, review, self.retriever, self.run.parameters.top_k, mode)
        try:
            report = self.system(name, review).review(review, searcher, model)
        except BudgetExceeded as error:
            error.run_status = "partial"  # type: ignore[attr-defined]  # what is finished is kept, a higher cap resumes
            raise
        # Reports quote titles, so only those over synthetic articles may go where runs are published.
        keep = model is not None and data.synthetic
        return {**base, **item_of(read_report(report), reference, keep_text=keep)}


def ask_reviews(run: Run) -> list[dict[str, Any]]:
    """Return the items of all systems, modes and reviews, ordered by key.

    A review without a reference set is `failed`, a report without a readable list `unparsed`; a call that got no answer
    is asked again when the run is repeated. Weights of the system without a model are chosen on the train split, for a
    train review on the others of it.
    """
    chosen = run.parameters
    run.record(uses_gold="oracle" in chosen.modes)
    bench, budget = _Bench(run), Budget(tokens=chosen.token_cap)
    names = [read_name(text) for text in chosen.systems]
    items: list[dict[str, Any]] = []
    for name in names:
        if name.profile is None:
            items += run.compute(_work(bench, name, None), stage=f"review with {name.label}")
            _record_calibration(run, bench)
            continue
        with open_model(name.profile, cap=budget) as model:
            workers = max(1, getattr(getattr(model, "profile", None), "concurrency", 1))
            items += run.compute(_work(bench, name, model), stage=f"review with {name.label}", workers=workers)
            run.record(models={name.label: {"name": model.name, "identity": model.identity, "weak": model.weak}})
            if model.weak:
                run.record(weak_model=True)
            version = getattr(bench.system(name), "prompt_version", None)
            run.record(prompts={name.label: version} if version else {})
    _record_use(run, items)
    return sorted(items, key=lambda item: item["key"])


def _work(bench: _Bench, name: SystemName,
          model: LanguageModel | None) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    for mode in bench.run.parameters.modes:
        for review in chosen_reviews(bench.run):
            yield (f"review/{name.label}/{mode}/{review.id:09d}",
                   lambda mode=mode, review=review: bench.item(name, mode, review, model))


def _record_calibration(run: Run, bench: _Bench) -> None:
    """Keep the chosen numbers as an item: a finished run must not choose them again to be drawn anew."""
    def choose() -> dict[str, Any]:
        return {"calibration": bench.calibration.as_dict() if bench.calibration else None}
    kept = run.compute([("calibration", choose)], stage="choose weights on train reviews")[0]["calibration"]
    run.record(calibration=kept or {"reviews": [], "note": "no train reviews: default weights, from the sample"})


def _record_use(run: Run, items: list[dict[str, Any]]) -> None:
    calls = [item["usage"] for item in items if item["model"]]
    if calls:
        costs = [call["cost"] for call in calls]
        run.record(usage=Usage(sum(call["prompt_tokens"] for call in calls),
                               sum(call["completion_tokens"] for call in calls),
                               any(call["estimated"] for call in calls),
                               None if None in costs else sum(costs)))
