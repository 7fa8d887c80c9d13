"""One-pass review writing: candidates are data, what does not fit is said, and answers keep their status."""

from __future__ import annotations

import re

import pytest
from hostile import ARTICLES, FORGED, REVIEW, searcher
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import ParameterError
from litsynth.llm.fencing import fence_for
from litsynth.llm.scripted import ScriptedModel
from litsynth.records import Article, Candidate, Completion, Usage
from litsynth.scoring.selection import parse_selection
from litsynth.systems import open_system, report_text
from litsynth.systems.one_pass import ANSWER_TOKENS, MARGIN, OnePass
from litsynth.systems.review_prompts import candidate_line

MISLEADING = ("Corpus ID: 77", "Corpus IDs: 78, 79", "metasyn://corpus/80", "| no |", "not included", "\n\n## x",
              "does not exist", "Corpus ID 81, not 11", "excluded", "```", "Co*rp*us ID: 82", "id:83", "[84]",
              "Corpus\u00a0ID：85", "语料编号: 86", "Corpus ID: 11?", "</td>", "<!--", "-->", "<script>", "\\|")
ANSWER = "# Report\n\n## Final included studies\n- Lactocillin drops (Corpus ID: 11)\n"


def prompt_of(model: ScriptedModel) -> tuple[str, str]:
    system, user = model.requests[-1].messages
    return system["content"], user["content"]


def test_the_prompt_holds_protocol_candidates_and_the_final_list_rule_but_no_scores():
    model = ScriptedModel([ANSWER])
    report = OnePass(top_k=3).review(REVIEW, searcher(), model)
    system, user = prompt_of(model)
    assert "## Final included studies" in system
    assert "Population: Infants with colic" in user
    assert "Search dates: 2000-01-01 to 2020-12-31" in user
    assert "- Randomised trial" in user
    assert "1. Corpus ID: 11 | Year: 2010 | Title: Lactocillin drops for crying time" in user
    assert "Corpus ID: 14" not in user, "only the first top_k candidates are shown"
    assert "10.0" not in user, "a score would tell the oracle order apart"
    assert report.status == "scored"
    assert report.text == ANSWER
    assert [c.corpus_id for c in report.candidates] == [11, 12, 13]
    assert report.included_ids is None
    assert model.requests[0].prompt_version == report.details["prompt_version"] == "metasyn-one-pass/1"


def test_a_hostile_abstract_stays_one_line_between_marks_that_it_cannot_know():
    model = ScriptedModel([ANSWER])
    report = OnePass().review(REVIEW, searcher(), model)
    system, user = prompt_of(model)
    fence = report.details["fence"]
    assert fence in system
    lines = user.splitlines()
    begin, end = lines.index(f"<<{fence}"), lines.index(f"{fence}>>")
    assert end - begin - 1 == len(ARTICLES), "every candidate is one line, whatever line breaks it has"
    assert not any(fence in line for line in lines[begin + 1:end])
    assert all(re.match(r"\d+\. Corpus ID: \d+ \| ", line) for line in lines[begin + 1:end])
    assert not any(line.startswith(("## ", "```")) for line in lines)


def test_the_same_candidates_give_the_same_request():
    first, second = ScriptedModel([ANSWER]), ScriptedModel([ANSWER])
    OnePass().review(REVIEW, searcher(), first)
    OnePass().review(REVIEW, searcher(), second)
    assert first.requests == second.requests


@given(st.text(max_size=200))
def test_no_text_can_hold_its_own_mark(text):
    known = fence_for([text])
    assert known not in text
    assert known != fence_for([text, known]), "a text that holds a mark gets another one"


class TestContextWindow:
    def test_what_does_not_fit_fails_without_asking(self):
        model = ScriptedModel([ANSWER], context_window=ANSWER_TOKENS + 300)
        report = OnePass().review(REVIEW, searcher(), model)
        assert (report.status, report.details["retry"]) == ("failed", False)
        assert "does not fit the context window" in report.reason
        assert "truncate=abstracts" in report.reason
        assert not model.requests

    def test_abstracts_are_cut_alike_and_it_is_recorded(self):
        whole = ScriptedModel([ANSWER])
        needed = OnePass().review(REVIEW, searcher(), whole).details["truncation"]["prompt_tokens"]
        window = needed + ANSWER_TOKENS + MARGIN - 40
        model = ScriptedModel([ANSWER], context_window=window)
        report = OnePass(truncate="abstracts").review(REVIEW, searcher(), model)
        record = report.details["truncation"]
        assert record["mode"] == "abstracts"
        assert record["shown"] == 5
        assert record["abstracts_cut"] >= 1
        assert record["characters_cut"] > 0
        assert record["prompt_tokens"] + ANSWER_TOKENS + MARGIN <= window
        _, user = prompt_of(model)
        assert f"are cut after {record['limit']} characters" in user
        assert user.count("[cut]\n") == record["abstracts_cut"]
        # One character more for each abstract would not have fitted.
        longer = OnePass(abstract_characters=record["limit"] + 40)
        assert longer.review(REVIEW, searcher(), ScriptedModel([ANSWER], context_window=window)).status == "failed"

    def test_candidates_are_dropped_from_the_end_and_are_no_candidates_then(self):
        whole = ScriptedModel([ANSWER])
        needed = OnePass().review(REVIEW, searcher(), whole).details["truncation"]["prompt_tokens"]
        model = ScriptedModel([ANSWER], context_window=needed + ANSWER_TOKENS + MARGIN - 40)
        report = OnePass(truncate="candidates").review(REVIEW, searcher(), model)
        record = report.details["truncation"]
        assert record["mode"] == "candidates"
        assert record["shown"] + record["dropped"] == 5
        assert len(report.candidates) == record["shown"]
        assert f"{record['dropped']} further candidates of the search do not fit" in prompt_of(model)[1]

    @pytest.mark.parametrize("truncate", ["abstracts", "candidates"])
    def test_a_window_without_room_for_any_candidate_fails(self, truncate):
        model = ScriptedModel([ANSWER], context_window=ANSWER_TOKENS + 100)
        report = OnePass(truncate=truncate).review(REVIEW, searcher(), model)
        assert report.status == "failed"
        assert f"even with {truncate} cut" in report.reason

    @settings(max_examples=25, deadline=None)
    @given(st.integers(min_value=ANSWER_TOKENS, max_value=ANSWER_TOKENS + 1500),
           st.sampled_from(["none", "abstracts", "candidates"]))
    def test_no_prompt_is_ever_larger_than_the_window(self, window, truncate):
        model = ScriptedModel(lambda request: ANSWER, context_window=window)
        report = OnePass(truncate=truncate).review(REVIEW, searcher(), model)
        for request in model.requests:
            tokens = sum(model.count_tokens(message["content"]) for message in request.messages)
            assert tokens + ANSWER_TOKENS <= window
        assert bool(model.requests) == (report.status == "scored")


@pytest.mark.parametrize(("completion", "status", "retry"), [
    (Completion("failed", reason="the connection failed"), "failed", True),
    (Completion("failed", reason="the prompt is too long: 9000 tokens"), "failed", False),
    (Completion("truncated", text="# Report\n\n## Final included studies\n- x (Corpus ID: 11)"), "unparsed", False),
    (Completion("filtered", reason="withheld"), "unparsed", False),
])
def test_what_the_model_did_is_kept_apart(completion, status, retry):
    report = OnePass().review(REVIEW, searcher(), ScriptedModel([completion]))
    assert (report.status, report.details["retry"]) == (status, retry)
    assert report.text == completion.text, "what was said stays to be looked at"
    assert report.reason


def test_a_weak_model_decides_in_a_form_and_the_report_is_written_from_it():
    answer = {"decisions": {"1": "include", "2": "exclude", "3": "include", "4": "exclude", "5": "exclude"},
              "synthesis": "Corpus ID: 15 was <b>good</b>. ## Final included studies"}
    model = ScriptedModel([answer], weak=True)
    report = OnePass().review(REVIEW, searcher(), model)
    assert list(model.requests[0].schema["properties"]["decisions"]["properties"]) == ["1", "2", "3", "4", "5"]
    assert report.status == "scored"
    assert "<b>" not in report.text
    titles = [{"corpus_id": c.corpus_id, "title": c.title} for c in report.candidates]
    selection = parse_selection(report.text, titles)
    assert selection.included_ids == (11, 13)
    assert (selection.unmatched_ids, selection.withdrawn, selection.strict) == ((), (), True)


def test_usage_and_model_are_in_the_report():
    model = ScriptedModel([Completion("ok", text=ANSWER, usage=Usage(100, 20))])
    report = OnePass().review(REVIEW, searcher(mode="oracle"), model)
    assert (report.usage.prompt_tokens, report.usage.completion_tokens) == (100, 20)
    assert (report.model, report.mode, report.query) == ("scripted", "oracle", "Research Question: colic")


@pytest.mark.parametrize(("options", "words"), [
    ({"truncate": "abstract"}, "did you mean 'abstracts'"), ({"top_k": 0}, "top_k = 0"),
    ({"abstract_characters": -1}, "abstract_characters"), ({"top": 3}, "did you mean 'top_k'"),
])
def test_bad_options_are_refused(options, words):
    with pytest.raises(ParameterError) as caught:
        open_system("one_pass", **options)
    assert words in str(caught.value)


def test_without_a_model_it_says_so():
    with pytest.raises(ParameterError, match="was given no model"):
        OnePass().review(REVIEW, searcher(), None)


class TestHostileText:
    """The final list that we write is read as what was chosen, whatever titles say."""

    def test_titles_cannot_add_or_withdraw_articles(self):
        candidates = searcher().candidates(5)
        text = report_text.final_list(candidates[:3])
        selection = parse_selection(text, [{"corpus_id": c.corpus_id, "title": c.title} for c in candidates])
        assert selection.included_ids == (11, 12, 13)
        assert (selection.unmatched_ids, selection.unmatched_entries, selection.withdrawn) == ((), (), ())
        assert not re.search(r"<(?!/?td)", text.replace("&lt;", "")), "no tag is left"

    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.one_of(st.sampled_from(MISLEADING), st.text(max_size=20)), max_size=8).map(" ".join))
    def test_any_title(self, title):
        candidates = [Candidate(11, "An honest trial of lactocillin drops", "", 2010, 1),
                      Candidate(12, title, "", 2011, 2),
                      Candidate(13, "Another trial of lactocillin in infants", "", 2012, 3)]
        selection = parse_selection(report_text.final_list(candidates),
                                    [{"corpus_id": c.corpus_id, "title": c.title} for c in candidates])
        assert selection.included_ids == (11, 12, 13)
        assert (selection.unmatched_ids, selection.unmatched_entries, selection.withdrawn) == ((), (), ())

    def test_an_empty_list_is_a_resolved_one(self):
        selection = parse_selection(report_text.final_list(()), [{"corpus_id": 11, "title": "x"}])
        assert (selection.resolved, selection.strict, selection.included_ids) == (True, True, ())

    def test_a_cut_abstract_says_so(self):
        candidate = Candidate(1, "Title", FORGED, None, 1)
        line = candidate_line(candidate, 20)
        assert line.endswith("[cut]")
        assert "\n" not in line
        assert candidate_line(Candidate(1, "T", "", None, 1), 20).endswith("Abstract: none")


def test_a_forged_list_in_an_abstract_is_not_in_the_parsers_candidates():
    article = Article(12, "A trial", FORGED)
    assert article.abstract == FORGED
    report = OnePass().review(REVIEW, searcher((11, 12)), ScriptedModel([
        "## Final included studies\n- A study that somebody made up (Corpus ID: 556)\n- A trial (Corpus ID: 11)\n"]))
    titles = [{"corpus_id": c.corpus_id, "title": c.title} for c in report.candidates]
    selection = parse_selection(report.text, titles)
    assert selection.included_ids == (11,)
    assert selection.unmatched_ids == (556,), "a model that obeys the forged list is charged for it"
