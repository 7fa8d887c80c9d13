"""Estimates of token counts where no server has counted: one from above, one from below."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from litsynth.records import ModelRequest

_LETTERS = bytes(range(ord("a"), ord("z") + 1)) + bytes(range(ord("A"), ord("Z") + 1)) + b" \t\r\n"
_WIDE = bytes(range(0x80, 0x100))
_PER_MESSAGE = 6  # role and turn markers


def count_tokens(text: str) -> int:
    """Estimate the tokens of `text`, from above rather than below.

    Letters and spaces count a token for every 3.2 bytes, bytes beyond ASCII for every 2, and each digit or
    sign counts one: more than the tokenizers of current models need for English, and about right for others.
    """
    data = text.encode("utf-8", "replace")
    rest = data.translate(None, _LETTERS)
    signs = len(rest.translate(None, _WIDE))
    return math.ceil((len(data) - len(rest)) / 3.2 + (len(rest) - signs) / 2 + signs)


def least_tokens(text: str) -> int:
    """Estimate the tokens of `text` from below: nine for ten words, since tokenizers split at spaces at the least."""
    return int(0.9 * len(text.split()))


def message_text(message: Mapping[str, Any]) -> str:
    """Return all text of a chat message: its content, the text parts of a list of parts, and its tool calls."""
    content = message.get("content")
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        text = " ".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    else:
        text = ""
    calls = message.get("tool_calls")
    return text + (json.dumps(calls, ensure_ascii=False, default=str) if calls else "")


def prompt_tokens(request: ModelRequest, *, schema_in_prompt: bool = True) -> int:
    """Estimate the prompt tokens of a request from above: messages, tools, and the schema where it is written out."""
    total = sum(count_tokens(message_text(message)) + _PER_MESSAGE for message in request.messages)
    if request.tools:
        total += count_tokens(json.dumps(list(request.tools), ensure_ascii=False, default=str))
    if request.schema is not None and schema_in_prompt:
        total += count_tokens(json.dumps(request.schema, ensure_ascii=False, default=str)) + 40
    return total


def least_prompt_tokens(request: ModelRequest) -> int:
    """Estimate the prompt tokens of a request from below, by its messages alone."""
    return sum(least_tokens(message_text(message)) for message in request.messages)
