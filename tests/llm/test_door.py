"""The door: order, equal requests, stops, replay, dry runs, and a warm rerun without a socket."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Callable

import pytest
from stub_server import CANARY, Reply, StubServer, answer, ask, error

from litsynth import progress
from litsynth.errors import ModelError, ParameterError
from litsynth.llm import Budget, BudgetExceeded, asking, estimate, open_model
from litsynth.llm.door import ModelDoor, ReplayMiss
from litsynth.llm.profiles import Profile
from litsynth.llm.refusals import EndpointRefused

Opener = Callable[..., ModelDoor]


def echo(body: dict, number: int) -> Reply:
    return answer("about " + body["messages"][-1]["content"])


def test_many_keep_their_order(stub: StubServer, open_door: Opener) -> None:
    def later_first(body: dict, number: int) -> Reply:
        word = body["messages"][-1]["content"]
        return Reply(answer("about " + word).body, delay=0.05 if int(word) < 5 else 0.0)

    stub.play(later_first)
    answers = open_door(concurrency=8).complete_many([ask(str(i)) for i in range(40)])
    assert [a.text for a in answers] == [f"about {i}" for i in range(40)]


def test_nothing_to_do_is_normal(stub: StubServer, open_door: Opener) -> None:
    assert open_door().complete_many([], stage="nothing") == []
    assert stub.bodies == []


def test_concurrency_is_limited(stub: StubServer, open_door: Opener) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def watch(body: dict, number: int) -> Reply:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return answer()

    stub.play(watch)
    open_door(concurrency=3).complete_many([ask(str(i)) for i in range(30)])
    assert 2 <= most <= 3


def test_equal_requests_are_sent_once_and_repeats_apart(stub: StubServer, open_door: Opener) -> None:
    stub.play(lambda body, number: answer(str(number)))
    door = open_door(concurrency=1)
    answers = door.complete_many([ask("a"), ask("a"), ask("a", repeat=1), ask("b")])
    assert [a.text for a in answers] == ["0", "0", "1", "2"]
    assert [a.cached for a in answers] == [False, True, False, False]
    assert door.spent()["calls"] == 3


def test_works_inside_a_running_loop(stub: StubServer, open_door: Opener) -> None:
    stub.play(echo)

    async def cell() -> list[str]:
        door = open_door()
        return [door.complete(ask("x")).text, *(a.text for a in door.complete_many([ask("y"), ask("z")]))]

    assert asyncio.run(cell()) == ["about x", "about y", "about z"]


def test_warm_rerun_opens_no_socket(stub: StubServer, open_door: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    stub.play(echo)
    requests = [ask(str(i)) for i in range(20)]
    cold = open_door().complete_many(requests)
    monkeypatch.setattr(socket, "socket", _no_socket)
    monkeypatch.setattr(socket, "create_connection", _no_socket)
    monkeypatch.delenv("STUB_KEY")  # nor a key
    warm = open_door().complete_many(requests, stage="warm")
    assert all(a.cached for a in warm)
    assert [a.text for a in warm] == [a.text for a in cold]
    assert open_door().complete(requests[3]).text == "about 3"


def _no_socket(*_: object, **__: object) -> None:
    raise AssertionError("a socket was opened")


def test_replay_names_what_is_missing(stub: StubServer, open_door: Opener) -> None:
    open_door().complete(ask("known"))
    door = open_door(replay=True)
    assert door.complete(ask("known")).cached
    with pytest.raises(ReplayMiss, match=r"test-1 \(repeat 2\): 'unknown'"):
        door.complete(ask("unknown", repeat=2))
    with pytest.raises(ReplayMiss):
        door.complete_many([ask("known"), ask("unknown")])
    assert len(stub.bodies) == 1


def test_dry_run_sends_nothing_and_counts(stub: StubServer, open_door: Opener) -> None:
    open_door().complete(ask("known"))
    door = open_door(dry_run=True)
    answers = door.complete_many([ask("known"), ask("new"), ask("newer")])
    assert [a.status for a in answers] == ["ok", "failed", "failed"]
    spent = door.spent()
    assert (spent["planned"], spent["cached"], spent["calls"], len(stub.bodies)) == (2, 1, 0, 1)
    assert spent["completion_tokens"] == 2 * 100


def test_estimate_is_printed_before_anything_is_sent(
    stub: StubServer, open_door: Opener, capsys: pytest.CaptureFixture[str]
) -> None:
    door = open_door()
    plan = estimate(door, [ask("a"), ask("b"), ask("b"), ask("c", max_tokens=50)])
    # Two answers of at most 100 tokens and one of 50; the second "b" is the first one again.
    assert (plan.calls, plan.cached, plan.completion_tokens) == (4, 1, 250)
    assert plan.cost == pytest.approx((plan.prompt_tokens * 1.0 + 250 * 2.0) / 1e6)
    assert stub.bodies == []
    door.complete_many([ask("a"), ask("b")], stage="asking")
    assert "asking: stub: 2 calls, 0 of them cached" in capsys.readouterr().err


def test_renewed_statuses_are_asked_again(stub: StubServer, open_door: Opener) -> None:
    stub.play([answer("half", finish="length"), answer("whole")])
    assert open_door().complete(ask()).status == "truncated"
    assert open_door().complete(ask()).status == "truncated"
    assert open_door(renew=["truncated"]).complete(ask()).text == "whole"
    assert open_door().complete(ask()).text == "whole"
    with pytest.raises(ParameterError, match="renew"):
        open_door(renew=["failed"])


def test_refusal_stops_a_batch_and_keeps_what_was_finished(stub: StubServer, open_door: Opener) -> None:
    stub.play(lambda body, number: answer() if number < 10 else error(429, "no", code="insufficient_quota"))
    requests = [ask(str(i)) for i in range(200)]
    with pytest.raises(EndpointRefused) as caught:
        open_door(concurrency=4).complete_many(requests)
    finished = [a for a in caught.value.finished if a is not None]
    assert len(finished) == 10
    assert len(stub.bodies) <= 10 + 4
    stub.play(echo)
    sent = len(stub.bodies)
    open_door().complete_many(requests)
    assert len(stub.bodies) - sent == 190


def test_dead_endpoint_stops_a_batch_early(stub: StubServer, open_door: Opener) -> None:
    stub.play(error(500, "broken"))
    with pytest.raises(EndpointRefused, match="failed all of the first 8 calls"):
        open_door(concurrency=2, max_retries=0).complete_many([ask(str(i)) for i in range(300)])
    assert len(stub.bodies) < 30


def test_interrupt_stops_and_keeps(stub: StubServer, open_door: Opener) -> None:
    def interrupting(body: dict, number: int) -> Reply:
        if number == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return Reply(answer().body, delay=0.01)

    stub.play(interrupting)
    requests, started = [ask(str(i)) for i in range(500)], time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        open_door(concurrency=4).complete_many(requests)
    assert time.monotonic() - started < 20
    sent = len(stub.bodies)
    assert sent < 200
    stub.play(answer())
    open_door().complete_many(requests)
    assert len(stub.bodies) - sent == 500 - sent  # the calls under way at the interrupt were kept too


def test_cap_stops_before_it_is_passed(stub: StubServer, open_door: Opener) -> None:
    budget = Budget(tokens=5_000)  # a call takes 1,007 tokens here, and at most 100 and a short prompt are set aside
    requests = [ask(str(i)) for i in range(50)]
    with pytest.raises(BudgetExceeded, match="of 5,000 tokens spent") as caught:
        open_door(cap=budget, concurrency=1).complete_many(requests)
    finished = [a for a in caught.value.finished if a is not None]
    assert len(finished) == len(stub.bodies) == 5
    again = open_door(cap=Budget(tokens=0))
    assert again.complete(requests[0]).cached  # what is stored costs nothing
    with pytest.raises(BudgetExceeded):
        again.complete(requests[40])


def test_one_budget_for_several_models(stub: StubServer, open_door: Opener) -> None:
    stub.play(answer(usage={"prompt_tokens": 40, "completion_tokens": 60}))
    budget = Budget(money=4e-4)  # 40 at 1 and 60 at 2 per million make 1.6e-4 a call
    first, second = open_door(cap=budget), open_door(cap=budget, model="other")
    first.complete(ask())
    second.complete(ask("short", max_tokens=40))
    with pytest.raises(BudgetExceeded, match="the cap stopped calls to 'stub'"):
        second.complete(ask("another"))
    assert budget.spent_money <= 4e-4
    with pytest.raises(ParameterError, match="no prices"):
        open_door(cap=Budget(money=1.0), price_in=None)


def test_totals_tell_known_from_estimated_and_unknown(stub: StubServer, open_door: Opener) -> None:
    stub.play([answer(), answer(usage=None), error(400, "context_length_exceeded")])
    door = open_door()
    for text in "abca":
        door.complete(ask(text))
    spent = door.spent()
    assert {name: spent[name] for name in ("calls", "cached", "failed", "known_calls", "estimated_calls")} == {
        "calls": 3, "cached": 1, "failed": 1, "known_calls": 2, "estimated_calls": 1}
    assert spent["unknown_cost_calls"] == 2  # the one without usage, and the one that failed
    assert spent["cost"] == pytest.approx(1014e-6)


def test_missing_key_is_said_at_the_first_call_only(open_door: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    open_door().complete(ask("known"))
    monkeypatch.delenv("STUB_KEY")
    door = open_door()
    assert door.complete(ask("known")).cached
    with pytest.raises(ModelError, match="STUB_KEY is not set"):
        door.complete(ask("new"))
    monkeypatch.setenv("STUB_KEY", CANARY + "\u201d")
    with pytest.raises(ModelError, match="a character that no key has") as caught:
        open_door().complete(ask("new"))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(("fields", "words"), [
    ({"messages": []}, "no messages"), ({"messages": ["hello"]}, "no chat message"), ({"max_tokens": 0}, "max_tokens"),
    ({"temperature": -1.0}, "temperature"), ({"schema": {"type": "nonsense"}}, "no JSON schema"),
    ({"schema": {"const": float("nan")}}, "not JSON"), ({"temperature": float("nan")}, "temperature"),
])
def test_impossible_requests_are_not_sent(stub: StubServer, open_door: Opener, fields: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        open_door().complete(ask(**fields))
    assert stub.bodies == []


def test_half_characters_in_a_prompt_are_sent_as_question_marks(stub: StubServer, open_door: Opener) -> None:
    door = open_door()
    door.complete(ask("bad \ud83d text"))
    assert stub.bodies[0]["messages"][0]["content"] == "bad ? text"
    assert door.complete(ask("bad \ud83d text")).cached


def test_unreachable_endpoint_is_a_failed_answer(open_door: Opener) -> None:
    answer_of = open_door(base_url="http://127.0.0.1:9/v1", max_retries=1).complete(ask())
    assert answer_of.status == "failed"
    assert "127.0.0.1:9" in answer_of.reason


def test_proxies_do_not_get_between_this_machine_and_itself(
    stub: StubServer, open_door: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert open_door().complete(ask()).status == "ok"


def test_names_show_weakness(open_door: Opener) -> None:
    assert open_door(weak=True).name == "stub (weak demonstration model)"
    assert open_door().identity.endswith("/v1 test_names_show_weakness")
    assert "sk-" not in repr(open_door())


def test_open_model_by_profile(stub: StubServer, home: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url + "/")
    monkeypatch.setenv("OPENAI_MODEL", "some-model")
    with open_model("default") as door:  # a server that is not OpenAI's may need no key
        assert door.complete(ask()).sent["model"] == "some-model"
    with open_model("default:another:8b") as door:
        assert door.complete(ask()).sent["model"] == "another:8b"
    with pytest.raises(ParameterError, match="did you mean 'default'"):
        open_model("defalt")
    with open_model(Profile("mine", base_url=stub.url, model="m")) as door:
        assert door.complete(ask()).status == "ok"


def test_long_waits_are_told_once_and_harmlessly(stub: StubServer, open_door: Opener, monkeypatch, capsys) -> None:
    monkeypatch.setattr(asking, "LONG_WAIT", 0.0)
    monkeypatch.setattr(progress, "_last_notice", {})
    stub.play(error(503, "busy \x1b[31m<now>\nerror: all is lost"))
    answers = open_door(max_retries=2, max_wait=0.01).complete_many([ask("a"), ask("b")])
    assert [a.status for a in answers] == ["failed", "failed"]
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "try " in line]
    assert line.startswith("stub: HTTP 503: busy ")
    assert line.endswith("; try 2 of 3 in 0 s")
    assert "\x1b" not in line
