"""Options of systems as parameters give them: read by the declared types of the system's fields."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litsynth.errors import ParameterError, unknown_name
from litsynth.experiments.coercion import Unreadable, coerce, type_name
from litsynth.files import dumps


def typed_options(spec: str, kind: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of one system, each read by the type of its field in `kind`.

    A class that is no dataclass gets its options as they are. Raises `ParameterError` for names that are no option,
    with the nearest one suggested, and for values of another type.
    """
    if not dataclasses.is_dataclass(kind):
        return dict(options)
    known = {field.name for field in dataclasses.fields(kind) if field.init}
    types = _types(spec, kind) if options else {}
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


def _types(spec: str, kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind)
    except Exception as error:  # names that its module does not have, among others
        raise ParameterError(f"the types of the options of system {spec!r} cannot be read ({error})",
                             expected="annotations that the class's module can resolve",
                             remedy="import what the annotations name at the top of the module") from error


def known_systems(options: Mapping[str, Any], systems: list[str]) -> None:
    """Refuse options of a system that the run does not have, and systems that are named twice."""
    if len(set(systems)) != len(systems):
        raise ParameterError(f"parameter 'systems' names one twice: {', '.join(systems)}", expected="each system once")
    for name in options:
        if name not in systems:
            raise unknown_name("system in parameter 'options'", name, systems)


def with_method(system: Any, spec: str, method: str) -> Any:
    """Return an opened system; raises `ParameterError` when it lacks the one method that a benchmark calls."""
    if not callable(getattr(system, method, None)):
        raise ParameterError(f"system {spec!r} is a {type(system).__name__} without `{method}`",
                             expected=f"a class with `{method}(task, searcher, llm)`", remedy="name another class")
    return system


def option_values(system: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option of an opened system, defaults included; of a class that is no dataclass those given.

    They are part of a run's identity, so what JSON cannot hold raises `ParameterError`; paths become text. Fields that
    are no option (`init=False`) are left out.
    """
    values = {field.name: getattr(system, field.name) for field in dataclasses.fields(system) if field.init} \
        if dataclasses.is_dataclass(system) else dict(given)
    made = {name: str(value) if isinstance(value, Path) else dict(value) if isinstance(value, Mapping) else value
            for name, value in values.items()}
    for name, value in made.items():
        try:
            dumps(value)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"option {name!r} of {type(system).__name__} is a {type(value).__name__} ({error})",
                                 expected="texts, finite numbers, lists and mappings, which a run can record",
                                 remedy="make it one of these, or a field with init=False") from None
    return made
