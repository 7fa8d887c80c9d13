"""`litsynth rag`: one review written from its candidates, ready for `litsynth evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from litsynth.errors import DataError, ModelError, ParameterError, unknown_name

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
    from litsynth import datasets
    from litsynth.experiments.oracle_rag.single import write_review

    options = {"truncate": truncate, "abstract_characters": abstract_characters, "answer_tokens": answer_tokens,
               "seed": seed}
    data = datasets.load(dataset)
    report, results = write_review(data, _review(data, review_id), retriever=retriever, top_k=top_k, mode=mode,
                                   system=system, profile=model or "default", index=index, device=device,
                                   options=options)
    if results["status"] == "failed":
        raise ModelError(f"review {review_id} was not written: {results['reason']}", expected="an answer of the model",
                         remedy="see the reason; with --truncate what does not fit is cut")
    _write(output, report, results)
    _say(output, results)
    if results["status"] != "scored":
        raise typer.Exit(1)


def _review(data: Any, review_id: int) -> Any:
    if review_id not in data.reviews:
        known = sorted(data.reviews, key=lambda number: (abs(number - review_id), number))[:10]
        raise ParameterError(f"{data.name} has no review {review_id}",
                             expected=f"one of its {len(data.reviews)} reviews"
                             + (f", the nearest being {', '.join(map(str, sorted(known)))}" if known else ""),
                             remedy="choose one of them, or another data set")
    return data.reviews[review_id]


def _write(output: Path, report: str, results: dict[str, Any]) -> None:
    """Write both files, each whole; an older results.json leaves first, so that it never stands beside a new report."""
    from litsynth.files import write_json, write_text

    try:
        (output / "results.json").unlink(missing_ok=True)
        write_text(output / "report.md", report)
        write_json(output / "results.json", results)
    except OSError as error:
        raise DataError(f"{output} could not be written ({error})", expected="a folder with room left",
                        remedy="choose another --output") from error


def _say(output: Path, results: dict[str, Any]) -> None:
    cut = results["truncated"] or {}
    if cut.get("characters_cut") or cut.get("dropped"):
        typer.echo(f"cut to fit: {cut['characters_cut']} characters of {cut['abstracts_cut']} abstracts, "
                   f"{cut['dropped']} candidates not shown", err=True)
    if results["weak_model"]:
        typer.echo("a weak demonstration model: its scores show the machinery, not what models can do", err=True)
    if results["uses_gold"]:
        typer.echo("oracle order: label-informed, a diagnosis and no performance", err=True)
    if results["status"] != "scored":
        typer.echo(f"error: {results['status']}: {results['reason']} ({output / 'report.md'})", err=True)
        return
    unmatched = len(results["unmatched_included_article_ids"]) + len(results["unmatched_included_entries"])
    included, shown = len(results["included_article_ids"]), len(results["retrieved_article_ids"])
    typer.echo(f"{included} of {shown} candidates included, {unmatched} unmatched entries: {output}")


def register(app: typer.Typer) -> None:
    """Add the command of this room."""
    app.command("rag")(_rag)
