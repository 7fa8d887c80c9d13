"""Who asks: one task state for every client of a corpus server, and one trace of all calls."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from litsynth.errors import ParameterError
from litsynth.files import ItemLog
from litsynth.systems.agent_tools import AgentCorpusTools

MOST_TASKS = 10_000  # task states held at once; each is at most a few hundred records
OpenTools = Callable[[Callable[[Mapping[str, Any]], None]], AgentCorpusTools]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class TaskBook:
    """Opens the tools of each client when it first calls, and keeps them as long as the server runs.

    A client is a session (`session_of`), or everybody who gives the same task name: some agents open a session for each
    call. Calls are appended to `trace` as items. Safe for several threads.
    """

    def __init__(self, open_tools: OpenTools, trace: Path | None = None, *, facts: Mapping[str, Any] | None = None,
                 most: int = MOST_TASKS) -> None:
        self._open, self._most, self._facts = open_tools, most, dict(facts or {})
        self._tools: dict[str, AgentCorpusTools] = {}
        self._lock = threading.Lock()
        self._log = None if trace is None else ItemLog(trace)
        self.server = secrets.token_hex(4)  # names this server's items in a trace that several servers appended to

    def __len__(self) -> int:
        return len(self._tools)

    def named(self, name: str) -> AgentCorpusTools:
        """Return the tools of a named task; raises `ParameterError` for a name that is none."""
        if not _NAME.fullmatch(name):
            raise ParameterError(f"task name {name[:80]!r}",
                                 expected="1 to 64 letters, digits, dots, dashes and underscores",
                                 remedy="give the task another name in the address")
        return self._of(f"task:{name}", name)

    def session_of(self, session: str) -> AgentCorpusTools:
        """Return the tools of a session; the trace calls it by a number, as its id lets others join it."""
        return self._of(f"session:{session}", "")

    def _of(self, key: str, label: str) -> AgentCorpusTools:
        with self._lock:
            if key not in self._tools:
                if len(self._tools) >= self._most:
                    raise ParameterError(f"this server has served {self._most} tasks", expected="fewer tasks",
                                         remedy="start it again; the trace is kept")
                client = label or f"{self.server}-{len(self._tools) + 1}"
                self._tools[key] = self._open(lambda step: self._append(client, step))
            return self._tools[key]

    def _append(self, client: str, step: Mapping[str, Any]) -> None:
        if self._log is None:
            return
        with self._lock:
            self._log.append({"key": f"{self.server}/{client}/{step['call']:06d}", "client": client, **self._facts,
                              "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"), **step})
