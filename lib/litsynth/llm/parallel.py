"""Many calls at once in threads: bounded, in any order of finishing, and quick to stop."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_GRACE_SECONDS = 5.0


def run_parallel(
    work: Callable[[Item], Result], items: Sequence[Item], *, concurrency: int, stop: threading.Event
) -> Iterator[tuple[int, Result | BaseException]]:
    """Yield (position, result or exception) of every item that was begun, as they finish.

    Once `stop` is set, by the caller or by an exception, nothing new is begun, but what is under way is still waited
    for and yielded. When the caller leaves early (Ctrl-C), calls under way get a few seconds to finish. Threads, so
    that it works inside a running event loop too; daemons, so that a hanging call never keeps the process alive.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for position in range(len(items)):
        waiting.put(position)
    finished: queue.SimpleQueue[tuple[int, Result | BaseException] | None] = queue.SimpleQueue()

    def labour() -> None:
        while not stop.is_set():
            try:
                position = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                finished.put((position, work(items[position])))
            except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
                stop.set()
                finished.put((position, error))
        finished.put(None)

    threads = [threading.Thread(target=labour, daemon=True) for _ in range(min(concurrency, len(items)))]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            # With a timeout, because a wait without one cannot be interrupted on every system.
            try:
                result = finished.get(timeout=1.0)
            except queue.Empty:
                continue
            if result is None:
                running -= 1
            else:
                yield result
    finally:
        if running:
            stop.set()
            deadline = time.monotonic() + _GRACE_SECONDS
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
