"""What a rendered book keeps: live links, words for pictures, nothing loaded from elsewhere, bearable size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import html as markup

from litsynth.experiments.print_page import NAME as PRINT_PAGE

HEAVIEST = 3_000_000  # bytes of one page with everything in it; the page for print holds all pages and is left out
_REMOTE = re.compile(
    r"""<script[^>]+src=["'](?:https?:)?//[^"']+|<link(?=[^>]+rel=["'](?:stylesheet|preload|preconnect)["'])[^>]+"""
    r"""href=["'](?:https?:)?//[^"']+|@import\s+(?:url\()?["']?(?:https?:)?//[^"')]+|url\(["']?(?:https?:)?//[^"')]+"""
    r"""|<img[^>]+src=["'](?:https?:)?//[^"']+""", re.IGNORECASE)
# Pages of the theme itself: their text is not the book's.
_NOT_OURS = frozenset({"genindex.html", "search.html", "py-modindex.html"})


def faults(folder: Path) -> list[str]:
    """Return every fault of the rendered book in words, with the page it is on; empty when there is none."""
    found = [f"{page} loads {what} from another host" for page, what in remote_loads(folder)]
    documents = {path: _parsed(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}
    names = {path: _names(document) for path, document in documents.items()}
    for path, document in documents.items():
        page = path.relative_to(folder)
        found += [f"{page} links to {link}, which is not there" for link in _dead_links(path, document, names, folder)]
        found += [f"{page} shows {source} without a description" for source in _pictures_without_words(document)]
        size = path.stat().st_size
        if size > HEAVIEST and path.name != PRINT_PAGE:
            found.append(f"{page} has {size:,} bytes; at most {HEAVIEST:,} are allowed")
    return found


def remote_loads(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield page and match for each script, style, font or picture that the rendered book loads from elsewhere."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".html", ".css"}:
            for match in _REMOTE.finditer(path.read_text(encoding="utf-8", errors="replace")):
                yield str(path.relative_to(folder)), match.group(0)[:160]


def _parsed(path: Path) -> Any:
    return markup.parse(str(path), parser=markup.HTMLParser(encoding="utf-8")).getroot()


def _names(document: Any) -> set[str]:
    return {value for name in ("id", "name") for value in document.xpath(f"//@{name}")}


def _dead_links(path: Path, document: Any, names: dict[Path, set[str]], folder: Path) -> Iterator[str]:
    """Yield links within the book that lead to no file, or to no place in it."""
    for link in sorted(set(document.xpath("//a/@href | //img/@src | //link/@href"))):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or path.name in _NOT_OURS:
            continue
        target = (path.parent / unquote(parts.path) if parts.path else path).resolve()
        if target.is_dir():
            target = target / "index.html"
        inside = target.is_relative_to(folder.resolve())
        known = names.get(folder / target.relative_to(folder.resolve())) if inside else None
        if not inside or not target.exists() or (
                parts.fragment and known is not None and unquote(parts.fragment) not in known):
            yield link[:120]


def _pictures_without_words(document: Any) -> Iterator[str]:
    for picture in document.xpath("//img[not(normalize-space(@alt))]"):
        if picture.get("alt") is None or picture.get("role") != "presentation":
            yield str(picture.get("src"))[:60]
