"""Files that are whole or absent: atomic writes, strict JSON, append-only logs, checksums."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from litsynth.errors import DataError


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target` and rename it there when the block succeeds.

    Works for a file or a folder (an existing folder at `target` is replaced); on any error, a full
    disk among them, the temporary is removed and `target` stays as it was.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    holder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    temporary = holder / target.name
    try:
        yield temporary
        if temporary.is_dir() and target.is_dir():
            shutil.move(target, holder / "previous")
        os.replace(temporary, target)
    finally:
        shutil.rmtree(holder, ignore_errors=True)


def write_text(target: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return strict JSON with sorted keys; NaN and infinities raise `ValueError` (write null instead)."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, indent=indent)


def write_json(target: Path, value: Any) -> None:
    """Write strict, indented JSON atomically."""
    write_text(target, dumps(value, indent=2) + "\n")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_json(path: Path) -> Any:
    """Read strict JSON; raises `DataError` that names the file, and the line where it breaks."""
    path = Path(path)
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise DataError(f"{path} does not exist", expected="a JSON file", remedy="check the path") from None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise DataError(
            f"{path} is not readable JSON ({error})",
            expected="strict UTF-8 JSON without NaN",
            remedy="write the file again, with null where a value is missing",
        ) from None


def write_parquet(target: Path, frame: Any) -> None:
    """Write a pandas data frame to Parquet atomically; the same frame gives the same bytes."""
    with atomic_path(target) as temporary:
        frame.to_parquet(temporary, index=False)


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with Path(path).open("rb") as handle:
        digest = hashlib.sha256()
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def sha256_of(value: Any) -> str:
    """Return the SHA-256 of a JSON-ready value in its canonical form (sorted keys, no spaces)."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class ItemLog:
    """An append-only JSON Lines file with one finished item a line, keyed by its `key`.

    A line that a killed process left half-written at the end is cut off when the log is opened;
    a broken line anywhere else raises `DataError`. Finished lines are never rewritten.
    """

    def __init__(self, path: Path, *, on_append: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        self.path = Path(path)
        self._on_append = on_append
        self._items: dict[str, dict[str, Any]] = {}
        self._load()

    def _load(self) -> None:
        if not self.path.exists():
            return
        raw = self.path.read_bytes()
        whole = raw.rfind(b"\n") + 1
        for number, line in enumerate(raw[:whole].splitlines(), start=1):
            try:
                item = json.loads(line)
                self._items[item["key"]] = item
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(
                    f"{self.path}, line {number}: not a finished item ({error})",
                    expected="one JSON object with a `key` a line",
                    remedy="move the file away and run again; its items will be computed anew",
                ) from None
        if whole < len(raw):
            with self.path.open("r+b") as handle:
                handle.truncate(whole)

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the finished item with this key, or None."""
        return self._items.get(key)

    def items(self) -> list[dict[str, Any]]:
        """Return all finished items, ordered by key, whatever order they were finished in."""
        return [self._items[key] for key in sorted(self._items)]

    def append(self, item: Mapping[str, Any]) -> None:
        """Add one finished item with its `key`; it survives a kill of this process. A known key raises `ValueError`."""
        key = item["key"]
        if key in self._items:
            raise ValueError(f"item {key!r} is already in {self.path}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(dict(item), ensure_ascii=False, allow_nan=False, sort_keys=True) + "\n"
        with self.path.open("ab") as handle:
            handle.write(line.encode("utf-8"))
        self._items[key] = json.loads(line)
        if self._on_append:
            self._on_append(self._items[key])
