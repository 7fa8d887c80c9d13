"""The synthetic question bank: what it promises, for the committed seed and others."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from litsynth.datasets.litbench import load_folder_part
from litsynth.datasets.litbench_quotes import comparable
from litsynth.datasets.litbench_validate import FACT_TYPES, SECTION_NAMES, validate
from litsynth.datasets.sample_litbench import make_part, write_part
from litsynth.datasets.sample_litbench_world import ADJACENT, POPULATIONS, SPECIALTY
from litsynth.text import words

COMMITTED = Path(__file__).parents[2] / "data" / "sample"


@pytest.fixture(scope="module", params=[0, 1])
def part(request):
    return make_part(request.param)


def test_sizes_and_roles(part):
    roles = Counter(paper.role for paper in part.papers.values())
    strata = Counter(paper.stratum for paper in part.papers.values() if paper.role == "decoy")
    kinds = Counter(question.kind for question in part.questions.values())
    assert roles == {"gold": 60, "decoy": 60}
    assert sorted(strata.values()) == [15, 15, 15, 15]
    assert kinds["single"] >= 120
    assert kinds["two_paper"] >= 24


def test_no_rule_of_the_bank_is_broken(part):
    assert validate(part) == []


def test_facts_and_single_questions_fill_all_fourteen_domains(part):
    asked = Counter()
    for question in part.questions.values():
        if question.kind == "single":
            fact = part.facts[question.fact_ids[0]]
            asked[fact.section, fact.fact_type] += 1
    assert set(asked) == {(section, kind) for section in SECTION_NAMES for kind in FACT_TYPES}
    assert min(asked.values()) >= 6
    labels = Counter(fact.label for fact in part.facts.values())
    assert labels["yes"] >= 30
    assert labels["no"] >= 30


def test_every_paper_has_all_sections_in_order(part):
    for paper in part.papers.values():
        assert tuple(section.name for section in paper.sections) == SECTION_NAMES
        assert all(len(section.text.split()) >= 25 for section in paper.sections)


def test_each_quote_stands_in_exactly_one_paper_and_once(part):
    texts = {i: [(s.name, comparable(s.text)) for s in paper.sections] for i, paper in part.papers.items()}
    for fact in part.facts.values():
        quote = comparable(fact.quote)
        places = [(i, name) for i, sections in texts.items() for name, text in sections
                  for _ in range(text.count(quote))]
        assert places == [(fact.paper_id, fact.section)]


def test_questions_are_distinct_and_keep_numbers_of_the_answer_to_themselves(part):
    texts = [question.text for question in part.questions.values()]
    assert len(set(texts)) == len(texts)
    for question in part.questions.values():
        names = [name for pairs in POPULATIONS.values() for pair in pairs for name in pair]
        bare = question.text
        for name in names:  # an age in a population's name is no answer
            bare = bare.replace(name, "")
        for fact_id in question.fact_ids:
            answer = set(re.findall(r"\d+(?:\.\d+)?", part.facts[fact_id].statement))
            assert not answer & set(re.findall(r"\d+(?:\.\d+)?", bare))


def test_two_paper_questions_have_hubs_and_components_and_are_asked_singly_too(part):
    pairs = [q for q in part.questions.values() if q.kind == "two_paper"]
    degrees = Counter(i for question in pairs for i in question.paper_ids)
    assert sum(degree >= 10 for degree in degrees.values()) == 2
    components = {i: {i} for i in degrees}
    for question in pairs:
        first, second = question.paper_ids
        joined = components[first] | components[second]
        components.update(dict.fromkeys(joined, joined))
    assert len({id(group) for group in components.values()}) >= 4
    singly = {q.fact_ids[0] for q in part.questions.values() if q.kind == "single"}
    assert all(fact_id in singly for question in pairs for fact_id in question.fact_ids)


def test_decoys_never_speak_of_the_specialty_and_the_adjacent_ones_nearly_do(part):
    banned = [SPECIALTY.disease, SPECIALTY.short, "thermic", *(a for group in SPECIALTY.agents.values() for a in group)]
    vocabulary: dict[str, set[str]] = {}
    for paper in part.papers.values():
        text = " ".join([paper.title, *(section.text for section in paper.sections)])
        if paper.role == "decoy":
            assert not [name for name in banned if name.casefold() in text.casefold()]
        vocabulary.setdefault(paper.stratum, set()).update(words(text))
    own = vocabulary.pop(SPECIALTY.stratum)
    shared = {stratum: len(own & found) / len(own | found) for stratum, found in vocabulary.items()}
    assert max(shared, key=shared.get) == ADJACENT.stratum


def test_half_of_the_questions_or_more_paraphrase_their_paper(part):
    originals = [names[0] for pairs in POPULATIONS.values() for names in pairs]
    single = [q for q in part.questions.values() if q.kind == "single"]
    verbatim = sum(any(name in question.text for name in originals) for question in single)
    assert 0.25 < verbatim / len(single) < 0.55


def test_same_seed_same_bytes_and_small(tmp_path):
    for name in ("a", "b"):
        write_part(tmp_path / name, 3)
    sizes = 0
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        sizes += path.stat().st_size
    assert sizes < 800_000
    loaded, made = load_folder_part(tmp_path / "a"), make_part(3)
    assert (loaded.papers, loaded.facts, loaded.questions) == (made.papers, made.facts, made.questions)


def test_committed_sample_is_what_the_code_makes():
    loaded, made = load_folder_part(COMMITTED), make_part(0)
    assert (loaded.papers, loaded.facts, loaded.questions) == (made.papers, made.facts, made.questions)
