"""Commands that run experiments, list them and their runs, promote results and open the book."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from litsynth.errors import ParameterError


def register(app: typer.Typer) -> None:
    """Add the commands of this room."""
    app.command()(run)
    app.command()(experiments)
    app.command()(runs)
    app.command()(promote)
    app.command()(book)


def _pairs(given: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"-p {pair!r} is no parameter", expected="-p name=value",
                                 remedy="write the = between them")
        if name.strip() in values:
            raise ParameterError(f"parameter {name.strip()!r} is given twice", expected="each parameter once")
        values[name.strip()] = value
    return values


def run(
    experiment: Annotated[str, typer.Argument(help="Name of the experiment; `litsynth experiments` lists them.")],
    parameter: Annotated[list[str], typer.Option("-p", "--parameter", metavar="NAME=VALUE",
                                                 help="A parameter to change; repeat for more.")] = [],  # noqa: B006
    force: Annotated[bool, typer.Option("--force", help="Repeat a finished run; keeps the old one.")] = False,
    publish: Annotated[bool, typer.Option("--promote", help="Promote the run when it is finished.")] = False,
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Name to promote it under.")] = None,
) -> None:
    """Run an experiment's notebook with these parameters; what is finished already is not repeated."""
    from litsynth.experiments.manifest import summary
    from litsynth.experiments.runner import run_experiment

    outcome = run_experiment(experiment, _pairs(parameter), force=force)
    if outcome.executed:
        for text in _printed(outcome.directory / "notebook.ipynb"):
            typer.echo(text)
    if outcome.executed:
        typer.echo(summary(outcome.manifest, outcome.directory))
    else:
        typer.echo(f"{experiment} {outcome.manifest['id']}: finished already on {outcome.manifest['ended']}; "
                   f"results: {outcome.directory} (--force repeats it)")
    if outcome.manifest["status"] != "finished":
        raise typer.Exit(1)
    if publish or name:
        promote(str(outcome.directory), name)


def _printed(notebook: Path) -> Iterator[str]:
    """Yield what the executed notebook's cells printed, which is its findings in words, without the run's own lines."""
    from litsynth.experiments import notebooks
    from litsynth.text import printable

    for cell in notebooks.read(notebook)["cells"]:
        for output in cell.get("outputs", ()):
            if output.get("output_type") == "stream" and output.get("name") == "stdout":
                text = "".join(output["text"]).strip()
                if text and "results: " not in text:
                    yield printable(text)


def experiments(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print parameter tables for the book.")] = False,
) -> None:
    """List the experiments with their parameters, types and defaults."""
    from litsynth.experiments import EXPERIMENTS

    for name in sorted(EXPERIMENTS):
        experiment = EXPERIMENTS[name]
        if markdown:
            from litsynth.experiments.pages import parameter_table

            typer.echo(parameter_table(experiment))
            continue
        typer.echo(f"{name}" + ("  (asks a model)" if experiment.calls_model else ""))
        typer.echo(f"    {experiment.description}")
        for row in experiment.rows():
            typer.echo(f"      {row['name']:<14} {row['default']:<32} {row['type']}: {row['meaning']}")


def runs(
    experiment: Annotated[str | None, typer.Argument(help="Only runs of this experiment.")] = None,
) -> None:
    """List the runs on this machine, newest first."""
    from litsynth.experiments.manifest import all_runs
    from litsynth.experiments.parameters import get_experiment

    if experiment:
        get_experiment(experiment)
    found = [entry for entry in all_runs() if experiment in (None, entry["experiment"])]
    if not found:
        typer.echo("no runs yet; `litsynth run EXPERIMENT` makes one")
        return
    _print_table(["experiment", "id", "status", "data set", "synthetic", "items", "started", "seconds"],
                 [_run_row(entry) for entry in found])


def _run_row(entry: dict[str, Any]) -> list[str]:
    seconds = sum(session["seconds"] or 0 for session in entry["sessions"])
    return [entry["experiment"], entry["id"], entry["status"], entry["dataset"]["name"] if entry["dataset"] else "-",
            "yes" if entry["synthetic"] else "no", str(entry["items"]), entry["started"], f"{seconds:.1f}"]


def _print_table(header: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, *rows]:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def promote(
    run: Annotated[str, typer.Argument(help="Run id (or its beginning), experiment/id, or the run's directory.")],
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Name of the result; "
                                             "by default experiment and data set.")] = None,
) -> None:
    """Copy a finished run to data/results/ and figures/, where the book reads it."""
    from litsynth.experiments.manifest import shown_path
    from litsynth.experiments.promote import promote as copy

    target, changed = copy(run, name)
    typer.echo(f"{'promoted to' if changed else 'unchanged:'} {shown_path(target)}")


def _import_sample_answers() -> None:
    """Put the answers of the embedded model that come with the sample into the cache, so that runs replay them."""
    from litsynth.llm.archive import import_completions
    from litsynth.llm.cache import CompletionCache
    from litsynth.paths import project_root

    shipped = project_root() / "data" / "sample" / "completions.jsonl"
    if shipped.is_file():
        import_completions(CompletionCache(), shipped)


def book(
    view: Annotated[bool, typer.Option("--open/--no-open", help="Show the book in the browser.")] = True,
    sample: Annotated[bool, typer.Option("--sample/--no-sample", help="First run every experiment on the "
                                         "embedded sample, where that is not done yet.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Render again although nothing changed.")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="Also make a PDF of all pages (with Chromium).")] = False,
) -> None:
    """Render the book when anything that it shows has changed, and open it."""
    from litsynth.experiments import EXPERIMENTS
    from litsynth.experiments.book import build_book, html_folder
    from litsynth.experiments.manifest import shown_path

    if sample:
        _import_sample_answers()
    for experiment in EXPERIMENTS.values() if sample else ():
        run(experiment.name, [], force=False, publish=True, name=None)
        for name, values in experiment.book_runs.items():
            run(experiment.name, [f"{key}={value}" for key, value in values.items()], force=False, name=name)
    built = build_book(force=force)
    page = html_folder() / "index.html"
    typer.echo(f"the book is {'built' if built else 'up to date'}: {shown_path(page)}")
    if pdf:
        from litsynth.experiments.print_page import NAME, write_pdf

        typer.echo(f"PDF: {shown_path(write_pdf(page.parent / 'book' / NAME, page.parent.parent / 'litsynth.pdf'))}")
    if view:
        import webbrowser

        webbrowser.open(page.as_uri())
