"""Screen every review by what was learned from others, one resumable item each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from litsynth.errors import ParameterError
from litsynth.experiments.retrieval_sweep.ranking import retriever_identity
from litsynth.experiments.screening.learning import OPERATING_POINTS, Learned, counts_at, included_at, learn
from litsynth.experiments.screening.pools import Pool, open_signals, pool_of
from litsynth.experiments.store import Run
from litsynth.llm import open_model
from litsynth.records import Dataset, Ranking, Retriever
from litsynth.retrieval.measures import average_precision, work_saved_over_sampling
from litsynth.scoring.screening import criterion_errors, recall_at_workload

TRAINED = "trained"
SPLIT, LEFT_OUT = "split", "left out"
DESIGNS = {SPLIT: "learned on train, measured on test", LEFT_OUT: "each review by all others"}
TARGET_RECALL = 0.95  # of the work-saved measure (Cohen et al. 2006), whatever the threshold aims at
CURVE = tuple(step / 50 for step in range(1, 51))


def identities(parameters: Any, dataset: Dataset) -> Mapping[str, Any]:
    """Return what decides the results besides data and code: retrievers, and the model where one screens."""
    if len(set(parameters.signals)) != len(parameters.signals):
        raise ParameterError("parameter 'signals' names one twice", expected="each retriever once")
    if any(not 0 < share <= 1 for share in parameters.workloads):
        raise ParameterError(f"parameter 'workloads' holds {parameters.workloads}", expected="shares in (0, 1]")
    if not designs_of(parameters, dataset):
        raise ParameterError(f"data set {dataset.name!r} has no train and test reviews to learn from and measure on",
                             expected="reviews in both splits, or three and more with leave_one_out",
                             remedy="choose a data set with reviews in both splits")
    models = {}
    if parameters.model:
        with open_model(parameters.model) as model:
            models[parameters.model] = model.identity
    return {"signals": {name: retriever_identity(name, "flat") for name in parameters.signals}, "models": models}


def designs_of(parameters: Any, dataset: Dataset) -> list[str]:
    """Return the designs that the data set allows and the parameters ask for."""
    made = [SPLIT] if dataset.split("train") and dataset.split("test") else []
    return made + ([LEFT_OUT] if parameters.leave_one_out and len(dataset.reviews) > 2 else [])


@dataclass
class Bench:
    """What the items of a run share, opened when the first of them needs it."""

    run: Run
    fitted: dict[frozenset[int], Any] = field(default_factory=dict)

    @cached_property
    def signals(self) -> dict[str, Retriever]:
        """The opened retrievers by name."""
        return open_signals(self.run.dataset, self.run.parameters.signals, self.run.parameters.device)

    @cached_property
    def pools(self) -> dict[int, Pool]:
        """Every review's pool, by ID."""
        return {i: pool_of(self.run.dataset, review, self.signals, self.run.parameters.top_k)
                for i, review in sorted(self.run.dataset.reviews.items())}

    @cached_property
    def learned_on_train(self) -> Learned:
        """What the train split taught."""
        return self.learned([i for i, review in self.run.dataset.reviews.items() if review.split == "train"])

    def learned(self, reviews: Sequence[int]) -> Learned:
        """Return what these reviews taught."""
        chosen = [self.pools[i] for i in sorted(reviews)]
        return learn(chosen, self.run.parameters.signals, self.run.parameters.target_recall, fitted=self.fitted)


def screen(run: Run, bench: Bench | None = None) -> list[dict[str, Any]]:
    """Screen each review of each design; returns one item a review and design, ordered by key."""
    bench = bench or Bench(run)
    reviews = run.dataset.reviews

    def work() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
        for design in designs_of(run.parameters, run.dataset):
            for i in sorted(i for i, review in reviews.items() if design == LEFT_OUT or review.split == "test"):
                yield f"screen/{design}/{i:09d}", lambda design=design, i=i: _screen(bench, design, i)

    items = run.compute(work(), stage="screen")
    run.record(learned={item["design"]: item["learned"] for item in items if item["design"] == SPLIT})
    return items


def _screen(bench: Bench, design: str, review: int) -> dict[str, Any]:
    learned = (bench.learned_on_train if design == SPLIT
               else bench.learned([i for i in bench.pools if i != review]))
    pool = bench.pools[review]
    item: dict[str, Any] = {
        "design": design, "review": review, "split": pool.review.split, "candidates": len(pool.ids),
        "relevant": len(pool.relevant), "reference": pool.reference, "ids": list(pool.ids),
        "learned": {"reviews": list(learned.reviews), "pairs": learned.pairs, "share": learned.share,
                    "thresholds": learned.thresholds,
                    "intercept": learned.model.intercept, "weights": learned.model.by_name()},
    }
    chances = learned.model.apply(pool.features).tolist()
    item |= {"chances": chances, "labels": [bool(label) for label in pool.labels],
             "operating": {point: counts_at(pool, chances, learned.thresholds[point]) for point in OPERATING_POINTS},
             "criteria": _criteria(bench.run.dataset, pool, chances, learned)}
    if not pool.relevant:
        reason = "no included study among the candidates" if pool.reference else "no reference set"
        return {**item, "status": "failed", "reason": reason, "rankers": {}}
    order = tuple(Ranking.of(list(pool.ids), chances).ids.tolist())
    return {**item, "status": "scored", "reason": "", "rankers": {
        name: _measures(ranked, pool, bench.run.parameters.workloads)
        for name, ranked in ((TRAINED, order), *pool.orders.items())}}


def _measures(ranked: Sequence[int], pool: Pool, workloads: Sequence[float]) -> dict[str, Any]:
    relevant = pool.relevant
    made: dict[str, Any] = {f"recall@{share:g}": recall_at_workload(ranked, relevant, share)
                            for share in sorted(set(workloads))}
    made["wss95"] = work_saved_over_sampling(ranked, relevant, len(ranked), recall=TARGET_RECALL)
    made["average_precision"] = average_precision(ranked, relevant)
    made["curve"] = [recall_at_workload(ranked, relevant, share) for share in CURVE]
    return made


def failing_criteria(dataset: Dataset, review: int) -> dict[int, str]:
    """Return the one criterion that each annotated article fails for a review, by article; empty on most data."""
    return {article: note["fails"] for article, note in dataset.notes.items()
            if note.get("review_id") == review and note.get("fails")}


def _criteria(dataset: Dataset, pool: Pool, chances: Sequence[float], learned: Learned) -> dict[str, list[list[Any]]]:
    fails = failing_criteria(dataset, pool.review.id)
    return {point: [[row.criterion, row.candidates, row.included] for row in criterion_errors(
        pool.ids, included_at(pool, chances, learned.thresholds[point]), fails)] for point in OPERATING_POINTS}
