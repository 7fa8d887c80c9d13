"""What the commands that write one review share: choosing it, its files, and what is said at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from litsynth.errors import DataError, ParameterError


def chosen_review(data: Any, review_id: int) -> Any:
    """Return a review of a data set by ID; raises `ParameterError` that names the nearest IDs there are."""
    if review_id not in data.reviews:
        known = sorted(data.reviews, key=lambda number: (abs(number - review_id), number))[:10]
        raise ParameterError(f"{data.name} has no review {review_id}",
                             expected=f"one of its {len(data.reviews)} reviews"
                             + (f", the nearest being {', '.join(map(str, sorted(known)))}" if known else ""),
                             remedy="choose one of them, or another data set")
    return data.reviews[review_id]


def write_files(output: Path, report: str | None, results: Mapping[str, Any] | None,
                trace: Iterable[Mapping[str, Any]] = ()) -> None:
    """Write report.md, results.json and trace.jsonl into a folder, those that are given, each whole.

    An older results.json leaves first, so that it never stands beside a new report.
    """
    from litsynth.files import dumps, write_json, write_text

    steps = "".join(f"{dumps(step)}\n" for step in trace)
    try:
        (output / "results.json").unlink(missing_ok=True)
        if steps:
            write_text(output / "trace.jsonl", steps)
        if report is not None:
            write_text(output / "report.md", report)
        if results is not None:
            write_json(output / "results.json", results)
    except OSError as error:
        raise DataError(f"{output} could not be written ({error})", expected="a folder with room left",
                        remedy="choose another --output") from error


def say_result(output: Path, results: Mapping[str, Any]) -> None:
    """Say how many studies were included and what to know of the result; a report without a list exits with 1."""
    if results["weak_model"]:
        typer.echo("a weak demonstration model: its scores show the machinery, not what models can do", err=True)
    if results["uses_gold"]:
        typer.echo("oracle order: label-informed, a diagnosis and no performance", err=True)
    if results["status"] != "scored":
        typer.echo(f"error: {results['status']}: {results['reason']} ({output / 'report.md'})", err=True)
        raise typer.Exit(1)
    unmatched = len(results["unmatched_included_article_ids"]) + len(results["unmatched_included_entries"])
    included, shown = len(results["included_article_ids"]), len(results["retrieved_article_ids"])
    typer.echo(f"{included} of {shown} candidates included, {unmatched} unmatched entries: {output}")
