"""Explicit article IDs in a line of plain text, and whether the text withdraws them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_LABEL = re.compile(
    r"(?<![\w])(?:(?:corpus|metasyn|article|document|record|语料库?|文献)[\s_-]{0,3}(?:ids?|identifiers?|numbers?|编号)"
    r"|corpus(?=\s?#)|ids?(?=\s{0,2}[:=#]))(?![\w])\s{0,3}(?:\(s\))?[\s:=#.–—-]{0,5}",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"(?:pmc|pubmed|pm|trial|study|candidate|registry|registration|nct|patient|doi|review|rank|list"
    r"|project|protocol|pmcid)[\s_-]{0,2}[0-9]{0,4}\s?$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\s\"'([{<#]{0,4}(-?[0-9]{1,12})(?![0-9])(?!\.[0-9])(?![A-Za-z_])")
# A label's last dash is a minus sign when digits follow at once and it is not what joins them to the label ("ID-12").
_MINUS = re.compile(r"(?:[:=#]\s{0,3}[-–—]|\s-)$")
_THOUSANDS = re.compile(r"[\s\"'([{<]{0,3}([0-9]{1,3}(?:,[0-9]{3}){1,3})(?![0-9])")
_JOINT = re.compile(r"\s{0,3}(?P<sign>,|;|/|&|\||\band\b|\bor\b|、|,\s{0,2}and\b|)\s{0,3}", re.IGNORECASE)
# Numbers up to the end of the line or a bracket are a list even behind a singular label; a lone year is not.
_ENUMERATION = re.compile(r"(?:(?!(?:19|20)[0-9]{2}\b)[0-9]{1,12}\s{0,2}(?:,|and|;)?\s{0,2}){1,60}(?:$|[)\].])")
_RANGE_END = re.compile(r"[\s\"'\])}>]{0,3}")
_LONGEST_LIST = 20_000  # numbers after one label

_ABSENT = re.compile(
    r"\b(?:there is|there's|has|have) no (?:such |candidate |article |record |separate |distinct |entry |study )?"
    r"(?:with )?(?:corpus id|id|candidate|article|record|study|entry|number)\b"
    r"|\bno such (?:corpus id|id|candidate|article|record|study|entry)\b"
    r"|\b(?:is |was |are |does |do )?not (?:present |found |listed |available |contained |exist(?:ing)? )?"
    r"(?:in|within|among|part of) (?:the |this |our )?(?:supplied |candidate |provided |given "
    r"|retrieved )*(?:pool|candidates?|list|set|corpus)\b"
    r"|\bdoes not exist\b|\bdoesn't exist\b|\bnon-?existent\b|\bis not (?:present|a (?:real"
    r"|valid) (?:candidate|corpus id|id))\b"
    r"|\bwas not supplied\b|\bno (?:separate|exact|valid|matching) (?:candidate|corpus id|id|record|value)\b"
)
_DISCARDED = re.compile(
    r"\b(?:omitted intentionally|intentionally omitted|not (?:usable|applicable)"
    r"|not (?:further |to be |finally |separately )?included(?! in (?:the )?(?:meta|quantitative|network"
    r"|pooled|forest))"
    r"|i (?:do|did|will|am) not (?:list|listing|add|adding|include|including|count|counting)\b"
    r"|(?:so|therefore|thus|hence) not (?:added|listed|counted)|withdrawn from (?:this|the) list)\b"
)
_DISPUTED = re.compile(
    r"\b(?:disregard (?:this|the above|entry|item)|removed? (?:this|from (?:the )?(?:final )?(?:list|set))"
    r"|exclude(?:d)? from (?:the |this |final )*(?:included |inclusion |main |meta-analytic )*(?:list|set"
    r"|synthesis|review|inclusion|adult)"
    r"|(?:this(?: \w{1,12})?|it|which|candidate \d{1,4}(?: \([^()]{0,80}\))?|\(candidate \d{1,4}"
    r"|the (?:study|article|record|paper|trial|entry))\)? (?:is|was|should be|must be|has been)"
    r" (?:therefore |thus |hence )?excluded\b(?! (?:if|from the (?:analysis|study)|participants|patients))"
    r"|outside the (?:stated |review )?(?:search )?(?:end date|date window)"
    r"|(?:listed|included|entered|added) (?:in error|by mistake|erroneously|by error))\b"
)
_VERDICT = re.compile(
    r"[-–—:|*(\[ ]{0,6}(?:(?:decision|status|verdict|judge?ment|note|action|result|inclusion"
    r"|included?)\s?[?:=-]{1,2}\s{0,2})?"
    r"(?:excluded?|not eligible|omit(?:ted)?|withdrawn|removed?|ineligible)\b"
    r"(?!\s(?:\w+\s)?(?:patients|participants|subjects|children|adults|women|men|cases|those|if|when"
    r"|studies|individuals)\b)"
)
_INSTEAD = re.compile(
    r",?\s?\b(?:and )?(?:not|rather than|instead of|no longer)\s[\"'(]{0,2}(?:corpus id\s?:?\s?)?([0-9]{1,12})\b"
)
CORRECTION = re.compile(
    r"\b(?:correct(?:ion|ed|ing)?|actual(?:ly)?|should (?:be|read)|i meant|rectif\w+|erratum)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One explicit ID: its value, where label and number stand, and whether a question mark follows it.

    A negative number is no article's ID, but an explicit one all the same: it names nothing known.
    """

    value: int
    start: int
    end: int
    doubtful: bool = False


def mentions(text: str) -> list[Mention]:
    """Return the IDs that a label (`Corpus ID: 12`) or a corpus address announces, in order.

    Further numbers after one label count when the label is a plural, when slashes join them, when they are in code
    ticks, or when they fill the rest of the line; any other number after a singular label is something else (a year).
    """
    found: list[Mention] = []
    for label in _LABEL.finditer(text):
        head = label.group(0).casefold()
        if head.startswith("id") and _FOREIGN.search(text[max(0, label.start() - 20) : label.start()]):
            continue
        plural = bool(re.search(r"ids|identifiers|numbers|\(s\)", head))
        numbers = _numbers_after(text, label.start(), label.end(), plural)
        if numbers and _MINUS.search(label.group(0)) and text[label.end()].isdigit():
            numbers[0] = replace(numbers[0], value=-numbers[0].value)
        found += numbers
    return found


def lacks_number(text: str) -> bool:
    """Tell whether a label announces an ID (`Corpus ID: n/a`, `Corpus ID:`) and no ID can be read in the text."""
    labels = (
        label
        for label in _LABEL.finditer(text)
        if re.search(r"[:=#]", label.group(0))
        and not (label.group(0)[:2].casefold() == "id" and _FOREIGN.search(text[: label.start()][-20:]))
    )
    return any(labels) and not mentions(text)


def _numbers_after(text: str, start: int, position: int, plural: bool) -> list[Mention]:
    values: list[Mention] = []
    while len(values) < _LONGEST_LIST:
        number = (None if plural else _THOUSANDS.match(text, position)) or _NUMBER.match(text, position)
        if not number:
            break
        end = _RANGE_END.match(text, number.end()).end()  # type: ignore[union-attr]  # it also matches nothing
        doubtful = text[number.end() : number.end() + 2].lstrip("\"') ").startswith("?")
        values.append(
            Mention(
                int(number.group(1).replace(",", "")), start if not values else number.start(1), number.end(), doubtful
            )
        )
        joint = _JOINT.match(text, end)
        sign = joint.group("sign").casefold() if joint else ""
        typeset = text.startswith("#", joint.end()) if joint else False
        listed = sign == "," and (typeset or bool(_ENUMERATION.match(text, joint.end())))  # type: ignore[union-attr]
        if not sign or not (plural or listed or sign in ("/", "&")):
            break
        position = joint.end()  # type: ignore[union-attr]
    return values


def leading_number(text: str) -> int | None:
    """Return the number that a line starts with when it stands alone or before a separator, else None."""
    match = re.match(r"[\s\"'([#]{0,4}([0-9]{1,12})[\"')\]]{0,2}\s{0,3}(?:$|[-–—:|,;(])", text)
    return int(match.group(1)) if match else None


def withdraws(text: str) -> bool:
    """Tell whether `text`, the part of an entry that belongs to one ID, takes it back: not included, no such ID."""
    folded = text.casefold()
    return bool(_ABSENT.search(folded) or _DISCARDED.search(folded))


def disputes(text: str, *, verdict_at: int = 0) -> bool:
    """Tell whether `text` calls the entry excluded while it stands in the list.

    `verdict_at` is where a bare verdict (`Excluded because …`) may stand: just after the ID, or at the start of a line.
    """
    folded = text.casefold()
    if _DISPUTED.search(folded) or _VERDICT.match(folded, verdict_at):
        return True
    return any(_VERDICT.match(line) for line in folded.split("\n")[1:])


def replaced_ids(text: str) -> set[int]:
    """Return the numbers that a correction replaces: `its Corpus ID is 1053, not 1243`."""
    if "id" not in text.casefold():
        return set()
    return {int(number) for number in _INSTEAD.findall(text.casefold())}
