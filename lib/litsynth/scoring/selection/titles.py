"""Exact titles of candidates in a line, whatever their typography."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from litsynth.text import fold, fold_title

SHORTEST_WORDS = 4
SHORTEST_CHARACTERS = 20  # of the folded title: a shorter one ("Sepsis", "Editorial") names many articles
_KEY_WORDS = 4

_TOKEN = re.compile(r"\w+")
_EDGE = frozenset('*`"[]()|<>{}“”„‟«»_')
_START_LABEL = re.compile(
    r"(?:\b(?:exact |full |article |study )?titles?|\b(?:candidate|article|study|item|record|no\.?|number"
    r"|citation)\b[\s#*]{0,4}[0-9]{0,6}|[0-9])"
    r"[\s*_`)\]]{0,6}[:.\-–—|][\s*_`]{0,6}$",
    re.IGNORECASE,
)
_AFTER_DASH = re.compile(
    r"\s+[-–—]{1,2}\s+[*_`(\[]{0,3}(?:[0-9(]|corpus|pmid|doi|candidate|year|published|included|abstract"
    r"|not|excluded|omitted|withdrawn|id\b)",
    re.IGNORECASE,
)

_AFTER_ID_LABEL = re.compile(r"[\s.,;:]{1,4}corpus[\s_-]?ids?\b", re.IGNORECASE)  # a label whose ID cannot be read


class TitleIndex:
    """Candidate titles that are specific enough to name an article, found by their first words.

    A title that two candidates share names neither of them.
    """

    def __init__(self, titles: Iterable[tuple[int, str]]) -> None:
        owners: dict[tuple[str, ...], set[int]] = {}
        for identifier, title in titles:
            words = tuple(fold_title(title).replace("_", " ").split())
            if len(words) >= SHORTEST_WORDS and len(" ".join(words)) >= SHORTEST_CHARACTERS:
                owners.setdefault(words, set()).add(identifier)
        self._owners: Mapping[tuple[str, ...], set[int]] = owners
        self._starts: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for words in owners:
            self._starts.setdefault(words[:_KEY_WORDS], []).append(words)
        for same_start in self._starts.values():
            same_start.sort(key=len, reverse=True)

    def find(self, marked: str) -> list[int]:
        """Return the candidates whose whole title stands in `marked` between edges, in order of appearance.

        Edges are the ends of the text, emphasis, quotation marks, brackets, table bars, a label before the title and
        metadata
        behind a dash; so a title that goes on ("…: a protocol") is another title.
        """
        if not self._starts:
            return []
        tokens = [
            (word, match.start(), match.end())
            for match in _TOKEN.finditer(marked)
            for word in fold(match.group(0)).replace("_", " ").split()
        ]
        found, position = [], 0
        words = [word for word, _, _ in tokens]
        while position <= len(words) - SHORTEST_WORDS:
            step = 1
            for title in self._starts.get(tuple(words[position : position + _KEY_WORDS]), ()):
                last = position + len(title) - 1
                if tuple(words[position : last + 1]) == title and _bounded(
                    marked, tokens[position][1], tokens[last][2]
                ):
                    owners = self._owners[title]
                    found += owners if len(owners) == 1 else []
                    step = len(title)
                    break
            position += step
        return found


def _bounded(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 60) : start], text[end : end + 60]
    head, tail = before.rstrip(" .,:;"), after.lstrip(" .,;?!")
    opens = not head.strip() or head[-1] in _EDGE or bool(_START_LABEL.search(before))
    closes = (
        not tail.strip()
        or tail[0] in _EDGE
        or bool(_AFTER_DASH.match(after.lstrip(".,;?!")) or _AFTER_ID_LABEL.match(after))
    )
    return opens and closes
