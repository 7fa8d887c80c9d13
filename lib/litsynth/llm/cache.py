"""The completion cache: every answer of a model is evidence, kept in one SQLite file with JSON values."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litsynth.errors import DataError
from litsynth.llm.requests import canonical, key_of
from litsynth.llm.stored import STORED_STATUSES, from_json, to_json
from litsynth.paths import completions_dir
from litsynth.records import Completion

FILE_NAME = "completions.sqlite"
_APPLICATION = 0x4C495453  # "LITS", so that another program's database is not mistaken for a cache
_VERSION = 1
_LOCK_SECONDS = 60.0
_PAGE = 500
# Write-ahead logs need shared memory, which these file systems do not give or give wrongly.
_SHARED_FILE_SYSTEMS = ("nfs", "cifs", "smb", "9p", "afs", "fuse.sshfs", "lustre", "gpfs", "beegfs")
_TABLE = """
create table if not exists completions (
    key text primary key, request text not null, completion text not null,
    endpoint text not null, model text not null, prompt_version text not null, status text not null,
    created real not null
) without rowid
"""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One stored answer: its key, the canonical JSON of what was asked, the JSON of the answer, seconds since 1970."""

    key: str
    request: str
    completion: str
    created: float


class CompletionCache:
    """Answers by the SHA-256 of what was asked; no expiry, safe for several threads and processes.

    What the model said is stored, whether it was of use or not (ok, truncated, unparsed, filtered), so that a
    rerun or a replay sees the same answers and nobody draws again until one pleases. Calls that failed
    are not stored. The file is made at the first write.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = Path(path) if path is not None else completions_dir() / FILE_NAME
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    def get(self, request: dict[str, Any]) -> Completion | None:
        """Return the stored answer to `request` (see `requests.material`), or None."""
        key = key_of(canonical(request))
        with self._reading() as connection:
            row = connection and connection.execute(
                "select completion from completions where key = ?", (key,)
            ).fetchone()
        if not row:
            return None
        try:
            return from_json(row[0], request)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(f"entry {key}: {error}") from None

    def put(self, request: dict[str, Any], completion: Completion, *, replace: bool = False) -> bool:
        """Store an answer and say whether it was new; an answer that is there already stays unless `replace`.

        Raises `ValueError` for a failed completion, which is no evidence.
        """
        if completion.status not in STORED_STATUSES:
            raise ValueError(f"a completion that {completion.status} is not stored")
        text = canonical(request)
        entry = CacheEntry(key_of(text), text, to_json(completion, request), time.time())
        with self._writing() as connection:
            return self._insert(connection, entry, request, completion.status, replace)

    def _insert(
        self, connection: sqlite3.Connection, entry: CacheEntry, request: dict[str, Any], status: str, replace: bool
    ) -> bool:
        cursor = connection.execute(
            f"insert or {'replace' if replace else 'ignore'} into completions values (?, ?, ?, ?, ?, ?, ?, ?)",
            (entry.key, entry.request, entry.completion, str(request.get("endpoint", "")),
             str(request.get("model", "")), str(request.get("prompt_version", "")), status, entry.created),
        )
        return cursor.rowcount > 0

    def add(self, entries: Iterator[CacheEntry]) -> tuple[int, int, list[str]]:
        """Add entries, all or none; return (added, known already, keys whose stored answer differs and stays)."""
        added, known, conflicts = 0, 0, []
        with self._writing() as connection:
            connection.execute("begin immediate")
            try:
                for entry in entries:
                    request = json.loads(entry.request)
                    status = json.loads(entry.completion)["status"]
                    if self._insert(connection, entry, request, status, False):
                        added += 1
                        continue
                    known += 1
                    row = connection.execute("select completion from completions where key = ?", (entry.key,))
                    if row.fetchone()[0] != entry.completion:
                        conflicts.append(entry.key)
                connection.execute("commit")
            except BaseException:
                connection.execute("rollback")
                raise
        return added, known, conflicts

    def entries(self, **filters: str) -> Iterator[CacheEntry]:
        """Yield entries by key; `filters` (endpoint, model, prompt_version, status) are patterns with `*` and `?`."""
        clause = "".join(f" and {name} glob ?" for name in filters)
        query = f"""
            select key, request, completion, created from completions where key > ?{clause} order by key limit {_PAGE}
        """
        last, rows = "", [()]
        while rows:
            with self._reading() as connection:
                rows = connection.execute(query, (last, *filters.values())).fetchall() if connection else []
            for row in rows:
                yield CacheEntry(*row)
                last = row[0]

    def info(self) -> dict[str, Any]:
        """Check the whole file; return its path, size and journal, and the number of answers in all and by group."""
        facts: dict[str, Any] = {"path": str(self.path), "bytes": 0, "answers": 0, "journal": "", "groups": []}
        with self._reading() as connection:
            if connection is None:
                return facts
            check = connection.execute("pragma integrity_check(1)").fetchone()[0]
            if check != "ok":
                raise self._damaged(check)
            facts["journal"] = connection.execute("pragma journal_mode").fetchone()[0]
            rows = connection.execute(
                "select endpoint, model, prompt_version, status, count(*) from completions "
                "group by 1, 2, 3, 4 order by 1, 2, 3, 4"
            ).fetchall()
        names = ("endpoint", "model", "prompt_version", "status", "answers")
        facts["groups"] = [dict(zip(names, row, strict=True)) for row in rows]
        facts["answers"] = sum(row[-1] for row in rows)
        log = Path(f"{self.path}-wal")
        facts["bytes"] = self.path.stat().st_size + (log.stat().st_size if log.exists() else 0)
        return facts

    def __len__(self) -> int:
        with self._reading() as connection:
            return connection.execute("select count(*) from completions").fetchone()[0] if connection else 0

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        with self._lock:
            if self._connection is None and not self.path.exists():
                yield None
                return
            with self._explained():
                yield self._open()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._explained():
            yield self._open()

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        # A connection must not cross a fork: the child opens its own and leaves the parent's alone.
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._process = connection, os.getpid()
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("pragma application_id").fetchone()[0]
        tables = connection.execute("select count(*) from sqlite_master").fetchone()[0]
        version = connection.execute("pragma user_version").fetchone()[0]
        if tables and application != _APPLICATION:
            raise DataError(
                f"{self.path} is not a completion cache but another program's database",
                expected="a file made by this package", remedy="move it away; a new cache is made at the next call",
            )
        if tables and version > _VERSION:
            raise DataError(
                f"{self.path} was made by a newer version of this package (format {version})",
                expected=f"format {_VERSION}", remedy="update this package",
            )
        mode = connection.execute("pragma journal_mode").fetchone()[0]
        if mode != "wal" and not on_shared_file_system(self.path):
            connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")
        if not tables:
            connection.execute("begin immediate")
            connection.execute(_TABLE)
            connection.execute(f"pragma application_id = {_APPLICATION}")
            connection.execute(f"pragma user_version = {_VERSION}")
            connection.execute("commit")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            text = str(error)
            if "malformed" in text or "disk image" in text:
                raise self._damaged(text) from None
            raise DataError(
                f"{self.path} cannot be used ({text})",
                expected="a writable file on a disk with room, not held by another process for more than "
                f"{_LOCK_SECONDS:.0f} s",
                remedy="free the disk, end the other process, or point LITSYNTH_DATA to another folder",
            ) from None
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from None

    def _damaged(self, detail: str) -> DataError:
        with suppress(sqlite3.Error):
            self.close()
        return DataError(
            f"{self.path} is damaged ({detail}); it was left as it is",
            expected="a whole SQLite file",
            remedy=f"move it aside (mv {self.path} {self.path}.damaged; with its -wal and -shm files), then bring back "
            "what was exported with `litsynth cache import FILE.jsonl`; what is missing will be asked again",
        )


def on_shared_file_system(path: Path) -> bool:
    """Say whether `path` lies on a network or shared file system, as far as the system tells."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    folder, best, kind = str(path.parent.resolve()) + "/", "", ""
    for line in mounts:
        point, system = line.split()[1:3]
        prefix = point.rstrip("/") + "/"
        if folder.startswith(prefix) and len(prefix) >= len(best):
            best, kind = prefix, system
    return kind.startswith(_SHARED_FILE_SYSTEMS)
