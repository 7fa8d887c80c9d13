"""Statements that nothing was included."""

from __future__ import annotations

import re

_NOUN = (
    r"(?:stud(?:y|ies)|articles?|papers?|trials?|records?|publications?|reports?|candidates?|rcts?"
    r"|reviews?|cohorts?|evidence"
    r"|meta-analys[ei]s|items?|abstracts?|one)"
)
_SHORT = re.compile(
    r"(?:none|nil|n/a|not applicable|nothing|empty|zero|0|∅|(?:no|0|zero) (?:[a-z-]{1,20} ){0,3}?"
    + _NOUN
    + r"|aucune?|ninguno|nenhum|nessuno|keine|无|没有|无纳入(?:研究|文献)?|空)\W*"
    r"|(?:none|nothing|zero)\b.{0,200}"
    r"|(?:the )?(?:final |included )*(?:list|set) is empty\b.{0,200}"
    r"|(?:aucune étude|ningún estudio|nenhum estudo|nessuno studio|keine studien?|没有.{0,12}研究|无.{0,8}研究).{0,160}"
)
_GENERAL = r"(?:stud(?:y|ies)|articles?|papers?|records?|publications?|candidates?|reports?|one)"
_STATEMENT = re.compile(
    r"\b(?:no|none of the|zero|0|not (?:a single|one|any))\s(?:[\w,/-]{1,30}\s){0,8}?"
    + _GENERAL
    + r"\b(?:[^.!?\n]{0,200}?)\b(?:(?:was|were|is|are|be|been)\s(?:\w{1,20}\s){0,3}?(?:included|eligible"
    r"|selected|retained|includable)"
    r"|(?:met|meets?|satisf(?:y|ied|ies)|fulfil(?:l|led|s)?)\s(?:all|the|every|these|any|both|its|our"
    r"|strict|full)\b|qualif(?:y|ied|ies)\b)"
)
_NONE_WERE = re.compile(
    r"\bnone (?:of (?:the|these) [\w ,-]{1,80} )?(?:was|were|could be|can be|is|are|met|meets?|qualif\w+"
    r"|satisf\w+|fulfil\w*)\b"
)
# Outside of a list "None was extracted" or "None were blinded" is about something else.
_NONE_FIT = re.compile(
    r"none (?:of (?:the|these) [\w ,-]{1,80} )?(?:(?:was|were|could be|can be|is|are)\s(?:\w{1,20}\s){0,4}?"
    r"(?:include[ds]?|eligible|selected|retained|includable|suitable|relevant|admitted|accepted)\b"
    r"|met\b|meets?\b|qualif\w+|satisf\w+|fulfil\w*)"
)


def says_nothing_included(text: str, *, in_list: bool) -> bool:
    """Tell whether a line states that nothing was included; inside a list section a bare `None` is enough."""
    words = " ".join(text.casefold()[:2000].split()).strip("*_`-•. :|")
    if not words:
        return False
    if in_list and _SHORT.fullmatch(words):
        return True
    none_fit = _NONE_WERE.search(words) if in_list else _NONE_FIT.match(words)
    return bool(_STATEMENT.search(words) or none_fit)
