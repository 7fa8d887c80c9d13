"""Progress that is a bar for people and at most twenty lines a stage for logs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm.auto import tqdm

from litsynth.text import printable

T = TypeVar("T")
_last_notice: dict[str, float] = {}


def notice(text: str, *, about: str, every: float = 10.0) -> None:
    """Write one line to standard error, beside a bar if there is one, at most one about a thing in `every` seconds.

    Foreign text in it can neither colour nor move nor continue the line.
    """
    now = time.monotonic()
    if now - _last_notice.get(about, -every) >= every:
        _last_notice[about] = now
        tqdm.write(" ".join(printable(text).split()), file=sys.stderr)


def progress(items: Iterable[T], *, total: int, stage: str) -> Iterator[T]:
    """Yield `items` while showing how far `stage` has come.

    On a terminal: a tqdm bar. Elsewhere (a log, a notebook run by papermill): lines on standard
    error at each twentieth of `total`, never more than twenty.
    """
    if sys.stderr.isatty():
        yield from tqdm(items, total=total, desc=stage)
        return
    start, shown = time.monotonic(), 0
    for done, item in enumerate(items, start=1):
        yield item
        twentieth = done * 20 // total if total else 20
        if total >= 40 and twentieth > shown:
            shown = twentieth
            print(f"{stage}: {done}/{total} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
