"""Every behaviour of the table: how often was sent, what came of it, what was recorded, and what a rerun does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from behaviours import BEHAVIOURS, Behaviour, markdown_table
from stub_server import CANARY, StubServer

from litsynth.llm.door import ModelDoor
from litsynth.llm.refusals import EndpointRefused


@pytest.mark.parametrize("row", BEHAVIOURS, ids=lambda row: row.name)
def test_behaviour(row: Behaviour, stub: StubServer, open_door: Callable[..., ModelDoor]) -> None:
    stub.play(row.replies)
    door = open_door(**row.profile)

    if row.status == "refused":
        with pytest.raises(EndpointRefused) as caught:
            door.complete(row.request)
        assert row.reason in str(caught.value)
        assert CANARY not in str(caught.value)
        assert len(stub.bodies) == row.calls
        return
    completion = door.complete(row.request)
    assert (completion.status, len(stub.bodies)) == (row.status, row.calls), completion.reason
    assert row.reason in completion.reason
    assert row.check(completion)
    assert (completion.parsed is not None) == (row.request.schema is not None and row.status == "ok")
    assert CANARY not in repr(completion)
    if stub.bodies and row.name != "half_character":
        assert completion.sent == stub.bodies[-1]

    # A rerun takes what the model said from the cache, and asks again only where there was no answer.
    again = door.complete(row.request)
    asked_again = row.status == "failed" and row.calls > 0
    assert (len(stub.bodies) > row.calls) == asked_again
    if not asked_again and row.calls:
        assert again.cached
        assert (again.text, again.parsed, again.sent, again.usage) == (
            completion.text, completion.parsed, completion.sent, completion.usage)


def test_table_in_the_book_is_this_table(root: Path) -> None:
    assert len(BEHAVIOURS) >= 25
    assert len({row.name for row in BEHAVIOURS}) == len(BEHAVIOURS)
    page = (root / "book" / "endpoints.md").read_text(encoding="utf-8")
    assert markdown_table() in page, "run `python tests/llm/behaviours.py` and put its table into book/endpoints.md"


def test_waits_are_as_asked_but_capped(stub: StubServer, open_door: Callable[..., ModelDoor]) -> None:
    from stub_server import answer, ask, error

    stub.play([error(429, "slow", headers={"Retry-After": "0.15"}), error(429, "slow", headers={"Retry-After": "999"}),
               answer()])
    open_door().complete(ask())
    first, second = stub.times[1] - stub.times[0], stub.times[2] - stub.times[1]
    assert 0.15 <= first < 2.0
    assert 0.2 <= second < 2.0  # the profile's max_wait


def test_adaptation_is_remembered(stub: StubServer, open_door: Callable[..., ModelDoor]) -> None:
    from behaviours import PARAMETERS
    from stub_server import ask

    stub.play(next(row for row in PARAMETERS if row.name == "all_parameters").replies)
    for text in "abc":
        open_door().complete(ask(text))
    assert len(stub.bodies) == 4 + 1 + 1


def test_refused_formats_are_remembered_for_each_schema(stub: StubServer, open_door: Callable[..., ModelDoor]) -> None:
    from behaviours import PARAMETERS, structured

    stub.play(next(row for row in PARAMETERS if row.name == "no_format").replies)
    door = open_door()
    for text in "ab":
        door.complete(structured(messages=[{"role": "user", "content": text}]))
    assert len(stub.bodies) == 3 + 1
