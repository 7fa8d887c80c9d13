"""Pieces of a review's report: protocol, escaped text of papers, and the final list that a parser reads."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from litsynth.llm.fencing import one_line
from litsynth.records import Candidate, Review
from litsynth.retrieval.query import reported

FINAL_HEADING = "## Final included studies"
NOTHING_INCLUDED = "No study was included."

_MARKUP = re.compile(r"([\\`*_{}\[\]|$#~])")
# Words of a title that a reader of the list could take for an identifier, or for the report taking the entry back.
_IDENTIFIER = re.compile(r"(\b(?:ids?|identifiers?|numbers?|corpus)\b\W{0,12}?|编号\W{0,12}?|corpus\W{1,3})(\d)",
                         re.IGNORECASE)
_RETRACTION = re.compile(r"\b(?=(?:no|not|non|none|nothing|zero|omitted|excluded?|withdrawn|removed?|ineligible"
                         r"|disregard|do(?:es)?n't|isn't|wasn't)\b)(\w)", re.IGNORECASE)


def _entity(letter: str) -> str:
    return f"&#{ord(letter)};"


def escape(text: str) -> str:
    """Return text of a paper on one line that stands for itself in Markdown and HTML, whatever markup it holds."""
    plain = "".join(letter for letter in one_line(text) if letter.isprintable())
    return _MARKUP.sub(r"\\\1", html.escape(plain, quote=False))


def escape_title(title: str) -> str:
    """Return a title for the final list: escaped, and read by nobody as another identifier or as a withdrawal.

    Where the words themselves would mislead a parser ("Corpus ID: 5", "not included"), one character is written as an
    entity; a reader of the rendered report sees the exact title.
    """
    text = escape(title)
    text = _IDENTIFIER.sub(lambda match: match.group(1) + _entity(match.group(2)), text)
    return _RETRACTION.sub(lambda match: _entity(match.group(1)), text)


def final_list(articles: Iterable[Candidate]) -> str:
    """Return the dedicated final section: a table of Corpus IDs with exact titles, or that nothing was included."""
    rows = [f"| Corpus ID: {article.corpus_id} | {escape_title(article.title)} | {article.year or ''} |"
            for article in articles]
    if not rows:
        return f"{FINAL_HEADING}\n\n{NOTHING_INCLUDED}\n"
    return "\n".join((FINAL_HEADING, "", "| Corpus ID | Title | Year |", "| --- | --- | --- |", *rows)) + "\n"


def protocol_lines(review: Review) -> list[str]:
    """Return the protocol as `Name: value`, one line each: question, PI/ECO, search dates; never the review's title."""
    acted = ("Intervention", review.intervention) if reported(review.intervention) else ("Exposure", review.exposure)
    fields = (("Research question", review.research_question), ("Population", review.population), acted,
              ("Comparison", review.comparison), ("Outcome", review.outcome),
              ("Search dates", _dates(review)))
    return [f"{name}: {one_line(value or '')}" for name, value in fields if reported(value)]


def _dates(review: Review) -> str:
    start, end = reported(review.search_start_date), reported(review.search_end_date)
    return f"{start or 'the beginning'} to {end or 'the end of what was searched'}" if start or end else ""


def criteria_lines(review: Review) -> list[str]:
    """Return the criteria as headed list lines; nothing for kinds of which none is reported."""
    lines: list[str] = []
    for heading, items in (("Inclusion criteria:", review.inclusion_criteria),
                           ("Exclusion criteria:", review.exclusion_criteria)):
        if items:
            lines += [heading, *(f"- {one_line(item)}" for item in items)]
    return lines
