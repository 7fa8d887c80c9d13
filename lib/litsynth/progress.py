"""Progress that is a bar for people and at most twenty lines a stage for logs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm.auto import tqdm

T = TypeVar("T")


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
