"""Whether a quote is verbatim in a text, however both were typeset."""

from __future__ import annotations

import re

from litsynth.text import fold

# A hyphen between letters may be the line's end or the word's own, so neither side of a comparison keeps it;
# between digits it is a range or a minus, and stays.
_HYPHEN = re.compile(r"(?<=[^\W\d])- ?(?=[^\W\d])")


def comparable(text: str) -> str:
    """Return `text` folded (Unicode, dashes, quotation marks, spaces, case) and without hyphens between letters."""
    return _HYPHEN.sub("", fold(text))


def contains_verbatim(comparable_text: str, quote: str) -> bool:
    """Return whether `quote` stands in a text that `comparable` made, as whole words; an empty quote stands nowhere."""
    wanted = comparable(quote)
    if not wanted:
        return False
    start = comparable_text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        cut_before = start > 0 and comparable_text[start - 1].isalnum() and wanted[0].isalnum()
        cut_after = end < len(comparable_text) and comparable_text[end].isalnum() and wanted[-1].isalnum()
        if not cut_before and not cut_after:
            return True
        start = comparable_text.find(wanted, start + 1)
    return False
