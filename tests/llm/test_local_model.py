"""The embedded model: its file, its process, and real answers in a script, in a notebook and over curl."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from stub_server import ask

from litsynth.errors import ModelError
from litsynth.files import sha256_file
from litsynth.llm import open_model, profiles
from litsynth.llm.local import LocalServer, local_identity, model_file

# Published with the package that holds the file's parts.
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
SCHEMA = {"type": "object", "properties": {"include": {"type": "boolean"}}, "required": ["include"],
          "additionalProperties": False}
QUESTION = "A trial gave aspirin to 200 adults. Is it a study in adults? Answer in JSON with the field include."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace for this file, so that the model is assembled once."""
    path = tmp_path_factory.mktemp("workspace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITSYNTH_HOME", str(path))
        patch.setenv("LITSYNTH_DATA", str(path / "data"))
        yield path
    shutil.rmtree(path / "data" / "raw", ignore_errors=True)


def local() -> object:
    return profiles()["local"]


def gone(process_id: int, seconds: float = 10.0) -> bool:
    """Say whether a process ends within some seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_identity_needs_no_file_and_no_process(folder: Path) -> None:
    door = open_model("local")
    assert door.identity.startswith(f"local:{SHA256}/")
    assert door.weak
    assert "weak demonstration model" in door.name
    assert not (folder / "data" / "raw").exists()
    other = replace(local(), chat_template="{{ messages[0].content }}")
    assert local_identity(other) != door.identity


def test_file_is_made_once_and_made_again_when_altered(folder: Path) -> None:
    path = model_file(local())
    assert sha256_file(path) == SHA256
    stamp = path.stat().st_mtime_ns
    assert model_file(local()).stat().st_mtime_ns == stamp
    with path.open("r+b") as handle:
        handle.seek(1000)
        handle.write(b"altered")
    assert sha256_file(model_file(local())) == SHA256
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_given_file_must_be_a_model(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        open_model(str(tmp_path / "none.gguf"))
    (tmp_path / "text.gguf").write_text("hello", encoding="utf-8")
    with pytest.raises(ModelError, match="no GGUF file"):
        open_model(str(tmp_path / "text.gguf"))


def test_start_has_a_time_limit_and_leaves_nothing(folder: Path) -> None:
    server = LocalServer(local(), start_seconds=0.01)
    with pytest.raises(ModelError, match="did not start within"):
        server.start()
    assert not server.is_running()


def test_broken_model_file_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    answer_of = LocalServer(replace(local(), gguf=str(tmp_path / "broken.gguf")), start_seconds=60)
    with pytest.raises(ModelError, match="did not start"):
        answer_of.start()


SCRIPT = f"""
import json, sys
from litsynth.llm import open_model
from litsynth.records import ModelRequest
door = open_model("local")
request = ModelRequest(messages=[{{"role": "user", "content": {QUESTION!r}}}], prompt_version="e2e", schema={SCHEMA!r},
                       max_tokens=60)
first, second = door.complete(request), door.complete(request)
server = door._endpoint._server
print(json.dumps({{"status": first.status, "parsed": first.parsed, "cached": [first.cached, second.cached],
                  "same": first.parsed == second.parsed, "tokens": first.usage.completion_tokens,
                  "process": server and server.process_id}}), flush=True)
"""


@pytest.mark.slow
def test_script(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=280, check=True)
    result = json.loads(done.stdout)
    assert result["status"] == "ok"
    assert set(result["parsed"]) == {"include"}
    assert (result["cached"], result["same"]) == ([False, True], True)
    assert done.stderr == ""  # quiet
    assert gone(result["process"])
    # Once more: everything is in the cache, and no server is started.
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    again = json.loads(done.stdout)
    assert (again["process"], again["cached"], again["parsed"]) == (None, [True, True], result["parsed"])


@pytest.mark.slow
def test_server_ends_when_its_parent_is_killed(folder: Path) -> None:
    script = SCRIPT.replace("e2e", "killed") + "\nimport time; time.sleep(600)\n"
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        process_id = json.loads(parent.stdout.readline())["process"]
        assert not gone(process_id, 0.2)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        parent.stdout.close()
    assert gone(process_id)


@pytest.mark.slow
def test_notebook(folder: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    code = SCRIPT.replace("e2e", "notebook")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=280, kernel_name="python3").execute()
    texts = [output["text"] for output in notebook.cells[0].outputs if output.get("name") == "stdout"]
    result = json.loads("".join(texts))
    assert (result["status"], set(result["parsed"])) == ("ok", {"include"})
    assert gone(result["process"])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl(folder: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", "from litsynth.cli import main; main()", "serve-model", "--port", "0", "--slots", "1",
         "--ctx", "2048"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        first = server.stdout.readline()
        assert "weak demonstration model" in first
        address = first.split(" at ")[1].split(": ")[0]
        body = {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 60, "temperature": 0, "seed": 0,
                "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}}
        done = subprocess.run(
            ["curl", "-sS", "--noproxy", "*", f"{address}/chat/completions", "-H", "Content-Type: application/json",
             "-d", json.dumps(body)], capture_output=True, text=True, timeout=280, check=True,
        )
        message = json.loads(done.stdout)["choices"][0]["message"]["content"]
        assert set(json.loads(message)) == {"include"}
    finally:
        server.send_signal(signal.SIGINT)
        try:
            code = server.wait(timeout=20)
        finally:
            server.kill()
            server.stdout.close()
            server.stderr.close()
    assert code == 130


@pytest.mark.slow
def test_answers_repeat(folder: Path) -> None:
    """A fresh server and another order give the same texts, one request at a time as the profile has it."""
    requests = [ask(f"Write one sentence about drug number {number}.", max_tokens=16) for number in range(4)]
    texts = []
    for order in (1, -1):
        with open_model("local", renew=["ok", "truncated", "unparsed"]) as door:
            texts.append([answer.text for answer in door.complete_many(requests[::order])][::order])
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_server_that_died_is_started_again(folder: Path) -> None:
    with open_model("local") as door:
        assert door.complete(ask("One", max_tokens=4)).status != "failed"
        first = door._endpoint._server.process_id
        os.kill(first, signal.SIGKILL)
        assert gone(first)
        assert door.complete(ask("Two", max_tokens=4)).status != "failed"
        assert door._endpoint._server.process_id != first
