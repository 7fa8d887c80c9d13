"""Options of systems as parameters give them: read by the declared types of the system's fields."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

from litsynth.errors import ParameterError, unknown_name
from litsynth.experiments.coercion import Unreadable, coerce, type_name


def typed_options(spec: str, kind: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of one system, each read by the type of its field in `kind`.

    A class that is no dataclass gets its options as they are. Raises `ParameterError` for names that are no option,
    with the nearest one suggested, and for values of another type.
    """
    if not dataclasses.is_dataclass(kind):
        return dict(options)
    known = {field.name for field in dataclasses.fields(kind) if field.init}
    types = typing.get_type_hints(kind)
    typed = {}
    for name, value in options.items():
        if name not in known:
            raise unknown_name(f"option of system {spec!r}", name, known)
        try:
            typed[name] = coerce(types[name], value)
        except Unreadable as error:
            raise ParameterError(f"option {name!r} of system {spec!r} cannot be {value!r}", expected=str(error),
                                 remedy=f"give a {type_name(types[name])}") from None
    return typed


def known_systems(options: Mapping[str, Any], systems: list[str]) -> None:
    """Refuse options of a system that the run does not have, and systems that are named twice."""
    if len(set(systems)) != len(systems):
        raise ParameterError(f"parameter 'systems' names one twice: {', '.join(systems)}", expected="each system once")
    for name in options:
        if name not in systems:
            raise unknown_name("system in parameter 'options'", name, systems)


def option_values(system: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option of an opened system, defaults included; of a class that is no dataclass those given."""
    if not dataclasses.is_dataclass(system):
        return dict(given)
    return {field.name: getattr(system, field.name) for field in dataclasses.fields(system)}
