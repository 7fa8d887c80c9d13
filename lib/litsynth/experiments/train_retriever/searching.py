"""Train, then search the test reviews before and after, one resumable item each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from litsynth.errors import ParameterError
from litsynth.experiments.retrieval_sweep.ranking import rank_review, retriever_identity
from litsynth.experiments.store import Run
from litsynth.experiments.train_retriever.training import base_encoder, train_on
from litsynth.records import Dataset, Retriever
from litsynth.retrieval import open_retriever, protocol_query
from litsynth.retrieval.training import TrainingSettings

REFERENCE = "bm25"
SETTINGS = ("epochs", "batch_size", "learning_rate", "warmup", "scale", "seed", "max_steps", "max_tokens")


def identities(parameters: Any, dataset: Dataset) -> Mapping[str, Any]:
    """Return what decides the results besides data and code: the base encoder; refuses data without both splits."""
    for split in ("train", "test"):
        if not dataset.split(split):
            raise ParameterError(f"data set {dataset.name!r} has no reviews in split {split!r}",
                                 expected="train reviews to learn from and test reviews to measure on",
                                 remedy="choose a data set with both splits")
    if parameters.corpus == "screened" and not any(dataset.screened.get(i) for i in dataset.split("test")):
        raise ParameterError(f"data set {dataset.name!r} does not say what was screened for its test reviews",
                             expected="corpus = all or pooled", remedy="give -p corpus=pooled")
    if len(set(parameters.hard_negatives)) != len(parameters.hard_negatives):
        raise ParameterError("parameter 'hard_negatives' names a number twice", expected="each number once")
    return {"base": retriever_identity(parameters.base_model, "flat"), REFERENCE: retriever_identity(REFERENCE, "flat")}


def trained_label(negatives: int) -> str:
    """Return how tables name a trained encoder."""
    return f"trained, {negatives} hard negative{'s' if negatives > 1 else ''}" if negatives else "trained"


def labels(run: Run) -> list[str]:
    """Return the names of what is compared: the base encoder, the trained ones, and BM25 for orientation."""
    return [run.parameters.base_model, *map(trained_label, run.parameters.hard_negatives), REFERENCE]


def searched(run: Run) -> Dataset:
    """Return the data set with the articles that are searched before and after, as `corpus` chooses them."""
    data, chosen = run.dataset, run.parameters
    if chosen.corpus == "all":
        return data
    wanted: set[int] = set()
    bm25 = open_retriever(REFERENCE, data) if chosen.corpus == "pooled" else None
    for i, review in data.split("test").items():
        wanted |= set(data.gold[i].included_ids) | set(data.screened.get(i, ()))
        if bm25 is not None:
            found = bm25.search(protocol_query(review), chosen.pool_depth, exclude=review.source_ids)
            wanted |= set(found.ids.tolist())
    return replace(data, corpus={i: article for i, article in data.corpus.items() if i in wanted})


def train(run: Run) -> list[dict[str, Any]]:
    """Train one encoder for each number of hard negatives; returns one item each: record, guard and steps.

    The encoder's folder lies in the run's directory under `encoders` and can be used as a retriever wherever one is
    named.
    """
    def work() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
        for number in run.parameters.hard_negatives:
            yield f"train/{number:03d}", lambda number=number: _train(run, number)

    items = run.compute(work(), stage="train")
    run.record(training={item["label"]: {"seconds": item["seconds"], "resumed_at": item["resumed_at"]}
                         for item in items},
               encoders={item["label"]: item["identity"] for item in items})
    return items


def _folder(run: Run, number: int) -> Any:
    return run.directory / "encoders" / f"hard_negatives_{number}"


def _train(run: Run, number: int) -> dict[str, Any]:
    settings = TrainingSettings(**{name: getattr(run.parameters, name) for name in SETTINGS})
    trained, guard = train_on(run.dataset, base_encoder(run.parameters.base_model), _folder(run, number), settings,
                              hard_negatives=number, device=run.parameters.device)
    record = trained.record
    return {"label": trained_label(number), "hard_negatives": number, "identity": record["identity"],
            "guard": guard.as_dict(), "guard_words": guard.words(), "pairs": record["pairs"],
            "pairs_used": record["pairs_used"], "pairs_alone": record["pairs_alone"],
            "steps": [{key: step[key] for key in ("step", "loss", "learning_rate", "pairs")} for step in trained.steps],
            "seconds": sum(step["seconds"] for step in trained.steps), "resumed_at": trained.resumed_at}


def search(run: Run) -> list[dict[str, Any]]:
    """Search every test review with the base encoder, the trained ones and BM25; returns one item a pair."""
    data = lru_cache(maxsize=1)(lambda: searched(run))

    def work() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
        for label in labels(run):
            opened = lru_cache(maxsize=1)(lambda label=label: _retriever(run, label, data()))
            for review in run.dataset.split("test").values():
                yield f"search/{label}/{review.id:09d}", lambda la=label, r=review, o=opened: rank_review(
                    o(), la, r, SimpleNamespace(dataset=data(), parameters=run.parameters))

    items = run.compute(work(), stage="search the test reviews")
    sizes = {item["candidates"] for item in items}
    run.record(corpus={"chosen": run.parameters.corpus, "articles": max(sizes), "of": len(run.dataset.corpus),
                       "reviews": len(run.dataset.split("test"))})
    return items


def _retriever(run: Run, label: str, data: Dataset) -> Retriever:
    for number in run.parameters.hard_negatives:
        if label == trained_label(number):
            # Its vectors lie beside it: nobody else will ask for them.
            return open_retriever(str(_folder(run, number)), data, device=run.parameters.device,
                                  cache_dir=run.directory / "embeddings")
    return open_retriever(label, data, device=run.parameters.device)
