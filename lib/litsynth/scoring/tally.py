"""How rows ended: the four statuses and their sum, for the foot of every table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from litsynth.records import ScoreRow


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of rows by status."""

    scored: int = 0
    refused: int = 0
    unparsed: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """All rows: the sum of the four."""
        return self.scored + self.refused + self.unparsed + self.failed


def tally(rows: Iterable[ScoreRow]) -> Tally:
    """Count rows by status."""
    return Tally(**Counter(row.status for row in rows))
