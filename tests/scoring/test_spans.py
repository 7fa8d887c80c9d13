"""Quotations checked against papers: what counts as verbatim, where it stands, and what it covers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litsynth.records import Paper, Section
from litsynth.scoring.folding import fold_with_offsets
from litsynth.scoring.spans import LONGEST, check_quotation

RESULTS = ("Relapse occurred in 102 of 204 adults (50%). The ef\ufb01cacy of zelamine was 12\u201315\u2009% higher at "
           "10\u207b\u00b3 mol/m\u00b2. Treat-\nment with well-known drugs was stopped at 0.5 mg; no adult died. "
           "Relapse was rare in the sec\u00ad\nond year.")
DISCUSSION = "We saw that relapse was rare after one year. Zelamine may therefore delay relapse in adults."
PAPER = Paper("P1", "gold", "x", "Zelamine in adults with relapse and its many uses",
              (Section("Results", RESULTS, "results"), Section("Discussion", DISCUSSION, "discussion")))
REFERENCE = "Relapse occurred in 102 of 204 adults (50%)."


def _found(check) -> str:
    section = PAPER.sections[check.section].text
    return " | ".join(section[start:end] for start, end in check.spans)


@pytest.mark.parametrize(("quotation", "original"), [
    # as it is; spaces and a small letter; quotation marks around; then as the comments say
    ("Relapse occurred in 102 of 204 adults (50%).", "Relapse occurred in 102 of 204 adults (50%)"),
    ("relapse  occurred in\n102 of\u00a0204 adults", "Relapse occurred in 102 of 204 adults"),
    ("\u201cRelapse occurred in 102 of 204 adults\u201d", "Relapse occurred in 102 of 204 adults"),
    ("The efficacy of zelamine was", "The ef\ufb01cacy of zelamine was"),  # ligature
    ("zelamine was 12-15 % higher at", "zelamine was 12\u201315\u2009% higher at"),  # dash, thin space
    ("zelamine was 12 \u2014 15 % higher", "zelamine was 12\u201315\u2009% higher"),  # spaces around a dash
    # superscripts, a word hyphenated at a line's end in the paper
    ("higher at 10-3 mol/m2. Treatment", "higher at 10\u207b\u00b3 mol/m\u00b2. Treat-\nment"),
    ("Treatment with well-known drugs", "Treat-\nment with well-known drugs"),
    ("Treatment with well\u2010known drugs was", "Treat-\nment with well-known drugs was"),
    ("with well-\nknown drugs was stopped", "with well-known drugs was stopped"),  # hyphenated in the quotation
    ("rare in the second year", "rare in the sec\u00ad\nond year"),  # soft hyphen at a line's end
    ("e\u0301".join(["We saw that relapse was rare"]), "We saw that relapse was rare"),
])
def test_same_words_are_verbatim_however_typeset_with_offsets_of_the_original(quotation: str, original: str) -> None:
    check = check_quotation(quotation, PAPER)
    assert check.status == "verbatim"
    assert _found(check).rstrip(".") == original


@pytest.mark.parametrize(("quotation", "status"), [
    ("", "empty"),
    ("  \u201c\u2026\u201d ", "empty"),
    ("102 of 204 adults", "too_short"),  # 17 characters
    ("Half of all adults had a relapse of the disease", "not_found"),  # paraphrase
    ("Relapse occurred in 102 of 240 adults", "not_found"),  # another number
    ("Relapse occurred in 102 of 204 adult", "not_found"),  # cut inside a word
    ("5 mg; no adult died. Relapse was rare", "not_found"),  # cut inside the number 0.5
    ("Zelamine in adults with relapse and its many uses", "not_found"),  # a title is no evidence
    ("x" * (LONGEST + 1), "too_long"),
])
def test_what_is_not_verbatim_says_why(quotation: str, status: str) -> None:
    check = check_quotation(quotation, PAPER)
    assert (check.status, check.verbatim, check.spans, check.overlaps) == (status, False, (), False)
    assert check.reason


def test_quote_of_another_paper_is_not_verbatim_here() -> None:
    other = Paper("P2", "gold", "x", "", (Section("Results", "Growth was slower in the northern plots of 1998.", ""),))
    assert check_quotation("Growth was slower in the northern plots of 1998.", PAPER).status == "not_found"
    assert check_quotation(REFERENCE, other).status == "not_found"


def test_short_reference_lowers_the_floor_to_its_own_length() -> None:
    assert check_quotation("no adult died", PAPER).status == "too_short"
    check = check_quotation("no adult died", PAPER, "no adult died")
    assert (check.status, check.overlap, check.overlaps) == ("verbatim", 1.0, True)
    assert check_quotation("adult", PAPER, "no adult died").status == "too_short"


@pytest.mark.parametrize("dots", ["…", "...", " [...] ", " (…) ", " . . . "])
def test_ellipsis_joins_parts_in_order_within_one_section(dots: str) -> None:
    check = check_quotation(f"Relapse occurred in 102{dots}drugs was stopped at 0.5 mg", PAPER, REFERENCE)
    assert _found(check) == "Relapse occurred in 102 | drugs was stopped at 0.5 mg"
    # 23 characters of the first part lie in the reference; the shorter of 47 and 43 characters is the reference.
    assert check.overlap == pytest.approx(23 / 43)
    assert check.overlaps


@pytest.mark.parametrize(("quotation", "status"), [
    ("drugs was stopped at 0.5 mg … Relapse occurred in 102", "not_found"),  # wrong order
    ("Relapse occurred in 102 … Zelamine may therefore delay", "not_found"),  # two sections
    ("Relapse occurred in 102 … no adult died", "too_short"),  # a part below the floor
    (" … ".join(["Relapse occurred in 102"] * 5), "not_found"),  # too many parts
])
def test_ellipsis_that_proves_nothing(quotation: str, status: str) -> None:
    assert check_quotation(quotation, PAPER).status == status


@pytest.mark.parametrize(("quotation", "overlap", "overlaps"), [
    (REFERENCE, 1.0, True),
    ("occurred in 102 of 204 adults", 1.0, True),  # inside the reference
    (RESULTS, 1.0, True),  # holds the reference
    ("Treatment with well-known drugs was stopped", 0.0, False),  # elsewhere in the section
    ("We saw that relapse was rare after one year", 0.0, False),  # another section
    # "204 adults (50%" is 15 of the reference's 43 characters; the quotation has 51.
    ("204 adults (50%). The efficacy of zelamine was 12-15", 15 / 43, False),
])
def test_overlap_is_the_share_of_the_shorter(quotation: str, overlap: float, overlaps: bool) -> None:
    check = check_quotation(quotation, PAPER, REFERENCE)
    assert check.status == "verbatim"
    assert check.overlap == pytest.approx(overlap, abs=0.03)
    assert check.overlaps is overlaps


def test_sentence_that_stands_twice_counts_where_the_reference_is() -> None:
    sections = (Section("Abstract", f"Aim. {REFERENCE}", ""), Section("Results", REFERENCE, ""))
    twice = Paper("P3", "gold", "x", "", sections)
    assert check_quotation(REFERENCE, twice, REFERENCE).overlap == 1.0


def test_reference_that_is_not_in_the_paper_falls_to_words_and_says_so() -> None:
    check = check_quotation("occurred in 102 of 204 adults", PAPER, "Relapse occurred in 102 of 204 grown adults.")
    assert check.verbatim
    # pairs of the quotation: occurred-in, in-102, 102-of, of-204, 204-adults; the last is not in the reference.
    assert check.overlap == pytest.approx(4 / 5)
    assert "not verbatim in the paper" in check.reason


@given(st.text(alphabet=st.sampled_from("ab 1-.\n\u00ad\u2013\ufb01\u00b2\u200be\u0301\u00e9`´'A"), max_size=40))
def test_offsets_lead_back_to_the_original(text: str) -> None:
    folded = fold_with_offsets(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))
    assert list(folded.starts) == sorted(folded.starts)
    assert "  " not in folded.text


@given(st.integers(0, len(RESULTS.split()) - 6), st.integers(5, 12))
def test_every_run_of_words_of_the_paper_is_verbatim(first: int, count: int) -> None:
    quotation = " ".join(RESULTS.split()[first:first + count])
    check = check_quotation(quotation, PAPER, shortest=1)
    assert check.verbatim, quotation


def test_long_papers_are_folded_once() -> None:
    text = " ".join(f"Sentence number {i} reports the value {i * 7}." for i in range(20_000))
    paper = Paper("P4", "gold", "x", "", (Section("Results", text, ""),))
    check_quotation("Sentence number 19990 reports the value", paper)
    hits = fold_with_offsets.cache_info().hits
    assert check_quotation("Sentence number 19999 reports the value", paper).verbatim
    assert fold_with_offsets.cache_info().hits > hits
