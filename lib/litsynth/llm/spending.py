"""What calls cost: estimated beforehand, capped while they run, summed afterwards."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from litsynth.errors import ModelError, ParameterError
from litsynth.llm.profiles import Profile
from litsynth.records import Completion, Usage


class Stopped(ModelError):
    """A stop before all requests were answered; what was answered is in the cache.

    `finished` has one entry a request, in their order, None where there is no answer. `run_status` is what a run that
    it ends becomes: what is finished is kept, and the same command goes on once the cap or the refusal is gone.
    """

    finished: Sequence[Completion | None] = ()
    run_status = "partial"


class BudgetExceeded(Stopped):
    """The cap in tokens or money does not allow another call; the run is partial."""


def cost_of(profile: Profile, usage: Usage) -> float | None:
    """Return the price of `usage` in the profile's currency, None when a price is unknown."""
    if profile.price_in is None or profile.price_out is None:
        return None
    return (usage.prompt_tokens * profile.price_in + usage.completion_tokens * profile.price_out) / 1e6


class Budget:
    """A cap in tokens (prompt and answer together) or money, shared by every model it is given to.

    Before a call the most it may use is set aside, so that calls in flight cannot pass the cap together; what it
    really used is charged when it ends. Where a server does not report its use, the estimate is charged.
    """

    def __init__(self, tokens: int | None = None, money: float | None = None) -> None:
        for name, value in (("tokens", tokens), ("money", money)):
            if value is not None and not 0 <= value < float("inf"):
                raise ParameterError(f"the cap in {name} is {value}", expected="a number of at least 0")
        self.tokens, self.money = tokens, money
        self.spent_tokens, self.spent_money = 0, 0.0
        self._held: dict[int, tuple[int, float]] = {}
        self._next = 0
        self._changed = threading.Condition()

    def hold(self, tokens: int, money: float | None, name: str) -> int:
        """Set aside the most a call may use and return a ticket for `settle`, waiting for calls in flight.

        Raises `BudgetExceeded` when the cap cannot allow the call.
        """
        with self._changed:
            while not self._fits(tokens, money or 0.0):
                if not self._held:
                    raise self._exceeded(tokens, money, name)
                self._changed.wait()
            self._next += 1
            self._held[self._next] = (tokens, money or 0.0)
            return self._next

    def settle(self, ticket: int, tokens: int, money: float | None) -> None:
        """Charge what a call used and free what was set aside for it."""
        with self._changed:
            self._held.pop(ticket, None)
            self.spent_tokens += tokens
            self.spent_money += money or 0.0
            self._changed.notify_all()

    def _fits(self, tokens: int, money: float) -> bool:
        held_tokens = sum(held for held, _ in self._held.values())
        held_money = sum(held for _, held in self._held.values())
        return (self.tokens is None or self.spent_tokens + held_tokens + tokens <= self.tokens) and (
            self.money is None or self.spent_money + held_money + money <= self.money
        )

    def _exceeded(self, tokens: int, money: float | None, name: str) -> BudgetExceeded:
        caps = []
        if self.tokens is not None:
            caps.append(f"{self.spent_tokens:,} of {self.tokens:,} tokens spent, the next call may take {tokens:,}")
        if self.money is not None:
            caps.append(f"{self.spent_money:.4f} of {self.money:.4f} spent, the next call may take {money or 0.0:.4f}")
        return BudgetExceeded(
            f"the cap stopped calls to {name!r} ({'; '.join(caps)})",
            remedy="raise the cap and run again: finished answers are kept and not paid for twice",
        )


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a list of requests would take: `calls` of which `cached` need not be sent, and upper estimates for the rest.

    `completion_tokens` is None when no limit is set on answers; `cost` (in `currency`) is None when that or a price
    is unknown.
    """

    model: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int | None
    cost: float | None
    currency: str

    def __str__(self) -> str:
        answers = "an unlimited number of" if self.completion_tokens is None else f"at most {self.completion_tokens:,}"
        money = "cost unknown" if self.cost is None else f"at most {self.cost:.4f} {self.currency}"
        return (
            f"{self.model}: {self.calls:,} calls, {self.cached:,} of them cached; to be sent: about "
            f"{self.prompt_tokens:,} prompt tokens, {answers} answer tokens, {money}"
        )


class Ledger:
    """The running totals of one opened model."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._lock = threading.Lock()
        self._sent, self._kept = Usage(), Usage()
        self._counts = dict.fromkeys(
            ("calls", "cached", "failed", "planned", "known_calls", "estimated_calls", "unknown_cost_calls"), 0
        )

    def count(self, completion: Completion) -> None:
        """Add one answer, from the cache or fresh."""
        with self._lock:
            if completion.cached:
                self._counts["cached"] += 1
                self._kept += completion.usage
                return
            self._counts["calls"] += 1
            self._sent += completion.usage
            if completion.status == "failed":
                self._counts["failed"] += 1
            self._counts["estimated_calls" if completion.usage.estimated else "known_calls"] += 1
            self._counts["unknown_cost_calls"] += completion.usage.cost is None

    def plan(self, usage: Usage) -> None:
        """Add one request of a dry run."""
        with self._lock:
            self._counts["planned"] += 1
            self._sent += replace(usage, cost=cost_of(self._profile, usage))

    def record(self) -> dict[str, Any]:
        """Return the totals, ready for JSON."""
        with self._lock:
            return {
                **self._counts, "currency": self._profile.currency,
                "prompt_tokens": self._sent.prompt_tokens, "completion_tokens": self._sent.completion_tokens,
                "estimated": self._sent.estimated, "cost": self._sent.cost,
                "cached_prompt_tokens": self._kept.prompt_tokens,
                "cached_completion_tokens": self._kept.completion_tokens, "cached_cost": self._kept.cost,
            }
