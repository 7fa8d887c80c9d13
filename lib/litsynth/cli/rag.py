"""`litsynth rag`: one review written from its candidates, ready for `litsynth evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from litsynth.cli.reviews import chosen_review, say_result, write_files
from litsynth.errors import ModelError, ParameterError, unknown_name

_SYSTEMS = ("one_pass", "screening", "extractive", "screener")
_WITHOUT_MODEL = ("extractive", "screener")
_TRUNCATIONS = ("none", "abstracts", "candidates")
_MODES = ("actual", "oracle")


def _rag(
    dataset: str = typer.Option(..., help="A data set's name (see `litsynth data list`) or a folder with one."),
    retriever: str = typer.Option(..., help="bm25, minilm, dense_raw, ma_retriever, hybrid, hybrid:A+B, a "
                                            "sentence-transformers folder or a hub id (owner/model)."),
    review_id: int = typer.Option(..., help="The review to write."),
    top_k: int = typer.Option(200, min=1, help="Candidates that the system is given."),
    mode: str = typer.Option("actual", help="Order of the candidates: actual, or oracle (reference studies first; "
                                            "label-informed, a diagnosis)."),
    index: Path | None = typer.Option(None, help="A folder made by `litsynth index`."),
    system: str = typer.Option("one_pass", help="one_pass or screening (a model), extractive or screener (no model)."),
    model: str | None = typer.Option(None, help="Model profile (see `litsynth models`); default when left out."),
    truncate: str = typer.Option("none", help="What is cut when the prompt does not fit the context window: none (an "
                                              "error), abstracts or candidates; the cut is recorded."),
    abstract_characters: int | None = typer.Option(None, min=0, help="Cut every abstract after so many characters."),
    answer_tokens: int | None = typer.Option(None, min=1, help="Most tokens of the report."),
    seed: int = typer.Option(0, help="Seed that is sent to the model."),
    device: str = typer.Option("auto", help="Where encoders run: auto, cpu, cuda or mps."),
    output: Path = typer.Option(..., help="The folder for report.md and results.json."),
) -> None:
    """Write one review's report from its retrieved candidates.

    The folder gets report.md and results.json, which `litsynth evaluate` reads with either selection source. A report
    without a readable final list is written too, with status `unparsed` and exit status 1. Where the model gives no
    answer, nothing is written.

    Example: litsynth rag --dataset sample --retriever bm25 --review-id 1 --top-k 20 --system extractive --output out
    """
    for name, value, known in (("mode", mode, _MODES), ("system", system, _SYSTEMS),
                               ("truncation", truncate, _TRUNCATIONS)):
        if value not in known:
            raise unknown_name(name, value, known)
    if system in _WITHOUT_MODEL and model is not None:
        raise ParameterError(f"--model given for the system {system}, which uses none", expected="no --model",
                             remedy="leave it out, or choose --system one_pass")
    if system != "one_pass" and (answer_tokens is not None or truncate != "none"):
        raise ParameterError(f"--answer-tokens or --truncate given for the system {system}", expected="them with "
                             "one_pass alone", remedy="leave them out, or choose --system one_pass")
    if system in _WITHOUT_MODEL and (abstract_characters is not None or seed):
        raise ParameterError(f"--abstract-characters or --seed given for the system {system}, which uses neither",
                             expected="them with one_pass or screening", remedy="leave them out")
    from litsynth import datasets
    from litsynth.experiments.oracle_rag.single import write_review

    options = {"truncate": truncate, "abstract_characters": abstract_characters, "answer_tokens": answer_tokens,
               "seed": seed}
    data = datasets.load(dataset)
    report, results = write_review(data, chosen_review(data, review_id), retriever=retriever, top_k=top_k, mode=mode,
                                   system=system, profile=model or "default", index=index, device=device,
                                   options=options)
    if results["status"] == "failed":
        raise ModelError(f"review {review_id} was not written: {results['reason']}", expected="an answer of the model",
                         remedy="see the reason; with --truncate what does not fit is cut")
    write_files(output, report, results)
    _say_cut(results)
    say_result(output, results)


def _say_cut(results: dict[str, Any]) -> None:
    cut = results["truncated"] or {}
    if cut.get("characters_cut") or cut.get("dropped"):
        typer.echo(f"cut to fit: {cut['characters_cut']} characters of {cut['abstracts_cut']} abstracts, "
                   f"{cut['dropped']} candidates not shown", err=True)


def register(app: typer.Typer) -> None:
    """Add the command of this room."""
    app.command("rag")(_rag)
