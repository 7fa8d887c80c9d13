"""Writes question banks in the folder format that the loader reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litsynth.datasets.litbench import LitbenchPart, text_status
from litsynth.files import atomic_path


def write_bank(folder: Path, part: LitbenchPart) -> None:
    """Write `papers.parquet`, and `facts.parquet` and `questions.parquet` if there are any; same part, same bytes."""
    papers = [{
        "paper_id": paper.id, "role": paper.role, "stratum": paper.stratum, "identifier_type": paper.identifier_type,
        "identifier": paper.identifier, "doi": paper.doi, "title": paper.title, "journal": paper.journal,
        "year": paper.year, "url": paper.url, "text_status": text_status(paper),
        "sections": [{"heading": s.heading, "text": s.text, "section": s.name} for s in paper.sections],
    } for paper in part.papers.values()]
    _write(folder, "papers", papers)
    if not part.facts and not part.questions:
        return
    _write(folder, "facts", [{
        "fact_id": fact.id, "paper_id": fact.paper_id, "section": fact.section, "fact_type": fact.fact_type,
        "statement": fact.statement, "quote": fact.quote, "label": fact.label,
    } for fact in part.facts.values()])
    _write(folder, "questions", [{
        "question_id": question.id, "kind": question.kind, "question": question.text,
        "fact_ids": list(question.fact_ids), "paper_ids": list(question.paper_ids),
    } for question in part.questions.values()])


def _schema(name: str) -> Any:
    import pyarrow as pa

    text = pa.string()
    section = pa.struct([("heading", text), ("text", text), ("section", text)])
    lists = {"fact_ids": pa.list_(text), "paper_ids": pa.list_(text), "sections": pa.list_(section), "year": pa.int32()}
    names = {
        "papers": ("paper_id", "role", "stratum", "identifier_type", "identifier", "doi", "title", "journal", "year",
                   "url", "text_status", "sections"),
        "facts": ("fact_id", "paper_id", "section", "fact_type", "statement", "quote", "label"),
        "questions": ("question_id", "kind", "question", "fact_ids", "paper_ids"),
    }
    return pa.schema([(column, lists.get(column, text)) for column in names[name]])


def _write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_path(Path(folder) / f"{name}.parquet") as temporary:
        pq.write_table(pa.Table.from_pylist(rows, schema=_schema(name)), temporary)
