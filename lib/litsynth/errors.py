"""Error types that say what was wrong, what was expected and what to do next.

Every error a user can cause derives from `LitsynthError`; the command line prints it
without a traceback and exits with its `exit_code`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class LitsynthError(Exception):
    """A problem the user can mend.

    Parameters: `problem` says what was wrong and names the file, row or parameter; `expected`
    says what would have been right; `remedy` says what to do next.
    """

    exit_code = 1

    def __init__(self, problem: str, *, expected: str = "", remedy: str = "") -> None:
        self.problem, self.expected, self.remedy = problem, expected, remedy
        parts = [problem.rstrip(".")]
        if expected:
            parts.append(f"Expected: {expected}".rstrip("."))
        if remedy:
            parts.append(f"To mend it: {remedy}".rstrip("."))
        super().__init__(". ".join(parts) + ".")


class DataError(LitsynthError):
    """A data set, file or row that cannot be used as it is."""


class ParameterError(LitsynthError):
    """A parameter, option or argument with an impossible name, type or value."""

    exit_code = 2


class IndexMismatchError(LitsynthError):
    """An index that was built for another encoder, document template or corpus."""


class ModelError(LitsynthError):
    """A language model or encoder that cannot be reached, loaded or understood."""


class ScoringError(LitsynthError):
    """A result or report that cannot be scored."""


class RunError(LitsynthError):
    """A run that cannot be started, resumed, finished or promoted."""


def unknown_name(kind: str, name: str, known: Iterable[str], *, remedy: str = "") -> ParameterError:
    """Return the error for a name that does not exist, with the nearest known name suggested."""
    names = sorted(map(str, known))
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return ParameterError(
        f"unknown {kind} {name!r}",
        expected="one of " + ", ".join(names) if names else f"a known {kind}",
        remedy=(hint + remedy).strip() or "choose one from the list",
    )
