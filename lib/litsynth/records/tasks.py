"""What is asked (tasks, without answers) and what is true (gold), kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from litsynth.records.articles import Article, Paper


@dataclass(frozen=True, slots=True)
class Review:
    """One MetaSyn task: the protocol of a review, without its title and without anything it found.

    Texts are None when not reported. `source_ids` are the corpus records of the review itself, which
    every search excludes.
    """

    id: int
    split: str
    research_question: str
    population: str | None = None
    intervention: str | None = None
    exposure: str | None = None
    comparison: str | None = None
    outcome: str | None = None
    search_start_date: str | None = None
    search_end_date: str | None = None
    inclusion_criteria: tuple[str, ...] = ()
    exclusion_criteria: tuple[str, ...] = ()
    source_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Gold:
    """The published answer to one review: included studies, direction, insights, title, effect fields.

    `effect_direction` is Positive, Negative, Mixed or None (not reported).
    """

    review_id: int
    included_ids: frozenset[int]
    title: str = ""
    effect_direction: str | None = None
    key_insights: tuple[str, ...] = ()
    effects: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fact:
    """One gold fact of a paper: statement, verbatim quote, and the domain (section x fact type) it belongs to."""

    id: str
    paper_id: str
    section: str
    fact_type: Literal["stated", "interpretation"]
    statement: str
    quote: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the bank with the facts and papers that answer it (one each, or two for `two_paper`)."""

    id: str
    kind: Literal["single", "two_paper"]
    text: str
    fact_ids: tuple[str, ...]
    paper_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionTask:
    """What a system is told of a question: its identifier, its text and how many sources it needs."""

    id: str
    text: str
    sources: int


@dataclass(frozen=True)
class Dataset:
    """A loaded data set: MetaSyn part (reviews, corpus, gold), LitBench part (papers, facts, questions), or both.

    Mappings keep the order of the source. `checksum` is the SHA-256 of what was loaded; `synthetic`
    says that the data were generated and every number made from them must be labelled so.
    `screened` maps a review to {article: included?} where the source records every screened article.
    `notes` holds, per synthetic or annotated article, facts for error analysis (such as the one
    criterion that a hard negative fails); it is gold and never reaches a system.
    """

    name: str
    checksum: str
    synthetic: bool
    folder: Path | None = None
    revision: str | None = None
    licence: str | None = None
    reviews: Mapping[int, Review] = field(default_factory=dict)
    corpus: Mapping[int, Article] = field(default_factory=dict)
    gold: Mapping[int, Gold] = field(default_factory=dict)
    screened: Mapping[int, Mapping[int, bool]] = field(default_factory=dict)
    notes: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    papers: Mapping[str, Paper] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)

    def split(self, name: str) -> dict[int, Review]:
        """Return the reviews of one split (`all` for every review), in source order."""
        return {i: r for i, r in self.reviews.items() if name in ("all", r.split)}
