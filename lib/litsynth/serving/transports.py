"""How the corpus server is reached: streamable HTTP on this machine alone, or a clean standard output."""

from __future__ import annotations

import io
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from litsynth.errors import ParameterError

HOST, PATH = "127.0.0.1", "/mcp"
IDLE_SECONDS = 6 * 3600.0  # an agent may think for long between two calls
_CLOSING_SECONDS = 2  # open event streams are given this long when the server stops
SESSION_HEADER = "mcp-session-id"
_NAMED = re.compile(r"/tasks/([^/]+)/mcp")


def http_session(context: Any) -> str | None:
    """Return the session id of an HTTP request; the transport has checked that it is one of its own."""
    headers = getattr(context.request, "headers", None)
    return None if headers is None else headers.get(SESSION_HEADER)


def stdio_session(context: Any) -> str:
    """Return the one session of a server that is spoken to through its standard input."""
    return "stdio"


def with_named_tasks(app: Any) -> Any:
    """Return an ASGI app that also answers at /tasks/NAME/mcp, for agents whose addresses end in /mcp: ?task=NAME."""
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        named = _NAMED.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if named:
            scope = {**scope, "path": PATH, "raw_path": PATH.encode(),
                     "query_string": f"task={quote(named.group(1))}".encode()}
        await app(scope, receive, send)
    return answer


def serve_http(server: Any, port: int, ready: Callable[[str], None]) -> None:
    """Serve on a loopback port (0: a free one) until SIGINT or SIGTERM; `ready` is given the address.

    Requests that name another host or come from a page of another origin are refused by the transport.
    """
    import uvicorn

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise ParameterError(f"port {port} cannot be used ({error.strerror})", expected="a free port",
                                 remedy="choose another --port (0 takes a free one)") from None
        listening.listen(128)
        app = server.streamable_http_app(streamable_http_path=PATH, session_idle_timeout=IDLE_SECONDS, host=HOST)
        config = uvicorn.Config(with_named_tasks(app), log_level="warning", access_log=False, log_config=None,
                                timeout_graceful_shutdown=_CLOSING_SECONDS)
        ready(f"http://{HOST}:{listening.getsockname()[1]}{PATH}")
        with _ends_quietly():
            uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _ends_quietly() -> Iterator[None]:
    """Make the signals that stop a server end it with status 0: uvicorn raises them once more after it has closed."""
    def leave(number: int, frame: Any) -> None:
        raise SystemExit(0)
    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def protocol_output() -> Iterator[io.TextIOWrapper]:
    """Yield the standard output for the protocol's messages, while everything else that is printed goes to stderr.

    Held at the level of the file descriptor, so that prints of libraries and of child processes are kept out too.
    """
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    # The output is not given back: what a library prints while the process ends would corrupt the last message.
    with os.fdopen(private, "wb") as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="\n") as text:
        yield text


def serve_stdio(server: Any, output: io.TextIOWrapper) -> None:
    """Serve one client through standard input and `output` until the input ends or a signal comes."""
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server(stdout=anyio.wrap_file(output)) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    def leave(number: int, frame: Any) -> None:
        # The thread that waits for input cannot be woken; messages and trace items are whole, as each is flushed.
        os._exit(0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    anyio.run(serve)
