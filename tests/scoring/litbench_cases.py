"""A small invented bank and responses to it, for the tests of LitBench scoring."""

from __future__ import annotations

from typing import Any

from litsynth.records import Fact, Paper, Question, Quotation, Response, Section

RELAPSE = "Relapse occurred in 102 of 204 adults given zelamine over two years."
DOSE = "Pregnant rats tolerated brontide up to a dose of 40 mg daily."
PAPERS = {
    "A1": Paper("A1", "gold", "x", "Zelamine", (
        Section("Results", f"204 adults were enrolled in 1998 in all. {RELAPSE}", "results"),)),
    "B2": Paper("B2", "gold", "x", "Brontide", (Section("Results", f"Rats were housed in pairs. {DOSE}", "results"),)),
}
FACTS = {
    "F1": Fact("F1", "A1", "results", "stated", "Half of the adults (102 of 204) relapsed on zelamine.", RELAPSE),
    "F2": Fact("F2", "B2", "results", "stated", "Rats tolerated 40 mg of brontide daily.", DOSE),
}
SINGLE = Question("Q1", "single", "How often did relapse occur?", ("F1",), ("A1",))
DOUBLE = Question("Q2", "two_paper", "How often did relapse occur, and which dose was tolerated?", ("F1", "F2"),
                  ("A1", "B2"))


def response(question: Question = SINGLE, **changes: Any) -> Response:
    """Return a response that gets everything right, with `changes`."""
    ids = question.paper_ids
    quotes = (RELAPSE, DOSE)[:len(ids)]
    right: dict[str, Any] = {
        "question_id": question.id, "system": "s", "answer": " ".join(quotes), "refused": False, "paper_ids": ids,
        "quotations": tuple(Quotation(paper_id, quote) for paper_id, quote in zip(ids, quotes, strict=True)),
        "refusals": (False, False) if len(ids) == 2 else (),
    }
    return Response(**{**right, **changes})
