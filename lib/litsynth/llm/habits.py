"""What an endpoint turned out not to take, learnt from its refusals and remembered while this process lives."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

from litsynth.files import sha256_of
from litsynth.llm.profiles import STRUCTURED_MODES, Profile
from litsynth.llm.refusals import Rejected
from litsynth.llm.structured import instruction, is_strict
from litsynth.records import Message, ModelRequest

_ADAPTABLE = ("max_completion_tokens", "max_tokens", "temperature", "seed")
_FORMAT_WORDS = re.compile(r"response_format|json_schema|json_object|structured output|grammar|guided", re.I)
_NOT_TAKEN = re.compile(
    r"unsupported|not support|n.t support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not available"
    r"|not accept|n.t accept|extra (inputs|fields)|forbidden|only the default",
    re.I,
)


class Habits:
    """The adaptations to one model at one address; shared by everything in this process that asks it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._dropped: set[str] = set()
        self._limit_name = "max_tokens"
        self._modes: dict[str, str] = {}
        self._fold_system = False

    def body(self, request: ModelRequest, profile: Profile, model: str, limit: int | None) -> dict[str, Any]:
        """Return the request body as this endpoint takes it."""
        messages: list[Message] = [dict(message) for message in request.messages]
        body: dict[str, Any] = {"model": model, "messages": messages}
        wanted: dict[str, Any] = {self._limit_name: limit, "temperature": request.temperature, "seed": request.seed}
        body.update({
            name: value for name, value in wanted.items()
            if value is not None and name not in self._dropped and name not in profile.rejects
        })
        if request.tools:
            body["tools"] = list(request.tools)
        if request.schema is not None:
            mode = self._mode(request.schema, profile)
            if mode != "prompt":
                body["response_format"] = _response_format(mode, request.schema)
            if mode != "json_schema" or profile.schema_in_prompt:
                _add_to_last_user(messages, instruction(request.schema))
        if self._fold_system:
            body["messages"] = _without_system(messages)
        body.update(profile.extra)
        return body

    def learn(self, rejected: Rejected, body: Mapping[str, Any], request: ModelRequest) -> bool:
        """Remember what a refusal was about; False when nothing can be adapted (the same body would be sent again)."""
        with self._lock:
            if rejected.role_trouble and any(message["role"] == "system" for message in body["messages"]):
                self._fold_system = True
                return True
            used = body.get("response_format", {}).get("type")
            if used in STRUCTURED_MODES and request.schema is not None and _blames_format(rejected):
                self._modes[sha256_of(request.schema)] = STRUCTURED_MODES[STRUCTURED_MODES.index(used) + 1]
                return True
            name = _blamed(rejected, body)
            if name == "max_tokens":
                self._limit_name = "max_completion_tokens"
            elif name:
                self._dropped.add(name)
            return bool(name)

    def _mode(self, schema: Mapping[str, Any], profile: Profile) -> str:
        if "response_format" in profile.rejects:
            return "prompt"
        return self._modes.get(sha256_of(schema), profile.structured)


_known: dict[tuple[str, str], Habits] = {}
_known_lock = threading.Lock()


def habits_of(endpoint: str, model: str) -> Habits:
    """Return the habits of one model at one address, the same object for all callers in this process."""
    with _known_lock:
        return _known.setdefault((endpoint, model), Habits())


def _blames_format(rejected: Rejected) -> bool:
    return rejected.param.startswith("response_format") or bool(_FORMAT_WORDS.search(rejected.message))


def _blamed(rejected: Rejected, body: Mapping[str, Any]) -> str:
    """Return the parameter of `body` that the server does not know or take; a value out of range is no such case."""
    if not _NOT_TAKEN.search(f"{rejected.message} {rejected.code}".replace("_", " ")):
        return ""
    for name in _ADAPTABLE:
        if name in body and (rejected.param == name or re.search(rf"\b{name}\b", rejected.message)):
            return name
    return ""


def _response_format(mode: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if mode == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": is_strict(schema)}}


def _add_to_last_user(messages: list[Message], text: str) -> None:
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if message["role"] != "user":
            continue
        content = message.get("content")
        if isinstance(content, list):
            messages[position] = {**message, "content": [*content, {"type": "text", "text": text}]}
        else:
            messages[position] = {**message, "content": f"{content or ''}\n\n{text}"}
        return
    messages.append({"role": "user", "content": text})


def _without_system(messages: list[Message]) -> list[Message]:
    """Return the messages with all system text moved to the beginning of the first user message."""
    system = "\n\n".join(str(message.get("content") or "") for message in messages if message["role"] == "system")
    rest = [message for message in messages if message["role"] != "system"]
    for position, message in enumerate(rest):
        content = message.get("content")
        if message["role"] == "user" and not isinstance(content, list):
            rest[position] = {**message, "content": f"{system}\n\n{content or ''}"}
            return rest
    return [{"role": "user", "content": system}, *rest]
