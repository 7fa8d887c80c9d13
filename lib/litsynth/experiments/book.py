"""Builds the book strictly, offline, and only when something that it shows has changed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from litsynth import files, paths
from litsynth.errors import RunError
from litsynth.experiments.fingerprint import package_folder
from litsynth.experiments.page_checks import faults
from litsynth.experiments.pages import write_pages
from litsynth.experiments.pictures import unpack_pictures
from litsynth.experiments.print_page import write_print_page
from litsynth.text import printable

_SHOWN = ("book", "data/results", "data/published", "figures", "_config.yml", "_toc.yml")
_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"  # the package has no `python -m` entry



def html_folder() -> Path:
    """Return the folder of the rendered book."""
    return paths.project_root() / "_build" / "html"


def build_book(*, force: bool = False) -> bool:
    """Render the book into `_build/html` unless it shows everything as it is now; returns whether it was built.

    Warnings, broken links and failing cells stop the build with `RunError`, and so does what `page_checks` finds: a
    page that loads from another host, a link to nowhere, a picture without a description, a page that is too heavy.
    """
    root = paths.project_root()
    write_pages(root / "book")
    inputs = _inputs_digest(root)
    stamp = html_folder().parent / "book-inputs.sha256"
    if not force and (html_folder() / "index.html").exists() and stamp.exists() and stamp.read_text() == inputs:
        return False
    stamp.unlink(missing_ok=True)
    # From nothing: a page that reads results has not changed itself when they have, and gone pages must leave.
    for name in ("html", ".doctrees", "jupyter_execute"):
        shutil.rmtree(html_folder().parent / name, ignore_errors=True)
    command = [sys.executable, "-c", _JUPYTER_BOOK, "build", str(root), "-n", "-W", "--keep-going"]
    environment = {**os.environ, "LITSYNTH_HOME": str(root), "JUPYTER_PREFER_ENV_PATH": "1",
                   "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    done = subprocess.run(command, cwd=root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    log = html_folder().parent / "build.log"
    files.write_text(log, done.stdout + done.stderr)
    if done.returncode:
        raise RunError("the book does not build:\n" + "\n".join(_complaints(done.stdout + done.stderr)),
                       expected="a build without warnings", remedy=f"mend what is named; the whole log is {log}")
    unpack_pictures(html_folder())
    write_print_page(html_folder())
    wrong = faults(html_folder())
    if wrong:
        raise RunError("the book is built, but:\n" + "\n".join(wrong[:15]),
                       expected="live links, descriptions of pictures, nothing from other hosts, small pages",
                       remedy="mend what is named")
    files.write_text(stamp, inputs)
    return True


def _complaints(log: str) -> list[str]:
    plain = "\n".join(map(printable, re.sub(r"\x1b\[[0-9;]*m", "", log).splitlines()))
    lines = [line for line in plain.splitlines() if re.search(r"WARNING|ERROR|Error\b|Traceback", line)
             and not line.startswith("[IPKernelApp]")]
    return (lines or plain.splitlines())[-15:]


def _inputs_digest(root: Path) -> str:
    """Hash everything that the book shows or that computes what it shows."""
    found = [path for name in _SHOWN for path in (root / name, *sorted((root / name).rglob("*")))]
    found += sorted(package_folder().rglob("*.py"))
    return files.sha256_of([[str(path), files.sha256_file(path)] for path in found
                            if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"}.intersection(path.parts)])
