"""GPT-Researcher's own MCP retriever works on the corpus server, where a Python that has it is named."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = Path(__file__).with_name("gpt_researcher_probe.py")
VARIABLE = "LITSYNTH_GPT_RESEARCHER"
SERVE = [sys.executable, "-c", "from litsynth.cli import main; main()", "serve-corpus", "--dataset", "sample",
         "--review-id", "1", "--retriever", "bm25", "--port", "0", "--settings", "gpt-researcher"]


@pytest.fixture(scope="module")
def their_python() -> str:
    """The Python of an environment with gpt-researcher, whose MCP client needs another SDK version than ours."""
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no Python with gpt-researcher and langchain-mcp-adapters")
    found = subprocess.run([python, "-c", "import gpt_researcher, langchain_mcp_adapters"], capture_output=True)
    if found.returncode:
        pytest.skip(f"{python} ({VARIABLE}) has no gpt-researcher with langchain-mcp-adapters")
    return python


def test_its_retriever_searches_and_is_refused_like_any_client(their_python: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    server = subprocess.Popen([*SERVE, "--trace", str(trace)], text=True, stdout=subprocess.PIPE)
    try:
        address = server.stdout.readline().split()[-1].replace("/mcp", "/tasks/theirs/mcp")
        done = subprocess.run([their_python, str(PROBE), address, "lactocillin drops"], capture_output=True, text=True,
                              timeout=250, cwd=tmp_path)
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0
    finally:
        server.kill()
        server.communicate()
    assert done.returncode == 0, done.stderr
    found, refused = json.loads(done.stdout.splitlines()[-1])[:2]
    assert len(re.findall(r"Corpus ID: \d+ \| Title: ", found["body"])) == 3
    assert "Left: 197 new articles." in found["body"]
    assert "was not returned by a search of this task" in refused["body"]
    # It opens a session for each call; the task named in the address holds them together.
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert [(row["client"], row["call"], row["tool"]) for row in rows] == [("theirs", 1, "search"),
                                                                           ("theirs", 2, "fetch")]
