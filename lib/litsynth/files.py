"""Files that are whole or absent: atomic writes, strict JSON, append-only logs, checksums."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import socket
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
    disk among them, the temporary is removed and `target` stays as it was; what a killed process of this machine left
    of an earlier attempt is removed too. A link is written through. Raises
    `DataError` when `target` is a device or pipe, which a rename would destroy, and `OSError` that names `target`.
    """
    target = _writable_target(Path(target))
    holder: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        holder = Path(tempfile.mkdtemp(prefix=f".{target.name}.{_owner(os.getpid())}.", dir=target.parent))
        temporary = holder / target.name
        yield temporary
        _exchange(temporary, target, holder)
    except OSError as error:
        if f"{os.sep}.{target.name}." in str(error.filename):
            error.filename, error.filename2 = str(target), None  # people do not know the temporary's name
        _name_full_disk(error, target)
        raise
    finally:
        if holder is not None:
            shutil.rmtree(holder, ignore_errors=True)


def _name_full_disk(error: OSError, path: Path) -> None:
    """Say which file had no room: a failed write itself, unlike a failed opening, knows no name."""
    if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        error.filename = str(path)


def _owner(process: int) -> str:
    machine = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    return f"{machine}-{process}"


def _sweep(target: Path) -> None:
    """Remove temporaries for `target` whose process on this machine has ended; others may still be written."""
    pattern = re.compile(re.escape(f".{target.name}.") + r"([0-9a-f]{8}-(\d+))\.\w+")
    with os.scandir(target.parent) as entries:
        for entry in entries:
            found = pattern.fullmatch(entry.name)
            if found and found[1] == _owner(int(found[2])) and not _alive(int(found[2])):
                shutil.rmtree(entry.path, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def _writable_target(target: Path) -> Path:
    if target.is_symlink() and target.exists():
        target = target.resolve()
    if not target.name or (target.exists() and not target.is_file() and not target.is_dir()):
        what = f"{target} is a device or pipe" if target.name else f"{str(target)!r} names no file"
        raise DataError(what, expected="the path of a file or folder", remedy="choose another path")
    return target


def _exchange(temporary: Path, target: Path, holder: Path) -> None:
    for attempt in range(10):
        if temporary.is_dir() and target.is_dir():
            shutil.move(target, holder / f"previous{attempt}")
        try:
            os.replace(temporary, target)
            return
        except OSError as error:  # another process put its folder there in the meantime: the last one stays
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or attempt == 9:
                raise


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


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r} occurs twice")
    return found


def parse_json(text: str, *, nan_as_null: bool = False) -> Any:
    """Return the value of a JSON text; raises `ValueError` for a name given twice, for depth, and for NaN.

    Python's reader takes the last of two values of one name, and runs out of stack on deep nesting.
    `nan_as_null` reads NaN and infinities, which some programs write, as None.
    """
    try:
        constant = (lambda _: None) if nan_as_null else _refuse_constant
        return json.loads(text, parse_constant=constant, object_pairs_hook=_distinct)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: Path) -> Any:
    """Read strict JSON; raises `DataError` that names the file, and the line where it breaks."""
    path = Path(path)
    try:
        return parse_json(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DataError(f"{path} does not exist", expected="a JSON file", remedy="check the path") from None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise DataError(
            f"{path} is not readable JSON ({error})",
            expected="strict UTF-8 JSON without NaN and with each name once",
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
        self._write(line.encode("utf-8"))
        self._items[key] = json.loads(line)
        if self._on_append:
            self._on_append(self._items[key])

    def _write(self, line: bytes) -> None:
        """Append a whole line or nothing: what a full disk cut off would glue the next item to its rest."""
        with self.path.open("ab", buffering=0) as handle:
            end = handle.seek(0, os.SEEK_END)
            try:
                while line:
                    line = line[handle.write(line):]
            except OSError as error:
                handle.truncate(end)
                _name_full_disk(error, self.path)
                raise
