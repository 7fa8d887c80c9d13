"""What identifies a request: the material of its cache key, made so that any change gives another key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from litsynth.errors import ParameterError
from litsynth.llm.profiles import Profile
from litsynth.llm.structured import check_schema
from litsynth.records import ModelRequest


def material(request: ModelRequest, profile: Profile, identity: str, model: str) -> dict[str, Any]:
    """Return all that decides the answer to `request`, ready for JSON: the evidence a cache key is made of.

    Raises `ParameterError` for a request that cannot be sent to any model.
    """
    check_request(request)
    return {
        "endpoint": identity, "model": model, "messages": [dict(message) for message in request.messages],
        "temperature": request.temperature, "seed": request.seed, "max_tokens": answer_limit(request, profile),
        "schema": request.schema, "schema_in_prompt": request.schema is not None and profile.schema_in_prompt,
        "tools": list(request.tools), "extra": dict(profile.extra),
        "prompt_version": request.prompt_version, "repeat": request.repeat,
    }


def canonical(value: Mapping[str, Any]) -> str:
    """Return the canonical JSON of a request's material; half characters (lone surrogates) become question marks."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"a request cannot be written as JSON ({error})", expected="texts, finite numbers, lists and tables",
            remedy=f"look at the prompt {value.get('prompt_version')!r}",
        ) from None
    return text.encode("utf-8", "replace").decode("utf-8")


def writable(request: ModelRequest) -> ModelRequest:
    """Return the request with the half characters of its messages replaced, as no server could be sent them."""
    text = json.dumps([dict(message) for message in request.messages], ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return replace(request, messages=json.loads(text.encode("utf-8", "replace")))
    return request


def key_of(text: str) -> str:
    """Return the SHA-256 of canonical request material as hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def answer_limit(request: ModelRequest, profile: Profile) -> int | None:
    """Return the limit of the answer in tokens: the request's own, else the profile's."""
    return profile.max_tokens if request.max_tokens is None else request.max_tokens


def describe(request: ModelRequest) -> str:
    """Return a short name of a request for error messages: its prompt version, repeat and last words asked."""
    last = request.messages[-1].get("content") if request.messages else ""
    words = " ".join(str(last or "").split())
    return f"{request.prompt_version} (repeat {request.repeat}): {words[:80]!r}{'…' if len(words) > 80 else ''}"


def check_request(request: ModelRequest) -> None:
    """Raise `ParameterError` when a request is impossible, whatever the model."""
    if not request.messages:
        raise ParameterError(f"a request of {request.prompt_version!r} has no messages", expected="at least one")
    for position, message in enumerate(request.messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise ParameterError(
                f"message {position} of a request of {request.prompt_version!r} is no chat message",
                expected="a table with role and content",
            )
    if request.max_tokens is not None and request.max_tokens < 1:
        raise ParameterError(f"max_tokens of a request is {request.max_tokens}", expected="at least 1")
    if request.temperature is not None and not 0 <= request.temperature <= 2:
        raise ParameterError(f"temperature of a request is {request.temperature}", expected="a number from 0 to 2")
    if request.schema is not None:
        check_schema(request.schema)
