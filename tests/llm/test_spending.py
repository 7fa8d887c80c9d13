"""Budgets, token estimates and scripted answers."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stub_server import ask

from litsynth.errors import ModelError, ParameterError
from litsynth.llm.scripted import ScriptedModel
from litsynth.llm.spending import Budget, BudgetExceeded
from litsynth.llm.tokens import count_tokens, least_tokens
from litsynth.records import Completion


def test_calls_in_flight_cannot_pass_the_cap_together() -> None:
    budget, most, lock = Budget(tokens=1000), 0, threading.Lock()
    stopped = 0

    def work() -> None:
        nonlocal most, stopped
        try:
            ticket = budget.hold(100, None, "m")
        except BudgetExceeded:
            with lock:
                stopped += 1
            return
        with lock:
            most = max(most, budget.spent_tokens + 100 * len(budget._held))
        budget.settle(ticket, 60, None)

    threads = [threading.Thread(target=work) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert most <= 1000
    # 60 each: the sixteenth brings the sum to 960, and 100 more could pass the cap of 1,000.
    assert (budget.spent_tokens, stopped) == (960, 24)


@pytest.mark.parametrize("caps", [{"tokens": -1}, {"money": float("inf")}, {"money": float("nan")}])
def test_impossible_caps(caps: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="the cap in"):
        Budget(**caps)  # type: ignore[arg-type]


@given(st.text(max_size=300))
def test_estimates_are_on_their_sides(text: str) -> None:
    assert count_tokens(text) >= 0
    assert least_tokens(text) <= len(text.split()) <= max(1, len(text))
    assert count_tokens(text + " and more words") > count_tokens(text)


# Counted by the tokenizer of Gemma 3 (`/tokenize` of llama.cpp) for sentences written for this test.
TOKENIZED = [
    ("The trial found that the new drug lowered blood pressure more than placebo did.", 15),
    ("Hazard ratio 0.82 (95% CI 0.71 to 0.94), p = 0.004, n = 1,204.", 42),
    ("Pharmacokinetics of hydroxychloroquine in glomerulonephritis", 10),
    ("Die Studie zeigte keine signifikanten Unterschiede zwischen den Gruppen.", 12),
]


@pytest.mark.parametrize(("text", "tokens"), TOKENIZED)
def test_estimates_against_a_tokenizer(text: str, tokens: int) -> None:
    assert least_tokens(text) <= tokens <= count_tokens(text) <= 2 * tokens + 4


def test_scripted_answers() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    model = ScriptedModel(["text", {"a": 1}, "no object", Completion(status="failed", reason="x")])
    first = model.complete(ask())
    rest = model.complete_many([ask(schema=schema), ask(schema=schema), ask("last")])
    assert (first.status, first.text) == ("ok", "text")
    assert [(a.status, a.parsed) for a in rest] == [("ok", {"a": 1}), ("unparsed", None), ("failed", None)]
    assert [request.messages[0]["content"] for request in model.requests][-1] == "last"
    with pytest.raises(ModelError, match="asked 5 times"):
        model.complete(ask())
    assert ScriptedModel(lambda request: request.prompt_version).complete(ask()).text == "test-1"
