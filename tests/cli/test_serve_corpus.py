"""The corpus server as agents meet it: the SDK's own client over HTTP and standard input, a whole task evaluated."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from typer.testing import CliRunner

from litsynth import datasets
from litsynth.cli import app
from litsynth.cli.agents import _limits
from litsynth.errors import DataError, LitsynthError, ParameterError
from litsynth.scoring.evaluation import Evaluator, evaluate_review
from litsynth.scoring.submission import read_submission

COMMAND = [sys.executable, "-c", "from litsynth.cli import main; main()"]
SERVE = ["serve-corpus", "--dataset", "sample", "--review-id", "1", "--retriever", "bm25"]
SEARCH, FETCH = "search_metasyn_corpus", "fetch_metasyn_record"
SAMPLE = datasets.load("sample")
REVIEW = SAMPLE.reviews[1]
OWN = REVIEW.source_ids[0]
LIMITS = ("--k", "5", "--max-distinct-articles", "12", "--max-searches", "30")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address and trace of a server with `LIMITS`, which has to end quietly when it is told to."""
    trace = tmp_path_factory.mktemp("served") / "trace.jsonl"
    with _serving(*LIMITS, "--trace", str(trace)) as (address, process):
        yield address, trace
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()


@contextmanager
def _serving(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    process = subprocess.Popen([*COMMAND, *SERVE, "--port", "0", *options], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        line = process.stdout.readline()
        assert "serving review 1 at http://127.0.0.1:" in line, line + process.stderr.read()
        yield line.split()[-1], process
    finally:
        process.kill()
        process.communicate()


def _run(*arguments: str) -> str:
    """Run a command in this process and return what it printed; an error that the user can mend is raised."""
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, LitsynthError):
        raise result.exception
    return result.output


def _ids(result) -> list[int]:
    return [record["corpus_id"] for record in result.structured_content["results"]]


async def _call(client: Client, tool: str, **arguments):
    return await client.call_tool(tool, arguments)


async def _refused(client: Client, tool: str, **arguments) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


async def _use(client: Client) -> int:
    """Search, fetch, and everything that is refused: the same over every transport (k 5, 12 articles, 30 searches).

    Returns how many further articles the task may be shown.
    """
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {SEARCH, FETCH}
    assert set(tools[SEARCH].input_schema["properties"]) == {"query", "k"}
    assert set(tools[FETCH].input_schema["properties"]) == {"corpus_id", "section", "chunk", "chunk_chars"}
    assert "Research Question:" in (await client.get_prompt("metasyn_review_task")).messages[0].content.text

    found = await _call(client, SEARCH, query="lactocillin drops preterm infants", k=3)
    assert len(_ids(found)) == 3
    assert found.content[0].text.endswith("Left: 9 new articles, 29 searches.")
    read = (await _call(client, FETCH, corpus_id=_ids(found)[0], section="abstract", chunk=1, chunk_chars=40))
    assert read.structured_content["text"] == SAMPLE.corpus[_ids(found)[0]].abstract[:40]

    by_title = await _call(client, SEARCH, query=SAMPLE.corpus[OWN].title)
    assert OWN not in _ids(by_title)
    assert "was not returned by a search of this task" in await _refused(client, FETCH, corpus_id=OWN)
    unseen = next(number for number in SAMPLE.corpus if number not in _ids(found) + _ids(by_title))
    assert "was not returned by a search of this task" in await _refused(client, FETCH, corpus_id=unseen)

    for wrong, said in (({}, "argument 'query' is missing"), ({"query": 3}, "query is 3"),
                        ({"query": "x", "k": "many"}, "k is 'many'"), ({"query": "x", "depth": 1}, "'depth'")):
        assert said in await _refused(client, SEARCH, **wrong)
    assert "chunk is 0" in await _refused(client, FETCH, corpus_id=_ids(found)[0], chunk=0)
    assert "there is no tool 'delete'" in await _refused(client, "delete")

    for query in ("gastroschisis", "colic infants", "bifidotrine", "lactoferrane", "placebo"):
        last = await _call(client, SEARCH, query=query)
    assert last.structured_content["remaining"]["distinct_articles"] == 0
    assert "has been shown its 12 distinct articles" in last.content[0].text
    again = await _call(client, SEARCH, query="lactocillin drops preterm infants", k=3)
    assert _ids(again) == _ids(found)
    return again.structured_content["remaining"]["distinct_articles"]


def test_http_client_meets_every_rule_and_every_call_is_traced(served) -> None:
    address, trace = served

    async def use() -> None:
        async with Client(f"{address}?task=rules") as client:
            await _use(client)

    asyncio.run(use())
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["client"] == "rules"]
    assert [row["call"] for row in rows] == list(range(1, len(rows) + 1))
    assert len({number for row in rows for number in row.get("new", [])}) == 12
    assert {row["tool"] for row in rows} == {"search", "fetch", SEARCH, "delete"}  # the last two were refused
    assert {row["error"] for row in rows} == {None, "CorpusPermissionError", "ParameterError"}
    assert all(row["dataset"] == SAMPLE.checksum and not row["uses_gold"] and row["seconds"] >= 0 for row in rows)


def test_two_clients_at_once_have_ceilings_and_permissions_of_their_own(served) -> None:
    address, _ = served

    async def use() -> None:
        async with Client(address) as one, Client(address) as two, Client(f"{address}?task=a") as three, \
                Client(address.replace("/mcp", "/tasks/a/mcp")) as four, \
                Client(f"{address}?task=a", mode="2026-07-28") as five:
            first, second = await asyncio.gather(_call(one, SEARCH, query="lactocillin drops", k=5),
                                                 _call(two, SEARCH, query="gastroschisis", k=2))
            assert (first.structured_content["remaining"]["distinct_articles"],
                    second.structured_content["remaining"]["distinct_articles"]) == (7, 10)
            own = next(number for number in _ids(first) if number not in _ids(second))
            assert "was not returned" in await _refused(two, FETCH, corpus_id=own)
            assert not (await _call(one, FETCH, corpus_id=own)).is_error
            # Sessions that name a task share it: some agents open a session for every call.
            assert "was not returned" in await _refused(three, FETCH, corpus_id=own)
            await _call(three, SEARCH, query="lactocillin drops", k=5)
            assert not (await _call(four, FETCH, corpus_id=own)).is_error
            assert not (await _call(five, FETCH, corpus_id=own)).is_error
        async with Client(address, mode="2026-07-28") as client:
            assert "belongs to no session" in await _refused(client, SEARCH, query="x")
        async with Client(f"{address}?task=../x") as client:
            assert "task name" in await _refused(client, SEARCH, query="x")

    asyncio.run(use())


def test_requests_for_another_host_or_from_a_foreign_page_are_refused(served) -> None:
    for header in ({"Host": "example.org"}, {"Origin": "http://example.org"}):
        asked = urllib.request.Request(served[0], b"{}", {"Content-Type": "application/json", **header})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=10)
        assert refused.value.code in (403, 421)


def test_stdio_client_meets_every_rule() -> None:
    async def use() -> int:
        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *SERVE, "--transport", "stdio", *LIMITS],
                                       env=dict(os.environ))
        async with Client(server) as client:
            return await _use(client)

    assert asyncio.run(use()) == 0


def test_standard_output_holds_protocol_and_nothing_else() -> None:
    # A retriever that prints, as libraries do, before and while it serves, to both layers of the standard output.
    code = ("import os\nfrom litsynth.retrieval.bm25 import Bm25Retriever as R\nsearch = R.search\n"
            "def loud(*a, **k):\n    print('loading')\n    os.write(1, b'raw\\n')\n    return search(*a, **k)\n"
            "R.search = loud\nimport litsynth.datasets as d\nload = d.load\n"
            "d.load = lambda *a: (print('data'), os.system('echo child'), load(*a))[-1]\n"
            "from litsynth.cli import main\nmain()")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                 "params": {"name": SEARCH, "arguments": {"query": "lactocillin"}}}]
    process = subprocess.Popen([sys.executable, "-c", code, *SERVE, "--transport", "stdio"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = []
    process.stdin.write("no json\n" + "".join(f"{json.dumps(message)}\n" for message in messages))
    process.stdin.flush()
    while not (lines and json.loads(lines[-1]).get("id") == 2):
        lines.append(process.stdout.readline())
    process.stdin.close()
    rest, printed = process.stdout.read(), process.stderr.read()
    assert process.wait(20) == 0
    for line in [*lines, *rest.splitlines()]:
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert {"data", "child", "loading", "raw"} <= set(printed.split())


def test_a_client_completes_a_task_whose_result_is_evaluated(served, tmp_path: Path) -> None:
    (address, trace), report = served, tmp_path / "agent.md"

    async def work() -> None:
        async with Client(f"{address}?task=run1") as client:
            for query in (REVIEW.research_question, "lactocillin drops placebo preterm infants randomised"):
                found = await _call(client, SEARCH, query=query)
            chosen = found.structured_content["results"][:4]
            await _call(client, FETCH, corpus_id=chosen[0]["corpus_id"])
            lines = [f"- {record['title']} (Corpus ID: {record['corpus_id']})" for record in chosen]
            report.write_text("\n".join(("# Review", "## Final included studies", *lines)), encoding="utf-8")

    asyncio.run(work())
    arguments = ("agent-result", "--dataset", "sample", "--review-id", "1", "--trace", str(trace), "--report",
                 str(report), "--system", "mine")
    assert "4 of " in _run(*arguments, "--client", "run1", "--output", str(tmp_path / "out"))
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["details"]["tools"]["limits"]["max_searches"] == 30
    assert len(results["included_article_ids"]) == 4
    records = {}
    for source in ("report", "json"):
        submission = read_submission(tmp_path / "out" / "results.json", tmp_path / "out" / "report.md")
        records[source] = evaluate_review(submission, Evaluator(SAMPLE, source))
        assert records[source]["status"] == "succeeded"
    assert records["report"]["metrics"] == records["json"]["metrics"]
    reference, metrics = SAMPLE.gold[1].included_ids, records["report"]["metrics"]
    shown, included = set(results["retrieved_article_ids"]), set(results["included_article_ids"])
    # The definitions: |P and G| / |G|, |L and G| / |G|, |L and G| / |L|.
    assert metrics["retrieval_recall"] == len(shown & reference) / len(reference)
    assert metrics["inclusion_recall"] == len(included & reference) / len(reference)
    assert metrics["inclusion_precision"] == len(included & reference) / 4
    with pytest.raises(DataError, match=r"none of them 'run2'.*run1"):
        _run(*arguments, "--client", "run2", "--output", str(tmp_path / "out"))


def test_wrong_use_is_refused_with_what_would_be_right() -> None:
    with pytest.raises(ParameterError, match="did you mean 'stdio'"):
        _run(*SERVE, "--transport", "stdoi")
    with pytest.raises(ParameterError, match="unknown published settings 'gpt'"):
        _run(*SERVE, "--settings", "gpt")
    with pytest.raises(ParameterError, match="sample has no review 0"):
        _run("agent-prompt", "--dataset", "sample", "--review-id", "0")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ParameterError, match=r"port [0-9]+ cannot be used"):
            _run(*SERVE, "--port", str(taken.getsockname()[1]))


def test_published_settings_reach_the_server() -> None:
    limits = _limits("open-deep-research", k=7, max_searches=None)
    assert (limits["k"], limits["max_searches"], limits["max_fetches"]) == (7, 10, 100)
