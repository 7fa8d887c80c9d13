"""Profiles: where they come from, what is refused, and what is shown of keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from litsynth.errors import ParameterError
from litsynth.llm import profiles
from litsynth.llm.profiles import find_profile, profile_or_model, setting


def write(home: Path, text: str) -> None:
    (home / "models.toml").write_text(text, encoding="utf-8")


def test_default_and_local_are_always_there(home: Path) -> None:
    found = profiles()
    assert set(found) == {"default", "local"}
    assert (found["default"].key_env, found["local"].weak) == ("OPENAI_API_KEY", True)


def test_file_adds_and_changes(home: Path) -> None:
    write(home, '[default]\nconcurrency = 9\n[judge]\nmodel = "m"\nbase_url = "https://x.example/v1/"\nprice_in = 1\n')
    found = profiles()
    assert found["default"].concurrency == 9
    assert found["default"].key_env == "OPENAI_API_KEY"
    judge = found["judge"]
    assert (judge.address(), judge.price_in, judge.price_out) == ("https://x.example/v1", 1, None)


def test_committed_file_is_sound_and_so_are_its_examples(root: Path, tmp_path: Path) -> None:
    text = (root / "models.toml").read_text(encoding="utf-8")
    assert set(profiles(root / "models.toml")) == {"default", "local"}
    judges = text[text.index("# [judge-one]"):]
    (tmp_path / "judges.toml").write_text("\n".join(line[2:] for line in judges.splitlines()), encoding="utf-8")
    found = profiles(tmp_path / "judges.toml")
    assert set(found) == {"default", "local", "judge-one", "judge-two", "judge-three"}
    assert len({profile.address() for profile in found.values() if profile.name.startswith("judge")}) == 3


@pytest.mark.parametrize(("text", "words"), [
    ("[a]\nmodle = 'm'", "did you mean 'model'"), ("[a]\nconcurrency = 0", "concurrency"),
    ("[a]\nconcurrency = true", "concurrency"), ("[a]\nprice_in = -1", "price_in"), ("[a]\nprice_in = nan", "price_in"),
    ("[a]\ntimeout = 'long'", "timeout"), ("[a]\nrejects = 'seed'", "rejects"), ("[a]\nweak = 1", "weak"),
    ("[a]\nkind = 'cloud'", "endpoint or embedded"), ("[a]\nstructured = 'xml'", "json_schema"),
    ("[a]\nextra = {api_key = 'x'}", "holds a key"), ("concurrency = 3", "outside of a profile"),
    ("[a", "cannot be read"),
    ("[a]\nextra = 3", "extra"), ("[a]\nbase_url_env = 'MY URL'", "no name of an environment variable"),
])
def test_mistakes_are_named(home: Path, text: str, words: str) -> None:
    write(home, text)
    with pytest.raises(ParameterError) as caught:
        profiles()
    assert words in str(caught.value)


@pytest.mark.parametrize("address", ["host.example/v1", "ftp://x/v1", "https://me:pw@x.example/v1", "https://x/v1?key=1"])
def test_addresses_are_plain(home: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(ParameterError) as caught:
        profiles()["default"].address()
    assert "pw" not in str(caught.value)


def test_environment_wins_over_dotenv(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".env").write_text('\ufeffOPENAI_MODEL="from file"\nOPENAI_API_KEY=sk-a$b{c}\n', encoding="utf-8")
    assert (setting("OPENAI_MODEL"), setting("OPENAI_API_KEY")) == ("from file", "sk-a$b{c}")
    monkeypatch.setenv("OPENAI_MODEL", " from environment\n")
    assert setting("OPENAI_MODEL") == "from environment"
    monkeypatch.setenv("OPENAI_MODEL", "")  # set to nothing is a choice too
    assert setting("OPENAI_MODEL") == ""
    assert profiles()["default"].key_state() == "set"


def test_names(home: Path) -> None:
    with pytest.raises(ParameterError, match="did you mean 'local'"):
        find_profile("locl")
    with pytest.raises(ParameterError, match="names no model"):
        profiles()["default"].model_name()
    assert find_profile("default:gpt-x:1").model_name() == "gpt-x:1"
    own = find_profile("/models/Some-7B.gguf")
    assert (own.kind, own.model, own.weak, own.gguf) == ("embedded", "Some-7B", False, "/models/Some-7B.gguf")


def test_a_key_in_the_place_of_its_variable_is_refused_and_not_repeated(home: Path) -> None:
    write(home, "[a]\nmodel = 'm'\nkey_env = 'sk-canary-123456'")
    with pytest.raises(ParameterError, match="key_env of profile 'a' is no name of an environment variable") as caught:
        profiles()
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(("given", "meant"), [
    ("local", "local"), ("default", "default"), ("gpt-5.4-mini", "default:gpt-5.4-mini"),
    ("default:a:1", "default:a:1"),
    ("defualt", "defualt"), ("locl", "locl"), ("some/model", "default:some/model"), ("x.gguf", "x.gguf"),
    ("qwen3:8b", "default:qwen3:8b"), ("vendor/model:free", "default:vendor/model:free"), ("defualt:m", "defualt:m"),
    (" ", " "), ("", "")])
def test_a_judge_may_be_named_by_its_model_alone(given, meant):
    assert profile_or_model(given) == meant
