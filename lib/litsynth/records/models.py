"""What is sent to a language model and what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Message = Mapping[str, Any]  # an OpenAI chat message: role, content, and tool fields where they apply

CompletionStatus = Literal["ok", "truncated", "unparsed", "filtered", "failed"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts and cost of one or several calls; `estimated` says that a server did not report them.

    `cost` is in the currency of the profile's prices, None when no price is known.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost is None and other.cost is None else (self.cost or 0.0) + (other.cost or 0.0)
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens,
                     self.estimated or other.estimated, cost)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a model asked for; `arguments` is None when they were no valid JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw_arguments: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model. `prompt_version` names the template it was made from and is part of the cache key.

    `schema` is a JSON schema that the answer must obey; `repeat` tells deliberate repetitions apart.
    """

    messages: Sequence[Message]
    prompt_version: str
    schema: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] = ()
    max_tokens: int | None = None
    temperature: float | None = 0.0
    seed: int | None = 0
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, exactly, and how it ended.

    `status`: ok; truncated (the budget ended before the answer); unparsed (the answer does not obey the
    schema); filtered (the server withheld it); failed (no answer after all retries; `reason` says why).
    `parsed` is the validated object when a schema was asked for and status is ok. `reasoning` is thinking text,
    never part of `text`. `sent` is the request as it really went out.
    """

    status: CompletionStatus
    text: str = ""
    parsed: Any = None
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""
    reason: str = ""
    cached: bool = False
    seconds: float = 0.0
    sent: Mapping[str, Any] = field(default_factory=dict)


class LanguageModel(Protocol):
    """The door to one model: systems and judges know no more of it than this."""

    name: str  # the profile's name, as tables show it
    identity: str  # endpoint and model, or the file hash of a local model: what decides its answers
    weak: bool  # a demonstration model whose scores must be labelled so
    context_window: int | None  # tokens, None when unknown

    def complete(self, request: ModelRequest) -> Completion:
        """Answer one request; never raises for what the model or its server did, only for a bad request or key."""
        ...

    def complete_many(self, requests: Sequence[ModelRequest], *, stage: str = "") -> list[Completion]:
        """Answer many requests under the profile's concurrency limit; the result has the order of `requests`."""
        ...

    def count_tokens(self, text: str) -> int:
        """Estimate the number of tokens of `text`, from above rather than below."""
        ...
