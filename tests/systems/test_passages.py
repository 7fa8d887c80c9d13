"""Sentence boundaries, passages and keyword search within a candidate set."""

from __future__ import annotations

import math
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from litbench_bank import PAPERS, RELAPSE

from litsynth.errors import DataError, ParameterError
from litsynth.records import Paper, Passage, Section
from litsynth.retrieval.passages import (
    LENGTH_WEIGHT,
    SATURATION,
    CandidateSearcher,
    PassageIndex,
    UnknownPaperError,
    merge_passages,
    terms,
)
from litsynth.retrieval.sentences import LONGEST_SENTENCE, sentence_spans


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(("text", "sentences"), [
    ("Smith et al. [2004] found it. We agree.", ["Smith et al. [2004] found it.", "We agree."]),
    ("As shown by Smith et al. We agree.", ["As shown by Smith et al.", "We agree."]),
    ("Doses (e.g. 0.5 mg, i.e. Half) fell. It fell.", ["Doses (e.g. 0.5 mg, i.e. Half) fell.", "It fell."]),
    ("See Fig. 2 and Figs. 3 to 5. P < 0.05. Then 3.5 mg.",
     ["See Fig. 2 and Figs. 3 to 5.", "P < 0.05.", "Then 3.5 mg."]),
    ("Zelamine vs. Placebo, no. 12, by J. R. Smith.", ["Zelamine vs. Placebo, no. 12, by J. R. Smith."]),
    ("It was hepatitis B. The virus fell.", ["It was hepatitis B.", "The virus fell."]),
    ("In the U.S. Army. Did it? \u201cYes!\u201d Good.", ["In the U.S. Army.", "Did it?", "\u201cYes!\u201d", "Good."]),
    ("Dose | N\n10 mg | 5\n20 mg | 7", ["Dose | N", "10 mg | 5", "20 mg | 7"]),
    ("No stop\n\nA new paragraph\nruns on", ["No stop", "A new paragraph\nruns on"]),
    ("", []), (" \n ", []),
])
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    assert _sentences(text) == sentences


@given(st.text(alphabet=st.sampled_from("aB .?!\n|\t1\u201d()\u00e9"), max_size=80))
def test_sentences_cover_every_character_once(text: str) -> None:
    spans = sentence_spans(text)
    assert all(a < b for a, b in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())


def test_very_long_sentences_are_cut() -> None:
    assert all(len(sentence) <= LONGEST_SENTENCE for sentence in _sentences("word " * 1000 + "x" * 3000))


def test_terms_drop_stop_words_single_letters_and_plural_s() -> None:
    assert terms("The seizures of a virus, 5 mg in T4; diagnosis") == ["seizure", "virus", "5", "mg", "t4", "diagnosis"]


def test_passages_overlap_by_one_sentence_and_merge_to_the_section() -> None:
    text = "One is here. Two is here.  Three is here. Four is here. Five is here."
    index = PassageIndex([Paper("P", "gold", "x", "", (Section("Results", text, "results"),))])
    passages = index.searcher(["P"]).read("P")
    assert [passage.text for passage in passages] == [
        "One is here. Two is here.  Three is here.", "Three is here. Four is here. Five is here."]
    assert all(text[p.start:p.start + len(p.text)] == p.text for p in passages)
    assert merge_passages(passages) == [Passage("P", 0, "Results", 0, text)]


def _bm25(query: str, documents: dict[tuple, str]) -> dict[tuple, float]:
    """BM25 by its formula (Robertson and Zaragoza 2009, idf with 1 +), one document after the other."""
    tokens = {key: terms(text) for key, text in documents.items()}
    mean = sum(map(len, tokens.values())) / len(tokens)
    scores = dict.fromkeys(documents, 0.0)
    for term in set(terms(query)):
        holders = sum(term in document for document in tokens.values())
        weight = math.log(1 + (len(tokens) - holders + 0.5) / (holders + 0.5))
        for key, document in tokens.items():
            count = document.count(term)
            norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(document) / mean)
            scores[key] += weight * count * (SATURATION + 1) / (count + norm)
    return scores


@pytest.mark.parametrize("candidates", [["A1"], ["A1", "C3"], ["C3", "B2", "A1"], ["D4", "A1"], list(PAPERS)])
def test_scores_are_bm25_with_the_statistics_of_the_candidate_set_alone(candidates: list[str]) -> None:
    searcher = PassageIndex(PAPERS).searcher(candidates)
    documents = {
        (p.paper_id, p.section, p.start): f"{PAPERS[p.paper_id].title} {p.heading} {p.text}"
        for paper_id in candidates for p in searcher.read(paper_id)
    }
    query = "relapse of adults given zelamine, growth of barley, relapse"
    expected = {key: score for key, score in _bm25(query, documents).items() if score > 0}
    found = {(p.paper_id, p.section, p.start): p.score for p in searcher.search(query, 100)}
    assert found == pytest.approx(expected, rel=1e-6)
    assert list(found) == sorted(found, key=lambda key: (-found[key], key))


def test_nothing_outside_the_candidate_set_changes_a_result() -> None:
    small = PassageIndex({i: PAPERS[i] for i in ("A1", "C3")}).searcher(["C3", "A1"])
    large = PassageIndex(PAPERS).searcher(["C3", "A1"])
    query = "relapse adults barley zelamine rats brontide"
    assert small.search(query, 10) == large.search(query, 10)
    assert not any(p.paper_id == "B2" for k in range(1, 20) for p in large.search(query, k))


def test_ties_stand_in_the_order_of_paper_section_and_start() -> None:
    same = (Section("Results", "Zelamine works. " * 5, ""), Section("Results", "Zelamine works. " * 3, ""))
    papers = [Paper(i, "gold", "x", "", same) for i in ("P9", "P10", "P1")]
    found = PassageIndex(papers).searcher(["P9", "P10", "P1"]).search("zelamine", 50)
    by_score = [(p.paper_id, p.section, p.start) for p in found]
    assert by_score == sorted(by_score)
    cut = PassageIndex(papers).searcher(["P1", "P10", "P9"]).search("zelamine", 4)
    assert cut == found[:4]


def test_no_match_gives_no_passage_and_papers_without_text_are_candidates_too() -> None:
    searcher = PassageIndex(PAPERS).searcher(["D4"])
    assert searcher.search("zelamine", 5) == []
    assert searcher.read("D4") == []
    assert PassageIndex(PAPERS).searcher([]).search("zelamine", 5) == []
    assert PassageIndex(PAPERS).searcher(["A1"]).search("the of", 5) == []


def test_papers_outside_the_set_cannot_be_read() -> None:
    searcher = PassageIndex(PAPERS).searcher(["A1"])
    for paper_id in ("B2", "nowhere"):
        with pytest.raises(KeyError):
            searcher.read(paper_id)
        with pytest.raises(UnknownPaperError, match=f"^paper '{paper_id}' is not among the 1 candidate papers"):
            searcher.read(paper_id)


def test_impossible_candidates_and_parameters_are_refused() -> None:
    index = PassageIndex(PAPERS)
    with pytest.raises(UnknownPaperError, match="candidate 'Z' is not in the indexed bank"):
        index.searcher(["A1", "Z"])
    with pytest.raises(DataError, match="'A1' is named twice"):
        CandidateSearcher(["A1", "B2", "A1"], index)
    with pytest.raises(ParameterError, match="at least 1"):
        index.searcher(["A1"]).search("zelamine", 0)
    with pytest.raises(DataError, match="listed twice: A1"):
        PassageIndex([PAPERS["A1"], PAPERS["A1"]])
    with pytest.raises(ParameterError, match="smaller overlap"):
        PassageIndex(PAPERS, sentences=2, overlap=2)


def test_neither_role_nor_stratum_can_be_reached_through_a_searcher() -> None:
    searcher = PassageIndex(PAPERS).searcher(list(PAPERS))
    passage = searcher.search(RELAPSE, 1)[0]
    assert not {"role", "stratum"} & {field for thing in (passage, searcher, searcher._index) for field in dir(thing)}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["zelamine", "relapse", "barley", "adult", "of"]), max_size=6), st.integers(1, 9),
       st.sets(st.sampled_from(sorted(PAPERS))))
def test_fewer_passages_are_the_beginning_of_more(words: list[str], k: int, candidates: set[str]) -> None:
    searcher = PassageIndex(PAPERS).searcher(sorted(candidates))
    every = searcher.search(" ".join(words), 1000)
    assert searcher.search(" ".join(words), k) == every[:k]
    assert {passage.paper_id for passage in every} <= candidates


def _large_bank() -> dict[str, Paper]:
    rng = np.random.default_rng(0)
    return {f"P{i}": Paper(f"P{i}", "gold", "x", f"Title {i}", tuple(
        Section("Results", " ".join(f"Word{a} and word{b} rose." for a, b in rng.integers(0, 3000, (10, 2))), "")
        for _ in range(2))) for i in range(2000)}


@pytest.mark.parametrize("candidates", [["P1999", "P0", "P44"], [f"P{i}" for i in range(1500, 200, -7)]])
def test_few_candidates_of_a_large_bank_are_searched_as_if_they_were_alone(candidates: list[str]) -> None:
    bank = _large_bank()
    query = bank[candidates[0]].sections[0].text[:60] + " rose title"  # words of all passages, and of few
    alone = PassageIndex({i: bank[i] for i in candidates}).searcher(candidates)
    assert PassageIndex(bank).searcher(candidates).search(query, 40) == alone.search(query, 40)


def test_a_searcher_over_two_thousand_papers_answers_within_milliseconds() -> None:
    papers = _large_bank().values()
    index = PassageIndex(papers)
    ids = [paper.id for paper in papers]
    index.searcher(ids).search("word1", 8)
    begin = time.perf_counter()
    for number in range(50):
        index.searcher(ids).search(f"word{number} word{number + 7} rose title", 8)
    # Measured at 2 ms on one core; the limit leaves room for a busy machine.
    assert (time.perf_counter() - begin) / 50 < 0.05
