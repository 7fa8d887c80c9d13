"""The guard that all other tests rely on really refuses the network."""

from __future__ import annotations

import http.server
import socket
import threading

import pytest


def test_remote_hosts_are_refused():
    with pytest.raises(RuntimeError, match="no network"):
        socket.getaddrinfo("example.org", 443)
    with socket.socket() as connection, pytest.raises(RuntimeError, match="no network"):
        connection.connect(("192.0.2.1", 80))


def test_this_machine_is_reachable():
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    thread = threading.Thread(target=server.handle_request, daemon=True)
    thread.start()
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(b"GET /missing HTTP/1.0\r\n\r\n")
        assert connection.recv(64).startswith(b"HTTP/1.0 404")
    thread.join(timeout=10)
    server.server_close()
