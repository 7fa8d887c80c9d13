"""Question banks in the LitBench shape: papers, facts and questions from a folder of tables or the public manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from litsynth.datasets.litbench_rows import Row, read_fact_rows, read_paper_rows, read_question_rows, table_path
from litsynth.errors import DataError
from litsynth.records import Fact, Paper, Question

MANIFEST_FILES = ("corpus_papers.csv", "gold_papers.csv", "decoy_papers.csv")
_ACCEPTED = (
    "papers, facts and questions as .parquet, .jsonl or .json, or the manifest: corpus_papers.csv, or gold_papers.csv "
    "and decoy_papers.csv"
)


@dataclass(frozen=True)
class LitbenchPart:
    """Papers, facts and questions by id, in source order; `rows` holds every row as read, repeated ids included."""

    papers: Mapping[str, Paper]
    facts: Mapping[str, Fact]
    questions: Mapping[str, Question]
    rows: tuple[Row, ...] = field(default=(), repr=False, compare=False)


def has_bank(folder: Path) -> bool:
    """Return whether `folder` holds a question bank's papers: a table of them, or the manifest."""
    return table_path(folder, "papers") is not None or any((folder / name).is_file() for name in MANIFEST_FILES)


def load_folder_part(folder: Path) -> LitbenchPart:
    """Load a bank and refuse one that does not hang together.

    A manifest, or a folder with papers only, has no facts and no questions. Raises `DataError` naming file and
    row for repeated ids, links to nothing, unknown roles, fact types and kinds, and questions with the wrong
    number of papers; `litsynth.datasets.litbench_validate.validate` finds what is wrong besides.
    """
    from litsynth.datasets.litbench_validate import structural_findings

    part = read_part(folder)
    broken = structural_findings(part)
    if broken:
        first, more = broken[0], len(broken) - 1
        raise DataError(f"{Path(folder) / first.file}, row {first.row} ({first.id}): {first.problem}"
                        + (f"; and {more} more such row(s)" if more else ""),
                        expected="a bank whose ids are unique and whose links lead somewhere",
                        remedy="`litsynth bank validate FOLDER` lists all of them")
    return part


def read_part(folder: Path) -> LitbenchPart:
    """Read a bank as it is, however broken its links are; raises `DataError` for what it cannot read."""
    folder = Path(folder)
    papers = table_path(folder, "papers")
    if papers is None:
        return _part(tuple(_manifest_rows(folder)))
    facts, questions = table_path(folder, "facts"), table_path(folder, "questions")
    if (facts is None) != (questions is None):
        lacking = "facts" if facts is None else "questions"
        raise DataError(f"{folder} has papers and {'questions' if facts is None else 'facts'} but no {lacking}",
                        expected="papers alone, or papers, facts and questions",
                        remedy=f"add {lacking}.parquet (it may have no rows)")
    rows = chain(read_paper_rows(papers), read_fact_rows(facts) if facts else (),
                 read_question_rows(questions) if questions else ())
    return _part(tuple(rows))


def paper_text(paper: Paper) -> str:
    """Return a paper's text in reading order, headings included."""
    return "\n\n".join(f"{section.heading}\n{section.text}".strip() for section in paper.sections)


def text_status(paper: Paper) -> str:
    """Return how much of a paper's text there is: `full`, `abstract_only` or `none`."""
    written = [section.name for section in paper.sections if section.text.strip()]
    if not written:
        return "none"
    return "abstract_only" if all(name == "abstract" for name in written) else "full"


def _manifest_rows(folder: Path) -> list[Row]:
    corpus, *halves = (folder / name for name in MANIFEST_FILES)
    # The whole list wins: the two halves say the same once more.
    files = [corpus] if corpus.is_file() else [path for path in halves if path.is_file()]
    if not files:
        found = ", ".join(sorted(path.name for path in folder.iterdir())) if folder.is_dir() else "no such folder"
        raise DataError(f"{folder} holds no question bank (found: {found or 'nothing'})", expected=_ACCEPTED,
                        remedy="check the path")
    return [row for path in files for row in read_paper_rows(path)]


def _part(rows: tuple[Row, ...]) -> LitbenchPart:
    if not rows:
        raise DataError("the bank's tables have no rows", expected="at least one paper",
                        remedy="write or fetch them again")
    by_kind: dict[type, dict] = {Paper: {}, Fact: {}, Question: {}}
    for row in rows:
        by_kind[type(row.record)].setdefault(row.record.id, row.record)
    return LitbenchPart(by_kind[Paper], by_kind[Fact], by_kind[Question], rows)
