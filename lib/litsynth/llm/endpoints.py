"""Where a model is reached: a remote address, or the embedded model, started when it is first needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from litsynth.errors import ModelError
from litsynth.llm.profiles import OPENAI_URL, Profile, setting

if TYPE_CHECKING:
    from litsynth.llm.local import LocalServer

_SHORTEST_SECRET = 6  # shorter placeholders ("none", "x") would be scrubbed out of every message


class RemoteEndpoint:
    """An OpenAI-compatible address. `identity` is its base URL, `model` the model asked for there."""

    def __init__(self, profile: Profile) -> None:
        self.identity, self.model, self.where = profile.address(), profile.model_name(), profile.address()
        self._profile = profile
        self._lock = threading.Lock()
        self._client: Any = None

    def client(self) -> Any:
        """Return the one `openai` client of this endpoint, made at the first call.

        Raises `ModelError` when the key that the profile names is not set or is not a key.
        """
        with self._lock:
            if self._client is None:
                self._client = openai_client(self._profile, self.identity, self._key() or "none")
            return self._client

    def secret(self) -> str:
        """Return what must not appear in any text that leaves this room."""
        key = setting(self._profile.key_env)
        return key if len(key) >= _SHORTEST_SECRET else ""

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _key(self) -> str:
        name = self._profile.key_env
        key = setting(name)
        optional = not name or (self._profile.name.partition(":")[0] == "default" and self.identity != OPENAI_URL)
        if not key and not optional:
            raise ModelError(
                f"{name} is not set, which profile {self._profile.name!r} needs", expected="the key of the endpoint",
                remedy=f"put {name}=… into .env or the environment, use the profile 'local', or replay a run from "
                "its exported completions",
            )
        if any(not "!" <= character <= "~" for character in key):
            raise ModelError(
                f"{name} holds a character that no key has (a space, a line break or a letter beyond ASCII)",
                expected="the key alone, on one line", remedy="copy the key again",
            )
        return key


class EmbeddedEndpoint:
    """The embedded model. `identity` is made of the SHA-256 of its file, so that its answers hold on any machine."""

    def __init__(self, profile: Profile) -> None:
        from litsynth.llm.local import local_identity

        self.identity, self.where = local_identity(profile), "the embedded model"
        self.model = profile.model if profile.gguf is None else "gguf"
        self._profile = profile
        self._lock = threading.Lock()
        self._server: LocalServer | None = None
        self._client: Any = None

    def client(self) -> Any:
        """Return the client of the local server, which is started now if it does not run (any more)."""
        from litsynth.llm.local import LocalServer

        with self._lock:
            if self._server is None or not self._server.is_running():
                self._stop()
                self._server = LocalServer(self._profile)
                self._client = openai_client(self._profile, self._server.start(), "none")
            return self._client

    def secret(self) -> str:
        """Return an empty text: there is no key."""
        return ""

    def close(self) -> None:
        """Stop the local server."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._client is not None:
            self._client.close()
        if self._server is not None:
            self._server.stop()
        self._client, self._server = None, None


def open_endpoint(profile: Profile) -> RemoteEndpoint | EmbeddedEndpoint:
    """Return the endpoint of a profile without sending or starting anything."""
    return EmbeddedEndpoint(profile) if profile.kind == "embedded" else RemoteEndpoint(profile)


def openai_client(profile: Profile, address: str, key: str) -> Any:
    """Return an `openai` client without retries of its own; one to this machine passes by any configured proxy."""
    import openai

    options: dict[str, Any] = {}
    if urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1"):
        options["http_client"] = openai.DefaultHttpxClient(trust_env=False)
    return openai.OpenAI(api_key=key, base_url=address, max_retries=0, timeout=profile.timeout, **options)
