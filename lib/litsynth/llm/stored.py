"""Completions as JSON values: the form in which the cache and its exports keep them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from litsynth.files import dumps
from litsynth.records import Completion, ToolCall, Usage

STORED_STATUSES = ("ok", "truncated", "unparsed", "filtered")
_LEFT_OUT = ("cached", "parsed")
_NAMES = tuple(item.name for item in fields(Completion) if item.name not in _LEFT_OUT)


def to_json(completion: Completion, request: Mapping[str, Any]) -> str:
    """Return a completion as strict JSON; messages that went out just as they stand in `request` are not repeated."""
    value: dict[str, Any] = {name: getattr(completion, name) for name in _NAMES}
    value["usage"] = {item.name: getattr(completion.usage, item.name) for item in fields(Usage)}
    value["tool_calls"] = [{item.name: getattr(call, item.name) for item in fields(ToolCall)}
                           for call in completion.tool_calls]
    value["parsed"] = completion.parsed
    value["sent"] = dict(completion.sent)
    if value["sent"].get("messages") == request.get("messages"):
        del value["sent"]["messages"]
    return dumps(value)


def from_json(text: str, request: Mapping[str, Any]) -> Completion:
    """Return the completion of `to_json`, as cached; `ValueError`, `KeyError` or `TypeError` for anything else."""
    value = json.loads(text)
    if value["status"] not in STORED_STATUSES:
        raise ValueError(f"{value['status']!r} is no status of a stored completion")
    sent = value["sent"]
    if "messages" not in sent and "messages" in request:
        sent["messages"] = request["messages"]
    return Completion(
        **{name: value[name] for name in _NAMES if name not in ("usage", "tool_calls", "sent")},
        usage=Usage(**value["usage"]), tool_calls=tuple(ToolCall(**call) for call in value["tool_calls"]),
        parsed=value["parsed"], sent=sent, cached=True,
    )
