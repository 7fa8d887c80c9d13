"""One writer for each run directory."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import IO

from litsynth.errors import RunError

# POSIX locks belong to the process and end with it, however it ends, so a dead owner never blocks. Closing any
# handle of the file would drop the lock, hence the one handle a path kept here (a notebook may open its run twice).
_HELD: dict[Path, IO[str]] = {}


def acquire(path: Path, *, what: str, patience: float = 4.0) -> None:
    """Take the lock file at `path` for this process, or raise `RunError` naming the owner.

    Waits `patience` seconds, because the kernel of a killed runner needs a moment to notice.
    """
    path = Path(path).resolve()
    if path in _HELD:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = path.open("a+", encoding="utf-8")
    give_up = time.monotonic() + patience
    while True:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            if time.monotonic() > give_up:
                handle.close()
                raise RunError(
                    f"{what} is being written by another process ({owner(path)})",
                    expected="one writer for each run",
                    remedy="wait until it has ended, or end it; its finished items will be reused",
                ) from None
            time.sleep(0.1)
    handle.seek(0)
    handle.truncate()
    handle.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
    handle.flush()
    _HELD[path] = handle


def release(path: Path) -> None:
    """Give the lock up; nothing happens when this process does not hold it."""
    handle = _HELD.pop(Path(path).resolve(), None)
    if handle:
        handle.close()


def is_held(path: Path) -> bool:
    """Say whether some process, this one too, holds the lock now."""
    path = Path(path).resolve()
    if path in _HELD:
        return True
    try:
        handle = path.open("r+", encoding="utf-8")
    except OSError:
        return False
    with handle:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False


def owner(path: Path) -> str:
    """Describe who wrote the lock file last."""
    try:
        facts = json.loads(Path(path).read_text(encoding="utf-8"))
        return f"process {facts['pid']} on {facts['host']}"
    except (OSError, ValueError, KeyError):
        return "owner unknown"
