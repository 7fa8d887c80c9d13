"""Reading structured answers: thinking apart, one JSON object found and validated, nothing ever repaired."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from litsynth.errors import ParameterError
from litsynth.files import dumps

_TAGS = "think|thinking|thought|reasoning"
_OPENED = re.compile(rf"\s*<({_TAGS})>", re.IGNORECASE)
_CLOSED = re.compile(rf"</({_TAGS})>", re.IGNORECASE)
_LONGEST_REASON = 300


class _Refused(ValueError):
    """A JSON text that strict JSON does not allow: a doubled key, NaN or an infinity."""


def split_thinking(text: str) -> tuple[str, str]:
    """Return (thinking, answer) of a text in which a model thinks aloud between tags.

    Tags count at the start only. An opening tag that is never closed makes everything thinking; a closing tag
    without an opening one (some chat templates swallow it) ends the thinking too.
    """
    opened = _OPENED.match(text)
    closed = _CLOSED.search(text, opened.end() if opened else 0)
    if opened is None and (closed is None or _strict(text.strip())[1] == ""):
        return "", text
    start = opened.end() if opened else 0
    if closed is None:
        return text[start:].strip(), ""
    thinking, answer = text[start : closed.start()].strip(), text[closed.end() :].lstrip()
    if _OPENED.match(answer):
        more, answer = split_thinking(answer)
        thinking = f"{thinking}\n{more}"
    return thinking, answer


def read_answer(text: str, schema: Mapping[str, Any]) -> tuple[Any, str]:
    """Return (value, "") for the one JSON value in `text` that obeys `schema`, or (None, what is wrong).

    Code fences and prose around the value are passed over. A value that breaks off is never completed, values
    inside a broken one are never used, and two different valid values are refused as ambiguous.
    """
    plain = text.lstrip("\ufeff").strip()
    if not plain:
        return None, "the answer is empty"
    value, problem = _strict(plain)
    if not problem:
        broken = violation(value, schema) or _unwritable(value)
        return (None, broken) if broken else (value, "")
    values, trouble = _embedded(plain)
    valid = [found for found in values if not violation(found, schema)]
    if trouble:
        return None, trouble
    if not values:
        return None, "the answer holds no JSON object"
    if not valid:
        return None, violation(values[-1], schema)
    if any(dumps(other) != dumps(valid[0]) for other in valid[1:]):
        return None, "the answer holds two different valid objects"
    broken = _unwritable(valid[0])
    return (None, broken) if broken else (valid[0], "")


def violation(value: Any, schema: Mapping[str, Any]) -> str:
    """Say where and how `value` breaks `schema`; empty when it does not."""
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_validator(dumps(schema)).iter_errors(value))
    except RecursionError:
        return "the answer is nested too deeply"
    if error is None:
        return ""
    place = "/".join(map(str, error.absolute_path)) or "the answer"
    return f"{place}: {error.message}"[:_LONGEST_REASON]


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raise `ParameterError` when `schema` is no JSON schema."""
    try:
        text = dumps(schema)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"the schema of a request is not JSON ({error})", expected="a JSON schema") from None
    outside = [reference for reference in _references(schema) if not str(reference).startswith("#")]
    if outside:
        raise ParameterError(
            f"the schema of a request refers to {outside[0]!r}", expected="references within the schema alone",
            remedy="copy what it refers to into its $defs",
        )
    _validator(text)


def is_strict(schema: Any) -> bool:
    """Say whether a schema obeys the rules of strict mode: every object closed and every property required."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    elif schema.get("type") == "object":
        return False
    return all(map(is_strict, schema.values()))


def instruction(schema: Mapping[str, Any]) -> str:
    """Return the words that ask for an answer by `schema` where the prompt has to carry it."""
    return (
        "Answer with one JSON object that obeys this JSON schema, and with nothing else: no code fence, no "
        f"explanation.\n{dumps(schema)}"
    )


def _references(schema: Any) -> list[Any]:
    if isinstance(schema, list):
        return [found for item in schema for found in _references(item)]
    if not isinstance(schema, Mapping):
        return []
    own = [schema["$ref"]] if "$ref" in schema else []
    return own + [found for item in schema.values() for found in _references(item)]


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing.jsonschema import EMPTY_REGISTRY

    parsed = json.loads(schema)
    kind = validator_for(parsed)
    try:
        kind.check_schema(parsed)
    except SchemaError as error:
        raise ParameterError(f"the schema of a request is no JSON schema ({error.message})") from None
    # An empty registry, because the default one would fetch a remote `$ref` over the network.
    return kind(parsed, registry=EMPTY_REGISTRY)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"the key {doubled!r} stands twice in one object")
    return found


def _constant(name: str) -> None:
    raise _Refused(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def _strict(text: str) -> tuple[Any, str]:
    """Return (value, "") when the whole of `text` is strict JSON, else (None, why not)."""
    try:
        return _DECODER.decode(text), ""
    except (ValueError, RecursionError) as error:
        return None, str(error)


def _embedded(text: str) -> tuple[list[Any], str]:
    """Return the outermost JSON objects and lists in `text`, and what forbids using them (a cut-off or doubled key)."""
    values: list[Any] = []
    position = _next_opening(text, 0)
    while position >= 0:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except _Refused as error:
            return values, str(error)
        except RecursionError:
            return values, "the answer is nested too deeply"
        except ValueError:
            end = _balanced_end(text, position)
            if end < 0:
                return values, "the JSON in the answer is cut off"
        else:
            values.append(value)
        position = _next_opening(text, end)
    return values, ""


def _unwritable(value: Any) -> str:
    """Say so when a value holds half of a character (a lone surrogate), which no file can take."""
    try:
        dumps(value).encode("utf-8")
    except UnicodeEncodeError:
        return "the answer holds half of a character (a lone surrogate)"
    return ""


def _next_opening(text: str, start: int) -> int:
    positions = [place for place in (text.find("{", start), text.find("[", start)) if place >= 0]
    return min(positions, default=-1)


def _balanced_end(text: str, start: int) -> int:
    """Return where the bracket at `start` closes, passing over strings, or -1 when it never does."""
    depth, position, inside = 0, start, False
    while position < len(text):
        character = text[position]
        if inside:
            if character == "\\":
                position += 1
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return -1
