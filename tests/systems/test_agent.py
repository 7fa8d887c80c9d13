"""The reference agent: both ways of talking, budgets told, errors told, how each failure ends, and what is recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from litsynth.errors import ModelError, ParameterError
from litsynth.files import dumps
from litsynth.llm.scripted import ScriptedModel
from litsynth.llm.tokens import prompt_tokens
from litsynth.records import Article, Completion, Dataset, ModelRequest, Review, ToolCall
from litsynth.retrieval import open_retriever
from litsynth.scoring.selection import parse_selection
from litsynth.systems import open_system
from litsynth.systems.agent import Agent
from litsynth.systems.agent_tools import AgentCorpusTools
from litsynth.systems.tool_agent import MARGIN, REMOVED

CORPUS = {number: Article(number, f"Zelamine trial w{number:03d}", f"Zelamine and relapse in group w{number:03d}.",
                          year=2000 + number) for number in range(1, 30)}
REVIEW = Review(7, "test", "Does zelamine prevent relapse?", population="Adults", source_ids=(1,),
                inclusion_criteria=("randomised",))
RETRIEVER = open_retriever("bm25", Dataset("small", "x", True, corpus=CORPUS))
REPORT = ("# Report\n\nZelamine works.\n\n## Final included studies\n\n- Zelamine trial w002 (Corpus ID: 2)\n"
          "- Zelamine trial w003 (Corpus ID: 3)\n")


def _calls(*calls: tuple[str, Any]) -> Completion:
    return Completion("ok", tool_calls=tuple(
        ToolCall(f"c{number}", name, arguments, "") for number, (name, arguments) in enumerate(calls)))


def _search(query: str) -> Completion:
    return _calls(("search", {"query": query}))


def _review(answers: Any, *, weak: bool = False, window: int | None = None, limits: Any = None, model: Any = None,
            **options: Any):
    llm = model or ScriptedModel(answers, weak=weak, context_window=window)
    tools = AgentCorpusTools(RETRIEVER, REVIEW, corpus=CORPUS, **{"k": 3, "max_searches": 4, **(limits or {})})
    return Agent(**options).review(REVIEW, tools, llm), llm, tools


def _last(request: ModelRequest) -> str:
    return request.messages[-1]["content"]


def test_model_searches_fetches_and_hands_in_a_report_that_is_parsed_like_any():
    report, llm, tools = _review([_search("w002 w003"), _calls(("fetch", {"corpus_id": 2})),
                                  _calls(("finish", {"report": REPORT}))])
    assert (report.status, report.text, report.mode, report.system) == ("scored", REPORT, "actual", "agent")
    assert [candidate.corpus_id for candidate in report.candidates] == list(tools.shown_ids) == [2, 3]
    titles = [{"corpus_id": candidate.corpus_id, "title": candidate.title} for candidate in report.candidates]
    assert parse_selection(report.text, titles).included_ids == (2, 3)
    assert _last(llm.requests[1]).endswith("Left: 29 steps, 198 new articles, 3 searches.")
    assert "Zelamine and relapse in group w002." in _last(llm.requests[2])
    assert llm.requests[2].messages[-1]["role"] == "tool"
    assert "Research Question: Does zelamine prevent relapse?" in llm.requests[0].messages[1]["content"]
    trace = report.details["trace"]
    assert [(step["kind"], step.get("action") or step.get("tool")) for step in trace] == [
        ("model", "search"), ("tool", "search"), ("model", "fetch"), ("tool", "fetch"), ("model", "finish")]
    assert trace[1]["returned"] == [2, 3]
    assert report.details["fetched_ids"] == [2]
    dumps(trace)


def test_wrong_calls_and_forbidden_records_are_told_to_the_model():
    report, llm, _ = _review([
        _calls(("fetch", {"corpus_id": 2})), _calls(("search", {"words": "x"})), _calls(("dig", {})),
        _calls(("search", None)), _calls(("finish", {"report": " "})), _calls(("finish", {"report": REPORT}))])
    told = [_last(request) for request in llm.requests[1:]]
    assert "error: Corpus ID 2 was not returned by a search of this task" in told[0]
    assert told[0].endswith("Left: 29 steps, 200 new articles, 4 searches.")
    assert "'words' was unexpected" in told[1]
    assert "there is no tool 'dig'; the tools are search, fetch, finish" in told[2]
    assert "the arguments are no JSON object" in told[3]
    assert "the report is empty" in told[4]
    assert report.status == "scored"


def test_several_calls_in_one_reply_are_all_answered():
    _, llm, _ = _review([_calls(("search", {"query": "w002"}), ("search", {"query": "w003"})),
                         _calls(("finish", {"report": REPORT}))])
    assert [message["role"] for message in llm.requests[1].messages][-3:] == ["assistant", "tool", "tool"]


def test_a_spent_budget_is_told_and_the_last_step_offers_only_finish():
    report, llm, tools = _review([_search("w002"), _search("w003"), _search("w004"),
                                  _calls(("finish", {"report": REPORT}))], max_steps=4, limits={"max_searches": 2})
    assert any("error: no search is left: this task had 2" in str(message["content"])
               for message in llm.requests[3].messages)
    assert [tool["function"]["name"] for tool in llm.requests[3].tools] == ["finish"]
    assert llm.requests[3].messages[-1]["content"].startswith("This is the last step")
    assert report.status == "scored"
    assert tools.remaining["searches"] == 0


def test_no_report_within_the_steps_is_unparsed_never_empty():
    report, *_ = _review([_search("w002")] * 3, max_steps=3)
    assert report.status == "unparsed"
    assert report.text == ""
    assert report.reason.startswith("no report within 3 steps")


def test_a_report_written_as_plain_text_is_taken():
    report, *_ = _review([_search("w002"), Completion("ok", text=REPORT)])
    assert (report.status, report.text) == ("scored", REPORT)
    report, llm, _ = _review([_search("w002"), Completion("ok", text="Let me think."),
                              _calls(("finish", {"report": REPORT}))])
    assert "That was no action" in _last(llm.requests[2])
    assert report.status == "scored"


@pytest.mark.parametrize(("completion", "status", "retry"), [
    (Completion("failed", reason="server gone"), "failed", True),
    (Completion("failed", reason="not sent: too long"), "failed", False),
    (Completion("filtered", reason="withheld"), "unparsed", False),
])
def test_a_call_without_an_answer_ends_the_review(completion, status, retry):
    report, *_ = _review([_search("w002"), completion])
    assert (report.status, report.details["retry"]) == (status, retry)
    assert report.details["calls"] == 2
    assert report.candidates


def test_a_weak_model_decides_by_json_and_the_report_is_written_from_it():
    answers = [{"action": "search", "argument": "w002 w003"}, {"action": "fetch", "argument": "Corpus ID: 2"},
               {"action": "finish", "argument": ""}, {"synthesis": "It | works.\n## Final", "included": [3, 3]}]
    report, llm, _ = _review(answers, weak=True)
    assert report.status == "scored"
    offered = [request.schema["properties"]["action"]["enum"] for request in llm.requests[:3]]
    assert offered == [["search", "finish"], ["search", "fetch", "finish"], ["search", "fetch", "finish"]]
    assert '{"action": "search", "argument": "Does zelamine prevent relapse? Adults"}' in str(llm.requests[0].messages)
    assert llm.requests[3].schema["properties"]["included"]["items"]["enum"] == [2, 3]
    titles = [{"corpus_id": candidate.corpus_id, "title": candidate.title} for candidate in report.candidates]
    chosen = parse_selection(report.text, titles)
    assert (chosen.included_ids, chosen.resolved, chosen.strict) == ((3,), True, True)
    roles = [message["role"] for message in llm.requests[3].messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user", "assistant", "user"]


def test_a_weak_model_without_any_budget_left_is_asked_for_its_decision():
    report, llm, _ = _review([{"action": "search", "argument": "w002"}, {"synthesis": "So.", "included": [2]}],
                             weak=True, limits={"max_searches": 1, "max_fetches": 0})
    assert report.status == "scored"
    assert "included" in llm.requests[1].schema["properties"]


def test_a_weak_model_that_saw_nothing_includes_nothing():
    report, llm, _ = _review([{"action": "finish", "argument": ""}, {"synthesis": "Nothing."}], weak=True)
    assert "included" not in llm.requests[1].schema["properties"]
    assert "No study was included." in report.text


def test_a_model_without_tools_is_asked_for_json_and_writes_its_report_as_text():
    report, llm, _ = _review([Completion("ok", text="I cannot call tools."), {"action": "search", "argument": "w002"},
                              {"action": "finish", "argument": ""}, REPORT])
    assert (report.status, report.text, report.details["protocol"]) == ("scored", REPORT, "json")
    assert llm.requests[3].schema is None
    assert report.details["trace"][0]["kind"] == "switch"


def test_an_endpoint_that_refuses_tools_is_asked_for_json():
    class Refusing(ScriptedModel):
        def complete(self, request):
            if request.tools:
                raise ModelError("this model does not support tools")
            return super().complete(request)

    model = Refusing([{"action": "finish", "argument": ""}, REPORT])
    assert _review(None, model=model)[0].status == "scored"
    with pytest.raises(ModelError):
        _review(None, model=Refusing([]), protocol="tools")


def test_a_report_that_broke_off_is_unparsed_and_kept():
    report, *_ = _review([{"action": "finish", "argument": ""}, Completion("truncated", text="# Report\nZel")],
                         protocol="json")
    assert (report.status, report.text) == ("unparsed", "# Report\nZel")


def test_old_results_leave_a_full_prompt_and_a_result_too_large_fails():
    options = {"max_steps": 6, "answer_tokens": 100}
    answers = [_search("w002"), _search("w003"), _search("w004"), _calls(("finish", {"report": REPORT}))]
    whole = prompt_tokens(_review(answers, **options)[1].requests[-1])
    report, llm, _ = _review(answers, window=whole + 100 + MARGIN - 10, **options)
    assert report.status == "scored", report.reason
    assert any(message["content"] == REMOVED for message in llm.requests[-1].messages)
    assert "w004" in llm.requests[-1].messages[-1]["content"]
    report, *_ = _review([_search("w002")], window=900, **options)
    assert report.status == "failed"
    assert "do not fit the context window of 900" in report.reason


def test_the_same_answers_ask_the_same_requests():
    answers = [_search("zelamine"), _calls(("fetch", {"corpus_id": 2})), _calls(("finish", {"report": REPORT}))]
    first, second = (_review(answers)[1].requests for _ in range(2))
    assert [json.dumps([*request.messages]) for request in first] == [json.dumps([*r.messages]) for r in second]


def test_bad_use_is_refused():
    model, tools = ScriptedModel([]), AgentCorpusTools(RETRIEVER, REVIEW, corpus=CORPUS)
    with pytest.raises(ParameterError, match="was given a str to search with"):
        Agent().review(REVIEW, "x", model)
    with pytest.raises(ParameterError, match="tools are of review 7, the task of review 8"):
        Agent().review(Review(8, "test", "q"), tools, model)
    with pytest.raises(ParameterError, match="was given no model"):
        Agent().review(REVIEW, tools, None)
    with pytest.raises(ParameterError, match="unknown protocol"):
        open_system("agent", protocol="tool")
    with pytest.raises(ParameterError, match="max_steps = 0"):
        Agent(max_steps=0)
