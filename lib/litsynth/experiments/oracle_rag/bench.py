"""What the items of a run share: the retriever, and every system with the searcher that it works with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from litsynth.experiments.agent_review import WEAK_LIMITS, WEAK_STEPS, open_tools
from litsynth.experiments.oracle_rag.calibration import Calibration, Calibrator
from litsynth.experiments.oracle_rag.own_reports import own_report
from litsynth.experiments.oracle_rag.pools import ranked_candidates, reference_of
from litsynth.experiments.oracle_rag.reviewing import Reading, item_of, read_report
from litsynth.experiments.oracle_rag.trained import Teacher
from litsynth.experiments.store import Run
from litsynth.experiments.system_names import SystemName, read_name
from litsynth.experiments.system_options import typed_options
from litsynth.records import LanguageModel, Report, Retriever, Review
from litsynth.retrieval import open_retriever, protocol_query
from litsynth.systems import open_system, system_class
from litsynth.systems.agent_tools import ToolLimits
from litsynth.systems.extractive_review import ExtractiveReview
from litsynth.systems.screening_steps import SearchingCandidates


def options_of(parameters: Any, name: SystemName) -> dict[str, Any]:
    """Return the options that parameters name for one system, typed; for the agent also the limits of its tools."""
    given = next((options for spec, options in parameters.options.items() if read_name(spec) == name), {})
    if name.system != "agent":
        return typed_options(name.label, system_class(name.system), given)
    limits = {field.name for field in dataclasses.fields(ToolLimits)}
    ours = {key: value for key, value in given.items() if key not in limits}
    return {**typed_options(name.label, system_class("agent"), ours),
            **typed_options(name.label, ToolLimits, {key: given[key] for key in given if key in limits})}


@dataclass
class Bench:
    """Opens, when the first item needs it, what all items of a run share."""

    run: Run

    @cached_property
    def retriever(self) -> Retriever:
        """The retriever of the candidates."""
        return open_retriever(self.run.parameters.retriever, self.run.dataset, device=self.run.parameters.device)

    @cached_property
    def calibrator(self) -> Calibrator:
        """The train reviews that choose the numbers of `extractive`."""
        return Calibrator(self.run.dataset, self.retriever, self.run.parameters.top_k)

    @cached_property
    def calibration(self) -> Calibration | None:
        """The numbers that all train reviews choose; None when there are none to choose on."""
        return self.calibrator.choose()

    @cached_property
    def teacher(self) -> Teacher:
        """The train reviews that `screener` learns from."""
        return Teacher(self.run.dataset, self.run.parameters.top_k, self.run.parameters.device)

    def system(self, name: SystemName, review: Review | None = None, *, weak: bool = False) -> Any:
        """Return a system for one review; a train review gets numbers that were chosen without it."""
        chosen = self.run.parameters
        trained = review is not None and review.split == "train"
        if name.system == "trained_screener":
            return self.teacher.system(without=review.id if review and trained else None)
        if name.system == "extractive_review":
            numbers = self.calibrator.choose(without=review.id) if review and trained else self.calibration
            return numbers.system(chosen.top_k) if numbers else ExtractiveReview(top_k=chosen.top_k)
        given = options_of(chosen, name)
        return open_system(name.system, **{**self._usual(name, weak), **_but(given, limit_names(name))})

    def _usual(self, name: SystemName, weak: bool) -> dict[str, Any]:
        """Return what the run's own parameters say about a system with a model, or about one's own."""
        chosen = self.run.parameters
        if name.system == "one_pass":
            return {"top_k": chosen.top_k, "truncate": chosen.truncation, "seed": chosen.seed,
                    "abstract_characters": chosen.abstract_characters, "answer_tokens": chosen.answer_tokens}
        if name.system == "agent":
            return {"answer_tokens": chosen.answer_tokens, "seed": chosen.seed,
                    **({"max_steps": WEAK_STEPS} if weak else {})}
        if name.system == "screening":
            cut = chosen.abstract_characters
            return {"top_k": chosen.top_k, "seed": chosen.seed, **({} if cut is None else {"abstract_characters": cut})}
        kind = system_class(name.system)
        known = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
        return {key: getattr(chosen, key) for key in ("top_k", "seed") if key in known}

    def searcher(self, name: SystemName, mode: str, review: Review, *, weak: bool = False) -> Any:
        """Return what a system searches with: tools of its own, a corpus to query, or one ranked list.

        An agent gets fresh tools, whose ceiling of distinct articles is the run's number of candidates. In oracle order
        the others get the list with reference studies first and nothing to query, as queries would leave it.
        """
        data, top_k = self.run.dataset, self.run.parameters.top_k
        if name.system == "agent":
            given = options_of(self.run.parameters, name)
            limits = {**(WEAK_LIMITS if weak else {}), "max_distinct_articles": top_k,
                      **{key: given[key] for key in given if key in limit_names(name)}}
            return open_tools(data, review, self.retriever, mode=mode, limits=limits)
        if mode == "actual" and (name.system == "screening" or name.own):
            return SearchingCandidates(protocol_query(review), self.retriever, data.corpus, tuple(review.source_ids))
        return ranked_candidates(data, review, self.retriever, top_k, mode)

    def item(self, name: SystemName, mode: str, review: Review, model: LanguageModel | None) -> dict[str, Any]:
        """Return the item of one review by one system in one mode."""
        data = self.run.dataset
        reference = reference_of(data, review)
        base = {"system": name.label, "mode": mode, "split": review.split}
        if not reference:
            empty = Report(review.id, name.system, mode, "", ())
            reading = Reading(empty, None, "failed", "no reference set")
            return {**base, **item_of(reading, reference, keep_text=False)}
        weak = model is not None and model.weak
        searcher = self.searcher(name, mode, review, weak=weak)
        system = self.system(name, review, weak=weak)
        report = (own_report(system, name.label, review, searcher, model, mode, data) if name.own
                  else system.review(review, searcher, model))
        # Reports quote titles, so only those over synthetic articles may go where runs are published.
        keep = data.synthetic and (model is not None or name.own)
        return {**base, **item_of(read_report(report), reference, keep_text=keep)}


def limit_names(name: SystemName) -> frozenset[str]:
    """Return the options of a system that are limits of its tools; empty but for the agent."""
    return frozenset(field.name for field in dataclasses.fields(ToolLimits)) if name.system == "agent" else frozenset()


def _but(options: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key not in names}
