"""`litsynth agent`: killed in the middle it asks only for what is missing, and its result is evaluated like any."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from litsynth import datasets
from litsynth.cli import app
from litsynth.scoring.evaluation import Evaluator, evaluate_review
from litsynth.scoring.submission import read_submission

COMMAND = [sys.executable, "-c", "from litsynth.cli import main; main()"]
AGENT = ["agent", "--review-id", "1", "--retriever", "bm25", "--k", "4"]


class Endpoint(ThreadingHTTPServer):
    """Searches three times, then hands in a report of the first two articles; never answers request `silent_at`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.silent_at = -1
        self.hanging, self.release = threading.Event(), threading.Event()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(json.dumps(body["messages"]))
        if len(self.server.asked) == self.server.silent_at:
            self.server.hanging.set()
            self.server.release.wait(200)
            return
        results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
        queries = ("lactocillin drops", "preterm infants placebo", "necrotising enterocolitis")
        if len(results) < 3:
            name, arguments = "search", {"query": queries[len(results)]}
        else:
            shown = [line for line in results[0].splitlines() if line.startswith("Corpus ID: ")][:2]
            lines = [f"- {line.split(' | ')[1].removeprefix('Title: ')} ({line.split(' | ')[0]})" for line in shown]
            name, arguments = "finish", {"report": "\n".join(("# Report", "## Final included studies", *lines))}
        call = {"id": f"c{len(results)}", "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)}}
        answer = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "stub", "choices": [
            {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [call]}}],
            "usage": {"prompt_tokens": 5000, "completion_tokens": 5, "total_tokens": 5005}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()


def test_a_killed_agent_asks_only_for_the_rest(endpoint: Endpoint, workspace: Path, root: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BASE_URL", f"http://127.0.0.1:{endpoint.server_port}/v1"), ("API_KEY", "none"),
                        ("MODEL", "stub")):
        monkeypatch.setenv(f"OPENAI_{name}", value)
    arguments = [*AGENT, "--dataset", str(root / "data" / "sample"), "--output", str(workspace / "out")]
    endpoint.silent_at = 3
    killed = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert endpoint.hanging.wait(150)
    killed.kill()
    killed.wait(20)
    assert not (workspace / "out").exists()
    assert len(endpoint.asked) == 3
    endpoint.silent_at = -1
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    # Two of four answers were kept: the one that was interrupted and the last are all that is asked again.
    assert len(endpoint.asked) == 5
    assert endpoint.asked[3] == endpoint.asked[2]
    assert len(set(endpoint.asked)) == 4

    results = json.loads((workspace / "out" / "results.json").read_text(encoding="utf-8"))
    assert (results["status"], results["system"], results["weak_model"]) == ("scored", "agent", False)
    assert results["token_usage"]["total_tokens"] == 20020
    assert len(results["included_article_ids"]) == 2
    trace = [json.loads(line) for line in (workspace / "out" / "trace.jsonl").read_text("utf-8").splitlines()]
    assert [step["kind"] for step in trace] == ["model", "tool"] * 3 + ["model"]
    assert [step["cached"] for step in trace if step["kind"] == "model"] == [True, True, False, False]
    submission = read_submission(workspace / "out" / "results.json", workspace / "out" / "report.md")
    records = [evaluate_review(submission, Evaluator(datasets.load("sample"), source)) for source in ("report", "json")]
    assert records[0]["metrics"] == records[1]["metrics"]
    assert [record["status"] for record in records] == ["succeeded"] * 2
