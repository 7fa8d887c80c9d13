"""Fixtures of the language-model tests: a stub endpoint, and doors to it with a cache of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stub_server import CANARY, StubServer

from litsynth.llm.cache import CompletionCache
from litsynth.llm.door import ModelDoor
from litsynth.llm.profiles import Profile


@pytest.fixture
def home(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of the test's own, so that no `.env` and no `models.toml` of a user plays a part."""
    monkeypatch.setenv("LITSYNTH_HOME", str(workspace))
    monkeypatch.delenv("LITSYNTH_MODELS", raising=False)
    return workspace


@pytest.fixture
def stub() -> Iterator[StubServer]:
    """A stub endpoint that answers "fine" until it is told to play something else."""
    server = StubServer()
    yield server
    server.stop()


@pytest.fixture
def open_door(
    stub: StubServer, home: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Callable[..., ModelDoor]]:
    """A function that opens the stub's model; settings of the profile and parameters of the door as keywords."""
    monkeypatch.setenv("STUB_KEY", CANARY)
    # The model's name is the test's, because what is learnt about a model is remembered by its name.
    profile = Profile(
        "stub", base_url=stub.url, key_env="STUB_KEY", model=request.node.name, backoff=0.001, max_wait=0.2,
        timeout=5.0, max_retries=3, price_in=1.0, price_out=2.0, max_tokens=100,
    )
    opened: list[ModelDoor] = []

    def open_stub(**settings: Any) -> ModelDoor:
        door_names = ("replay", "cap", "cache", "dry_run", "renew")
        parameters = {name: settings.pop(name) for name in door_names if name in settings}
        parameters.setdefault("cache", CompletionCache(home / "data" / "completions" / "test.sqlite"))
        opened.append(ModelDoor(replace(profile, **settings), **parameters))
        return opened[-1]

    yield open_stub
    for door in opened:
        door.close()
