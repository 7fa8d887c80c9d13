"""The book: generated pages are safe, the build is a gate, and nothing on a page is older than its data."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from litsynth import files
from litsynth.errors import RunError
from litsynth.experiments import EXPERIMENTS, book, page_checks, pages, pictures, status
from litsynth.experiments.print_page import write_print_page

ROOT = Path(__file__).resolve().parents[2]
PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3, language: python}
---
# Results

```{code-cell}
from litsynth.paths import results_dir
print((results_dir() / "squares-sample" / "number.txt").read_text())
```
"""
MANIFEST = {
    "experiment": "squares", "id": "0123456789ab", "ended": "2026-01-02T03:04:05Z", "items": 3, "synthetic": True,
    "uses_gold": False, "promoted_as": "squares-sample", "packages": {"numpy": "2.0"},
    "dataset": {"name": "sam|ple <script>alert(1)</script>", "checksum": "f" * 64},
    "code": {"commit": None, "dirty": None},
}


@pytest.fixture
def small_book(tmp_path, monkeypatch):
    """A workspace with the real configuration, three pages and one promoted result."""
    folder = tmp_path / "workspace"
    (folder / "notebooks").mkdir(parents=True)
    for name in ("_config.yml", "book/_static", "book/_ext", "book/references.bib", "book/status.md",
                 "book/rerun.md"):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/results\nchapters:\n  - file: book/status\n"
                                     "  - file: book/rerun\n  - glob: book/runs/*\n")
    (folder / "book" / "results.md").write_text(PAGE)
    result = folder / "data" / "results" / "squares-sample"
    files.write_json(result / "manifest.json", MANIFEST)
    (result / "number.txt").write_text("the number is 41")
    executed = new_notebook(metadata={"language_info": {"name": "python", "pygments_lexer": "ipython3"}}, cells=[
        new_markdown_cell("# Squares\n\nFormula $x_i^2$."),
        new_code_cell("this_is_not_executed_again()", execution_count=1,
                      outputs=[new_output("stream", name="stdout", text="as it ran"),
                               new_output("stream", name="stderr", text="progress 1/20")])])
    nbformat.write(executed, result / "notebook.ipynb")
    monkeypatch.setenv("LITSYNTH_HOME", str(folder))
    monkeypatch.setattr(book, "package_folder", lambda: folder / "notebooks")  # nobody edits it while this test runs
    return folder


def test_text_of_data_is_inert_in_tables():
    table = pages.markdown_table(["a"], [["x | y <script>`$\\"], ["two\nlines"]])
    assert "<script>" not in table
    assert r"x \| y &lt;script&gt;\`\$\\" in table
    assert "two lines" in table


def test_parameter_tables_come_from_the_code():
    for experiment in EXPERIMENTS.values():
        table = pages.parameter_table(experiment)
        assert all(f"| {pages.escaped(name)} |" in table for name in experiment.parameters.model_fields)


def test_remote_loads_are_found_in_every_form(tmp_path):
    (tmp_path / "page.html").write_text(
        '<script async src="https://cdn.example/x.js"></script><link rel="stylesheet" href="//fonts.example/f.css">'
        '<img src="http://pictures.example/p.png"><a href="https://fine.example">link</a>'
        '<script src="local.js"></script>')
    (tmp_path / "style.css").write_text(
        '@import url("https://fonts.example/g.css"); a{background:url(https://h.example/i)}')
    found = [what for _, what in page_checks.remote_loads(tmp_path)]
    assert len(found) == 5
    assert not any("fine.example" in what for what in found)


def _picture(**metadata):
    return new_output("display_data", data={"image/png": "iVBORw0KGgo="}, metadata=metadata)


def test_pictures_of_executed_notebooks_get_words():
    facts = {**MANIFEST, "figures": {"curve": {"alt": "Recall rises."}, "bars": {"alt": "Nine of ten."}}}
    cells = [new_code_cell("lab.draw(run)", outputs=[_picture(**{"image/png": {"alt": "Kept beside it."}})]),
             new_code_cell("lab.curve(run, t)", outputs=[_picture()]),
             new_code_cell("plot(x)", outputs=[_picture()]), new_code_cell("1 + 1", outputs=[])]
    shown = pages._shown_notebook(json.loads(nbformat.writes(new_notebook(cells=cells))), facts)
    words = [cell["metadata"].get("mystnb", {}).get("image", {}).get("alt") for cell in shown["cells"][1:]]
    assert words == ["Kept beside it.", "Recall rises.", "A picture without a description, made by: plot(x)", None]


def test_status_says_which_results_are_from_older_code():
    name = next(iter(EXPERIMENTS))
    plan = {**MANIFEST, "experiment": name, "code": {"commit": "c" * 40, "dirty": False, "fingerprint": "no longer"}}
    assert status.code_state(plan) == status.OLDER
    assert status.code_state(MANIFEST) == status.GONE
    source = pages.files.read_json(ROOT / "notebooks" / EXPERIMENTS[name].notebook_file)
    now = status.fingerprint.result_fingerprint(EXPERIMENTS[name].module_name, status.notebooks.code(source))
    current = {**plan, "code": {**plan["code"], "fingerprint": now}}
    assert status.code_state(current) == status.SAME
    page = status.status_page({"new": current, "o|d": plan, "squares": MANIFEST})
    assert "Of 3 results, 2 were made with code that has changed since: o\\|d, squares." in page
    assert "| **made with older code**, commit ccccccc |" in page


def test_dead_links_pictures_without_words_and_heavy_pages_are_found(tmp_path, monkeypatch):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "other.html").write_text('<p id="there">x</p>')
    (tmp_path / "book" / "page.html").write_text(
        '<a href="other.html#there">a</a><a href="other.html#gone">b</a><a href="none.html">c</a>'
        '<a href="#nowhere">d</a><a href="https://example.org/">e</a><a href="../../outside.html">f</a>'
        '<img src="data:," alt=" "><img src="data:," alt="Words."><img src="data:,">')
    found = page_checks.faults(tmp_path)
    links = [fault for fault in found if "links to" in fault]
    assert [fault.split("links to ")[1].split(",")[0] for fault in links] == [
        "#nowhere", "../../outside.html", "none.html", "other.html#gone"]
    assert sum("without a description" in fault for fault in found) == 2
    monkeypatch.setattr(page_checks, "HEAVIEST", 100)
    assert any("book/page.html has" in fault for fault in page_checks.faults(tmp_path))


def test_embedded_pictures_become_one_file_each(tmp_path):
    large = base64.b64encode(b"<svg>" + bytes(5000) + b"</svg>").decode("ascii")
    picture = (f'<img alt="Words." src="data:image/svg+xml;base64,{large}">'
               '<img alt="dot" src="data:image/png;base64,AAAA">')
    for name in ("a.html", "deep/b.html"):
        files.write_text(tmp_path / name, picture)
    assert pictures.unpack_pictures(tmp_path) == 2
    kept = list((tmp_path / "_images").iterdir())
    assert len(kept) == 1
    assert kept[0].read_bytes()[:5] == b"<svg>"
    assert f'src="_images/{kept[0].name}"' in (tmp_path / "a.html").read_text()
    deep = (tmp_path / "deep" / "b.html").read_text()
    assert f'src="../_images/{kept[0].name}"' in deep
    assert "data:image/png;base64,AAAA" in deep
    assert pictures.unpack_pictures(tmp_path) == 0


def test_the_joined_page_keeps_links_and_identifiers_apart(tmp_path):
    side = ('<nav class="bd-links bd-docs-nav"><a href="#">front</a><a href="runs/two.html">two</a>'
            '<a href="https://example.org/">elsewhere</a></nav>')
    files.write_text(tmp_path / "index.html", '<meta http-equiv="Refresh" content="0; url=book/one.html" />')
    files.write_text(tmp_path / "book" / "one.html", f"""<title>A &amp; B</title>{side}<article class="bd-article">
        <h1 id="top">One<a class="headerlink" href="#top">#</a></h1><a href="runs/two.html#top">to two</a></article>""")
    files.write_text(tmp_path / "book" / "runs" / "two.html", """<article class="bd-article"><h1 id="top">Two</h1>
        <a href="../one.html">back</a><a href="#top">up</a><img alt="Words." src="../../_images/x.svg">
        <a href="https://example.org/">out</a><script>alert(1)</script></article>""")
    page = write_print_page(tmp_path)
    text = page.read_text()
    assert page == tmp_path / "book" / "print.html"
    assert "<title>A &amp; B</title>" in text
    assert all(part in text for part in (
        'id="one--top"', 'id="runs-two--top"', 'href="#runs-two--top"', 'href="#one"', 'src="../_images/x.svg"',
        'href="https://example.org/"'))
    assert "headerlink" not in text
    assert "alert" not in text


@pytest.mark.slow
def test_build_is_strict_offline_and_never_stale(small_book):
    assert book.build_book() is True
    html = small_book / "_build" / "html" / "book"
    assert "the number is 41" in (html / "results.html").read_text()
    shown = (html / "runs" / "squares-sample.html").read_text()
    assert "as it ran" in shown
    assert "progress 1/20" not in shown
    assert "Synthetic data" in shown
    assert "<math" in shown
    assert "<script>alert" not in shown + (html / "status.html").read_text()
    assert book.build_book() is False
    joined = (html / "print.html").read_text()
    assert joined.index("the number is 41") < joined.index("as it ran")
    assert 'id="status"' in joined

    (small_book / "data" / "results" / "squares-sample" / "number.txt").write_text("the number is 42")
    assert book.build_book() is True
    assert "the number is 42" in (html / "results.html").read_text()

    results = small_book / "book" / "results.md"
    results.write_text(PAGE.replace("print(", "1 / 0; print(") + "\nSee [nothing](nowhere.md).\n")
    with pytest.raises(RunError, match="does not build") as caught:
        book.build_book()
    assert "ZeroDivisionError" in str(caught.value) or "Executing notebook failed" in str(caught.value)
    assert "nowhere.md" in str(caught.value)

    results.write_text(PAGE)
    shutil.rmtree(small_book / "data" / "results" / "squares-sample")
    pages.write_pages(small_book / "book")
    assert not list((small_book / "book" / "runs").glob("*.ipynb"))
    assert "No results yet" in (small_book / "book" / "generated" / "status.md").read_text()


def test_unchanged_pages_keep_their_time_stamp(small_book):
    pages.write_pages(small_book / "book")
    page = small_book / "book" / "runs" / "squares-sample.ipynb"
    before = page.stat().st_mtime_ns
    pages.write_pages(small_book / "book")
    assert page.stat().st_mtime_ns == before
    assert "squares/0123456789ab" in json.loads(page.read_text())["cells"][0]["source"]
