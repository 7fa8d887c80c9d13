"""The one door to a language model: asked once, kept for ever, and the same for every kind of endpoint."""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from litsynth.errors import ModelError, ParameterError
from litsynth.llm.asking import Asking
from litsynth.llm.cache import CompletionCache
from litsynth.llm.endpoints import open_endpoint
from litsynth.llm.habits import habits_of
from litsynth.llm.parallel import run_parallel
from litsynth.llm.profiles import Profile
from litsynth.llm.refusals import EndpointRefused
from litsynth.llm.requests import answer_limit, canonical, describe, key_of, material, writable
from litsynth.llm.spending import Budget, CallPlan, Ledger, Stopped, cost_of
from litsynth.llm.stored import STORED_STATUSES
from litsynth.llm.tokens import count_tokens, prompt_tokens
from litsynth.progress import progress
from litsynth.records import Completion, ModelRequest, Usage

_FEWEST_FAILURES = 8  # this many failures from the start, and none but failures, show that the endpoint is down


class ReplayMiss(ModelError):
    """A request of a replay that has no stored answer."""


class ModelDoor:
    """A `LanguageModel` behind a profile; see `litsynth.llm.open_model` for the parameters."""

    def __init__(
        self, profile: Profile, *, replay: bool = False, cap: Budget | None = None,
        cache: CompletionCache | None = None, dry_run: bool = False, renew: Collection[str] = (),
    ) -> None:
        wrong = sorted(set(renew) - set(STORED_STATUSES))
        if wrong:
            raise ParameterError(f"renew names {wrong}", expected="statuses among " + ", ".join(STORED_STATUSES))
        if cap is not None and cap.money is not None and cost_of(profile, Usage()) is None:
            raise ParameterError(
                f"spending is capped in money, but profile {profile.name!r} has no prices",
                remedy="give price_in and price_out in models.toml, or cap tokens instead",
            )
        self.profile = profile
        self._endpoint = open_endpoint(profile)
        embedded = profile.kind == "embedded"
        self.identity = self._endpoint.identity if embedded else f"{self._endpoint.identity} {self._endpoint.model}"
        self.weak, self.context_window = profile.weak, profile.context_window
        self.name = f"{profile.name} (weak demonstration model)" if profile.weak else profile.name
        self._cache = cache if cache is not None else CompletionCache()
        self._replay, self._dry_run, self._renew = replay, dry_run, frozenset(renew)
        self._budget = cap if cap is not None else Budget()
        self._ledger = Ledger(profile)

    def __repr__(self) -> str:
        return f"ModelDoor({self.name!r}, {self.identity!r})"

    def __enter__(self) -> ModelDoor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def complete(self, request: ModelRequest) -> Completion:
        """Answer one request: from the cache, else from the model, whose answer is then kept.

        What the model or its server did is told by the completion's status. Raises `ParameterError` for an impossible
        request, `EndpointRefused` for a refused key, quota or request, `BudgetExceeded`, and in a replay `ReplayMiss`.
        """
        asked = self._material(request)
        stored = self._stored(asked, request)
        answer = stored if stored is not None else self._fresh(request, asked, self._asking(threading.Event()))
        self._count(answer)
        return answer

    def complete_many(self, requests: Sequence[ModelRequest], *, stage: str = "") -> list[Completion]:
        """Answer many requests, at most `concurrency` at a time; the result has their order.

        Equal requests are sent once. With a `stage`, what will be sent is printed first and progress while it
        runs. An error that stops the batch carries in `finished` what was answered; those answers
        are in the cache, as they are after Ctrl-C.
        """
        asked = [self._material(request) for request in requests]
        answers: list[Completion | None] = [None] * len(requests)
        missing: dict[str, list[int]] = {}
        for position, (request, what) in enumerate(zip(requests, asked, strict=True)):
            answers[position] = self._stored(what, request)
            if answers[position] is None:
                missing.setdefault(key_of(canonical(what)), []).append(position)
        groups = list(missing.values())
        if groups and stage:
            print(f"{stage}: {self.estimate(requests)}", file=sys.stderr)  # noqa: T201 - for people, before anything is sent
        try:
            self._answer(groups, requests, asked, answers, stage)
        except Stopped as error:
            error.finished = list(answers)
            raise
        finally:
            for answer in answers:
                if answer is not None:
                    self._count(answer)
        return [answer for answer in answers if answer is not None]

    def count_tokens(self, text: str) -> int:
        """Estimate the number of tokens of `text`, from above rather than below."""
        return count_tokens(text)

    def estimate(self, requests: Sequence[ModelRequest]) -> CallPlan:
        """Return what `requests` would take: calls, cached ones, tokens and money at most; nothing is sent."""
        cached, prompt, limits, seen = 0, 0, [], set()
        for request in requests:
            asked = self._material(request)
            key = key_of(canonical(asked))
            if key in seen or self._cache.get(asked) is not None:
                cached += 1
                continue
            seen.add(key)
            prompt += prompt_tokens(request, schema_in_prompt=self.profile.schema_in_prompt)
            limits.append(answer_limit(request, self.profile))
        most = None if None in limits else sum(limit for limit in limits if limit is not None)
        cost = None if most is None else cost_of(self.profile, Usage(prompt, most))
        return CallPlan(self.name, len(requests), cached, prompt, most, cost, self.profile.currency)

    def spent(self) -> dict[str, Any]:
        """Return the totals since opening, ready for a manifest: calls, cached answers, tokens, cost, unknowns."""
        return {"model": self.name, "identity": self.identity, **self._ledger.record()}

    def close(self) -> None:
        """Close connections, and stop the embedded model if it runs."""
        self._endpoint.close()

    def _count(self, answer: Completion) -> None:
        if answer.cached or not self._dry_run:
            self._ledger.count(answer)

    def _material(self, request: ModelRequest) -> dict[str, Any]:
        return material(request, self.profile, self._endpoint.identity, self._endpoint.model)

    def _stored(self, asked: dict[str, Any], request: ModelRequest) -> Completion | None:
        answer = self._cache.get(asked)
        if answer is not None and (answer.status not in self._renew or self._replay):
            return answer
        if not self._replay:
            return None
        key = key_of(canonical(asked))
        raise ReplayMiss(
            f"the replay has no answer to {describe(request)} of {self.identity} (key {key[:12]}…)",
            expected=f"an answer in {self._cache.path}",
            remedy="import the completions that were exported with the run, or run without replay",
        )

    def _asking(self, stop: threading.Event) -> Asking:
        habits = habits_of(self._endpoint.identity, self._endpoint.model)
        return Asking(self.profile, self._endpoint, habits, self._budget, stop)

    def _fresh(self, request: ModelRequest, asked: dict[str, Any], asking: Asking) -> Completion:
        if self._dry_run:
            limit = answer_limit(request, self.profile) or 0
            self._ledger.plan(Usage(prompt_tokens(request, schema_in_prompt=self.profile.schema_in_prompt), limit))
            return Completion(status="failed", reason="dry run: nothing was sent", usage=Usage(cost=0.0))
        answer = asking.ask(writable(request))
        if answer.status == "failed" or self._cache.put(asked, answer, replace=bool(self._renew)):
            return answer
        # Another process was quicker: the one answer that is kept is the one that everybody uses.
        kept = self._cache.get(asked)
        return answer if kept is None else replace(kept, cached=False)

    def _answer(
        self, groups: list[list[int]], requests: Sequence[ModelRequest], asked: list[dict[str, Any]],
        answers: list[Completion | None], stage: str,
    ) -> None:
        """Answer the first request of each group of equal ones and fill in `answers`."""
        stop = threading.Event()
        asking = self._asking(stop)
        fewest = max(_FEWEST_FAILURES, 2 * self.profile.concurrency)
        down, problem = 0, None
        results = run_parallel(
            lambda group: self._fresh(requests[group[0]], asked[group[0]], asking), groups,
            concurrency=self.profile.concurrency, stop=stop,
        )
        with closing(results):
            for place, outcome in progress(results, total=len(groups), stage=stage or self.name):
                if isinstance(outcome, BaseException):
                    problem = problem or outcome
                    continue
                for position in groups[place]:
                    answers[position] = outcome
                    outcome = replace(outcome, cached=outcome.status != "failed")
                if outcome.status != "failed":
                    down = -1
                elif outcome.sent and down >= 0:
                    down += 1
                if down >= fewest and problem is None:
                    stop.set()
                    problem = self._is_down(down, outcome.reason)
        if problem is not None:
            raise problem

    def _is_down(self, failures: int, reason: str) -> EndpointRefused:
        return EndpointRefused(
            f"{self._endpoint.where} failed all of the first {failures} calls, the last one so: {reason}",
            expected="an endpoint that answers", remedy="see that it runs and that base URL and model are right",
        )
