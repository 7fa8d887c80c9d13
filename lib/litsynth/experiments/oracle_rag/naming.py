"""Systems as experiments and commands name them: a system without a model, or `system:PROFILE`."""

from __future__ import annotations

from dataclasses import dataclass

from litsynth.errors import ParameterError, unknown_name
from litsynth.systems import system_names

WITHOUT_MODEL = ("extractive_review",)
SHORT = {"extractive": "extractive_review"}
DEFAULT_PROFILE = "default"


@dataclass(frozen=True, slots=True)
class SystemName:
    """A system and the model profile it works with (None: without a model); `label` is the name in tables."""

    label: str
    system: str
    profile: str | None = None


def read_name(text: str) -> SystemName:
    """Read `extractive`, `one_pass:PROFILE` or another MetaSyn system with its profile.

    A system that needs a model and names none gets the profile `default`. Raises `ParameterError` for unknown names.
    """
    head, colon, profile = text.strip().partition(":")
    system = SHORT.get(head, head)
    if system not in system_names("metasyn"):
        raise unknown_name("MetaSyn system", head, (*SHORT, *system_names("metasyn")),
                           remedy="write extractive, or system:PROFILE such as one_pass:local")
    if system in WITHOUT_MODEL:
        if colon:
            raise ParameterError(f"system {text!r} names a model profile, but works without a model",
                                 expected=head, remedy="leave out the colon and what follows")
        return SystemName(head, system)
    if colon and not profile:
        raise ParameterError(f"system {text!r} ends in a colon", expected="system:PROFILE, such as one_pass:local")
    return SystemName(f"{head}:{profile or DEFAULT_PROFILE}", system, profile or DEFAULT_PROFILE)
