"""`trained_screener`: includes candidates by a probability that a fitted ranker gives; uses no language model.

It sees the protocol's question, PI/ECO fields and search dates, never the benchmark's criteria, as the explicit
screening pipeline does: the baseline that a screener with a model has to beat. Fitting needs reference decisions and
therefore happens elsewhere; what arrives here are numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from litsynth.errors import ParameterError
from litsynth.records import Candidate, LanguageModel, Ranking, Report, Retriever, Review
from litsynth.systems import report_text
from litsynth.systems.candidates import ReviewSearcher
from litsynth.systems.screening_features import feature_names, pool_features


class Ranker(Protocol):
    """Gives every candidate of a review a probability of being included."""

    def probabilities(self, task: Review, candidates: Sequence[Candidate]) -> np.ndarray:
        """Return the probabilities in the order of `candidates`, shape (n,)."""
        ...


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A logistic model of `pool_features`: intercept and one weight a feature, for the retrievers in `signals`."""

    signals: tuple[str, ...]
    intercept: float
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        wanted = len(feature_names(self.signals))
        if len(self.weights) != wanted or not all(map(math.isfinite, (self.intercept, *self.weights))):
            raise ParameterError(f"{len(self.weights)} weights for {wanted} features of {', '.join(self.signals)}",
                                 expected="one finite weight a feature", remedy="fit the model again")

    def apply(self, features: np.ndarray) -> np.ndarray:
        """Return the probabilities for rows of features, shape (n,)."""
        logits = self.intercept + features @ np.array(self.weights)
        return 1.0 / (1.0 + np.exp(-np.clip(logits, -500.0, 500.0)))

    def by_name(self) -> dict[str, float]:
        """Return the weight of each feature by name."""
        return dict(zip(feature_names(self.signals), self.weights, strict=True))


@dataclass(frozen=True)
class FittedRanker:
    """A logistic model together with the opened retrievers that its features need."""

    model: LogisticModel
    retrievers: Mapping[str, Retriever]

    def probabilities(self, task: Review, candidates: Sequence[Candidate]) -> np.ndarray:
        """Return the probabilities in the order of `candidates`, shape (n,)."""
        chosen = {name: self.retrievers[name] for name in self.model.signals}
        return self.model.apply(pool_features(task, candidates, chosen))


@dataclass(frozen=True, kw_only=True)
class TrainedScreener:
    """Includes the candidates at or above `threshold`, reports them in order of probability, and uses no model."""

    ranker: Ranker
    threshold: float
    top_k: int = 200
    name: str = "trained_screener"

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise ParameterError(f"threshold = {self.threshold}", expected="a probability from 0 to 1",
                                 remedy="correct the option")

    def review(self, task: Review, searcher: ReviewSearcher, llm: LanguageModel | None = None) -> Report:
        """Screen one review's candidates and report; `llm` is not used."""
        begin = time.perf_counter()
        candidates = searcher.candidates(self.top_k)
        chances = self.ranker.probabilities(task, candidates)
        by_id = {candidate.corpus_id: candidate for candidate in candidates}
        order = Ranking.of([candidate.corpus_id for candidate in candidates], chances) if candidates else None
        included = [] if order is None else [by_id[number] for number, chance in zip(
            order.ids.tolist(), order.scores.tolist(), strict=True) if chance >= self.threshold]
        return Report(
            task.id, self.name, searcher.mode, self._text(task, candidates, included), candidates, query=searcher.query,
            included_ids=tuple(candidate.corpus_id for candidate in included), seconds=time.perf_counter() - begin,
            details={"threshold": self.threshold, "order": [] if order is None else order.ids.tolist(),
                     "probabilities": {} if order is None else dict(zip(order.ids.tolist(), order.scores.tolist(),
                                                                        strict=True))})

    def _text(self, task: Review, candidates: Sequence[Candidate], included: Sequence[Candidate]) -> str:
        protocol = [f"- {report_text.escape(line)}" for line in report_text.protocol_lines(task)]
        return "\n".join((
            "# Screening without a language model", "", "## Protocol", "", *protocol, "", "## How it was screened", "",
            f"A logistic model that was fitted to the decisions of other reviews gave each of {len(candidates)} "
            f"candidates a probability of being included. Those with at least {self.threshold:.4f} were included: "
            f"{len(included)}. It compares candidates with the parts of the protocol and does not read criteria as "
            "sentences. No effect was extracted or pooled.", "", report_text.final_list(included)))
