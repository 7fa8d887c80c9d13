"""A canary key in the environment is found nowhere afterwards: files, exports, logs, output, reprs, errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from stub_server import CANARY, Reply, StubServer, answer, error

from litsynth.llm.refusals import scrub

SCRIPT = """
import logging, sys, traceback
logging.basicConfig(level=logging.DEBUG, filename="debug.log")
from litsynth.llm import open_model, profiles
from litsynth.llm.archive import export_completions
from litsynth.llm.cache import CompletionCache
from litsynth.records import ModelRequest
from pathlib import Path

def ask(text):
    return ModelRequest(messages=[{"role": "user", "content": text}], prompt_version="v")

print(profiles())
door = open_model("default")
print(door, vars(door), vars(door._endpoint))
for text in ("plain", "told the key", "masked", "refused", "broken", "plain"):
    try:
        print(door.complete(ask(text)))
    except Exception as problem:
        traceback.print_exc()
        print(repr(problem), vars(problem))
print(door.complete_many([ask("many"), ask("more")], stage="asking"))
print(door.spent())
export_completions(CompletionCache(), Path("export.jsonl"))
"""


def _plays(body: dict, number: int) -> Reply:
    text = body["messages"][0]["content"]
    if text == "told the key":
        return answer(f"The header was: Bearer {CANARY}.")
    if text == "masked":
        return error(400, f"Incorrect API key provided: {CANARY[:8]}*****{CANARY[-4:]}. Or was it {CANARY[:12]}?")
    if text == "refused":
        return error(401, f"Incorrect API key provided: {CANARY}")
    if text == "broken":
        return error(500, f"trace: Authorization: Bearer {CANARY}")
    return answer("fine")


@pytest.mark.parametrize("place", ["environment", "dotenv"])
def test_canary_is_found_nowhere(stub: StubServer, home: Path, place: str) -> None:
    stub.play(_plays)
    folder = home / "notebooks"
    folder.mkdir()
    names = {"OPENAI_API_KEY": CANARY, "OPENAI_BASE_URL": stub.url, "OPENAI_MODEL": "m"}
    environment = {**os.environ, "OPENAI_LOG": "debug"}
    (home / "models.toml").write_text("[default]\nmax_retries = 1\nbackoff = 0.001\n", encoding="utf-8")
    if place == "environment":
        environment.update(names)
    else:
        lines = "".join(f'{name}="{value}"\n' for name, value in names.items())
        (home / ".env").write_text(lines, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=folder, env=environment, capture_output=True, text=True, timeout=120,
        check=True,
    )
    assert any(CANARY in headers["authorization"] for headers in stub.headers)  # it was in use
    (home / ".env").unlink(missing_ok=True)

    texts = {"stdout": done.stdout.encode(), "stderr": done.stderr.encode()}
    texts |= {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert {Path(name).name for name in texts} >= {"completions.sqlite", "export.jsonl", "debug.log"}
    for name, content in texts.items():
        for piece in (CANARY, CANARY[:8], CANARY[3:], CANARY[-10:]):
            assert piece.encode() not in content, f"{piece!r} stands in {name}"


def test_scrubbing_leaves_ordinary_text_alone() -> None:
    text = "The risk-adjusted task took 12 sk-steps *in* total; key-findings: none. **Bold** words stay."
    assert scrub("The model x was not found; try model-y.", CANARY) == "The model x was not found; try model-y."
    assert scrub(text, "").startswith("The risk-adjusted task took 12 ")
    assert CANARY[:6] not in scrub(f"a {CANARY}b {CANARY[:9]}", CANARY)


def test_local_server_is_given_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    from litsynth.llm.local import _bare_environment

    monkeypatch.setenv("SOME_API_KEY", CANARY)
    monkeypatch.setenv("HF_TOKEN", CANARY)
    assert CANARY not in _bare_environment().values()
    assert "PATH" in _bare_environment()
