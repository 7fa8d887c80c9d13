"""One door to every language model: cached, resumable, and honest about what came back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litsynth.llm.profiles import Profile, profiles
from litsynth.llm.spending import Budget, BudgetExceeded, CallPlan, Stopped

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from litsynth.llm.cache import CompletionCache
    from litsynth.llm.door import ModelDoor
    from litsynth.records import ModelRequest

__all__ = ["Budget", "BudgetExceeded", "CallPlan", "Profile", "Stopped", "estimate", "open_model", "profiles"]


def open_model(
    profile: str | Profile = "local", *, replay: bool = False, cap: Budget | None = None,
    cache: CompletionCache | None = None, dry_run: bool = False, renew: Collection[str] = (),
) -> ModelDoor:
    """Open the model of a profile: a name of `models.toml`, `default`, `local`, `profile:model`, or a `.gguf` file.

    Nothing is sent or started before the first answer that the cache does not have. `replay` makes such a
    request an error. `cap` stops the run when it is spent; the same `Budget` may be given to several models.
    `cache` replaces the one in `data/completions/`. `dry_run` sends nothing and only counts (see `spent`). `renew`
    names statuses (truncated, unparsed, filtered) whose stored answers are asked for again.
    Raises `ParameterError` for an unknown profile, with the nearest name.
    """
    from litsynth.llm.door import ModelDoor
    from litsynth.llm.profiles import find_profile

    chosen = find_profile(profile) if isinstance(profile, str) else profile
    return ModelDoor(chosen, replay=replay, cap=cap, cache=cache, dry_run=dry_run, renew=renew)


def estimate(model: ModelDoor, requests: Sequence[ModelRequest]) -> CallPlan:
    """Return how many calls, tokens and how much money `requests` would take, without sending anything."""
    return model.estimate(requests)
