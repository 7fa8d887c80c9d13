"""Values of parameters, read by their declared type and never by guessing."""

from __future__ import annotations

import math
import re
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml

from litsynth.paths import expanded

_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})
_WHOLE = re.compile(r"[+-]?\d+")


class Unreadable(ValueError):
    """A value that its declared type cannot hold; the text says what the type expects."""


def bare(annotation: Any) -> Any:
    """Return the annotation without `Annotated[...]` around it."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def type_name(annotation: Any) -> str:
    """Say in words what a parameter of this type holds."""
    annotation = bare(annotation)
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(repr(choice) for choice in inside)
    if origin in (Union, types.UnionType):
        return " or ".join("nothing" if part is type(None) else type_name(part) for part in inside)
    if origin in (list, tuple, set, frozenset):
        return f"list of {type_name(inside[0])}" if inside else "list"
    if origin is dict or annotation is dict:
        return "mapping"
    names = {bool: "true or false", int: "whole number", float: "number", str: "text", Path: "path"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def coerce(annotation: Any, value: Any) -> Any:
    """Return `value` as its declared type holds it; raises `Unreadable` when it cannot be that.

    Strings (from a command line, or from papermill, which leaves what it cannot guess as text) are
    parsed by the type; other values must already be of it. Nothing is changed silently: a number is
    no text, `nan` is no number, 5.0 is no whole number.
    """
    annotation = bare(annotation)
    origin, inside = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return value
    if origin is Literal:
        return _choice(inside, value)
    if origin in (Union, types.UnionType):
        return _first_fitting(inside, value)
    if origin in (list, tuple, set, frozenset) or annotation in (list, tuple):
        items = _elements(value, annotation)
        return [coerce(inside[0], item) for item in items] if inside else items
    if origin is dict or annotation is dict:
        return _mapping(value)
    reader = _SCALARS.get(annotation)
    return reader(value) if reader else value


def _choice(choices: tuple[Any, ...], value: Any) -> Any:
    for choice in choices:
        if value == choice and type(value) is type(choice):
            return choice
        if isinstance(value, str) and not isinstance(choice, str) and value == str(choice):
            return choice
    raise Unreadable(" or ".join(repr(choice) for choice in choices))


def _first_fitting(parts: tuple[Any, ...], value: Any) -> Any:
    optional = type(None) in parts
    if optional and (value is None or (isinstance(value, str) and value.lower() in {"null", "none"})):
        return None
    for part in parts:
        if part is not type(None):
            try:
                return coerce(part, value)
            except Unreadable:
                continue
    raise Unreadable(" or ".join("null" if part is type(None) else type_name(part) for part in parts))


def _plain_yaml(text: str, wanted: str) -> Any:
    """Parse JSON or YAML and leave every scalar as the text that was written (`007` stays `007`)."""
    try:  # BaseLoader makes strings, lists and mappings, nothing else
        return yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise Unreadable(f"{wanted} ({str(error).splitlines()[0]})") from None


def _elements(value: Any, annotation: Any) -> list[Any]:
    wanted = f"{type_name(annotation)}, written a,b,c or [a, b, c]"
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            parsed = _plain_yaml(text, wanted)
            if not isinstance(parsed, list):
                raise Unreadable(wanted)
            return parsed
        return [part.strip() for part in text.split(",")] if text else []
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    raise Unreadable(wanted)


def _mapping(value: Any) -> dict[str, Any]:
    parsed = _plain_yaml(value, "mapping, written {name: value}") if isinstance(value, str) else value
    if not isinstance(parsed, dict):
        raise Unreadable("mapping, written {name: value}")
    return dict(parsed)


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise Unreadable("true or false")


def _whole_number(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    raise Unreadable("whole number")


def _number(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = float(value)
    else:
        try:
            number = float(value) if isinstance(value, str) else math.nan
        except ValueError:
            number = math.nan
    if not math.isfinite(number):
        raise Unreadable("finite number")
    return number


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise Unreadable("text; plain papermill guesses types, so give it as `-r name value` there")


def _path(value: Any) -> Path:
    if isinstance(value, (str, Path)) and str(value):
        return expanded(value)
    raise Unreadable("path")


_SCALARS = {bool: _boolean, int: _whole_number, float: _number, str: _text, Path: _path}
