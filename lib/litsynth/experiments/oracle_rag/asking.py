"""Ask every system for every review in every mode, one resumable item each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from litsynth.errors import ParameterError
from litsynth.experiments.oracle_rag.bench import Bench, limit_names, options_of
from litsynth.experiments.oracle_rag.released import release_checksum
from litsynth.experiments.oracle_rag.trained import SIGNALS, check_teachers
from litsynth.experiments.retrieval_sweep.ranking import retriever_identity
from litsynth.experiments.store import Run
from litsynth.experiments.system_names import SystemName, read_name
from litsynth.experiments.system_options import known_systems, option_values, with_method
from litsynth.llm import Budget, open_model
from litsynth.records import Dataset, LanguageModel, Review, Usage
from litsynth.systems import open_system


def identities(parameters: Any, dataset: Dataset) -> Mapping[str, Any]:
    """Return what decides the results besides data and code: retrievers, models, one's own systems, the release."""
    if not dataset.reviews:
        raise ParameterError(f"data set {dataset.name!r} has no reviews",
                             expected="a data set in the MetaSyn shape", remedy="choose one with reviews and a corpus")
    known_systems(parameters.options, parameters.systems)
    names = [read_name(text) for text in parameters.systems]
    for what, given in (("systems", [name.label for name in names]), ("modes", parameters.modes)):
        if len(set(given)) != len(given):
            raise ParameterError(f"parameter {what!r} names one twice: {', '.join(given)}", expected="each once")
    if not dataset.split(parameters.split):
        splits = sorted({review.split for review in dataset.reviews.values()})
        raise ParameterError(f"data set {dataset.name!r} has no reviews in split {parameters.split!r}",
                             expected="a split with reviews: " + ", ".join(splits),
                             remedy="give -p split=all or another split")
    made: dict[str, Any] = {"retriever": retriever_identity(parameters.retriever, "flat"),
                            "models": _model_identities(names), "release": release_checksum(parameters.release)}
    options = {name.label: options_of(parameters, name) for name in names}
    for name in names:
        if name.profile is None and not name.own and options[name.label]:
            raise ParameterError(f"options for system {name.label!r}: {', '.join(options[name.label])}",
                                 expected="none: its numbers are chosen on the train reviews",
                                 remedy="leave them out")
        if name.profile is not None and not name.own:  # so that a wrong value stops the run before a model is asked
            limits = limit_names(name)
            open_system(name.system, **{key: value for key, value in options[name.label].items() if key not in limits})
    if any(name.system == "trained_screener" for name in names):
        check_teachers(dataset, parameters.split)
        made["signals"] = {signal: retriever_identity(signal, "flat") for signal in SIGNALS}
    own = {name.label: option_values(with_method(open_system(name.system, **options[name.label]), name.label, "review"),
                                     options[name.label])
           for name in names if name.own}
    return {**made, "own_systems": own} if own else made


def _model_identities(names: list[SystemName]) -> dict[str, str]:
    models = {}
    for name in names:
        if name.profile is not None:
            with open_model(name.profile) as model:
                models[name.profile] = model.identity
    return models


def chosen_reviews(run: Run) -> list[Review]:
    """Return the reviews of the run: those of its split in order of ID, at most `review_limit`."""
    reviews = sorted(run.dataset.split(run.parameters.split).values(), key=lambda review: review.id)
    return reviews[:run.parameters.review_limit]


def ask_reviews(run: Run) -> list[dict[str, Any]]:
    """Return the items of all systems, modes and reviews, ordered by key.

    A review without a reference set is `failed`, a report without a readable list `unparsed`; a call that got no answer
    is asked again when the run is repeated. Numbers of the systems without a model are chosen on the train split, for a
    train review on the others of it.
    """
    chosen = run.parameters
    run.record(uses_gold="oracle" in chosen.modes)
    bench, budget = Bench(run), Budget(tokens=chosen.token_cap)
    items: list[dict[str, Any]] = []
    for name in map(read_name, chosen.systems):
        if name.profile is None:
            items += run.compute(_work(bench, name, None), stage=f"review with {name.label}")
            _record_numbers(run, bench, name)
            continue
        with open_model(name.profile, cap=budget) as model:
            workers = max(1, getattr(getattr(model, "profile", None), "concurrency", 1))
            items += run.compute(_work(bench, name, model), stage=f"review with {name.label}", workers=workers)
            run.record(models={name.label: {"name": model.name, "identity": model.identity, "weak": model.weak}})
            if model.weak:
                run.record(weak_model=True)
            version = getattr(bench.system(name, weak=model.weak), "prompt_version", None)
            run.record(prompts={name.label: version} if version else {})
    _record_use(run, items)
    return sorted(items, key=lambda item: item["key"])


def _work(bench: Bench, name: SystemName,
          model: LanguageModel | None) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    for mode in bench.run.parameters.modes:
        for review in chosen_reviews(bench.run):
            yield (f"review/{name.label}/{mode}/{review.id:09d}",
                   lambda mode=mode, review=review: bench.item(name, mode, review, model))


def _record_numbers(run: Run, bench: Bench, name: SystemName) -> None:
    """Keep chosen numbers as an item: a finished run must not choose them again to be drawn anew."""
    if name.system == "extractive_review":
        def choose() -> dict[str, Any]:
            return {"calibration": bench.calibration.as_dict() if bench.calibration else None}
        kept = run.compute([("calibration", choose)], stage="choose weights on train reviews")[0]["calibration"]
        run.record(calibration=kept or {"reviews": [], "note": "no train reviews: default weights, from the sample"})
    elif name.system == "trained_screener":
        items = run.compute([("screener", lambda: {"screener": bench.teacher.as_dict()})],
                            stage="learn from train reviews")
        run.record(screener=items[0]["screener"])


def _record_use(run: Run, items: list[dict[str, Any]]) -> None:
    calls = [item["usage"] for item in items if item["model"]]
    if calls:
        costs = [call["cost"] for call in calls]
        run.record(usage=Usage(sum(call["prompt_tokens"] for call in calls),
                               sum(call["completion_tokens"] for call in calls),
                               any(call["estimated"] for call in calls),
                               None if None in costs else sum(costs)))
