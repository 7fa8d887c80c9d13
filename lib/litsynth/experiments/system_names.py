"""Systems as experiments and commands name them: without a model, `system:PROFILE`, or one's own `module:Class`."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from litsynth.errors import ParameterError, unknown_name
from litsynth.systems import system_names

WITHOUT_MODEL = ("extractive_review", "trained_screener")
SHORT = {"extractive": "extractive_review", "screener": "trained_screener"}
DEFAULT_PROFILE = "default"
_REMEDY = "write extractive, screener, system:PROFILE such as one_pass:local, or one's own as module:Class@PROFILE"


@dataclass(frozen=True, slots=True)
class SystemName:
    """A system and the model profile it works with (None: without a model); `label` is the name in tables."""

    label: str
    system: str
    profile: str | None = None

    @property
    def own(self) -> bool:
        """Whether it is a class of the user's, named as `module:Class`."""
        return ":" in self.system


def read_name(text: str) -> SystemName:
    """Read `extractive`, `screener`, `one_pass:PROFILE` or another MetaSyn system, or `module:Class[@PROFILE]`.

    A system of ours that needs a model and names none gets the profile `default`. Raises `ParameterError` for unknown
    names.
    """
    text = text.strip()
    head, colon, profile = text.partition(":")
    system = SHORT.get(head, head)
    known = (*SHORT, *system_names("metasyn"))
    if system not in known:
        if not colon or difflib.get_close_matches(head, known, n=1, cutoff=0.8):
            raise unknown_name("MetaSyn system", head, known, remedy=_REMEDY)
        target, at, profile = text.partition("@")
        if at and not profile:
            raise ParameterError(f"system {text!r} ends in @", expected="module:Class@PROFILE, or module:Class")
        return SystemName(text, target, profile or None)
    if system in WITHOUT_MODEL:
        if colon:
            raise ParameterError(f"system {text!r} names a model profile, but works without a model",
                                 expected=head, remedy="leave out the colon and what follows")
        return SystemName(head, system)
    if colon and not profile:
        raise ParameterError(f"system {text!r} ends in a colon", expected="system:PROFILE, such as one_pass:local")
    return SystemName(f"{head}:{profile or DEFAULT_PROFILE}", system, profile or DEFAULT_PROFILE)
