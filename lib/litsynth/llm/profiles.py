"""Named profiles of model endpoints: where they are, what they cost, what they can take."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from litsynth.errors import LitsynthError, ParameterError, RunError, unknown_name
from litsynth.paths import project_root

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

OPENAI_URL = "https://api.openai.com/v1"
STRUCTURED_MODES = ("json_schema", "json_object", "prompt")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Profile:
    """One model behind one address, by name. Keys are never part of it: `key_env` names the variable that holds one.

    `price_in` and `price_out` are per million tokens in `currency`; None means unknown. `context_window` and
    `max_tokens` are tokens. `timeout`, `backoff` (before the first retry) and `max_wait` (the longest wait before a
    retry, also where a server asks for more) are seconds. `rejects` names parameters that are never sent.
    `structured` is the strongest way to ask for JSON that the server knows. `schema_in_prompt` writes the schema
    out in the prompt in every mode. `counts_whole_prompt` is false where a server leaves cached parts out of its
    prompt count, so that a cut prompt cannot be told. `extra` goes into every request as it is.
    For `kind` embedded: `gguf` is a model file (None: the packaged one), `slots` its parallel requests,
    `context_window` the tokens of each slot, `chat_template` a Jinja template where the file brings none.
    """

    name: str
    kind: str = "endpoint"
    base_url: str = ""
    base_url_env: str = ""
    key_env: str = ""
    model: str = ""
    model_env: str = ""
    price_in: float | None = None
    price_out: float | None = None
    currency: str = "USD"
    context_window: int | None = None
    max_tokens: int | None = 2048
    concurrency: int = 4
    timeout: float = 120.0
    max_retries: int = 6
    backoff: float = 1.0
    max_wait: float = 60.0
    rejects: tuple[str, ...] = ()
    structured: str = "json_schema"
    schema_in_prompt: bool = True
    counts_whole_prompt: bool = True
    weak: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    gguf: str | None = None
    slots: int = 2
    chat_template: str = ""

    def address(self) -> str:
        """Return the base URL in force without a slash at the end; `ParameterError` for what is no plain address."""
        url = setting(self.base_url_env) or self.base_url or OPENAI_URL
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            where = self.base_url_env if setting(self.base_url_env) else "base_url"
            raise ParameterError(
                f"{where} of profile {self.name!r} is no address",
                expected="an address such as https://host.example/v1",
                remedy=f"correct {where} in models.toml or .env",
            )
        if parts.username or parts.password or parts.query:
            raise ParameterError(
                f"the base URL of profile {self.name!r} carries a user name, password or query",
                expected="an address alone", remedy="put the key into the variable that key_env names",
            )
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"

    def model_name(self) -> str:
        """Return the model's name in force; raises `ParameterError` when none is given anywhere."""
        name = setting(self.model_env) or self.model
        if not name:
            raise ParameterError(
                f"profile {self.name!r} names no model",
                expected=f"{self.model_env} in the environment or .env" if self.model_env else "`model` in models.toml",
                remedy="name the model, or use the profile 'local', which needs no endpoint",
            )
        return name

    def is_loopback(self) -> bool:
        """Say whether the address is on this machine."""
        return urlsplit(self.address()).hostname in _LOOPBACK

    def key_state(self) -> str:
        """Say whether the key is `set`, `unset` or `not needed`; never anything of the key itself."""
        if not self.key_env:
            return "not needed"
        return "set" if setting(self.key_env) else "unset"


_BUILT_IN: dict[str, dict[str, Any]] = {
    "default": {
        "base_url_env": "OPENAI_BASE_URL", "key_env": "OPENAI_API_KEY", "model_env": "OPENAI_MODEL",
    },
    # One request at a time: on few cores several at once are no quicker, and one alone is the same everywhere.
    # The stop goes with the plain template that the packaged base model is given.
    "local": {
        "kind": "embedded", "model": "gemma-3-270m-q4_k_m", "price_in": 0.0, "price_out": 0.0, "context_window": 8192,
        "max_tokens": 256, "concurrency": 1, "timeout": 600.0, "max_retries": 2, "schema_in_prompt": False,
        "weak": True, "extra": {"stop": ["\n###"]},
    },
}


def setting(name: str) -> str:
    """Return an environment variable, or its line in the workspace's `.env`; the environment wins. Empty when unset."""
    if not name:
        return ""
    value = os.environ.get(name)
    if value is None:
        value = _dotenv().get(name)
    return (value or "").strip()


def _dotenv() -> dict[str, str | None]:
    try:
        path = project_root() / ".env"
        stamp = path.stat().st_mtime_ns
    except (OSError, RunError):
        return {}
    return _read_dotenv(path, stamp)


@lru_cache(maxsize=4)
def _read_dotenv(path: Path, stamp: int) -> dict[str, str | None]:
    from dotenv import dotenv_values

    # Read, not loaded: a key in os.environ would be handed to every process that is started from here.
    return dotenv_values(path, interpolate=False, encoding="utf-8-sig")


def profiles(path: Path | None = None) -> dict[str, Profile]:
    """Return all profiles by name: the built-in `default` and `local`, changed and joined by those of `models.toml`.

    Raises `ParameterError` that names the file, the profile and the setting.
    """
    tables: dict[str, dict[str, Any]] = {name: dict(values) for name, values in _BUILT_IN.items()}
    for name, values in _tables(path).items():
        if not isinstance(values, dict):
            raise ParameterError(
                f"models.toml: {name!r} stands outside of a profile", expected="tables such as [judge-one]",
                remedy="move the line below the head of a profile",
            )
        tables[name] = {**tables.get(name, {}), **values}
    return {name: _profile(name, values) for name, values in tables.items()}


def _tables(path: Path | None) -> dict[str, Any]:
    if path is None:
        chosen = os.environ.get("LITSYNTH_MODELS")
        try:
            path = Path(chosen) if chosen else project_root() / "models.toml"
        except RunError:
            return {}
        if not chosen and not path.exists():
            return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError(
            f"{path} cannot be read ({error})", expected="TOML with one table a profile",
            remedy="correct the file; models.toml in the repository shows every setting",
        ) from None


_INTEGERS = ("context_window", "max_tokens", "concurrency", "max_retries", "slots")
_NUMBERS = ("price_in", "price_out", "timeout", "backoff", "max_wait")
_SWITCHES = ("schema_in_prompt", "counts_whole_prompt", "weak")
_FROM_ZERO = ("price_in", "price_out", "max_retries", "backoff", "max_wait")


def _profile(name: str, values: Mapping[str, Any]) -> Profile:
    known = [item.name for item in fields(Profile) if item.name != "name"]
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise unknown_name(f"setting of model profile {name!r}", key, known)
        checked[key] = _checked(name, key, value)
    profile = Profile(name, **checked)
    if profile.kind not in ("endpoint", "embedded"):
        raise _wrong(name, "kind", profile.kind, "endpoint or embedded")
    if profile.structured not in STRUCTURED_MODES:
        raise _wrong(name, "structured", profile.structured, "one of " + ", ".join(STRUCTURED_MODES))
    return profile


def _checked(name: str, key: str, value: Any) -> Any:
    if key in _SWITCHES:
        if not isinstance(value, bool):
            raise _wrong(name, key, value, "true or false")
        return value
    if key in _INTEGERS or key in _NUMBERS:
        number = isinstance(value, int) or (key in _NUMBERS and isinstance(value, float))
        least = 0 if key in _FROM_ZERO else 1
        if isinstance(value, bool) or not number or not least <= value < float("inf"):
            raise _wrong(name, key, value, f"a {'number' if key in _NUMBERS else 'whole number'} of at least {least}")
        return value
    if key == "rejects":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong(name, key, value, "a list of parameter names")
        return tuple(value)
    if key == "extra":
        if not isinstance(value, dict):
            raise _wrong(name, key, value, "a table of request fields")
        if any(re.search(r"api_?key|authorization|secret|password", field_name, re.I) for field_name in value):
            raise ParameterError(
                f"models.toml: extra of profile {name!r} holds a key", expected="keys in .env or the environment alone",
                remedy="name the key's variable in key_env",
            )
        return value
    if not isinstance(value, str):
        raise _wrong(name, key, value, "a text")
    if key.endswith("_env") and value and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ParameterError(  # the value is not shown: people put the key itself there
            f"models.toml: {key} of profile {name!r} is no name of an environment variable",
            expected="a name such as OPENAI_API_KEY; never the key itself", remedy="put the value into .env",
        )
    return value


def _wrong(name: str, key: str, value: Any, expected: str) -> LitsynthError:
    return ParameterError(
        f"models.toml: {key} of profile {name!r} is {value!r}", expected=expected, remedy="correct the file"
    )


def find_profile(name: str) -> Profile:
    """Return the profile called `name`, `profile:model` for another model at its address, or one for a `.gguf` file.

    Raises `ParameterError` with the nearest name for anything else.
    """
    known = profiles()
    if name in known:
        return known[name]
    from dataclasses import replace

    if name.endswith(".gguf"):
        return replace(known["local"], name=Path(name).stem, model=Path(name).stem, gguf=name, weak=False,
                       schema_in_prompt=True, extra={})
    head, colon, model = name.partition(":")
    if colon and model and head in known:
        return replace(known[head], name=name, model=model, model_env="")
    raise unknown_name("model profile", name, known, remedy="or add the profile to models.toml")


def profile_or_model(name: str) -> str:
    """Return the profile that a name given for a model means: itself, or `default:NAME` for a plain model name.

    Model names may hold slashes and colons (`qwen3:8b`, `vendor/model:free`). A name, or its part before a colon, that
    is nearly that of a profile is left as it is, so that a misspelt one is refused and not sent; so is a blank one.
    """
    known = profiles()
    head = name.partition(":")[0]
    plain = bool(name.strip()) and not name.endswith(".gguf") and not {name, head} & set(known)
    near = any(difflib.get_close_matches(part, known, n=1, cutoff=0.6) for part in (name, head))
    return f"default:{name}" if plain and not near else name
