"""What went wrong with a call, sorted by what to do: try again, adapt the request, or stop and tell the user."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from litsynth.llm.spending import Stopped

_LONGEST = 400
_RETRIED = (408, 409, 425, 429)
_NO_MONEY = re.compile(r"insufficient[_ ](quota|balance|credits?|funds)|credit balance|billing_hard_limit", re.I)
_TOO_LONG = re.compile(
    r"context[_ ](length|window|size)|maximum context|too many tokens|prompt is too long|input is too long", re.I
)
_WITHHELD = re.compile(r"content[_ ](filter|policy)|content_policy_violation|ResponsibleAI", re.I)
_TEMPLATE = re.compile(r"system (role|message|prompt)s?\b.*\bnot (be )?(supported|allowed)|roles must alternate", re.I)
_MASKED = re.compile(r"\S*\*{3,}\S*|\b(sk|pk|rk|key)-[\w.\-…]{6,}|(?<=bearer )\S+", re.I)


class Transient(Exception):
    """A failure that may pass: worth another try, after `retry_after` seconds where the server named a time."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.retry_after = reason, retry_after


class Rejected(Exception):
    """A request that the server does not take as it is; `param` and `code` are the server's own words, or empty."""

    def __init__(self, status: int, message: str, param: str = "", code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code

    @property
    def too_long(self) -> bool:
        """Whether the prompt does not fit the model's context window."""
        return self.status == 413 or bool(_TOO_LONG.search(f"{self.code} {self.message}"))

    @property
    def withheld(self) -> bool:
        """Whether a content filter stopped the request."""
        return bool(_WITHHELD.search(f"{self.code} {self.message}"))

    @property
    def role_trouble(self) -> bool:
        """Whether the chat template of the model knows no system message."""
        return bool(_TEMPLATE.search(self.message))


class EndpointRefused(Stopped):
    """An endpoint that refuses every call until the user changes something: key, quota, address, model or request."""


def scrub(text: str, secret: str) -> str:
    """Return `text` without the key, and without anything that looks like a key or a masked one."""
    if len(secret) >= 6:
        text = text.replace(secret, "[key hidden]")
        text = re.sub(re.escape(secret[:6]) + r"\S*", "[key hidden]", text)
    return _MASKED.sub("[key hidden]", text)


def error_of(status: int, body: str, headers: Mapping[str, str], secret: str, where: str) -> Exception:
    """Return the exception for an error answer: `Transient`, `Rejected` or `EndpointRefused`, scrubbed of the key."""
    message, code, param = _message(body)
    message = scrub(message, secret)[:_LONGEST] or f"HTTP status {status} without a message"
    wait = retry_after(headers)
    said = f"{where} said: {message}"
    if status in (401, 403):
        return EndpointRefused(
            f"the key was refused (HTTP {status}); {said}", expected="a valid key for this address",
            remedy="check the key's variable in the environment or .env, and that it belongs to this base URL",
        )
    if status == 402 or (status == 429 and wait is None and _NO_MONEY.search(f"{code} {message}")):
        return EndpointRefused(
            f"the quota of this key is used up (HTTP {status}); {said}",
            remedy="add credit or take another key, then run again: finished answers are kept",
        )
    rejected = Rejected(status, message, param, code)
    if status in _RETRIED or (status >= 500 and not rejected.role_trouble):
        return Transient(f"HTTP {status}: {message}", wait)
    return rejected


def refusal(rejected: Rejected, where: str, model: str) -> EndpointRefused:
    """Return the error that tells the user what to do about a request that could not be adapted."""
    if rejected.status == 404:
        return EndpointRefused(
            f"{where} knows no model {model!r} or no chat completions (HTTP 404); it said: {rejected.message}",
            expected="a base URL that ends where /chat/completions begins (mostly in /v1), and a model it serves",
            remedy="correct base URL and model in models.toml or .env",
        )
    return EndpointRefused(
        f"{where} refused the request (HTTP {rejected.status}); it said: {rejected.message}",
        remedy="change the request or the profile (max_tokens, rejects, structured, extra) in models.toml",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, from `retry-after-ms` or `retry-after` (seconds or a date)."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if not value:
            continue
        try:
            return max(0.0, float(value) / scale)
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time())
        except (TypeError, ValueError):
            continue
    return None


def _message(body: str) -> tuple[str, str, str]:
    """Return (message, code, parameter) of an error body in any of the shapes that servers use."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        plain = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", body[:20_000], flags=re.S | re.I)
        return " ".join(plain.split()), "", ""
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error", value) if isinstance(value, Mapping) else value
    if isinstance(error, Mapping):
        detail = error.get("message") or error.get("detail") or error
        text = detail if isinstance(detail, str) else json.dumps(detail, ensure_ascii=False)
        code = " ".join(str(error[name]) for name in ("code", "type") if error.get(name))
        return text, code, str(error.get("param") or "")
    return str(error), "", ""
