"""The book in a headless Chromium: no request leaves, nothing fails, it fits a phone, tables obey the keyboard."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from litsynth.experiments import book, page_checks
from litsynth.experiments.print_page import find_chromium, write_pdf

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
         "--disable-component-update", "--disable-default-apps", "--disable-sync", "--no-first-run"]
_WORKSPACE = ("_config.yml", "_toc.yml", "book", "notebooks", "data/SOURCES.toml", "data/published", "data/results",
              "figures")
TABLE = """<!DOCTYPE html><html lang="en"><head><title>t</title><script src="tables.js"></script></head><body>
<table class="sortable"><thead><tr><th>name</th><th>value</th><th>measure</th></tr></thead><tbody>{rows}</tbody></table>
</body></html>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; skips, saying so, where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium on this machine; LITSYNTH_CHROMIUM names one")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield opened
        opened.close()


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Leave out what is made anew, and the sample's results, which are there only after `make book`."""
    return {name for name in names if name in ("__pycache__", "generated", "runs")
            or (name.endswith("-sample") and name != "screening-local-sample")}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The book with the results that come with the checkout, rendered in a folder of its own."""
    folder = tmp_path_factory.mktemp("book")
    for name in _WORKSPACE:
        source, target = root / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=_left_out)
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITSYNTH_HOME", str(folder))
        patch.delenv("PYTHONPATH", raising=False)
        book.build_book()
    return folder / "_build" / "html"


def _tab(browser: Any, width: int) -> tuple[Any, list[str], list[str]]:
    """Return a new tab with the console's errors and the requests for anything but this machine's files."""
    shown = browser.new_page(viewport={"width": width, "height": 900})
    errors: list[str] = []
    outside: list[str] = []
    shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("request", lambda request: None if request.url.startswith(("file:", "data:", "blob:", "about:"))
             else outside.append(request.url))
    return shown, errors, outside


def _open(browser: Any, page: Path, width: int) -> tuple[Any, list[str], list[str]]:
    """Open a page in a new tab; returns what `_tab` returns."""
    shown, errors, outside = _tab(browser, width)
    shown.goto(page.as_uri())
    return shown, errors, outside


def _pages(rendered: Path) -> list[Path]:
    return sorted((rendered / "book").rglob("*.html"))


def test_every_page_is_quiet_local_and_fits_wide_and_narrow_screens(browser, rendered):
    assert len(_pages(rendered)) > 10
    wrong = []
    shown, errors, outside = _tab(browser, 1400)  # one for all pages: styles and scripts are then read once
    for page in _pages(rendered):
        errors.clear()
        outside.clear()
        shown.goto(page.as_uri())
        for width in (1400, 400):
            shown.set_viewport_size({"width": width, "height": 900})
            excess = shown.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            mute = shown.evaluate("[...document.images].filter(image => !image.alt.trim()).length")
            unseen = shown.evaluate("[...document.images].filter(image => !image.naturalWidth).length")
            facts = {"errors": [*errors], "requests": [*outside], "pixels too wide": max(0, excess),
                     "pictures without words": mute, "pictures that do not load": unseen}
            wrong += [f"{page.name} at {width}: {name}: {fact}" for name, fact in facts.items() if fact]
    shown.close()
    assert wrong == []


def test_the_rendered_book_has_no_fault(rendered):
    assert page_checks.faults(rendered) == []


def test_the_front_page_tells_findings_and_report_card(browser, rendered):
    shown, _, _ = _open(browser, rendered / "index.html", 1400)
    shown.wait_for_url("**/book/index.html")
    assert shown.locator("ol.findings > li").count() == 3
    assert "How far to trust these intervals" in shown.inner_text("article")
    shown.close()


def test_tables_sort_and_filter_by_keyboard(browser, root, tmp_path):
    shutil.copy(root / "book" / "_static" / "tables.js", tmp_path)
    values = ["10", "9", "−2", "1,200", "", "3", "4", "5", "6", "7"]
    measures = ["ndcg@100", "ndcg@5", "recall@20", "ndcg@10", "–", "recall@5", "map", "ndcg@50", "recall@100", "mrr@10"]
    rows = "".join(f'<tr><td>row {place}</td><td data-value="{value}">{value or "–"}</td><td>{measure}</td></tr>'
                   for place, (value, measure) in enumerate(zip(values, measures, strict=True)))
    (tmp_path / "table.html").write_text(TABLE.format(rows=rows), encoding="utf-8")
    shown, errors, _ = _open(browser, tmp_path / "table.html", 800)
    column = "[...document.querySelectorAll('tbody tr:not([hidden]) td:nth-child(2)')].map(cell => cell.textContent)"
    shown.keyboard.press("Tab")  # the filter
    shown.keyboard.press("Tab")  # the first header
    shown.keyboard.press("Tab")
    shown.keyboard.press("Enter")
    rising = ["−2", "3", "4", "5", "6", "7", "9", "10", "1,200", "–"]
    assert shown.evaluate(column) == rising
    assert shown.get_attribute("th:nth-child(2)", "aria-sort") == "ascending"
    shown.keyboard.press("Space")
    assert shown.evaluate(column) == [*reversed(rising[:-1]), "–"]  # what is missing stays last
    natural = ["map", "mrr@10", "ndcg@5", "ndcg@10", "ndcg@50", "ndcg@100", "recall@5", "recall@20", "recall@100", "–"]
    shown.keyboard.press("Tab")
    shown.keyboard.press("Enter")
    assert shown.evaluate(column.replace("(2)", "(3)")) == natural  # numbers within words count as numbers
    assert shown.get_attribute("th:nth-child(2)", "aria-sort") is None
    shown.keyboard.press("Enter")
    assert shown.evaluate(column.replace("(2)", "(3)")) == [*reversed(natural[:-1]), "–"]
    shown.get_by_label("Show rows with").fill("ROW 3")
    assert shown.evaluate(column) == ["1,200"]
    assert errors == []
    shown.close()


def test_the_page_for_print_holds_all_pages_and_becomes_a_pdf(rendered, tmp_path, browser):
    page = rendered / "book" / "print.html"
    text = page.read_text(encoding="utf-8")
    for heading in ("Methods", "Footguns", "What the intervals cover", "Rerun it yourself", "References"):
        assert f">{heading}<" in text
    pdf = write_pdf(page, tmp_path / "book.pdf")
    assert pdf.read_bytes()[:5] == b"%PDF-"
    assert pdf.stat().st_size > 50_000
