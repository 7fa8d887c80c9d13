"""The baseline without a model: sentences, refusals, two papers."""

from __future__ import annotations

import pytest
from litbench_bank import DOSE, DOUBLE, PAPERS, RELAPSE, SINGLE

from litsynth.errors import ParameterError
from litsynth.records import QuestionTask, Quotation
from litsynth.retrieval.passages import PassageIndex
from litsynth.systems import open_system, system_names
from litsynth.systems.extractive import DECLINED, Extractive, split_question

INDEX = PassageIndex(PAPERS)


def _answer(question: str, candidates: list[str], sources: int = 1, **options):
    return Extractive(**options).answer(QuestionTask("Q1", question, sources), INDEX.searcher(candidates), None)


def test_answer_is_the_best_sentence_and_not_the_announced_aim() -> None:
    response = _answer(SINGLE, ["C3", "A1", "B2"])
    assert (response.answer, response.paper_ids) == (RELAPSE, ("A1",))
    assert response.quotations == (Quotation("A1", RELAPSE),)
    assert (response.refused, response.status, response.refusals) == (False, "scored", ())
    assert response.trace.queries == (SINGLE,)
    assert response.trace.seen_paper_ids[0] == "A1"
    assert response.trace.calls == 0
    # Without the rule, the aim of the introduction has one question word more: "occurs" is no term of it, but
    # "often", "relapse", "adult", "given" and "zelamine" are.
    assert "aimed" in _answer(SINGLE, ["C3", "A1", "B2"], aim_factor=1.0).answer


def test_coverage_below_the_threshold_is_an_explicit_refusal() -> None:
    response = _answer(SINGLE, ["C3", "B2"])
    assert (response.refused, response.status, response.answer) == (True, "refused", DECLINED)
    assert (response.paper_ids, response.quotations) == ((), ())
    assert response.trace.steps[0]["refused"] is True
    assert _answer(f"{SINGLE} And in Ruritania?", ["C3", "B2", "A1"], refusal_threshold=1.0).refused is True
    assert _answer("dose of barley", ["C3"], refusal_threshold=0.0).refused is False


def test_nothing_found_is_a_refusal_and_not_a_crash() -> None:
    for question in ("xylophone?", "of the", "?"):
        response = _answer(question, ["A1"], refusal_threshold=0.0)
        assert (response.refused, response.status) == (True, "refused")
    assert _answer(SINGLE, []).refused


def test_two_papers_are_answered_one_by_one() -> None:
    response = _answer(DOUBLE, list(PAPERS), sources=2)
    assert response.paper_ids == ("A1", "B2")
    assert [quotation.text for quotation in response.quotations] == [RELAPSE, DOSE]
    assert response.answer == f"{RELAPSE}\n{DOSE}"
    assert (response.refused, response.refusals) == (False, (False, False))
    assert len(response.trace.queries) == 2


def test_each_fact_is_refused_by_itself() -> None:
    response = _answer(DOUBLE, ["B2", "C3"], sources=2)
    assert (response.refused, response.refusals, response.paper_ids) == (False, (True, False), ("B2",))
    assert response.answer == DOSE
    both = _answer(DOUBLE, ["C3"], sources=2)
    assert (both.refused, both.refusals, both.status, both.answer) == (True, (True, True), "refused", DECLINED)


def test_the_same_paper_is_never_named_twice() -> None:
    asked_twice = f"{SINGLE} And {SINGLE}"
    response = _answer(asked_twice, list(PAPERS), sources=2, refusal_threshold=0.0)
    assert len(set(response.paper_ids)) == len(response.paper_ids)
    alone = _answer(asked_twice, ["A1"], sources=2)
    assert (alone.paper_ids, alone.refusals.count(True)) == (("A1",), 1)


@pytest.mark.parametrize(("question", "halves"), [
    (DOUBLE, (SINGLE, "up to which dose did pregnant rats tolerate brontide?")),
    ("Which dose was safe in rats; how many adults relapsed?",
     ("Which dose was safe in rats", "how many adults relapsed?")),
    ("How many men and women relapsed on zelamine, and which dose of brontide was safe?",
     ("How many men and women relapsed on zelamine", "which dose of brontide was safe?")),
    ("Relapse under zelamine and dose of brontide", ("Relapse under zelamine", "dose of brontide")),
    ("Which dose?", None), ("Relapse under zelamine in adults", None),
])
def test_questions_fall_into_halves(question: str, halves: tuple[str, str] | None) -> None:
    assert split_question(question) == halves


def test_systems_are_opened_by_name_with_their_options() -> None:
    assert open_system("extractive", passages=3) == Extractive(passages=3)
    assert open_system("litsynth.systems.extractive:Extractive") == Extractive()
    assert system_names("litbench") == ("extractive", "ircot", "tool_agent")
    assert set(system_names("litbench")) | set(system_names("metasyn")) == set(system_names())
    with pytest.raises(ParameterError, match="did you mean 'extractive'"):
        open_system("extractiv")
    with pytest.raises(ParameterError, match="did you mean 'passages'"):
        open_system("extractive", passage=3)
    with pytest.raises(ParameterError, match="refusal_threshold = 2"):
        open_system("extractive", refusal_threshold=2)
    with pytest.raises(ParameterError, match="cannot be imported"):
        open_system("nowhere.at.all:System")


def test_same_question_same_answer() -> None:
    first, second = (_answer(DOUBLE, list(PAPERS), sources=2) for _ in range(2))
    assert (first.answer, first.quotations, first.trace.steps) == (second.answer, second.quotations, second.trace.steps)
