"""Articles of a review corpus, papers of a question bank, and passages of either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a paper: its heading as printed, its text, and the article part it belongs to.

    `name` is abstract, introduction, methods, results, discussion, table, figure or empty when unknown.
    """

    heading: str
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """One record of a review corpus; empty text and None both mean that the source has nothing there."""

    id: int
    title: str
    abstract: str
    pmid: str | None = None
    pmc_id: str | None = None
    doi: str | None = None
    authors: tuple[str, ...] = ()
    journal: str | None = None
    year: int | None = None
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper of a question bank. `role` and `stratum` build candidate sets and never reach a system."""

    id: str
    role: Literal["gold", "decoy"]
    stratum: str
    title: str
    sections: tuple[Section, ...] = ()
    identifier_type: str | None = None
    identifier: str | None = None
    doi: str | None = None
    journal: str | None = None
    year: int | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a paper's section that a search returned; `start` is its character offset in the section's text."""

    paper_id: str
    section: int
    heading: str
    start: int
    text: str
    score: float = 0.0
