"""`litsynth coverage`: simulate how often the intervals hold the truth."""

from __future__ import annotations

from pathlib import Path

import typer


def _coverage(
    simulations: int = typer.Option(1000, help="Data sets drawn for each scenario."),
    seed: int = typer.Option(20260714, help="Seed of the data sets."),
    scenario: list[str] = typer.Option([], help="Run this scenario only; may be given several times."),
    output: Path | None = typer.Option(None, help="Folder for coverage.json; the book's results when left out."),
) -> None:
    """Simulate data with known truth and write how often each 95 % interval holds it.

    A selection of scenarios is only printed, unless --output names a folder, so that the book's table stays whole.
    """
    from litsynth.stats.coverage import simulate_coverage, write_coverage

    rows = simulate_coverage(simulations=simulations, seed=seed, only=scenario)
    for row in rows:
        share = "none"
        if row.coverage is not None and row.monte_carlo_error is not None:
            share = f"{100 * row.coverage:.1f} ± {100 * row.monte_carlo_error:.1f}"
        width = "" if row.mean_width is None else f"{row.mean_width:.3f}"
        typer.echo(f"{row.scenario:20s} {row.role:9s} {row.method:44s} {share:>12s} % {width:>6s}")
    if output or not scenario:
        typer.echo(f"written: {write_coverage(rows, output, seed=seed)}")


def register(app: typer.Typer) -> None:
    """Add the command of this room."""
    app.command("coverage")(_coverage)
