"""What an agent's tools answer: records and chunks, as values for programs and as fenced text for models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litsynth.llm.fencing import fence_for, fenced, one_line

LINK = "metasyn://corpus/"  # with a Corpus ID: an address for agents whose sources need one; report parsers know it
_COUNTED = {"distinct_articles": "new articles", "searches": "searches", "fetches": "fetches"}


def budget_line(remaining: Mapping[str, int | None], **further: int) -> str:
    """Return what is left as a sentence; kinds of calls without a limit are left out."""
    counts = {**further, **{_COUNTED[name]: count for name, count in remaining.items()}}
    return "Left: " + ", ".join(f"{count} {name}" for name, count in counts.items() if count is not None) + "."


@dataclass(frozen=True, slots=True)
class SearchReply(Sequence[Mapping[str, Any]]):
    """The records of one search, best first; it is a sequence of them.

    A record has `corpus_id`, `title`, `year`, `abstract`, `abstract_cut` and `seen_before` (in an earlier search).
    """

    records: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    remaining: Mapping[str, int | None]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, position: Any) -> Any:
        return self.records[position]

    def as_dict(self) -> dict[str, Any]:
        """Return the reply as JSON-ready values."""
        return {"results": [{**record, "url": f"{LINK}{record['corpus_id']}"} for record in self.records],
                "notes": list(self.notes), "remaining": dict(self.remaining)}

    def as_text(self, **further: int) -> str:
        """Return the reply for a model: one line a record between marks, notes, and what is left of the budget."""
        lines = [_record_line(record) for record in self.records]
        shown = [fenced(lines, fence_for(lines))] if lines else []
        return "\n".join((*shown, *_sentences(self.notes), budget_line(self.remaining, **further)))


@dataclass(frozen=True, slots=True)
class FetchReply:
    """One chunk of a record's section, chunks counted from 1 to `chunks`; `sections` names what else there is."""

    corpus_id: int
    title: str
    year: int | None
    section: str
    chunk: int
    chunks: int
    text: str
    sections: tuple[str, ...]
    notes: tuple[str, ...]
    remaining: Mapping[str, int | None]

    def as_dict(self) -> dict[str, Any]:
        """Return the reply as JSON-ready values."""
        return {"corpus_id": self.corpus_id, "url": f"{LINK}{self.corpus_id}", "title": self.title, "year": self.year,
                "section": self.section, "chunk": self.chunk, "chunks": self.chunks, "text": self.text,
                "sections": list(self.sections), "notes": list(self.notes), "remaining": dict(self.remaining)}

    def as_text(self, **further: int) -> str:
        """Return the reply for a model: the chunk between marks, where it stands, and what is left of the budget."""
        lines = [f"Corpus ID: {self.corpus_id} | Title: {one_line(self.title)} | Year: {self.year or 'unknown'} | "
                 f"Section: {one_line(self.section)} | Chunk {self.chunk} of {self.chunks}",
                 *(self.text.splitlines() or ["(no text)"])]
        fence = fence_for([*lines, *self.sections])
        listed = fenced([*lines, "Sections: " + "; ".join(self.sections)], fence)
        more = [f"chunk {self.chunk + 1} continues"] if self.chunk < self.chunks else []
        return "\n".join((listed, *_sentences((*more, *self.notes)), budget_line(self.remaining, **further)))


def _record_line(record: Mapping[str, Any]) -> str:
    abstract = (record["abstract"] or "none") + (" [cut]" if record["abstract_cut"] else "")
    seen = " | shown before" if record["seen_before"] else ""
    return (f"Corpus ID: {record['corpus_id']} | Title: {one_line(record['title'])} | "
            f"Year: {record['year'] or 'unknown'}{seen} | Abstract: {abstract}")


def _sentences(notes: Sequence[str]) -> list[str]:
    return [f"{note[:1].upper()}{note[1:]}." for note in notes]
