"""The synthetic question bank of the sample data set, made from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from litsynth.datasets.litbench import LitbenchPart
from litsynth.datasets.litbench_write import write_bank
from litsynth.datasets.sample_litbench_text import FILLING, HEADINGS, OPENINGS, STUDIES, TITLES, FactText
from litsynth.datasets.sample_litbench_world import DECOYS, POPULATIONS, SPECIALTY, Field, draw_values
from litsynth.records import Fact, Paper, Question, Section

DECOYS_PER_STRATUM = 15
FACTS_PER_PAPER = 5
PARAPHRASED = 0.6  # of the questions speak of the population in other words than the paper
HUB_PARTNERS = (12, 10)  # pairs of the two hub papers
# Pairs outside the hubs' stars, as places in the list of papers that no hub took: four more components.
SMALL_COMPONENTS = ((0, 1), (2, 3), (4, 5), (5, 6), (7, 8), (8, 9), (7, 9))


class _Study:
    """One paper in the making: its values and the templates that speak of them."""

    def __init__(self, field: Field, kind: str, agent: str, names: tuple[str, str], rng: np.random.Generator) -> None:
        self.field, self.kind, self.names = field, kind, names
        self.values = draw_values(field, kind, agent, names[0], rng)
        self.templates = STUDIES[kind]

    def sentence(self, template: FactText) -> str:
        return _capital(template.sentence.format_map(self.values))

    def label(self, template: FactText) -> str | None:
        if not template.otherwise:
            return None
        return "yes" if self.values[f"{template.section}_yes"] else "no"

    def statement(self, template: FactText) -> str:
        chosen = template.otherwise if self.label(template) == "no" else template.statement
        return _capital(chosen.format_map(self.values))

    def asked(self, text: str, people: str) -> str:
        return text.format_map({**self.values, "people": people})


def make_part(seed: int) -> LitbenchPart:
    """Return the synthetic bank: 60 gold papers, 60 decoys, 300 facts, 150 single and 29 two-paper questions."""
    rng = np.random.default_rng(seed)
    gold = _studies(SPECIALTY, rng, set())
    decoys = [study for field in DECOYS for study in _studies(field, rng, set())[:DECOYS_PER_STRATUM]]
    papers, ids = {}, {}
    for study, number in zip([*gold, *decoys], rng.permutation(len(gold) + len(decoys)).tolist(), strict=True):
        paper = _paper(f"SYN{number + 1:04d}", study, rng)
        papers[paper.id], ids[id(study)] = paper, paper.id
    facts, questions, chosen = {}, {}, []
    for place, study in enumerate(gold):
        paper_id = ids[id(study)]
        templates = [study.templates[(place * FACTS_PER_PAPER + step) % len(study.templates)]
                     for step in range(FACTS_PER_PAPER)]
        people = [study.names[int(rng.random() < PARAPHRASED)] for _ in templates]
        for step, template in enumerate(templates):
            fact = Fact(f"F-{paper_id}-{step + 1}", paper_id, template.section, template.fact_type,
                        study.statement(template), study.sentence(template), study.label(template))
            facts[fact.id] = fact
            # Two or three facts of a paper are asked; the others are there to be told apart from them.
            if step < 2 + place % 2:
                question = Question(f"Q-{paper_id}-{step + 1}", "single", study.asked(template.question, people[step]),
                                    (fact.id,), (paper_id,))
                questions[question.id] = question
        chosen.append((paper_id, [study.asked(template.clause, who) for template, who in
                                  zip(templates, people, strict=True)]))
    for question in _pairs(chosen, rng):
        questions[question.id] = question
    return LitbenchPart(dict(sorted(papers.items())), facts, questions)


def write_part(folder: Path, seed: int) -> None:
    """Write `papers.parquet`, `facts.parquet` and `questions.parquet` of the bank that `seed` decides into `folder`."""
    write_bank(folder, make_part(seed))


def _studies(field: Field, rng: np.random.Generator, taken: set[str]) -> list[_Study]:
    """Return one study for each agent and population of a field; no two share a sentence that states a fact."""
    studies = []
    for kind, agents in field.agents.items():
        for agent in agents:
            for names in POPULATIONS[kind]:
                study = _Study(field, kind, agent, names, rng)
                while taken & (sentences := {study.sentence(template) for template in study.templates}):
                    study = _Study(field, kind, agent, names, rng)
                taken |= sentences
                studies.append(study)
    return studies


def _paper(paper_id: str, study: _Study, rng: np.random.Generator) -> Paper:
    values: dict[str, Any] = study.values
    sections = []
    for name, heading in HEADINGS.items():
        filling = [text.format_map(values) for text in FILLING[name]]
        picked = [filling[i] for i in sorted(rng.permutation(len(filling))[:3].tolist())]
        told = [study.sentence(template) for template in study.templates if template.section == name]
        body = [OPENINGS[name].format_map(values), *_woven(told, picked)]
        sections.append(Section(heading, " ".join(body), name))
    role = "gold" if study.field is SPECIALTY else "decoy"
    return Paper(paper_id, role, study.field.stratum, TITLES[study.kind].format_map(values), tuple(sections),
                 "synthetic", paper_id, journal=values["journal"], year=values["year"])


def _woven(told: list[str], picked: list[str]) -> Iterator[str]:
    """Yield the sentences of facts, each followed by filling, and what filling is left."""
    for place, sentence in enumerate(told):
        yield sentence
        yield from picked[place : place + 1]
    yield from picked[len(told):]


def _pairs(chosen: list[tuple[str, list[str]]], rng: np.random.Generator) -> Iterator[Question]:
    """Yield the two-paper questions: two hubs with their partners, and small components beside them."""
    order = [chosen[i] for i in rng.permutation(len(chosen)).tolist()]
    hubs, rest = order[: len(HUB_PARTNERS)], order[len(HUB_PARTNERS) :]
    links = []
    for hub, partners in zip(hubs, HUB_PARTNERS, strict=True):
        links += [(hub, partner) for partner in rest[:partners]]
        rest = rest[partners:]
    links += [(rest[a], rest[b]) for a, b in SMALL_COMPONENTS]
    for number, (first, second) in enumerate(links, start=1):
        # Steps 0 and 1 are asked alone as well, so that both ways of asking can be compared.
        a, b = number % 2, number // 2 % 2
        text = f"{_capital(first[1][a])}, and {second[1][b]}?"
        yield Question(f"P-{number:03d}", "two_paper", text, (f"F-{first[0]}-{a + 1}", f"F-{second[0]}-{b + 1}"),
                       (first[0], second[0]))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
