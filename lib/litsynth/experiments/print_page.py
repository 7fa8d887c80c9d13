"""All pages of the rendered book as one page, for paper, and as a PDF where a Chromium is installed."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

from lxml import html as markup

from litsynth import files
from litsynth.errors import RunError

NAME = "print.html"
_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="../_static/pygments.css"><link rel="stylesheet" href="../_static/custom.css">
<link rel="stylesheet" href="../_static/print.css"></head><body class="one-page"><main class="bd-article">
"""


def write_print_page(rendered: Path) -> Path:
    """Join the articles of all pages in the order of the table of contents; returns the page, `book/print.html`.

    Identifiers get the name of their page in front, links between pages become links within this one, and paths of
    pictures are those seen from `book/`.
    """
    front = _front_page(rendered)
    folder = front.parent
    pages = list(_pages_in_order(front))
    title = html.escape(_parsed(front).findtext(".//title") or "litsynth")
    parts = [_HEAD.format(title=title)]
    for page in pages:
        article = _parsed(page).find(".//article[@class='bd-article']")
        if article is None:
            raise RunError(f"{page} has no article", expected="a page of the book's theme")
        _rewrite(article, page, folder, set(pages))
        parts.append(markup.tostring(article, encoding="unicode", with_tail=False))
    target = folder / NAME
    files.write_text(target, "\n".join(parts) + "\n</main></body></html>\n")
    return target


def _parsed(page: Path) -> Any:
    return markup.parse(str(page), parser=markup.HTMLParser(encoding="utf-8"))


def _front_page(rendered: Path) -> Path:
    """Return the page that the book's `index.html` leads to."""
    leading = re.search(r"url=([^\"']+)", (rendered / "index.html").read_text(encoding="utf-8"))
    return (rendered / (leading.group(1) if leading else "book/index.html")).resolve()


def _pages_in_order(index: Path) -> Iterator[Path]:
    """Yield the pages as the side bar lists them, the front page first."""
    seen = {index}
    yield index
    for link in _parsed(index).iterfind(".//nav[@class='bd-links bd-docs-nav']//a"):
        target = (index.parent / urldefrag(link.get("href", ""))[0]).resolve()
        if target not in seen and target.suffix == ".html" and target.exists():
            seen.add(target)
            yield target


def _anchor(page: Path, folder: Path, fragment: str = "") -> str:
    name = re.sub(r"\W+", "-", str(page.relative_to(folder).with_suffix("")))
    return f"{name}--{fragment}" if fragment else name


def _rewrite(article: Any, page: Path, folder: Path, pages: set[Path]) -> None:
    for leaving in article.xpath(".//a[contains(@class, 'headerlink')] | .//script | .//button"):
        leaving.drop_tree()
    for element in article.iter():
        if not isinstance(element.tag, str):
            continue
        for name in ("id", "for", "aria-labelledby", "aria-describedby"):
            if element.get(name):
                element.set(name, _anchor(page, folder, element.get(name)))
        for name in ("href", "src"):
            if element.get(name):
                element.set(name, _seen_from(element.get(name), page, folder, pages))
    article.set("id", _anchor(page, folder))


def _seen_from(link: str, page: Path, folder: Path, pages: set[Path]) -> str:
    """Return a link of `page` as it has to stand in the joined page."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return link
    target = (page.parent / parts.path).resolve() if parts.path else page
    if target in pages:
        return "#" + _anchor(target, folder, parts.fragment)
    return os.path.relpath(target, folder) + (f"#{parts.fragment}" if parts.fragment else "")


def find_chromium() -> str | None:
    """Return a Chromium or Chrome on this machine (`LITSYNTH_CHROMIUM` wins), or None."""
    names = (os.environ.get("LITSYNTH_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


def write_pdf(page: Path, target: Path) -> Path:
    """Print a page to a PDF with Chromium; raises `RunError` where there is none, or when it fails."""
    browser = find_chromium()
    if browser is None:
        raise RunError("there is no Chromium to make a PDF with",
                       expected="chromium, google-chrome or LITSYNTH_CHROMIUM",
                       remedy=f"open {page} in any browser and print it")
    with files.atomic_path(target) as temporary:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                   "--disable-dev-shm-usage", "--no-pdf-header-footer", f"--print-to-pdf={temporary}", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
        if done.returncode or not temporary.exists():
            raise RunError(f"{browser} made no PDF: {done.stderr.strip()[-300:]}", expected="a PDF",
                           remedy=f"open {page} in a browser and print it")
    return target
