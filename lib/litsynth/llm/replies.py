"""From a server's JSON to a completion: what was said, how it ended, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from litsynth.llm.profiles import Profile
from litsynth.llm.spending import cost_of
from litsynth.llm.structured import read_answer, split_thinking
from litsynth.llm.tokens import count_tokens, least_prompt_tokens, prompt_tokens
from litsynth.records import Completion, ModelRequest, ToolCall, Usage

_OUT_OF_BUDGET = ("length", "max_tokens", "model_length")
_SMALLEST_CUT = 100  # prompts below this many tokens are too short to tell a cut from a terse tokenizer

BEFORE_ANSWER = "the budget ended before the answer"


def read_reply(reply: Mapping[str, Any], request: ModelRequest, profile: Profile) -> Completion:
    """Return the completion in a server's reply, which has at least one choice.

    Thinking text never becomes part of the answer, a truncated answer is never parsed, and an answer to a
    prompt that the server cut is `failed`, because it is an answer to another question.
    """
    choices = [choice for choice in reply["choices"] if isinstance(choice, Mapping)]
    choice = min(choices, key=lambda item: item.get("index") or 0)
    message = choice.get("message") if isinstance(choice.get("message"), Mapping) else {}
    text, reasoning = _texts(message, choice)
    calls = tuple(_tool_call(call, place) for place, call in enumerate(message.get("tool_calls") or ()))
    finish = str(choice.get("finish_reason") or "").lower()
    usage = _usage(reply.get("usage"), request, profile, text + reasoning)
    status, parsed, reason = _outcome(finish, text, reasoning, bool(calls), message.get("refusal"), request)
    cut = _cut_prompt(usage, request, profile)
    if cut:
        status, parsed, reason = "failed", None, cut
    if len(choices) > 1:
        reason = "; ".join(filter(None, (reason, f"the server gave {len(choices)} choices, the first was used")))
    return Completion(
        status=status, text=text, parsed=parsed, reasoning=reasoning, tool_calls=calls, usage=usage,
        model=clean(reply.get("model")), finish_reason=finish, reason=reason,
    )


def clean(value: Any) -> str:
    """Return a text without byte order mark and half characters (lone surrogates); empty for what is no text."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace").lstrip("\ufeff")


def _texts(message: Mapping[str, Any], choice: Mapping[str, Any]) -> tuple[str, str]:
    """Return (answer, thinking) of a message, wherever the server put the thinking."""
    content = message.get("content", choice.get("text"))
    thoughts = [clean(message.get("reasoning_content")) or clean(message.get("reasoning"))]
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping)]
        thoughts += [_part_text(part.get("thinking")) for part in parts if part.get("type") == "thinking"]
        content = "".join(clean(part.get("text")) for part in parts if part.get("type") in ("text", "output_text"))
    inline, text = split_thinking(clean(content))
    return text, "\n".join(filter(None, [*thoughts, inline]))


def _part_text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(clean(part.get("text")) for part in value if isinstance(part, Mapping))
    return clean(value)


def _tool_call(call: Any, place: int) -> ToolCall:
    call = call if isinstance(call, Mapping) else {}
    function = call.get("function") if isinstance(call.get("function"), Mapping) else {}
    raw = function.get("arguments")
    raw_text = clean(raw) if isinstance(raw, str) or raw is None else json.dumps(raw, ensure_ascii=False)
    value, problem = read_answer(raw_text, {"type": "object"}) if raw_text.strip().startswith("{") else (None, "none")
    return ToolCall(
        id=clean(call.get("id")) or f"call_{place}", name=clean(function.get("name")),
        arguments=None if problem else value, raw_arguments=raw_text,
    )


def _outcome(
    finish: str, text: str, reasoning: str, has_calls: bool, declined: Any, request: ModelRequest
) -> tuple[Any, Any, str]:
    """Return (status, parsed, reason) of a reply."""
    if finish == "content_filter":
        return "filtered", None, "the server's content filter withheld the answer"
    if isinstance(declined, str) and declined.strip():
        return "filtered", None, f"the model declined: {clean(declined)[:200]}"
    if finish in _OUT_OF_BUDGET:
        return "truncated", None, "the budget ended within the answer" if text or has_calls else BEFORE_ANSWER
    if has_calls and not text.strip():
        return "ok", None, ""
    if not text.strip():
        return "unparsed", None, "the answer is empty" + (" after the thinking" if reasoning else "")
    if request.schema is None or has_calls:
        return "ok", None, ""
    parsed, problem = read_answer(text, request.schema)
    return ("unparsed", None, problem) if problem else ("ok", parsed, "")


def _usage(reported: Any, request: ModelRequest, profile: Profile, answer: str) -> Usage:
    counts = reported if isinstance(reported, Mapping) else {}
    prompt, completion = _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))
    if prompt is None or completion is None or prompt == 0:
        return Usage(
            prompt or prompt_tokens(request, schema_in_prompt=profile.schema_in_prompt),
            count_tokens(answer) if completion is None else completion, estimated=True,
        )
    usage = Usage(prompt, completion)
    return Usage(prompt, completion, cost=cost_of(profile, usage))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _cut_prompt(usage: Usage, request: ModelRequest, profile: Profile) -> str:
    least = least_prompt_tokens(request)
    if usage.estimated or not profile.counts_whole_prompt or least < _SMALLEST_CUT or usage.prompt_tokens >= least:
        return ""
    return (
        f"the server cut the prompt: it read {usage.prompt_tokens} of at least {least} tokens; give it a larger "
        "context window, or set counts_whole_prompt = false if it leaves cached tokens out of its count"
    )
