"""Systems by name.

A system is a dataclass whose fields are its options; it has `name` and either
`answer(task, searcher, llm) -> Response` (LitBench) or `review(task, searcher, llm) -> Report` (MetaSyn).
One's own system is added with `register`, or named as `module:Class` without adding anything.
"""

from __future__ import annotations

import importlib
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from litsynth.errors import LitsynthError, ParameterError, unknown_name

_TARGETS: dict[str, dict[str, str]] = {
    "litbench": {
        "extractive": "litsynth.systems.extractive:Extractive",
        "ircot": "litsynth.systems.ircot:Ircot",
        "tool_agent": "litsynth.systems.tool_agent:ToolAgent",
    },
    "metasyn": {
        "one_pass": "litsynth.systems.one_pass:OnePass",
        "extractive_review": "litsynth.systems.extractive_review:ExtractiveReview",
        "trained_screener": "litsynth.systems.screening_model:TrainedScreener",
        "screening": "litsynth.systems.screening:Screening",
        "agent": "litsynth.systems.agent:Agent",
    },
}


def _targets() -> dict[str, str]:
    return {name: target for part in _TARGETS.values() for name, target in part.items()}


def system_names(benchmark: str | None = None) -> tuple[str, ...]:
    """Return the names of all systems, or of those that take part in `litbench` or `metasyn`."""
    if benchmark is None:
        return tuple(_targets())
    if benchmark not in _TARGETS:
        raise unknown_name("benchmark", benchmark, _TARGETS)
    return tuple(_TARGETS[benchmark])


def register(name: str, target: str, benchmark: str) -> None:
    """Add a system under a new name; `target` is `module:Class`. A name that is taken raises `ParameterError`."""
    if benchmark not in _TARGETS:
        raise unknown_name("benchmark", benchmark, _TARGETS)
    if name in _targets():
        raise ParameterError(f"a system named {name!r} is there already ({_targets()[name]})", expected="a new name",
                             remedy="choose another name")
    _TARGETS[benchmark][name] = target


def open_system(name: str, **options: Any) -> Any:
    """Return the system of this name (or `module:Class`) with these options.

    Raises `ParameterError` for an unknown name or option, with the nearest known one suggested, and for an option that
    the system needs and was not given.
    """
    system = system_class(name)
    if is_dataclass(system):
        known = [field.name for field in fields(system) if field.init]
        for option in options:
            if option not in known:
                raise unknown_name(f"option of system {name!r}", option, known)
        needed = [field.name for field in fields(system) if field.init and field.default is MISSING
                  and field.default_factory is MISSING and field.name not in options]
        if needed:
            raise ParameterError(f"system {name!r} was opened without {', '.join(needed)}",
                                 expected=f"{name} with {', '.join(needed)}", remedy="give what it needs")
    try:
        return system(**options)
    except LitsynthError:
        raise
    except (Exception, SystemExit) as error:
        raise ParameterError(f"system {name!r} cannot be opened with the options {sorted(options)} "
                             f"({type(error).__name__}: {error})", expected="the options that the class takes",
                             remedy="give what it needs, or mend the class") from error


def system_class(name: str) -> Any:
    """Return the class behind a name or `module:Class`; raises `ParameterError` as `open_system` does."""
    target = name if ":" in name else _targets().get(name)
    if target is None:
        raise unknown_name("system", name, _targets(), remedy="or name your own as module:Class")
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # whatever somebody's module does while it is imported
        raise ParameterError(f"system {name!r} cannot be imported from {target} ({type(error).__name__}: {error})",
                             expected="an importable module with that class",
                             remedy="check the spelling and that the module is on the path") from error
