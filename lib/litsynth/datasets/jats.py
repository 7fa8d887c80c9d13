"""Full text from JATS XML (PubMed Central's format), in document order.

Superscripts and subscripts stay where they stand ("m<sup>2</sup>" reads "m2"), inline mark-up leaves no trace,
tables and figure captions become sections of their own behind the section that holds them, and reference lists
are left out. A superscript that only cites references reads "[12]", so that it does not become part of the word before.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from litsynth.errors import DataError
from litsynth.records import Section

HEADING_SEPARATOR = " > "
_FLOATS = {"fig": "figure", "table-wrap": "table"}
_FLOAT_GROUPS = {"fig-group", "table-wrap-group", "floats-group"}
_SKIPPED = {"ref-list", "graphic", "inline-graphic", "media", "object-id", "tex-math", "annotation", "annotation-xml",
            "alt-text", "long-desc", "sec-meta", "supplementary-material"}
_BLOCKS = {"p", "title", "list", "list-item", "disp-quote", "disp-formula", "def-list", "def-item", "verse-group",
           "statement", "boxed-text", "sec", "attrib", "label", "table-wrap-foot", "fn", "tr", "caption", "subtitle"}
_NAMES = (
    ("introduction", r"intro|background|objective|aims?\b|purpose|rationale|hypothes"),
    ("methods", r"method|material|experimental|patients and|participants|subjects|study (?:design|population)|design\b"
                r"|statistical|procedure|setting|data (?:sources?|collection|extraction)"),
    ("results", r"result|finding"),
    ("discussion", r"discussion|conclusion|limitation|interpretation|implication|strengths"),
)


@dataclass(frozen=True, slots=True)
class ParsedArticle:
    """One article of a JATS file; `abstract_only` says that it has no body. `pmcid` begins with PMC."""

    pmcid: str | None
    pmid: str | None
    doi: str | None
    title: str
    journal: str | None
    year: int | None
    sections: tuple[Section, ...]
    abstract_only: bool


def parse_articles(xml: bytes, source: str = "the XML") -> list[ParsedArticle]:
    """Return the articles of a `pmc-articleset` or a single `article`; raises `DataError` for anything else."""
    return [parse_article(element) for element in article_elements(xml, source)]


def article_elements(xml: bytes, source: str = "the XML") -> list[Any]:
    """Return the article elements of an XML text, with entities and network access off.

    Raises `DataError` naming `source` for text that is cut off, or that is no JATS at all.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(xml, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DataError(f"{source} is not readable XML ({error})", expected="complete JATS XML",
                        remedy="fetch it again; it may have been cut off") from None
    if _name(root) == "article":
        return [root]
    if _name(root) != "pmc-articleset":
        raise DataError(f"{source} holds <{_name(root)}>", expected="<article> or <pmc-articleset>",
                        remedy="fetch it again from PubMed Central")
    return [child for child in root if _name(child) == "article"]


def parse_article(article: Any) -> ParsedArticle:
    """Return the text and identifiers of one `article` element."""
    front = _first(article, "front")
    meta = _first(front, "article-meta")
    sections: list[Section] = []
    for abstract in _children(meta, "abstract"):
        sections += _abstract(abstract)
    body = _Body()
    for part in article:
        if _name(part) == "body":
            body.walk(part, (), "")
        elif _name(part) == "floats-group":
            body.floats(part)
    sections += body.sections
    titles = [element for element in meta.iter() if _name(element) == "article-title"] if meta is not None else []
    years = [int(text) for element in _children(meta, "pub-date") for year in _children(element, "year")
             if (text := (year.text or "").strip()).isdigit()]
    journals = [element for element in front.iter() if _name(element) == "journal-title"] if front is not None else []
    return ParsedArticle(
        _pmcid(_identifier(meta, "pmcid") or _identifier(meta, "pmc")), _identifier(meta, "pmid"),
        _identifier(meta, "doi"), _text(titles[0]).replace("\n", " ") if titles else "",
        _text(journals[0]) if journals else None, min(years, default=None), tuple(sections), not body.sections,
    )


def section_name(title: str, kind: str = "") -> str:
    """Return the article part that a section's `sec-type` or title names, or an empty string.

    Where a title names two parts ("Results and discussion"), the one named first counts.
    """
    for text in (kind, re.sub(r"^[\W\d_ivx]*[.)]\s+", "", title, flags=re.IGNORECASE)):
        found = [(match.start(), name) for name, pattern in _NAMES
                 if (match := re.search(rf"\b(?:{pattern})", text, re.IGNORECASE))]
        if found:
            return min(found)[1]
    return ""


class _Body:
    """Gathers the sections of a body in document order; floats follow the text that they stand in."""

    def __init__(self) -> None:
        self.sections: list[Section] = []

    def walk(self, element: Any, path: tuple[str, ...], name: str) -> None:
        texts: list[str] = []
        floats: list[Section] = []

        def flush() -> None:
            text = "\n".join(text for text in texts if text)
            if text:
                self.sections.append(Section(HEADING_SEPARATOR.join(path), text, name))
            self.sections.extend(floats)
            texts.clear()
            floats.clear()

        for child in element:
            kind = _name(child)
            if kind in ("sec", "boxed-text"):
                flush()
                heading = _heading(child)
                own = section_name(heading, child.get("sec-type") or "")
                self.walk(child, (*path, heading) if heading else path, own or name)
            elif kind in _FLOATS or kind in _FLOAT_GROUPS:
                floats += _floats(child)
            elif kind and kind not in _SKIPPED and kind not in ("title", "label"):
                texts.append(_text(child))
                floats += [section for inner in child.iter() if _name(inner) in _FLOATS for section in _floats(inner)]
        flush()

    def floats(self, element: Any) -> None:
        self.sections += _floats(element)


def _abstract(abstract: Any) -> Iterator[Section]:
    title = _heading(abstract) or "Abstract"
    loose = []
    for child in abstract:
        if _name(child) == "sec":
            if loose:
                yield Section(title, "\n".join(loose), "abstract")
                loose = []
            inside = "\n".join(text for inner in child if _name(inner) not in ("title", "label", "")
                               and (text := _text(inner)))
            if inside:
                yield Section(HEADING_SEPARATOR.join(filter(None, (title, _heading(child)))), inside, "abstract")
        elif _name(child) not in ("title", "label", "", *_SKIPPED) and (text := _text(child)):
            loose.append(text)
    if loose:
        yield Section(title, "\n".join(loose), "abstract")


def _floats(element: Any) -> list[Section]:
    name = _FLOATS.get(_name(element))
    if name is None:
        return [section for child in element if _name(child) for section in _floats(child)]
    label = _first(element, "label")
    parts = [_text(child) for child in element if _name(child) not in ("label", "", *_SKIPPED)]
    text = "\n".join(part for part in parts if part)
    return [Section(_text(label) if label is not None else name.capitalize(), text, name)] if text else []


def _heading(element: Any) -> str:
    parts = (_first(element, "label"), _first(element, "title"))
    return " ".join(_text(part).replace("\n", " ") for part in parts if part is not None).strip()


def _text(element: Any) -> str:
    """Return an element's text with one line a block and single spaces in each line."""
    lines = (" ".join(line.split()) for line in _inline(element).split("\n"))
    return "\n".join(line.strip(" |") for line in lines if line.strip(" |"))


def _inline(element: Any) -> str:
    # Line breaks in the source are mere spaces; those that remain below are the ones that blocks put there.
    parts = [_plain(element.text)]
    for child in element:
        name = _name(child)
        if not name:
            parts.append(_entity(child))
        elif name in _BLOCKS:
            parts.append(f"\n{_inline(child)}\n")
        elif name in ("td", "th"):
            parts.append(f" | {_inline(child)}")
        elif name == "break":
            parts.append(" ")
        elif name == "sup" and _only_cites(child):
            cited = _inline(child).strip()
            parts.append(cited if cited.startswith("[") else f"[{cited}]")
        elif name not in _SKIPPED and name not in _FLOATS and name not in _FLOAT_GROUPS:
            parts.append(_inline(child))
        parts.append(_plain(child.tail))
    return "".join(parts)


def _plain(text: str | None) -> str:
    return text.replace("\n", " ") if text else ""


def _entity(node: Any) -> str:
    """Return the character of a standard entity; any other reference stays as it is written, unresolved."""
    from lxml import etree

    return html.unescape(node.text) if node.tag is etree.Entity else ""


def _only_cites(sup: Any) -> bool:
    children = [child for child in sup if _name(child)]
    around = "".join([sup.text or "", *(child.tail or "" for child in children)])
    return bool(children) and not re.search(r"\w", around) and all(
        _name(child) == "xref" and child.get("ref-type") == "bibr" for child in children)


def _name(element: Any) -> str:
    """Return an element's local name; comments, processing instructions and entities have none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _children(element: Any, name: str) -> list[Any]:
    return [] if element is None else [child for child in element if _name(child) == name]


def _first(element: Any, name: str) -> Any:
    return next(iter(_children(element, name)), None)


def _identifier(meta: Any, kind: str) -> str | None:
    found = [child for child in _children(meta, "article-id") if child.get("pub-id-type") == kind]
    return "".join(found[0].itertext()).strip() or None if found else None


def _pmcid(value: str | None) -> str | None:
    digits = re.sub(r"\D", "", value or "")
    return f"PMC{digits}" if digits else None
