"""`litsynth evaluate`, `litsynth evaluate-all` and `litsynth compare`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from litsynth.errors import ParameterError, unknown_name

_DATASET = typer.Option(..., help="A data set's name (see `litsynth data list`) or a folder with one.")
_SOURCE = typer.Option(
    "report", help="Where the selection is read: report (its final list) or json (results.json has it)."
)
_ID_ONLY = typer.Option(False, "--id-only", help="Only the identifier metrics; no judge, no model.")
_JUDGE = typer.Option(None, help="The judge: a model profile (see models.toml), or a model of the default "
                      "endpoint by its name; the default profile when left out.")
_ENCODER = typer.Option(
    "minilm",
    help="Sentence encoder of the criteria metrics: minilm (embedded), a folder or a hub id "
    "such as sentence-transformers/paraphrase-multilingual-mpnet-base-v2.",
)


def _evaluator(dataset: str, source: str, id_only: bool, judge_model: str | None, encoder: str) -> Any:
    from litsynth import datasets
    from litsynth.scoring.evaluation import SOURCES, Evaluator
    from litsynth.scoring.text_metrics import open_encoder

    if source not in SOURCES:
        raise unknown_name("selection source", source, SOURCES)
    if id_only and judge_model:
        raise ParameterError(
            "--id-only and --judge-model contradict each other", expected="one of them", remedy="leave one out"
        )
    data = datasets.load(dataset)
    if id_only:
        return Evaluator(data, source)  # type: ignore[arg-type]  # checked above
    from litsynth.llm import open_model
    from litsynth.llm.profiles import profile_or_model

    judge = open_model(profile_or_model(judge_model or "default"))
    return Evaluator(data, source, judge, open_encoder(encoder))  # type: ignore[arg-type]


def _evaluate(
    dataset: str = _DATASET,
    result: Path = typer.Option(..., help="The review's results.json."),
    report: Path | None = typer.Option(None, help="The report; report.md beside results.json when left out."),
    selection_source: str = _SOURCE,
    id_only: bool = _ID_ONLY,
    judge_model: str | None = _JUDGE,
    encoder: str = _ENCODER,
    output: Path = typer.Option(..., help="The JSON file to write the evaluation record to."),
) -> None:
    """Evaluate one review's result.

    With --selection-source json, results.json is {"review_id": 63, "retrieved_article_ids": [101, 102],
    "included_article_ids": [101], "unmatched_included_article_ids": [], "unmatched_included_entries": []}.
    The exit status is 1 when the selection cannot be read or the judge fails; the record is written all the same.

    Example: litsynth evaluate --dataset sample --result out/results.json --id-only --output out/evaluation.json
    """
    from litsynth.files import write_json
    from litsynth.scoring.evaluation import evaluate_review
    from litsynth.scoring.submission import read_submission

    evaluator = _evaluator(dataset, selection_source, id_only, judge_model, encoder)
    beside = result.parent / "report.md"
    path = report or (beside if evaluator.needs_report or beside.exists() else None)
    record = evaluate_review(read_submission(result, path), evaluator)
    write_json(output, record)
    _show({name: value for name, value in record["metrics"].items() if value is not None})
    if record["status"] != "succeeded":
        typer.echo(f"error: {record['error']['type']}: {record['error']['message']}", err=True)
        raise typer.Exit(1)


def _evaluate_all(
    dataset: str = _DATASET,
    results_dir: Path = typer.Option(..., help="A folder with one subfolder per review: results.json and report.md."),
    selection_source: str = _SOURCE,
    id_only: bool = _ID_ONLY,
    judge_model: str | None = _JUDGE,
    encoder: str = _ENCODER,
    split: str = typer.Option("test", help="The split that the folder must cover exactly; all for every review."),
    seed: int = typer.Option(718, help="Seed of the bootstrap intervals."),
    output: Path = typer.Option(..., help="The JSON file to write: records, averages with intervals, denominators."),
) -> None:
    """Evaluate a system on a whole split; any failure suppresses the averages and gives exit status 1.

    Finished records are kept beside the output and are not asked of the judge again.

    Example: litsynth evaluate-all --dataset sample --results-dir out --id-only --output out/evaluation.json
    """
    from litsynth.scoring.evaluation_set import evaluate_all

    evaluator = _evaluator(dataset, selection_source, id_only, judge_model, encoder)
    result = evaluate_all(results_dir, evaluator, output, split=split, seed=seed)
    if result["averages"] is None:
        for failure in result["failures"]:
            typer.echo(f"error: review {failure['review_id']}: {failure['message']}", err=True)
        typer.echo(f"{len(result['failures'])} of {result['reviews']} reviews failed: no averages ({output})", err=True)
        raise typer.Exit(1)
    for name, average in result["averages"].items():
        typer.echo(f"{name:32s} {_number(average['value'])} {_interval(average)}  n {average['n']}")


def _compare(
    a: Path = typer.Argument(..., help="An evaluation written by evaluate-all."),
    b: Path = typer.Argument(..., help="Another one, of the same data set."),
    seed: int = typer.Option(718, help="Seed of the bootstrap intervals."),
    output: Path | None = typer.Option(None, help="A JSON file to write the rows to."),
) -> None:
    """Show the paired differences A − B over the reviews where both are defined, with bootstrap intervals.

    Example: litsynth compare mine/evaluation.json other/evaluation.json
    """
    from litsynth.files import write_json
    from litsynth.scoring.evaluation_set import compare, read_evaluation

    sides = {a: read_evaluation(a), b: read_evaluation(b)}
    rows = compare(sides[a], sides[b], seed=seed)
    for path, evaluation in sides.items():
        failed = [record["review_id"] for record in evaluation["records"] if record["status"] != "succeeded"]
        if failed:
            named = ", ".join(map(str, failed[:10])) + (", …" if len(failed) > 10 else "")
            typer.echo(f"note: in {path} {len(failed)} of {len(evaluation['records'])} reviews failed ({named}): what "
                       "they lack is in no difference, which is not one over the whole split", err=True)
    if output:
        write_json(output, {"a": str(a), "b": str(b), "seed": seed, "rows": rows})
    typer.echo(f"{'metric':32s} {'A':>6s} {'B':>6s} {'A − B':>7s} [95 % interval]  reviews in it")
    for row in rows:
        difference = f"{_number(row['difference'], sign=True)} {_interval(row)}  n {row['n']}"
        means = f"{_number(row['mean_a'])} {_number(row['mean_b'])}"
        typer.echo(f"{row['metric']:32s} {means} {difference}  {row['reason']}".rstrip())


def _number(value: float | None, *, sign: bool = False) -> str:
    return "     –" if value is None else f"{value:+.4f}" if sign else f"{value:.4f}"


def _interval(row: Mapping[str, Any]) -> str:
    return "[no interval]" if row["low"] is None else f"[{row['low']:.4f}, {row['high']:.4f}]"


def _show(metrics: Mapping[str, float]) -> None:
    for name, value in metrics.items():
        typer.echo(f"{name:32s} {value:.4f}")


def register(app: typer.Typer) -> None:
    """Add the commands of this room."""
    app.command("evaluate")(_evaluate)
    app.command("evaluate-all")(_evaluate_all)
    app.command("compare")(_compare)
