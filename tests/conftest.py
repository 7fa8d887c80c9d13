"""What every test stands on: no network, few threads, a workspace of its own, and the real data where they are."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

# Before anything imports torch, faiss or a hub client: two test processes share two cores, and nothing is fetched.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false",
                  MPLBACKEND="Agg", PYDEVD_DISABLE_FILE_VALIDATION="1")
for _name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "LITSYNTH_DATA", "LITSYNTH_FIGURES",
              "LITSYNTH_HOME"):
    os.environ.pop(_name, None)

# A shell starts what runs in its background with Ctrl-C ignored, which every process started from there inherits.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
_LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0", "::ffff:127.")


class NetworkUse(RuntimeError):
    """A test tried to reach another machine."""


def _refuse_remote(host: object) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if isinstance(name, str) and name and not name.startswith(_LOOPBACK):
        raise NetworkUse(f"tests use no network, but something asked for {name!r}")


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Refuse every connection and name look-up beyond this machine, in every test."""
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: object) -> None:
        if self.family != socket.AF_UNIX and isinstance(address, tuple):
            _refuse_remote(address[0])
        return connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: object) -> int:
        if self.family != socket.AF_UNIX and isinstance(address, tuple):
            _refuse_remote(address[0])
        return connect_ex(self, address)

    def guarded_look_up(host: object, *rest: object, **options: object) -> object:
        _refuse_remote(host)
        return look_up(host, *rest, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets, which lie beside the checkout and never in it; skips where they are absent."""
    folder = Path(os.environ.get("LITSYNTH_SHARED") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"real data are not at {folder}; LITSYNTH_SHARED names another folder")
    return folder


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty `data/` and `figures/` folders of the test's own, which the package writes to; returns their parent."""
    for name, variable in (("data", "LITSYNTH_DATA"), ("figures", "LITSYNTH_FIGURES")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    return tmp_path
