"""The query that a review's protocol makes."""

from __future__ import annotations

from litsynth.errors import DataError
from litsynth.records import Review


def reported(text: str | None) -> str:
    """Return the stripped text, empty when it is missing, blank or `NR` (not reported)."""
    plain = (text or "").strip()
    return "" if plain.upper() == "NR" else plain


def protocol_query(review: Review) -> str:
    """Return the reported protocol fields as `Name: value`, joined by `. `, in the order that the benchmark fixes.

    Research Question, Population, Intervention (Exposure where no intervention is reported), Comparison, Outcome; never
    the review's title. Raises `DataError` when nothing is reported.
    """
    acted = ("Intervention", review.intervention) if reported(review.intervention) else ("Exposure", review.exposure)
    fields = (("Research Question", review.research_question), ("Population", review.population), acted,
              ("Comparison", review.comparison), ("Outcome", review.outcome))
    query = ". ".join(f"{name}: {reported(value)}" for name, value in fields if reported(value))
    if not query:
        raise DataError(f"review {review.id} reports no research question and no PI/ECO field",
                        expected="at least one of " + ", ".join(name for name, _ in fields),
                        remedy="fill in the review's Research_Question")
    return query
