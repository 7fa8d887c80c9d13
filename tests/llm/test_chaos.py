"""A thousand calls to an endpoint that fails in every way: each ends once, in order, and a kill loses nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from stub_server import Reply, StubServer, answer, ask, error

from litsynth.llm.cache import CompletionCache
from litsynth.llm.door import ModelDoor

CALLS, CONCURRENCY, RETRIES = 1000, 16, 3
SCHEMA = {"type": "object", "properties": {"item": {"type": "integer"}}, "required": ["item"]}
FATES = ("limit", "error", "reset", "broken", "slow", "cut", "good")
WEIGHTS = (8, 6, 5, 6, 5, 8, 62)
TRANSIENT = ("limit", "error", "reset", "broken")


def fate(item: int, attempt: int) -> str:
    """Return what happens to a try; item and number of the try alone decide it, so that it can be foretold."""
    return random.Random(f"{item}/{attempt}").choices(FATES, WEIGHTS)[0]


def foretold(item: int, start: int = 0) -> tuple[str, int]:
    """Return the (status, tries) of an item by simulation of the retry rule, from try number `start` on."""
    for attempt in range(RETRIES + 1):
        happened = fate(item, start + attempt)
        if happened not in TRANSIENT:
            return ("truncated" if happened == "cut" else "ok"), attempt + 1
    return "failed", RETRIES + 1


class Chaos:
    """Plays the fates and counts the tries of every item."""

    def __init__(self) -> None:
        self.tries: Counter[int] = Counter()
        self._lock = threading.Lock()

    def __call__(self, body: dict, number: int) -> Reply:
        item = int(body["messages"][0]["content"].split()[1])
        with self._lock:
            attempt = self.tries[item]
            self.tries[item] += 1
        good = answer(json.dumps({"item": item}))
        return {
            "limit": error(429, "slow down", headers={"retry-after-ms": "2"}), "error": error(500, "oops"),
            "reset": Reply(reset=True), "broken": Reply(good.body, cut=True), "slow": Reply(good.body, delay=0.02),
            "cut": answer('{"item": ', finish="length"), "good": good,
        }[fate(item, attempt)]


def requests() -> list:
    """Return the thousand requests."""
    return [ask(f"item {item} please", schema=SCHEMA) for item in range(CALLS)]


@pytest.mark.slow
def test_thousand_calls(
    stub: StubServer, open_door: Callable[..., ModelDoor], monkeypatch: pytest.MonkeyPatch
) -> None:
    chaos = Chaos()
    stub.play(chaos)
    door = open_door(concurrency=CONCURRENCY, max_retries=RETRIES, schema_in_prompt=False)
    answers = door.complete_many(requests())

    expected = [foretold(item) for item in range(CALLS)]
    assert {status for status, _ in expected} == {"ok", "truncated", "failed"}  # the draw holds every outcome
    assert [a.status for a in answers] == [status for status, _ in expected]
    assert [chaos.tries[item] for item in range(CALLS)] == [tries for _, tries in expected]  # none lost, none doubled
    assert all(a.parsed == {"item": item} for item, a in enumerate(answers) if a.status == "ok")
    assert all(a.parsed is None for a in answers if a.status != "ok")

    # A rerun asks again for the failed ones alone.
    failed = [item for item, (status, _) in enumerate(expected) if status == "failed"]
    before = chaos.tries.copy()
    while failed:
        door.complete_many(requests())
        assert {item for item in chaos.tries if chaos.tries[item] > before[item]} == set(failed)
        failed = [item for item in failed if foretold(item, before[item])[0] == "failed"]
        before = chaos.tries.copy()

    # The same thousand, warm: no socket.
    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", no_socket)
    started = time.perf_counter()
    warm = open_door(concurrency=CONCURRENCY, max_retries=RETRIES, schema_in_prompt=False).complete_many(requests())
    assert (time.perf_counter() - started) / CALLS < 0.005  # the benchmark measures it; this only notices a blunder
    assert all(a.cached for a in warm)
    assert [a.parsed for item, a in enumerate(warm) if a.status == "ok"] == [
        {"item": item} for item, a in enumerate(warm) if a.status == "ok"]


WORKER = """
import sys
from litsynth.llm.cache import CompletionCache
from litsynth.llm.door import ModelDoor
from litsynth.llm.profiles import Profile
sys.path.insert(0, sys.argv[3])
from test_chaos import CONCURRENCY, RETRIES, requests
profile = Profile("stub", base_url=sys.argv[1], model="killed", backoff=0.001, max_retries=RETRIES, max_tokens=100,
                  concurrency=CONCURRENCY, schema_in_prompt=False)
answers = ModelDoor(profile, cache=CompletionCache(sys.argv[2])).complete_many(requests())
print(" ".join(answer.status for answer in answers))
"""


@pytest.mark.slow
def test_killed_half_way_and_resumed(stub: StubServer, home: Path) -> None:
    path, chaos = home / "killed.sqlite", Chaos()
    command = [sys.executable, "-c", WORKER, stub.url, str(path), str(Path(__file__).parent)]
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def killing(body: dict, number: int) -> Reply:
        if number == CALLS // 2:
            os.kill(worker.pid, signal.SIGKILL)
        return chaos(body, number)

    stub.play(killing)
    assert worker.wait(timeout=60) == -signal.SIGKILL
    stored = {_item(entry.request) for entry in CompletionCache(path).entries()}
    assert CALLS // 5 < len(stored) < CALLS // 2  # what needed several tries makes it fewer than half

    before = chaos.tries.copy()
    stub.play(chaos)
    resumed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    sent = {item for item in chaos.tries if chaos.tries[item] > before[item]}
    assert sent == set(range(CALLS)) - stored  # the remainder, all of it and nothing else
    statuses = resumed.stdout.split()
    assert statuses == [foretold(item, 0 if item in stored else before[item])[0] for item in range(CALLS)]


def _item(request: str) -> int:
    return int(json.loads(request)["messages"][0]["content"].split()[1])
