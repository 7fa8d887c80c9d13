"""The synthetic corpus: studies that meet a review's protocol, near misses of one criterion, and all the others.

Every study has a value for each criterion; a review's reference set is every study of its topic that meets all of its
criteria, and a hard negative fails exactly one. Labels follow from those values alone, never from the wording.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from litsynth.datasets.sample_metasyn_phrases import ACRONYMS, DESIGNS, JOURNALS, NEAR_DESIGNS, SURNAMES
from litsynth.datasets.sample_metasyn_reviews import Protocol, protocols, review_row, source_article
from litsynth.datasets.sample_metasyn_text import Wording, abstract, pick, sections, title
from litsynth.datasets.sample_metasyn_world import (
    BACKGROUND_AGENTS,
    BACKGROUND_CONDITIONS,
    BACKGROUND_OUTCOMES,
    CRITERIA,
    TOPICS,
    Topic,
)

CORPUS_SIZE = 2_050
HARD_PER_CRITERION = 4
SOFT_PER_TOPIC = 16


@dataclass(frozen=True)
class Study:
    """One made-up study: its topic, the criteria whose near miss it is, its wording, its year and its length."""

    topic: int | None
    fails: tuple[str, ...]
    wording: Wording
    year: int
    padding: int
    has_abstract: bool


def generate(seed: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables reviews, corpus and notes, in order of ID; the same seed gives the same rows."""
    maker = _Corpus(seed)
    for number, topic in enumerate(TOPICS):
        for study in _topic_studies(np.random.default_rng([seed, 1, number]), number, topic):
            maker.add(study)
    asked = protocols(seed)
    reviews = []
    for protocol in asked:
        included = maker.included(protocol)
        source_ids = maker.add_sources(protocol)
        reviews.append(review_row(protocol, included, maker.studies, source_ids))
    maker.note_hard_negatives(asked)
    maker.add_near_duplicates(asked)
    maker.add_background()
    rows = sorted(maker.rows, key=lambda row: row["ID"])
    return {"reviews": reviews, "corpus": rows, "notes": [maker.notes[key] for key in sorted(maker.notes)]}


def _topic_studies(rng: np.random.Generator, number: int, topic: Topic) -> Iterator[Study]:
    for _ in range(int(rng.integers(8, 22))):
        yield _study(rng, number, topic, ())
    for criterion in CRITERIA:
        for _ in range(HARD_PER_CRITERION):
            yield _study(rng, number, topic, (criterion,))
    for _ in range(SOFT_PER_TOPIC):
        count = int(rng.integers(2, 5))
        yield _study(rng, number, topic, tuple(CRITERIA[int(i)] for i in sorted(rng.permutation(6)[:count])))


def _study(rng: np.random.Generator, number: int, topic: Topic, fails: tuple[str, ...]) -> Study:
    # Studies that fail one criterion tend to speak the protocol's language, and a third of those that belong do not.
    near_wording = (0.12, 0.4, 0.75)[int(rng.choice(3, p=(0.27, 0.38, 0.35)))] if not fails else 0.55
    chosen = {}
    for name, right, near in (
        ("population", topic.population, topic.near_population),
        ("intervention", topic.agent, topic.near_agent),
        ("comparison", topic.comparison, topic.near_comparison),
        ("outcome", topic.outcome, topic.near_outcome),
    ):
        forms = (pick(rng, near.split(";;")) if name in fails else right).split("|")
        use_first = len(forms) == 1 or rng.random() < near_wording
        chosen[name] = forms[0] if use_first else pick(rng, forms[1:])
    designs = NEAR_DESIGNS if "design" in fails else DESIGNS
    first, last = topic.years
    year = _year_outside(rng, first, last) if "date" in fails else int(rng.integers(first, last + 1))
    participants = int(np.exp(rng.normal(6.0 if topic.kind == "PI" else 8.0, 0.8))) + 24
    wording = Wording(
        topic.kind,
        chosen["population"],
        chosen["intervention"],
        chosen["comparison"],
        chosen["outcome"].lstrip("~"),
        pick(rng, designs[topic.kind]),
        participants,
        _interval(rng, topic.log_ratio, participants),
        chosen["outcome"].startswith("~") or ("outcome" in fails),
        f"{pick(rng, ACRONYMS)}-{int(rng.integers(1, 20))}",
    )
    missing = len(fails) != 1 and rng.random() < 0.1
    return Study(number, fails, wording, year, _padding(rng), not missing)


def _year_outside(rng: np.random.Generator, first: int, last: int) -> int:
    return first - int(rng.integers(2, 9)) if rng.random() < 0.6 else min(2025, last + int(rng.integers(1, 4)))


def _padding(rng: np.random.Generator) -> int:
    draw = rng.random()
    if draw < 0.05:
        return int(rng.integers(40, 52))
    return int(rng.integers(13, 24)) if draw < 0.22 else int(rng.integers(1, 8))


def _interval(rng: np.random.Generator, log_ratio: float, participants: int) -> tuple[float, float, float]:
    """Return (ratio, low, high) of one study: error 5 / sqrt(participants), sd between studies 0.12."""
    error = max(0.06, 5.0 / math.sqrt(participants))
    value = log_ratio + rng.normal(0, 0.12) + rng.normal(0, error)
    return math.exp(value), math.exp(value - 1.96 * error), math.exp(value + 1.96 * error)


class _Corpus:
    """Articles made so far; IDs are nine-digit hashes of the seed and a running number, so they tell nothing."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rows: list[dict[str, Any]] = []
        self.studies: dict[int, Study] = {}
        self.notes: dict[int, dict[str, Any]] = {}
        self._by_id: dict[int, dict[str, Any]] = {}

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose, len(self.rows)])

    def _new_id(self) -> int:
        attempt = 0
        while True:
            digest = hashlib.sha256(f"{self.seed}:{len(self.rows)}:{attempt}".encode()).digest()
            article_id = 100_000_000 + int.from_bytes(digest[:8], "big") % 900_000_000
            if article_id not in self._by_id:
                return article_id
            attempt += 1

    def _append(self, row: dict[str, Any], rng: np.random.Generator) -> int:
        article_id = self._new_id()
        authors = [
            f"{'ABCDEFGHJKLMNPRST'[int(rng.integers(17))]} {pick(rng, SURNAMES)}"
            for _ in range(int(rng.integers(2, 8)))
        ]
        full = {
            "ID": article_id,
            "pmid": None,
            "pmc_id": None,
            "doi": f"10.5555/litsynth.{article_id}",
            "authors": authors,
            "journal": pick(rng, JOURNALS),
            "sections": [],
            **row,
        }
        self.rows.append(full)
        self._by_id[article_id] = full
        return article_id

    def add(self, study: Study) -> int:
        """Write one study into the corpus; one in twelve gets a short full text."""
        rng = self._rng(2)
        row = {
            "title": title(rng, study.wording),
            "year": study.year,
            "abstract": abstract(rng, study.wording, study.padding) if study.has_abstract else "",
        }
        if study.has_abstract and rng.random() < 0.08:
            row["sections"] = sections(rng, study.wording)
        article_id = self._append(row, rng)
        self.studies[article_id] = study
        return article_id

    def included(self, protocol: Protocol) -> list[int]:
        """Return the studies that fail none of a protocol's criteria."""
        return sorted(
            i for i, study in self.studies.items() if study.topic == protocol.topic and not _failures(study, protocol)
        )

    def note_hard_negatives(self, asked: list[Protocol]) -> None:
        """Note every study that fails exactly one criterion of its topic's own review."""
        first = {protocol.topic: protocol for protocol in reversed(asked)}
        for article_id, study in self.studies.items():
            protocol = first.get(study.topic)
            if protocol and len(failed := _failures(study, protocol)) == 1:
                self._note(article_id, protocol.review_id, "hard_negative", fails=failed[0])

    def _note(
        self, article_id: int, review_id: int, kind: str, *, fails: str | None = None, twin: int | None = None
    ) -> None:
        self.notes[article_id] = {
            "corpus_ID": article_id,
            "review_ID": review_id,
            "kind": kind,
            "fails": fails,
            "duplicate_of": twin,
        }

    def add_sources(self, protocol: Protocol) -> list[int]:
        """Write the review's own records, as a corpus of PubMed records has them for some reviews."""
        ids = []
        for number in range(protocol.source_records):
            rng = self._rng(3)
            article_id = self._append(source_article(protocol, number), rng)
            self._note(article_id, protocol.review_id, "source_review")
            ids.append(article_id)
        return ids

    def add_near_duplicates(self, asked: list[Protocol]) -> None:
        """Write two near-duplicates a topic: a conference abstract and a correction of two included studies."""
        for protocol in asked:
            if protocol.is_update:
                continue
            included = self.included(protocol)
            for number, twin in enumerate((included[0], included[-1])):
                rng, original = self._rng(4), self._by_id[twin]
                if number == 0:
                    short = replace(
                        self.studies[twin].wording, participants=max(20, self.studies[twin].wording.participants - 9)
                    )
                    row = {"title": f"{original['title']} [conference abstract]", "abstract": abstract(rng, short, 0)}
                else:
                    row = {"title": f"Correction to: {original['title']}", "abstract": ""}
                article_id = self._append({**row, "year": original["year"], "authors": original["authors"]}, rng)
                self._note(article_id, protocol.review_id, "near_duplicate", twin=twin)

    def add_background(self) -> None:
        """Fill the corpus up with studies of other questions."""
        while len(self.rows) < CORPUS_SIZE:
            rng = self._rng(5)
            kind = "PI" if rng.random() < 0.6 else "E"
            condition, participants = pick(rng, BACKGROUND_CONDITIONS), int(np.exp(rng.normal(6, 1))) + 12
            who = pick(
                rng,
                ("adults with {}", "patients with {}", "children with {}", "people treated for {}", "women with {}"),
            )
            wording = Wording(
                kind,
                who.format(condition),
                pick(rng, BACKGROUND_AGENTS),
                pick(rng, ("placebo", "usual care", "no treatment", "standard treatment", *BACKGROUND_AGENTS)),
                f"{pick(rng, BACKGROUND_OUTCOMES)} in {condition}",
                pick(rng, DESIGNS[kind] + NEAR_DESIGNS[kind]),
                participants,
                _interval(rng, rng.normal(0, 0.3), participants),
                rng.random() < 0.3,
                f"{pick(rng, ACRONYMS)}-{int(rng.integers(1, 9))}",
            )
            self.add(Study(None, (), wording, int(rng.integers(1990, 2024)), _padding(rng), rng.random() > 0.07))


def _failures(study: Study, protocol: Protocol) -> tuple[str, ...]:
    """Return the criteria of a protocol that a study of its topic fails."""
    first, last = protocol.years
    failed = [name for name in study.fails if name != "date"]
    return tuple(failed if first <= study.year <= last else [*failed, "date"])
