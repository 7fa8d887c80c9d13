"""Whether an answer leads back to its origin: the right paper named, and the right passage quoted from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from litsynth.records import Fact, Paper, Response
from litsynth.scoring.spans import SpanCheck, check_quotation


@dataclass(frozen=True, slots=True)
class FactTrace:
    """Traceability of one fact.

    `source`: the originating paper is among the papers named. `verbatim`: a quotation said to be from that paper stands
    in it word for word. `overlap`: it also overlaps the reference quote. `traceable`: all three. `check` is the
    best quotation's check, None without a quotation from the source.
    """

    fact_id: str
    source: bool
    verbatim: bool
    overlap: bool
    check: SpanCheck | None = None
    reason: str = ""

    @property
    def traceable(self) -> bool:
        """The composite of source and span."""
        return self.source and self.verbatim and self.overlap


def trace_fact(response: Response, fact: Fact, papers: Mapping[str, Paper], sources: int) -> FactTrace:
    """Trace one fact of a question that asks for `sources` facts.

    Only the first `sources` papers and quotations count, so that naming every paper or quoting all of one earns
    nothing. `papers` holds the fact's paper.
    """
    named = response.paper_ids[:sources]
    source = fact.paper_id in named
    checks = [check_quotation(quotation.text, papers[fact.paper_id], fact.quote)
              for quotation in response.quotations[:sources] if quotation.paper_id == fact.paper_id]
    if not checks:
        reason = "no quotation from the source" if source else f"named {', '.join(named) or 'no paper'}"
        return FactTrace(fact.id, source, False, False, None, reason)
    best = max(checks, key=lambda check: (check.overlaps, check.verbatim, check.overlap or 0.0))
    reason = "" if best.overlaps and source else best.reason or (
        "the source is quoted but not named" if not source else "another passage of the source")
    return FactTrace(fact.id, source, best.verbatim, best.overlaps, best, reason)


def verbatim_quotations(response: Response, papers: Mapping[str, Paper], sources: int) -> tuple[int, int]:
    """Return how many of a response's quotations are verbatim in the papers they name, and how many there are.

    It measures faithfulness whatever the source; a quotation from a paper that `papers` lacks is not verbatim.
    """
    quotations: Sequence = response.quotations[:sources]
    verbatim = sum(quotation.paper_id in papers and check_quotation(quotation.text, papers[quotation.paper_id]).verbatim
                   for quotation in quotations)
    return verbatim, len(quotations)
