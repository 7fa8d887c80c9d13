"""The commands: models, cache info, export and import."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from stub_server import CANARY
from test_completion_cache import sample
from typer.testing import CliRunner

from litsynth.cli import llm
from litsynth.errors import DataError
from litsynth.llm.cache import CompletionCache

app = typer.Typer()
llm.register(app)


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == code, result.output
    return result.output


def test_models_show_keys_as_set_or_unset_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    text = '[judge]\nmodel = "m"\nbase_url = "https://x.example/v1"\nkey_env = "JUDGE_KEY"\n[free]\nmodel = "f"\n'
    (home / "models.toml").write_text(text, encoding="utf-8")
    lines = run("models").splitlines()
    assert lines == [
        "default: not usable yet: profile 'default' names no model; key OPENAI_API_KEY set",
        "local: gemma-3-270m-q4_k_m on this machine; weak demonstration model; key not needed",
        "judge: m at https://x.example/v1; key JUDGE_KEY unset",
        "free: f at https://api.openai.com/v1; key not needed",
    ]


def test_cache_travels(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "0 answers" in run("cache", "info")
    cache = CompletionCache()
    for number in range(3):
        cache.put(*sample(number, status="ok" if number else "unparsed"))
    shown = run("cache", "info")
    assert "3 answers" in shown
    assert "2  ok  v1  m  http://host.example/v1" in shown
    exported = tmp_path / "out" / "answers.jsonl"
    assert "2 answers" in run("cache", "export", str(exported), "--filter", "status=ok")

    monkeypatch.setenv("LITSYNTH_DATA", str(tmp_path / "elsewhere"))
    assert "2 answers added, 0 known" in run("cache", "import", str(exported))
    assert "0 answers added, 2 known" in run("cache", "import", str(exported))
    conflicting = CompletionCache()
    conflicting.put(*sample(1, text="another"), replace=True)
    output = run("cache", "import", str(exported))
    assert "1 of them have another answer here, which was kept" in output


def test_damage_is_an_error_with_a_way_out(home: Path) -> None:
    path = CompletionCache().path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database, but long enough to look at" * 200)
    result = CliRunner().invoke(app, ["cache", "info"])
    assert isinstance(result.exception, DataError)
    assert "mv " in str(result.exception)


def test_serve_model_refuses_what_is_no_model(home: Path, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_text("hello", encoding="utf-8")
    result = CliRunner().invoke(app, ["serve-model", "--gguf", str(tmp_path / "x.gguf")])
    assert "is no GGUF file" in str(result.exception)
