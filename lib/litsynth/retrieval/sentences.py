"""Sentence boundaries in scientific prose, as character offsets."""

from __future__ import annotations

import re

LONGEST_SENTENCE = 1000  # characters; what is longer (a table without full stops) is cut at white space

# After these a full stop ends no sentence, whatever follows.
_NEVER_LAST = frozenset(
    """e.g i.e cf vs viz fig figs tab eq eqs ref refs sect dr prof mr mrs ms st approx ca suppl vol ed eds dept
    univ""".split()  # noqa: SIM905 - a list of words reads best as words
)
# After these a full stop ends no sentence when a number follows ("no. 12", "p. 4", "n. 30").
_BEFORE_NUMBER = frozenset(("no", "nos", "nr", "p", "pp", "n", "art", "ch", "sec"))
# Words that open a sentence, so that "hepatitis B. The" and "et al. We" are cut and "J. Smith" is not.
_OPENERS = frozenset(
    """a after all although among an and as at because before both but by compared during each finally for from
    further furthermore given here how however if in indeed it its many moreover most neither no none nonetheless of
    on one only other our overall patients several similarly since some such that the their then there therefore
    these they this those three thus to two under until we what when whereas whether which while who
    with""".split()  # noqa: SIM905
)
_STOP = r"""(?P<stop>[.!?]+["'”’)\]]*)\s+(?=["'“‘(\[]*[^\W_a-zà-öø-ÿ])"""  # a stop, then a capital letter or a digit
_END_ON_ONE_LINE = re.compile(_STOP)
_END = re.compile(
    _STOP
    + r"|(?P<paragraph>[^\S\n]*\n[^\S\n]*\n\s*)"  # a blank line
    + r"|(?P<row>(?<=[|\t])[^\S\n]*\n\s*|[^\S\n]*\n\s*(?=[^\n]*[|\t]))"  # the end of a table row
)
_OPENING_SIGNS = "([\"'“‘"
_NEXT_WORD = re.compile(r"[\"'“‘(\[]*(\w+)")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) offsets of the sentences of `text`, in order, without surrounding white space.

    Spans never overlap and cover every character that is no white space. A full stop followed by white space and
    a capital letter or digit ends a sentence, unless an abbreviation or an initial stands before it; blank lines and
    table rows end one always. A sentence of more than `LONGEST_SENTENCE` characters is cut at white space.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    # The signs of paragraphs and rows are slow to look for, and most sections have no line break.
    for match in (_END if "\n" in text else _END_ON_ONE_LINE).finditer(text):
        if match["stop"] and not _ends_sentence(text, start, match):
            continue
        _append(spans, text, start, match.end("stop") if match["stop"] else match.start())
        start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Tell whether the stop that `match` found ends the sentence begun at `start`."""
    if match["stop"] != ".":
        return True
    before = text[max(start, match.start("stop") - 40):match.start("stop")].split()
    after = _NEXT_WORD.match(text, match.end())
    word = before[-1].lstrip(_OPENING_SIGNS) if before else ""
    following = after.group(1) if after else ""
    lowered = word.lower()
    if lowered in _NEVER_LAST:
        return False
    if lowered in _BEFORE_NUMBER and following[:1].isdigit():
        return False
    initial = len(word) == 1 and word.isalpha() and word.isupper()
    if lowered == "al" or initial or re.fullmatch(r"(?:[A-Z]\.)+[A-Z]", word):
        return following.lower() in _OPENERS and following[:1].isupper()
    return True


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Add the stretch from `start` to `end` without its white space, in pieces if it is too long."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST_SENTENCE:
        cut = max((i for i in range(start + LONGEST_SENTENCE, start, -1) if text[i].isspace()), default=None)
        if cut is None:
            cut = start + LONGEST_SENTENCE
        _append(spans, text, start, cut)
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append((start, end))
