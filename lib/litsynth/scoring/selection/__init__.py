"""The final included list of a report, read against the candidates that the system was shown."""

from litsynth.scoring.selection.parser import Selection, parse_selection

__all__ = ["Selection", "parse_selection"]
