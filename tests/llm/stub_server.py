"""A server on this machine that plays whatever an endpoint may do; the only endpoint of these tests."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from litsynth.records import ModelRequest

CANARY = "sk-canary-7f3a9c51e2d84b60"  # the key in the environment of these tests, looked for wherever it must not be


def ask(text: str = "What is known?", **fields: Any) -> ModelRequest:
    """Return a request with one user message."""
    fields.setdefault("prompt_version", "test-1")
    fields.setdefault("messages", [{"role": "user", "content": text}])
    return ModelRequest(**fields)


@dataclass(frozen=True)
class Reply:
    """One thing that the server does with a request: answer after `delay` seconds, cut the body off, or reset."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    reset: bool = False
    cut: bool = False

    def content(self) -> bytes:
        """Return the bytes to send: JSON for anything but text and bytes."""
        if isinstance(self.body, bytes):
            return self.body
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return text.encode("utf-8")


Behaviour = Callable[[dict[str, Any], int], Reply]


def answer(text: str | None = "fine", *, finish: str = "stop", usage: Any = True, **message: Any) -> Reply:
    """Return an ordinary chat completion whose message says `text`, with further message fields."""
    body: dict[str, Any] = {
        "id": "c1", "object": "chat.completion", "model": "stub-model",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}},
        ],
    }
    if usage is True:
        usage = {"prompt_tokens": 1000, "completion_tokens": 7, "total_tokens": 1007}
    if usage is not None:
        body["usage"] = usage
    return Reply(body)


def error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Reply:
    """Return an error answer in the shape of the OpenAI API."""
    return Reply({"error": {"message": message, **fields}}, status, headers or {})


def sequence(*replies: Reply) -> Behaviour:
    """Return a behaviour that gives the replies in order and then the last one for ever."""
    return lambda body, number: replies[min(number, len(replies) - 1)]


class StubServer:
    """Serves `behaviour` on a free loopback port and keeps the bodies, headers and times of all requests."""

    def __init__(self, behaviour: Behaviour | Sequence[Reply] | Reply | None = None) -> None:
        self._lock = threading.Lock()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.play(behaviour if behaviour is not None else answer())
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def play(self, behaviour: Behaviour | Sequence[Reply] | Reply) -> None:
        """Change what the server does."""
        if isinstance(behaviour, Reply):
            behaviour = sequence(behaviour)
        elif not callable(behaviour):
            behaviour = sequence(*behaviour)
        self.behaviour = behaviour

    def receive(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Keep a request and decide what to do with it."""
        with self._lock:
            number = len(self.bodies)
            self.bodies.append(body)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.times.append(time.monotonic())
        return self.behaviour(body, number)

    def stop(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that went away."""


def _handler(stub: StubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            reply = stub.receive(body, self.headers)
            if reply.delay:
                time.sleep(reply.delay)
            if reply.reset:
                # Lingering for zero seconds sends a reset instead of an orderly end.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            content = reply.content()
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(content)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if reply.cut else content)
            self.wfile.flush()
            if reply.cut:
                self.close_connection = True

    return Handler
