"""What a sweep will ask: systems, judges, questions and numbers of candidate papers, decided before anything runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from litsynth.conditions import CONDITIONS, Condition, Pools, condition_named
from litsynth.conditions import grid as published_grid
from litsynth.errors import ParameterError, unknown_name
from litsynth.experiments.system_options import known_systems, option_values, typed_options, with_method
from litsynth.llm import Budget, open_model, profiles
from litsynth.records import Completion, Dataset, Fact, LanguageModel, ModelRequest, Question
from litsynth.scoring.judges import LexicalJudge, ModelJudge, Panel
from litsynth.scoring.judging import JUDGE_VERSION, Judge
from litsynth.systems import open_system, system_class, system_names

LIVE_N = 0  # stands for the live pool, which has no fixed number of papers

# Judges without a model weigh words and numbers differently, so that no one of them decides for the others.
LEXICAL_JUDGES: Mapping[str, tuple[float, float]] = {
    "lexical": (0.5, 0.5), "lexical:words": (0.65, 0.0), "lexical:numbers": (0.3, 1.0)}


@dataclass(frozen=True)
class SystemUnderTest:
    """One system of the sweep: as named in the parameters, as tables label it, and how it is opened."""

    spec: str
    base: str
    profile: str | None
    options: Mapping[str, Any]
    cap: Budget | None = field(default=None, compare=False)

    @cached_property
    def llm(self) -> LanguageModel | None:
        """The model behind the system, opened when first needed, None for a system without one."""
        return open_model(self.profile, cap=self.cap) if self.profile else None

    @cached_property
    def system(self) -> Any:
        """The system itself."""
        return with_method(open_system(self.base, **self.options), self.spec, "answer")

    @property
    def label(self) -> str:
        """The name in tables; a demonstration model is marked wherever it appears."""
        return f"{self.spec} (weak)" if self.llm is not None and self.llm.weak else self.spec

    def identity(self) -> dict[str, Any]:
        """Return what decides its answers besides code and data."""
        return {"options": option_values(self.system, self.options), "model": self.llm.identity if self.llm else None}


def systems_of(parameters: Any, cap: Budget | None = None) -> list[SystemUnderTest]:
    """Return the systems in the order of the parameters; raises `ParameterError` for unknown names and options."""
    known_systems(parameters.options, parameters.systems)
    return [_system(spec, parameters.options.get(spec, {}), cap) for spec in parameters.systems]


def _system(spec: str, options: Mapping[str, Any], cap: Budget | None) -> SystemUnderTest:
    head, _, tail = spec.partition(":")
    if head in system_names("litbench"):
        base, profile = head, tail or None
    elif ":" in spec:
        base, _, at = spec.partition("@")
        profile = at or None
    else:
        raise unknown_name("LitBench system", spec, system_names("litbench"), remedy="or name your own as module:Class")
    if base in ("ircot", "tool_agent") and profile is None:
        raise ParameterError(f"system {spec!r} needs a model", expected=f"{base}:PROFILE",
                             remedy="give a profile: " + ", ".join(profiles()))
    if base == "extractive" and profile is not None:
        raise ParameterError(f"system {spec!r} names a model, but extractive uses none", expected="extractive")
    return SystemUnderTest(spec, base, profile, typed_options(spec, system_class(base), options), cap)


def panel_of(parameters: Any, cap: Budget | None = None) -> Panel:
    """Return the panel of judges; a name is a lexical judge's or a model profile's."""
    return Panel([_judge(name, cap) for name in parameters.judges])


def _judge(name: str, cap: Budget | None) -> Judge:
    if name in LEXICAL_JUDGES:
        overlap, numbers = LEXICAL_JUDGES[name]
        judge = LexicalJudge(least_overlap=overlap, least_numbers=numbers)
        judge.name = name
        return judge
    if name.partition(":")[0] == "lexical":
        raise unknown_name("judge without a model", name, LEXICAL_JUDGES)
    return ModelJudge(_OneByOne(open_model(name, cap=cap)))


class _OneByOne:
    """A model that answers a cell's few requests one after the other, without a progress line for each cell."""

    def __init__(self, door: LanguageModel) -> None:
        self._door = door

    def __getattr__(self, name: str) -> Any:
        return getattr(self._door, name)

    def complete_many(self, requests: Sequence[ModelRequest], *, stage: str = "") -> list[Completion]:
        """Answer the requests in order."""
        return [self._door.complete(request) for request in requests]


def conditions_of(parameters: Any) -> list[Condition]:
    """Return the conditions to run, in the order of the catalogue's table."""
    chosen = [condition_named(name) for name in parameters.conditions]
    names = [rule.name for rule in chosen]
    if len(set(names)) != len(names):
        raise ParameterError(f"parameter 'conditions' names one twice: {', '.join(names)}", expected="each once")
    if any(rule.live for rule in chosen) and not parameters.live_pool.strip():
        raise ParameterError("the live conditions search PubMed Central, but parameter 'live_pool' is empty",
                             expected="a query for the specialty, such as epilepsy[mesh]",
                             remedy="give -p live_pool=QUERY, or leave T4-live and T5-live out")
    return [rule for rule in CONDITIONS.values() if rule.name in names]


def chosen_questions(dataset: Dataset, number: int | None, seed: int) -> dict[str, list[Question]]:
    """Return the questions to ask by kind, in source order: all, or `number` of each kind.

    A sample takes fact domains (of two-paper questions: the types of both facts) in proportion. The i-th of the m
    questions of a domain, in seeded order and from 0, has rank (i + u) / m with one random u from 0 to 1 a domain, and
    the questions with the lowest ranks are taken: a larger sample holds every smaller one of the same seed.
    """
    chosen: dict[str, list[Question]] = {}
    for kind in ("single", "two_paper"):
        bank = [question for question in dataset.questions.values() if question.kind == kind]
        if number is None or number >= len(bank):
            chosen[kind] = bank
            continue
        ranks = _ranks(bank, dataset, np.random.default_rng(seed))
        taken = set(sorted(ranks, key=lambda name: ranks[name])[:number])
        chosen[kind] = [question for question in bank if question.id in taken]
    return chosen


def _ranks(bank: Sequence[Question], dataset: Dataset, rng: np.random.Generator) -> dict[str, float]:
    strata: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for question in bank:
        facts = [dataset.facts[fact_id] for fact_id in question.fact_ids]
        key = domain(facts[0]) if len(facts) == 1 else tuple(sorted(fact.fact_type for fact in facts))
        strata[key].append(question.id)
    ranks = {}
    for key in sorted(strata):
        members, start = sorted(strata[key]), rng.random()
        for i, member in enumerate(rng.permutation(len(members)).tolist()):
            ranks[members[member]] = (i + start) / len(members)
    return ranks


def domain(fact: Fact) -> tuple[str, str]:
    """Return a fact's domain: its section and its type (`unclassified` facts belong to none of the 14)."""
    return fact.section, fact.fact_type


def grids(parameters: Any, dataset: Dataset, pools: Pools) -> dict[str, tuple[int, ...]]:
    """Return the numbers of candidate papers of each condition: as given, else the published grid that the pools fill.

    `max_n` leaves larger ones out; where nothing is left, it is the one that is run. A live condition has `LIVE_N`.
    """
    given = {condition_named(name).name: values for name, values in parameters.n_values.items()}
    made = {}
    for rule in conditions_of(parameters):
        bank = [question for question in dataset.questions.values() if question.kind == rule.kind]
        values = given.pop(rule.name, None)
        if rule.live or not bank:
            made[rule.name] = (LIVE_N,) if rule.live and bank else ()
            continue
        values = tuple(sorted(values)) if values else published_grid(rule.name, bank, pools)
        made[rule.name] = _capped(rule, values, parameters.max_n)
    if given:
        raise ParameterError(f"parameter 'n_values' has {', '.join(given)}, which 'conditions' does not",
                             expected="conditions that are run", remedy="add them to 'conditions' or take them out")
    return made


def _capped(rule: Condition, values: tuple[int, ...], most: int | None) -> tuple[int, ...]:
    if len(set(values)) != len(values) or (values and values[0] < rule.minimum_n):
        raise ParameterError(f"condition {rule.name} cannot have the numbers of papers {list(values)}",
                             expected=f"different numbers of at least {rule.minimum_n}", remedy="correct 'n_values'")
    kept = tuple(n for n in values if most is None or n <= most)
    return kept or tuple(n for n in (most,) if values and n is not None and n >= rule.minimum_n)


def identities(parameters: Any, dataset: Dataset) -> dict[str, Any]:
    """Return what decides the results besides data and code: models and options of systems, and the judges.

    Raises `ParameterError` for whatever is wrong with the parameters, before anything is asked, and where a judge would
    have to judge its own answers.
    """
    if not dataset.questions:
        raise ParameterError(f"data set {dataset.name!r} has no questions", expected="a data set in the LitBench shape",
                             remedy="choose one with papers, facts and questions")
    systems, panel = systems_of(parameters), panel_of(parameters)
    grids(parameters, dataset, Pools.of(dataset.papers))
    judged = [rule.name for rule in conditions_of(parameters) if rule.answer_present and not rule.control_of]
    for system in systems:
        if judged and system.llm is not None and system.llm.identity in panel.identities:
            raise ParameterError(
                f"the model of system {system.spec!r} is also a judge, and no model judges its own answers",
                expected="judges other than the systems' models, or refusal conditions alone",
                remedy=f"name another judge, or leave out {', '.join(judged)}")
    return {"systems": {system.spec: system.identity() for system in systems},
            "judges": {"prompt": JUDGE_VERSION, "panel": list(panel.identities)}}


