"""A language model that gives prepared answers: for tests and for trying out a system without any model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from litsynth.errors import ModelError
from litsynth.llm.tokens import count_tokens
from litsynth.records import Completion, ModelRequest, Usage

Answer = Completion | str | dict[str, Any]


class ScriptedModel:
    """Gives `answers` in order, or what a callable makes of each request, and keeps every request in `requests`.

    An answer is a whole `Completion`, a text, or a JSON object (then also the parsed answer). A text given to a
    request with a schema goes through the same reading and validation as a real answer. Raises `ModelError` when
    asked more often than there are answers.
    """

    def __init__(
        self, answers: Sequence[Answer] | Callable[[ModelRequest], Answer], *, name: str = "scripted",
        weak: bool = False, context_window: int | None = None,
    ) -> None:
        self.name, self.identity, self.weak, self.context_window = name, f"scripted:{name}", weak, context_window
        self.requests: list[ModelRequest] = []
        self._answers = answers

    def complete(self, request: ModelRequest) -> Completion:
        """Answer one request with the next prepared answer."""
        position = len(self.requests)
        self.requests.append(request)
        if callable(self._answers):
            answer = self._answers(request)
        elif position < len(self._answers):
            answer = self._answers[position]
        else:
            raise ModelError(
                f"the scripted model {self.name!r} was asked {position + 1} times",
                expected=f"at most {len(self._answers)} requests",
                remedy="prepare more answers, or give a function of the request",
            )
        return self._finish(answer, request)

    def complete_many(self, requests: Sequence[ModelRequest], *, stage: str = "") -> list[Completion]:
        """Answer the requests one after the other, in order."""
        return [self.complete(request) for request in requests]

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of `text` as the real models do."""
        return count_tokens(text)

    def _finish(self, answer: Answer, request: ModelRequest) -> Completion:
        if isinstance(answer, Completion):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        prompt = sum(count_tokens(str(message.get("content") or "")) for message in request.messages)
        usage = Usage(prompt, count_tokens(text), estimated=True)
        common: dict[str, Any] = {"text": text, "usage": usage, "model": self.name, "finish_reason": "stop"}
        if request.schema is None:
            return Completion(status="ok", **common)
        from litsynth.llm.structured import read_answer

        parsed, problem = read_answer(text, request.schema)
        return Completion(status="unparsed" if problem else "ok", parsed=parsed, reason=problem, **common)
