"""`litsynth serve-corpus`, `litsynth agent`, `litsynth agent-prompt` and `litsynth agent-result`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from litsynth.cli.reviews import chosen_review, say_result, write_files
from litsynth.errors import DataError, ModelError, unknown_name

TRANSPORTS = ("http", "stdio")
_DATASET = typer.Option(..., help="A data set's name (see `litsynth data list`) or a folder with one.")
_REVIEW = typer.Option(..., help="The review that is the task.")
_RETRIEVER = typer.Option(..., help="bm25, minilm, dense_raw, ma_retriever, hybrid, hybrid:A+B, a "
                                    "sentence-transformers folder or a hub id (owner/model).")
_INDEX = typer.Option(None, help="A folder made by `litsynth index`.")
_KIND = typer.Option(None, help="flat (exact) or hnsw (with its setting for agents), for encoders; by default what the "
                                "index is, or flat.")
_DEVICE = typer.Option("auto", help="Where encoders run: auto, cpu, cuda or mps.")
_MODE = typer.Option("actual", help="Order of results: actual, or oracle (reference studies first; label-informed, a "
                                    "diagnosis).")
_SETTINGS = typer.Option(None, help="Published limits: gpt-researcher or open-deep-research; the options below win.")
_K = typer.Option(None, min=1, help="Most records a search returns (20).")
_ARTICLES = typer.Option(None, min=1, help="Most different articles that a task is shown (200).")
_ABSTRACT = typer.Option(None, min=0, help="Characters of an abstract in search results (4000).")
_FETCH = typer.Option(None, min=1, help="Characters of a fetched chunk where none are asked for (6000).")
_MOST_FETCH = typer.Option(None, min=1, help="Most characters that may be asked for (12000).")
_SEARCHES = typer.Option(None, min=0, help="Most searches of a task (no limit).")
_FETCHES = typer.Option(None, min=0, help="Most fetches of a task (no limit).")


def _limits(settings: str | None, **given: int | None) -> dict[str, Any]:
    """Return the limits given by name, over the published ones that `settings` names."""
    from litsynth.systems.agent_tools import PUBLISHED_SETTINGS

    if settings is not None and settings not in PUBLISHED_SETTINGS:
        raise unknown_name("published settings", settings, PUBLISHED_SETTINGS)
    base = dict(PUBLISHED_SETTINGS[settings]) if settings else {}
    return base | {name: value for name, value in given.items() if value is not None}


def _serve_corpus(
    dataset: str = _DATASET,
    review_id: int = _REVIEW,
    retriever: str = _RETRIEVER,
    transport: str = typer.Option("http", help="http (streamable HTTP on this machine) or stdio."),
    port: int = typer.Option(8765, min=0, max=65535, help="Port of http; 0 takes a free one."),
    trace: Path | None = typer.Option(None, help="A JSON Lines file that every call is appended to."),
    mode: str = _MODE,
    index: Path | None = _INDEX,
    kind: str | None = _KIND,
    device: str = _DEVICE,
    settings: str | None = _SETTINGS,
    k: int | None = _K,
    max_distinct_articles: int | None = _ARTICLES,
    search_abstract_characters: int | None = _ABSTRACT,
    fetch_characters: int | None = _FETCH,
    max_fetch_characters: int | None = _MOST_FETCH,
    max_searches: int | None = _SEARCHES,
    max_fetches: int | None = _FETCHES,
) -> None:
    """Serve one review's corpus to agents as an MCP server, until Ctrl-C (http) or the end of the input (stdio).

    Tools: search_metasyn_corpus(query, k) and fetch_metasyn_record(corpus_id, section, chunk, chunk_chars); the prompt
    metasyn_review_task is the task. Each session has its own budget and permissions; sessions at the same
    address /tasks/NAME/mcp share them, for agents that open a session for each call.

    Example: litsynth serve-corpus --dataset sample --review-id 1 --retriever bm25 --trace trace.jsonl
    """
    from litsynth.serving.transports import protocol_output, serve_http, serve_stdio

    if transport not in TRANSPORTS:
        raise unknown_name("transport", transport, TRANSPORTS)
    limits = _limits(settings, k=k, max_distinct_articles=max_distinct_articles, max_searches=max_searches,
                     search_abstract_characters=search_abstract_characters, fetch_characters=fetch_characters,
                     max_fetch_characters=max_fetch_characters, max_fetches=max_fetches)
    given = {"retriever": retriever, "index": index, "kind": kind, "device": device, "mode": mode, "limits": limits,
             "trace": trace, "transport": transport}
    if transport == "stdio":
        with protocol_output() as output:
            server = _open_server(dataset, review_id, **given)
            typer.echo(f"serving review {review_id} on standard input and output", err=True)
            serve_stdio(server, output)
        return
    server = _open_server(dataset, review_id, **given)
    serve_http(server, port, lambda address: typer.echo(f"serving review {review_id} at {address}"))


def _open_server(dataset: str, review_id: int, *, retriever: str, index: Path | None, kind: str | None, device: str,
                 mode: str, limits: dict[str, Any], trace: Path | None, transport: str) -> Any:
    from litsynth import datasets
    from litsynth.experiments.agent_review import open_tools
    from litsynth.retrieval import open_retriever
    from litsynth.serving.corpus_server import build_server
    from litsynth.serving.tasks import TaskBook
    from litsynth.serving.transports import http_session, stdio_session
    from litsynth.systems.agent_tools import build_agent_prompt

    data = datasets.load(dataset)
    review = chosen_review(data, review_id)
    opened = open_retriever(retriever, data, index, kind=kind, device=device)
    example = open_tools(data, review, opened, mode=mode, limits=limits)  # says now what would fail at the first call
    tasks = TaskBook(lambda on_call: open_tools(data, review, opened, mode=mode, on_call=on_call, limits=limits), trace,
                     facts={**example.describe(), "dataset": data.checksum})
    return build_server(tasks, example.limits, build_agent_prompt(review),
                        session=http_session if transport == "http" else stdio_session,
                        handshake_only=transport == "http")


def _agent(
    dataset: str = _DATASET,
    review_id: int = _REVIEW,
    retriever: str = _RETRIEVER,
    output: Path = typer.Option(..., help="The folder for report.md, results.json and trace.jsonl."),
    model: str = typer.Option("default", help="Model profile (see `litsynth models`)."),
    max_steps: int | None = typer.Option(None, min=1, help="Most replies of the model (30; 8 for a weak model)."),
    answer_tokens: int | None = typer.Option(None, min=1, help="Most tokens of a reply (4096; 512 for a weak model)."),
    protocol: str = typer.Option("auto", help="tools, json (for models that know no tools) or auto."),
    seed: int = typer.Option(0, help="Seed that is sent to the model."),
    mode: str = _MODE,
    index: Path | None = _INDEX,
    kind: str | None = _KIND,
    device: str = _DEVICE,
    settings: str | None = _SETTINGS,
    k: int | None = _K,
    max_distinct_articles: int | None = _ARTICLES,
    search_abstract_characters: int | None = _ABSTRACT,
    fetch_characters: int | None = _FETCH,
    max_fetch_characters: int | None = _MOST_FETCH,
    max_searches: int | None = _SEARCHES,
    max_fetches: int | None = _FETCHES,
) -> None:
    """Let the reference agent search, read and write one review.

    Killed and started again, it goes on where it stopped: answers are kept in the completion cache. A report without a
    readable final list is written too, with status `unparsed` and exit status 1; where the model gives no answer, only
    the trace is written. Weak models get smaller limits, which results.json names.

    Example: litsynth agent --dataset sample --review-id 1 --retriever bm25 --model local --output out
    """
    from litsynth import datasets
    from litsynth.experiments.agent_review import write_agent_review

    limits = _limits(settings, k=k, max_distinct_articles=max_distinct_articles, max_searches=max_searches,
                     search_abstract_characters=search_abstract_characters, fetch_characters=fetch_characters,
                     max_fetch_characters=max_fetch_characters, max_fetches=max_fetches)
    chosen = {"max_steps": max_steps, "answer_tokens": answer_tokens, "protocol": protocol, "seed": seed}
    data = datasets.load(dataset)
    written = write_agent_review(data, chosen_review(data, review_id), retriever=retriever, profile=model, mode=mode,
                                 index=index, device=device, kind=kind, limits=limits,
                                 options={name: value for name, value in chosen.items() if value is not None})
    failed = written.results["status"] == "failed"
    write_files(output, None if failed else written.report, None if failed else written.results, written.trace)
    if failed:
        raise ModelError(f"review {review_id} was not written: {written.results['reason']}",
                         expected="an answer of the model", remedy=f"see {output / 'trace.jsonl'}")
    say_result(output, written.results)


def _agent_prompt(dataset: str = _DATASET, review_id: int = _REVIEW) -> None:
    """Print the task of one review for any agent: protocol query, dates, criteria, report requirements.

    Example: litsynth agent-prompt --dataset sample --review-id 1 > task.txt
    """
    from litsynth import datasets
    from litsynth.systems.agent_prompts import build_agent_prompt

    typer.echo(build_agent_prompt(chosen_review(datasets.load(dataset), review_id)))


def _agent_result(
    dataset: str = _DATASET,
    review_id: int = _REVIEW,
    trace: Path = typer.Option(..., help="The trace that `litsynth serve-corpus` wrote."),
    report: Path = typer.Option(..., help="The report that the agent wrote, in Markdown."),
    output: Path = typer.Option(..., help="The folder for report.md and results.json."),
    client: str | None = typer.Option(None, help="The task or session whose calls count, where the trace has several."),
    system: str = typer.Option("agent", help="The agent's name for tables."),
    model: str = typer.Option("", help="The model's name for tables."),
) -> None:
    """Make the result of any agent that worked through `litsynth serve-corpus` ready for `litsynth evaluate`.

    Example: litsynth agent-result --dataset sample --review-id 1 --trace trace.jsonl --report report.md --output out
    """
    from litsynth import datasets
    from litsynth.experiments.agent_review import review_from_trace
    from litsynth.files import ItemLog

    if not trace.is_file():
        raise DataError(f"{trace} does not exist", expected="a trace of `litsynth serve-corpus --trace`")
    try:
        text = report.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{report} is not readable ({error})", expected="the report in Markdown, UTF-8") from error
    data = datasets.load(dataset)
    results = review_from_trace(data, chosen_review(data, review_id), ItemLog(trace).items(), text, client=client,
                                system=system, model=model)
    write_files(output, text, results)
    say_result(output, results)


def register(app: typer.Typer) -> None:
    """Add the commands of this room."""
    app.command("serve-corpus")(_serve_corpus)
    app.command("agent")(_agent)
    app.command("agent-prompt")(_agent_prompt)
    app.command("agent-result")(_agent_result)
