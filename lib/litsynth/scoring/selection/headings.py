"""What a heading announces: the final list, something that may hold it, an exclusion, or anything else."""

from __future__ import annotations

import re
from typing import Literal

Role = Literal["final_list", "list", "evidence", "exclusion", "other"]

# Words of inclusion; the last groups are French, Spanish, Portuguese, Italian, German and Chinese.
_INCLUSION = re.compile(
    r"\b(?:included?|includ(?:able|ing)|inclusions?|eligible|selected|retained|accepted|qualif(?:ying|ied)"
    r"|inclus(?:es)?|incluid[oa]s?|incluíd[oa]s?|inclus[aeio]|eingeschlossene[nrs]?|einbezogene[nrs]?)\b"
    r"|纳入|入选|包含的研究"
)
_OBJECT = re.compile(
    r"\b(?:stud(?:y|ies)|articles?|papers?|trials?|records?|publications?|reports?|rcts?|reviews?|cohorts?"
    r"|meta-analys[ei]s|references?|citations?|documents?|items?|ids?|list|set"
    r"|études?|estudios?|estudos?|artículos?|artigos?|ensayos?|studi|articoli|studien|artikel)\b|研究|文献|文章|列表|清单"
)
_FINAL = re.compile(
    r"\b(?:final(?:ly|e|es|en)?|list(?:e|a|ing)?|definitive(?:ly)?|définitive|definitiva|endgültige[nrs]?"
    r"|abschließende)\b"
    r"|最终|清单|列表"
)
_EXCLUSION = re.compile(
    r"\b(?:exclu(?:ded|des?|sions?|ding|s|idos?|idas?|es)|ineligible|ausgeschlossene[nrs]?|borderline"
    r"|near[- ]?miss(?:es)?"
    r"|near[- ]included|screened out|rejected|omitted|withdrawn|removed|not (?:\w+ ){0,4}?(?:includ\w+"
    r"|eligible|selected|retained|used|finally|advanced|confirmed)"
    r"|non-?(?:included|eligible|includable)|uncertain|unclear|awaiting|potentially|possibly|closest)\b|排除|剔除"
)
_CRITERIA = re.compile(
    r"\b(?:criteri(?:a|on|os?)|kriterien|critères?|rules?|logic|framework|principles?|requirements?"
    r"|definitions?|process(?:es)?"
    r"|flow|diagram|procedures?|methods?|methodology|strategy|judg(?:e)?ments?|assessment)\b|标准|流程"
)
_NARRATIVE = re.compile(
    r"\b(?:characteristics|summar(?:y|ies|ised?|ized?)|overview|description|synthes[ie]s|findings?"
    r"|results?|patterns?|themes?"
    r"|limitations?|quality|bias|what|suggests?|shows?|strengths?|discussion|scope|notes?|interpretation|across|about"
    r"|effects?|outcomes?|appraisal|narrative|implications?|evidence from|main|conclusions?)\b|特征|概述|总结|结果|讨论"
)
_PURPOSE = re.compile(
    r"\b(?:in|for|from|into)\s(?:the\s|this\s)?(?:[\w-]{1,20}\s){0,3}?(?:synthes[ie]s|meta-analys[ei]s"
    r"|review|analys[ei]s)\b"
)
_PLAIN_EXCLUSION = re.compile(
    r"(?:(?:all|list of|table of|the|other|studies|records?|articles|candidates|trials|papers)\s){0,3}"
    r"(?:exclu(?:ded|sions?|idos?|idas?|s)|ineligible|rejected|why|reasons?|ausgeschlossene[nrs]?)\b|排除|剔除"
)
_CORRECTED = re.compile(
    r"\b(?:correct(?:ed)?|clean(?:ed)?|revised"
    r"|updated(?! (?:literature|database|search|review))|amended|most defensible|actual|valid)\b"
)
_REPLACES = re.compile(
    r"\b(?:corrected|revised|updated|amended)\s(?:[\w-]{1,20}\s){0,3}?(?:stud(?:y|ies)|articles?|papers?|trials?|records?"
    r"|publications?|reports?|list|set)\b"
    r"|[(\[–—-]\s?(?:corrected|revised|updated|amended)(?:\s(?:final|version|list|set)){0,3}[)\]]?$"
)
_REVISED_LIST = re.compile(r"(?:final )?(?:corrected|revised|updated|amended) (?:final )?(?:list|set)")
_ONE_STUDY = re.compile(r"(?:study|article|trial|record)\s#?[0-9]{1,3}\b|[-–—]\s(?:included|eligible)$")
_REASON = re.compile(r"(?:why|reasons?|rationale|basis|important|relevance|absence|lack)\b")
_NONE = re.compile(r"(?:no|none|zero|0)\b")
_EVIDENCE = re.compile(r"\bevidence\b")
_NUMBERING = re.compile(
    r"(?:(?:section|part|step|appendix|table|supplement)\s+)?(?:[0-9]{1,3}(?:\.[0-9]{1,3}){0,4}"
    r"|[ivxlc]{1,6}|[a-h])\s*[.):：-]\s*"
)
_PARENTHESIS = re.compile(r"[(\[][^()\[\]]{0,200}[)\]]")
_LONGEST = 160  # characters; a longer line is a sentence, not a heading


def heading_text(text: str) -> str:
    """Return a heading's words: case folded, without numbering, parentheses, emphasis and closing punctuation."""
    words = " ".join(_PARENTHESIS.sub(" ", text.casefold()[:1000]).split()).strip("#*_`:.-–— ")
    numbering = _NUMBERING.match(words)
    return words[numbering.end() :].strip() if numbering else words


def role_of(text: str) -> Role:
    """Return what a heading with this text announces.

    `final_list`: a dedicated list by its wording (final, list); `list`: included studies without more;
    `evidence`: prose about what was included, which may hold the only list; `exclusion`: what was left out;
    `other`: the rest, criteria and reasons among them.
    """
    if len(text) > _LONGEST:
        return "other"
    words = heading_text(text)
    if _EXCLUSION.search(words):
        return "exclusion"
    if _REVISED_LIST.fullmatch(words):
        return "final_list"
    included = _INCLUSION.search(words)
    if (
        not included
        or _ONE_STUDY.search(words)
        or _CRITERIA.search(words)
        or _REASON.match(words)
        or _NONE.match(words)
    ):
        return "other"
    if _NARRATIVE.search(_PURPOSE.sub(" ", words)):
        return "evidence"
    if _FINAL.search(words) and (_OBJECT.search(words) or _EVIDENCE.search(words)):
        return "final_list"
    if _OBJECT.search(words):
        return "list"
    return "evidence"


def is_sentence(text: str) -> bool:
    """Tell whether a label is a sentence ("the included studies span…") rather than the name of a list."""
    words = heading_text(text)
    return bool(_VERB.search(words)) or any(
        not _AFTER_OBJECT.match(words, match.end()) for match in _OBJECT.finditer(words)
    )


def is_plain_exclusion(text: str) -> bool:
    """Tell whether an exclusion heading names excluded studies outright, not near misses of the list above it."""
    return bool(_PLAIN_EXCLUSION.match(heading_text(text)))


def is_correction(text: str) -> bool:
    """Tell whether a list heading announces the corrected form of a list before it."""
    return bool(_CORRECTED.search(heading_text(text)))


def is_replacement(text: str) -> bool:
    """Tell whether a list heading calls its own list the corrected, revised, updated or amended one.

    Its list replaces those before it; a "clean" or "most defensible" list does not, as the benchmark's released
    selections read them together with what stands before.
    """
    return bool(_REPLACES.search(" ".join(text.casefold()[:1000].split()).strip("#*_`: .")))


def closes_list(text: str) -> bool:
    """Tell whether a bold line inside a list begins something else: a note, a discussion, a conclusion."""
    words = heading_text(text)
    return bool(_CLOSING.match(words))


_CLOSING = re.compile(
    r"(?:conclusions?|discussion|limitations?|notes?|references?|bibliography|sources?|summary"
    r"|bottom[- ]line|why|reasons?|rationale"
    r"|methods?|results?|synthesis|interpretation|overall|key|main|evidence|what|implications?"
    r"|recommendations?|appendix|acknowledge?ments?"
    r"|funding|abstract|background|introduction|important|comment|caveats?|certainty|narrative|findings?"
    r"|screening)\b|结论|讨论|局限|参考文献"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|could|may|might|because|although|while"
    r"|since|if|when|we|i|not)\b"
)
_AFTER_OBJECT = re.compile(
    r"[\s\"'/&,-]*(?:$|[^a-z\s]|(?:in|from|for|of|on|and|by|after|with|at|within|to|list|lists|set|table"
    r"|ids?|articles?|stud(?:y|ies)|records?|papers?"
    r"|trials?|publications?|included|selected|retained|corpus|final|titles?|reports?|reviews?|only|used"
    r"|incluses?|inclu[ií]d[oa]s?|de|du|des|del|en|pour|para|meeting)\b)"
)
