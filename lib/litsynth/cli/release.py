"""`litsynth import-release`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from litsynth.errors import ParameterError


def _import_release(
    folder: Path = typer.Argument(..., help="A clone of the public MetaSyn repository, or a part in its layout."),
    output: Path = typer.Option(..., help="The folder for the Parquet tables; an earlier import there is replaced."),
    published: Path | None = typer.Option(
        None, help="CSV of the published means; data/published/metasyn_main_table.csv when left out."
    ),
    own: list[str] = typer.Option(
        [], help="NAME=EVALUATION.json of your own system (evaluate-all's output); repeatable."
    ),
    seed: int = typer.Option(718, help="Seed of the bootstrap intervals."),
    reparse: bool = typer.Option(
        True, help="Also read every report's final list and compare it with the released one."
    ),
) -> None:
    """Read the released baselines into item rows, the table of configurations, and their paired differences.

    Example: litsynth import-release MetaSyn --output data/runs/release --own mine=out/evaluation.json
    """
    from litsynth.paths import data_dir
    from litsynth.scoring.evaluation_set import read_evaluation
    from litsynth.scoring.release import import_release
    from litsynth.scoring.release_tables import (
        configuration_table,
        difference_table,
        join_evaluation,
        write_release,
    )

    systems = [_named(text) for text in own]
    tables = import_release(folder, reparse=reparse)
    items = tables.items
    for name, path in systems:
        items = join_evaluation(items, read_evaluation(path), name)
    usual = data_dir("published", "metasyn_main_table.csv")
    beside = published or (usual if usual.is_file() else None)
    table = configuration_table(items, published=beside, seed=seed)
    checks = tables.checks
    facts = {
        "source": str(folder),
        "reviews": len(tables.reviews),
        "review_ids": list(tables.reviews),
        "records": len(checks),
        "configurations": sorted(set(items["configuration"])),
        "published": None if beside is None else str(beside),
        "own": [name for name, _ in systems],
        "seed": seed,
        "metrics_equal": int(checks["metrics_equal"].sum()),
        "selections_equal": int(checks["selection_equal"].sum()) if reparse else None,
    }
    write_release(output, replace(tables, items=items), table, difference_table(items, seed=seed), facts)
    typer.echo(
        f"{facts['records']} records of {facts['reviews']} reviews and {checks['configuration'].nunique()} "
        f"configurations; ID metrics follow from the records in {facts['metrics_equal']}",
        err=True,
    )
    if reparse:
        typer.echo(f"selections read from the reports equal the released ones in {facts['selections_equal']}", err=True)
    if beside is None:
        typer.echo("no published means beside the table: data/published/metasyn_main_table.csv is absent", err=True)
    elif not table["published_n"].notna().any():
        typer.echo(f"{beside} has none of these configurations", err=True)
    elif len(tables.reviews) < (most := int(table["published_n"].max())):
        typer.echo(
            f"published means cover {most} reviews, this folder {len(tables.reviews)}: differences are expected",
            err=True,
        )
    typer.echo(str(output))


def _named(text: str) -> tuple[str, Path]:
    name, sign, path = text.partition("=")
    if not (name and sign and path):
        raise ParameterError(f"--own {text!r}", expected="NAME=EVALUATION.json", remedy="put a name before the file")
    return name, Path(path)


def register(app: typer.Typer) -> None:
    """Add the commands of this room."""
    app.command("import-release")(_import_release)
