"""What is wrong with a question bank, row by row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from litsynth.datasets.litbench import LitbenchPart
from litsynth.datasets.litbench_quotes import comparable, contains_verbatim
from litsynth.datasets.litbench_rows import Row
from litsynth.records import Fact, Paper, Question
from litsynth.text import words

SECTION_NAMES = ("abstract", "introduction", "methods", "results", "discussion", "table", "figure")
FACT_TYPES = ("stated", "interpretation")
_SOURCES = {"single": 1, "two_paper": 2}
_TABLES = {Paper: "papers", Fact: "facts", Question: "questions"}
SHORTEST, LONGEST = 5, 30  # words of a question


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with one row. `structural` findings are errors that keep a bank from loading."""

    severity: Literal["error", "warning"]
    file: str
    row: int
    id: str
    problem: str
    structural: bool = False


def validate(part: LitbenchPart) -> list[Finding]:
    """Return everything wrong with a bank, in the order of its rows: errors that break scoring, and warnings."""
    return list(_findings(part, structural_only=False))


def counts(part: LitbenchPart, findings: Sequence[Finding]) -> dict[str, int]:
    """Return how many papers, facts and questions a bank has, and how many errors and warnings."""
    severities = Counter(finding.severity for finding in findings)
    return {"papers": len(part.papers), "facts": len(part.facts), "questions": len(part.questions),
            "errors": severities["error"], "warnings": severities["warning"]}


def structural_findings(part: LitbenchPart) -> list[Finding]:
    """Return what keeps a bank from loading, without looking into texts."""
    return list(_findings(part, structural_only=True))


def _findings(part: LitbenchPart, *, structural_only: bool) -> Iterator[Finding]:
    check = _Check(part)
    seen: dict[tuple[type, str], Row] = {}
    for row in part.rows or _rows_of(part):
        record = row.record
        first = seen.setdefault((type(record), record.id), row)
        problems: list[tuple[str, str]] = []
        if not record.id:
            problems.append(("broken", "it has no id"))
        elif first is not row:
            problems.append(("broken", f"its id stands in row {first.number} already"))
        problems += check.structure(record)
        if not structural_only:
            problems += check.content(record)
        for severity, problem in problems:
            yield Finding("warning" if severity == "warning" else "error", row.file, row.number, record.id, problem,
                          severity == "broken")


def _rows_of(part: LitbenchPart) -> Iterator[Row]:
    for table in (part.papers, part.facts, part.questions):
        for number, record in enumerate(table.values(), start=1):
            yield Row(_TABLES[type(record)], number, record)


@dataclass
class _Check:
    """Finds the problems of single records of one bank; each is (broken, error or warning; what is wrong)."""

    part: LitbenchPart
    _folded: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _asked: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._asked = frozenset(i for question in self.part.questions.values() for i in question.fact_ids)

    def structure(self, record: Paper | Fact | Question) -> list[tuple[str, str]]:
        if isinstance(record, Paper):
            fine = record.role in ("gold", "decoy")
            return [] if fine else [("broken", f"its role {record.role!r} is neither gold nor decoy")]
        if isinstance(record, Fact):
            return list(self._fact_structure(record))
        return list(self._question_structure(record))

    def content(self, record: Paper | Fact | Question) -> list[tuple[str, str]]:
        if isinstance(record, Paper):
            return list(self._paper_content(record))
        return list(self._fact_content(record) if isinstance(record, Fact) else self._question_content(record))

    def _fact_structure(self, fact: Fact) -> Iterator[tuple[str, str]]:
        if fact.paper_id not in self.part.papers:
            yield "broken", f"its paper {fact.paper_id!r} is not among the papers"
        if fact.fact_type not in (*FACT_TYPES, "unclassified"):
            yield "broken", f"unknown fact type {fact.fact_type!r} (known: {', '.join(FACT_TYPES)}, unclassified)"

    def _question_structure(self, question: Question) -> Iterator[tuple[str, str]]:
        wanted = _SOURCES.get(question.kind)
        if wanted is None:
            yield "broken", f"unknown kind {question.kind!r} (known: {', '.join(_SOURCES)})"
        elif len(question.paper_ids) != wanted:
            yield "broken", f"a {question.kind} question with {len(question.paper_ids)} paper(s) instead of {wanted}"
        elif len(question.fact_ids) != wanted:
            yield "broken", f"a {question.kind} question with {len(question.fact_ids)} fact(s) instead of {wanted}"
        if len(set(question.paper_ids)) < len(question.paper_ids):
            yield "broken", f"it names the paper {question.paper_ids[0]!r} twice"
        for paper_id in question.paper_ids:
            if paper_id not in self.part.papers:
                yield "broken", f"its paper {paper_id!r} is not among the papers"
        for place, fact_id in enumerate(question.fact_ids):
            fact = self.part.facts.get(fact_id)
            if fact is None:
                yield "broken", f"its fact {fact_id!r} is not among the facts"
            elif place < len(question.paper_ids) and fact.paper_id != question.paper_ids[place]:
                yield "broken", (f"its fact {fact_id!r} belongs to {fact.paper_id!r} "
                                 f"and not to {question.paper_ids[place]!r}")

    def _paper_content(self, paper: Paper) -> Iterator[tuple[str, str]]:
        if self.part.questions and not any(section.text.strip() for section in paper.sections):
            yield "warning", "it has no text"
        for section in paper.sections:
            if section.name and section.name not in SECTION_NAMES:
                yield "warning", f"unknown section name {section.name!r} at heading {section.heading!r}"

    def _fact_content(self, fact: Fact) -> Iterator[tuple[str, str]]:
        if fact.section not in SECTION_NAMES:
            yield "error", f"unknown section {fact.section!r} (known: {', '.join(SECTION_NAMES)})"
        if fact.fact_type == "unclassified":
            yield "warning", "no fact type: it counts in no domain"
        if not fact.statement.strip():
            yield "error", "it has no statement"
        paper = self.part.papers.get(fact.paper_id)
        if paper is None:
            return
        if paper.role == "decoy":
            asked = fact.id in self._asked
            yield ("error", f"a fact of the decoy {paper.id!r} that a question asks") if asked else (
                "warning", f"a fact of the decoy {paper.id!r}, which should carry no answer")
        yield from self._quote(fact, paper)

    def _quote(self, fact: Fact, paper: Paper) -> Iterator[tuple[str, str]]:
        sections = self._sections(paper)
        if not fact.quote.strip():
            yield "error", "it has no quote"
        elif not sections:
            yield "warning", f"its paper {paper.id!r} has no text, so its quote cannot be checked"
        else:
            places = {name for name, text in sections if contains_verbatim(text, fact.quote)}
            if not places:
                yield "error", f"its quote is not verbatim in paper {paper.id!r}: {fact.quote[:60]!r}"
            elif fact.section in SECTION_NAMES and fact.section not in places and "" not in places:
                yield "warning", f"its quote stands in {', '.join(sorted(places))} and not in {fact.section}"

    def _question_content(self, question: Question) -> Iterator[tuple[str, str]]:
        length = len(question.text.split())
        if not SHORTEST <= length <= LONGEST:
            yield "warning", f"{length} words instead of {SHORTEST} to {LONGEST}"
        for fact_id in question.fact_ids:
            fact = self.part.facts.get(fact_id)
            if fact and contains_answer(question.text, fact):
                yield "warning", f"it contains its answer (fact {fact_id!r})"
        for paper_id in question.paper_ids:
            paper = self.part.papers.get(paper_id)
            if paper and paper.role == "decoy":
                yield "error", f"its paper {paper_id!r} is a decoy"

    def _sections(self, paper: Paper) -> list[tuple[str, str]]:
        if paper.id not in self._folded:
            written = [section for section in paper.sections if section.text.strip()]
            self._folded[paper.id] = [(section.name, comparable(section.text)) for section in written]
        return self._folded[paper.id]


def contains_answer(question: str, fact: Fact) -> bool:
    """Return whether a question holds every content word and number of the fact's statement, or its quote."""
    answer, asked = _content(fact.statement), _content(question)
    return (bool(answer) and answer <= asked) or contains_verbatim(comparable(question), fact.quote)


def _content(text: str) -> set[str]:
    return {*words(text), *re.findall(r"\d+(?:[.,]\d+)*", text)}
