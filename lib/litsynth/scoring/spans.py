"""Whether a quotation stands verbatim in a paper, where, and whether it covers the reference quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from litsynth.records import Paper
from litsynth.scoring.folding import FoldedText, fold_with_offsets

SHORTEST = 20  # folded characters; a shorter quotation proves nothing, unless the reference itself is shorter
LONGEST = 1500  # folded characters; a longer one is a copy of the paper and points at no passage
LEAST_OVERLAP = 0.5  # of the shorter of quotation and reference
MOST_PARTS = 4  # parts that ellipses may join

SpanStatus = Literal["verbatim", "empty", "too_short", "too_long", "not_found"]
Spans = tuple[tuple[int, int], ...]

_ELLIPSIS = re.compile(r"\s*[\[(]?(?:\.\s?\.\s?\.+|…)[\])]?\s*")
_EDGE = " \t\r\n\"'“”„‘’«»`.,;:…"  # means nothing around a quotation
_CUT_HYPHENS = "-\u00ad\u2010\u2011\u2012\u2013\u2014"  # at the end of a quotation; at its start they may be a sign


@dataclass(frozen=True, slots=True)
class SpanCheck:
    """What became of one quotation in one paper.

    `status`: verbatim; empty; too_short (below `SHORTEST`); too_long (above `LONGEST`); not_found (a paraphrase, a
    quotation of another paper). `section` and `spans` say where it stands: character offsets
    into the original text of that section, one pair for each part that ellipses join. `overlap` is the share
    of the shorter of quotation and reference that both cover, 0 when the quotation is not verbatim, None
    when no reference was given; `overlaps` compares it with the stated share.
    """

    status: SpanStatus
    section: int | None = None
    spans: Spans = ()
    overlap: float | None = None
    overlaps: bool = False
    reason: str = ""

    @property
    def verbatim(self) -> bool:
        """Whether the quotation stands in the paper word for word."""
        return self.status == "verbatim"


def check_quotation(quotation: str, paper: Paper, reference_quote: str | None = None, *, shortest: int = SHORTEST,
                    longest: int = LONGEST, least_overlap: float = LEAST_OVERLAP) -> SpanCheck:
    """Check a quotation against a paper's sections (a title is no evidence) and the reference quote in it.

    Compared after `fold_with_offsets`; quotation marks and punctuation around the quotation do not count. A match
    begins and ends at word boundaries and never inside a number. An ellipsis joins up to `MOST_PARTS` parts that
    all stand in one section, in that order, each as long as the floor. Where the quotation or the reference stands
    several times, the places that overlap most decide. When the bank's reference is not itself verbatim in the
    paper, overlap is that of the words, and `reason` says so.
    """
    trimmed = _trim(quotation)
    folded = fold_with_offsets(trimmed).text.strip()
    reference = _trim(reference_quote or "")
    if not folded:
        return SpanCheck("empty", reason="no quotation")
    floor = min(shortest, len(fold_with_offsets(reference).text)) if reference else shortest
    if len(folded) < floor:
        return SpanCheck("too_short", reason=f"{len(folded)} characters, at least {floor} needed")
    if len(folded) > longest:
        return SpanCheck("too_long", reason=f"{len(folded)} characters, at most {longest} allowed")
    places, problem = _places(trimmed, paper, floor)
    if not places:
        return SpanCheck("too_short" if problem else "not_found", reason=problem or "not verbatim in this paper")
    if not reference:
        return SpanCheck("verbatim", *places[0])
    references = [place for place in _whole_places(reference, paper) if place[1]]
    if not references:
        share = _word_overlap(trimmed, reference)
        return SpanCheck("verbatim", *places[0], share, share >= least_overlap,
                         "the reference quote is not verbatim in the paper: overlap of words")
    share, place = max(((max(_overlap(place, other) for other in references), place) for place in places),
                       key=lambda pair: pair[0])
    return SpanCheck("verbatim", *place, share, share >= least_overlap)


def _trim(quotation: str) -> str:
    return quotation.strip(_EDGE).rstrip(_CUT_HYPHENS + _EDGE)


def _places(quotation: str, paper: Paper, floor: int) -> tuple[list[tuple[int, Spans]], str]:
    """Return where a quotation stands, whole or in parts joined by ellipses, and what is wrong with its parts."""
    whole = _whole_places(quotation, paper)
    parts = [_trim(part) for part in _ELLIPSIS.split(quotation)]
    parts = [part for part in parts if part]
    if whole or len(parts) < 2:
        return whole, ""
    if len(parts) > MOST_PARTS:
        return [], ""
    if any(len(fold_with_offsets(part).text) < floor for part in parts):
        return [], f"a part between ellipses is shorter than {floor} characters"
    found = []
    for number, section in enumerate(paper.sections):
        spans = _in_order(parts, section.text)
        if spans:
            found.append((number, spans))
    return found, ""


def _whole_places(quotation: str, paper: Paper) -> list[tuple[int, Spans]]:
    needle = fold_with_offsets(quotation).text.strip()
    return [(number, (span,)) for number, section in enumerate(paper.sections)
            for span in _occurrences(needle, fold_with_offsets(section.text), section.text)]


def _in_order(parts: list[str], text: str) -> Spans:
    """Return the first spans at which all parts stand one after the other, or nothing."""
    spans: list[tuple[int, int]] = []
    position = 0
    for part in parts:
        needle = fold_with_offsets(part).text.strip()
        span = next((s for s in _occurrences(needle, fold_with_offsets(text), text) if s[0] >= position), None)
        if span is None:
            return ()
        spans.append(span)
        position = span[1]
    return tuple(spans)


def _occurrences(needle: str, folded: FoldedText, original: str) -> Iterator[tuple[int, int]]:
    """Yield the original offsets of every place of `needle` that cuts no word and no number."""
    at = folded.text.find(needle) if needle else -1
    while at >= 0:
        start, end = int(folded.starts[at]), int(folded.ends[at + len(needle) - 1])
        if not _cuts(original, start) and not _cuts(original, end):
            yield start, end
        at = folded.text.find(needle, at + 1)


def _cuts(text: str, position: int) -> bool:
    """Tell whether a cut at `position` goes through a word or a number such as 0.5 or 1,200."""
    if not 0 < position < len(text):
        return False
    left, right = text[position - 1], text[position]
    if left.isalnum() and right.isalnum():
        return True
    before = position > 1 and left in ".,·" and text[position - 2].isdigit() and right.isdigit()
    after = left.isdigit() and right in ".,·" and position + 1 < len(text) and text[position + 1].isdigit()
    return before or after


def _overlap(place: tuple[int, Spans], reference: tuple[int, Spans]) -> float:
    """Return the share of the shorter of two places that both cover; 0 in different sections."""
    if place[0] != reference[0]:
        return 0.0
    common = sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in place[1] for b in reference[1])
    return common / min(sum(b - a for a, b in place[1]), sum(b - a for a, b in reference[1]))


def _word_overlap(quotation: str, reference: str) -> float:
    """Return the share of the shorter text's pairs of successive words that stand in the other text too."""
    pairs = [set(pairwise(re.findall(r"\w+", fold_with_offsets(text).text))) for text in (quotation, reference)]
    smaller = min(map(len, pairs))
    return len(pairs[0] & pairs[1]) / smaller if smaller else 0.0
