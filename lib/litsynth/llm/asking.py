"""One question asked: sent, retried, adapted to the endpoint, read, and never more than once too often."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from litsynth.llm.endpoints import EmbeddedEndpoint, RemoteEndpoint
from litsynth.llm.habits import Habits
from litsynth.llm.profiles import Profile
from litsynth.llm.refusals import Rejected, Transient, error_of, refusal, scrub
from litsynth.llm.replies import BEFORE_ANSWER, read_reply
from litsynth.llm.requests import answer_limit
from litsynth.llm.spending import Budget, BudgetExceeded, cost_of
from litsynth.llm.tokens import least_prompt_tokens, prompt_tokens
from litsynth.progress import notice
from litsynth.records import Completion, ModelRequest, Usage

_MOST_ADAPTATIONS = 8
LONG_WAIT = 3.0  # seconds before a further try that are told
_RAISED = 4  # how many times larger the budget is in the one further try when thinking used it up


@dataclass(frozen=True)
class Asking:
    """All that answering a request takes; shared by the threads of a batch, which `stop` ends early."""

    profile: Profile
    endpoint: RemoteEndpoint | EmbeddedEndpoint
    habits: Habits
    budget: Budget
    stop: threading.Event

    def ask(self, request: ModelRequest) -> Completion:
        """Return the answer to one request, whatever became of it.

        Raises `EndpointRefused` when no request will succeed until the user changes something, `BudgetExceeded`
        when the cap allows no further call.
        """
        started = time.perf_counter()
        least, window = least_prompt_tokens(request), self.profile.context_window
        if window is not None and least > window:
            reason = f"not sent: the prompt of at least {least} tokens does not fit the context window of {window}"
            return Completion(status="failed", reason=reason, usage=Usage(cost=0.0))
        limit = answer_limit(request, self.profile)
        answer = self._paid(request, limit)
        if answer.status == "truncated" and answer.reason == BEFORE_ANSWER and limit is not None:
            answer = self._again_with_more(request, limit, answer)
        return replace(answer, seconds=time.perf_counter() - started)

    def _again_with_more(self, request: ModelRequest, limit: int, first: Completion) -> Completion:
        try:
            second = self._paid(request, limit * _RAISED)
        except BudgetExceeded:
            return first
        note = f"the budget was raised once from {limit} to {limit * _RAISED} tokens"
        if second.status == "failed":
            return replace(first, usage=first.usage + second.usage, reason=f"{first.reason}; {note}: {second.reason}")
        reason = f"{second.reason}; {note}" if second.reason else note
        return replace(second, usage=_sum(first.usage, second.usage), reason=reason)

    def _paid(self, request: ModelRequest, limit: int | None) -> Completion:
        """Send once within the cap and charge what it took."""
        most = Usage(prompt_tokens(request), limit or 0)
        ticket = self.budget.hold(
            most.prompt_tokens + most.completion_tokens, cost_of(self.profile, most), self.profile.name
        )
        used = Usage()
        try:
            answer = self._adapted(request, limit)
            used = answer.usage
            return answer
        finally:
            self.budget.settle(ticket, used.prompt_tokens + used.completion_tokens, cost_of(self.profile, used))

    def _adapted(self, request: ModelRequest, limit: int | None) -> Completion:
        """Send in the form that the endpoint takes, learning that form from its refusals."""
        rejected = Rejected(400, "no form of the request was taken")
        body: dict[str, Any] = {}
        for _ in range(_MOST_ADAPTATIONS):
            previous, body = body, self.habits.body(request, self.profile, self.endpoint.model, limit)
            if body == previous:
                break
            try:
                reply = self._retried(body)
                return replace(read_reply(reply, request, self.profile), sent=body)
            except Transient as error:
                return Completion(status="failed", reason=error.reason, sent=body)
            except Rejected as error:
                rejected = error
            if rejected.too_long:
                return Completion(status="failed", reason=f"the prompt is too long: {rejected.message}", sent=body)
            if rejected.withheld:
                return Completion(status="filtered", reason=f"withheld: {rejected.message}", sent=body)
            if not self.habits.learn(rejected, body, request):
                break
        raise refusal(rejected, self.endpoint.where, self.endpoint.model)

    def _retried(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send one body, trying again after failures that may pass; the only retry layer there is."""
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_when_event_set

        attempts = Retrying(
            retry=retry_if_exception_type(Transient), wait=self._wait, sleep=self.stop.wait, reraise=True,
            before_sleep=self._say,
            stop=stop_after_attempt(self.profile.max_retries + 1) | stop_when_event_set(self.stop),
        )
        return attempts(self._send, body)

    def _wait(self, state: Any) -> float:
        """Return the seconds before the next try: what the server asked for, else exponential with jitter; capped."""
        error = state.outcome.exception()
        asked = error.retry_after if isinstance(error, Transient) else None
        # The generator of its own, because jitter must not depend on or disturb any seeded one.
        jitter = _JITTER.uniform(0.5, 1.0)
        seconds = asked if asked is not None else self.profile.backoff * 2 ** (state.attempt_number - 1) * jitter
        return min(seconds, self.profile.max_wait)

    def _say(self, state: Any) -> None:
        """Say what is waited for, where that takes long enough for somebody to wonder."""
        seconds = state.next_action.sleep
        if seconds >= LONG_WAIT:
            notice(f"{self.profile.name}: {state.outcome.exception()}; try {state.attempt_number + 1} of "
                   f"{self.profile.max_retries + 1} in {seconds:.0f} s", about=self.profile.name)

    def _send(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send one body once and return the reply's JSON, which has a choice."""
        import openai

        client, secret = self.endpoint.client(), self.endpoint.secret()
        rest = {name: value for name, value in body.items() if name not in ("model", "messages")}
        try:
            raw = client.chat.completions.with_raw_response.create(
                model=body["model"], messages=body["messages"], extra_body=rest
            )
            status, text, headers = raw.http_response.status_code, raw.http_response.content, raw.http_response.headers
        except openai.APITimeoutError:
            raise Transient(f"no answer within {self.profile.timeout:g} s") from None
        except openai.APIStatusError as error:
            body_text = error.response.content.decode("utf-8", "replace")
            raise error_of(
                error.status_code, body_text, error.response.headers, secret, self.endpoint.where
            ) from None
        except openai.APIConnectionError as error:
            detail = scrub(str(error.__cause__ or error), secret)
            raise Transient(f"the connection to {self.endpoint.where} failed: {detail}") from None
        return read_body(status, text, headers, secret, self.endpoint.where)


_JITTER = random.Random()


def read_body(status: int, content: bytes, headers: Mapping[str, str], secret: str, where: str) -> Mapping[str, Any]:
    """Return the JSON of a successful answer whatever its content type; raises like an error answer when it is none."""
    text = content.decode("utf-8-sig", "replace")
    if secret and secret in text:
        text = text.replace(secret, "[key hidden]")
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        kind = "a web page" if text.lstrip()[:1] == "<" else "something that is no whole JSON"
        raise Transient(f"{where} answered {kind} (HTTP {status}); is the base URL right?") from None
    if isinstance(reply, Mapping) and reply.get("error") and not reply.get("choices"):
        error = reply["error"]
        code = error.get("code") if isinstance(error, Mapping) else None
        real = code if isinstance(code, int) and 400 <= code <= 599 else 500
        raise error_of(real, text, headers, secret, where)
    choices = reply.get("choices") if isinstance(reply, Mapping) else None
    if not isinstance(choices, list) or not any(isinstance(choice, Mapping) for choice in choices):
        raise Transient(f"{where} answered without a choice")
    if any(isinstance(choice, Mapping) and choice.get("finish_reason") == "error" for choice in choices):
        raise Transient(f"{where} broke off the answer with an error")
    return reply


def _sum(first: Usage, second: Usage) -> Usage:
    """Add the use of two calls; the cost is unknown when one of them is."""
    unknown = first.cost is None or second.cost is None
    total = first + second
    return replace(total, cost=None) if unknown else total

