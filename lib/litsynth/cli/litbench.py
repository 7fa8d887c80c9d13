"""`litsynth bank`: check question banks, and fetch the full text of their papers."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from litsynth.files import dumps

bank_app = typer.Typer(no_args_is_help=True, help="Check question banks, and fetch the full text of their papers.")


def register(app: typer.Typer) -> None:
    """Add the `bank` commands to the application."""
    app.add_typer(bank_app, name="bank")


@bank_app.command("validate")
def validate_command(
    folder: Annotated[Path, typer.Argument(help="A folder with papers, facts and questions, or the manifest CSVs.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="Print at most this many findings (0: all).")] = 0,
) -> None:
    """Name every row that breaks a rule of the bank; exit with 1 when there is an error among them."""
    from litsynth.datasets.litbench import read_part
    from litsynth.datasets.litbench_validate import counts, validate

    part = read_part(folder)
    # Errors first; the sort is stable, so rows keep their order.
    findings = sorted(validate(part), key=lambda finding: finding.severity != "error")
    totals = counts(part, findings)
    shown = findings[:limit] if limit else findings
    if as_json:
        typer.echo(dumps({**totals, "findings": [dataclasses.asdict(finding) for finding in shown]}, indent=2))
    else:
        for finding in shown:
            typer.echo(f"{finding.severity}: {finding.file}, row {finding.row} ({finding.id}): {finding.problem}")
        if len(shown) < len(findings):
            typer.echo(f"… and {len(findings) - len(shown)} more (--limit 0 prints all)")
        typer.echo(", ".join(f"{number} {name}" for name, number in totals.items()))
    if totals["errors"]:
        raise typer.Exit(1)


@bank_app.command("fetch-text")
def fetch_text_command(
    manifest: Annotated[Path, typer.Argument(help="A folder with the manifest CSVs, or a bank without text.")],
    output: Annotated[Path, typer.Option(help="The folder to write the bank with text to.")],
    base_url: Annotated[str | None, typer.Option(help="Address of the E-utilities; NCBI's by default.")] = None,
) -> None:
    """Fetch full texts from PubMed Central by identifier; run it again after a stop and it goes on.

    At most 3 requests a second, or 10 where NCBI_API_KEY is set.
    """
    from litsynth.datasets.litbench_text import fetch_text
    from litsynth.datasets.pmc import BASE_URL, PmcClient

    account = fetch_text(manifest, output, PmcClient(base_url or BASE_URL))
    typer.echo(f"{account['papers']} papers: {account['full']} with full text, {account['abstract_only']} with an "
               f"abstract only, {account['none']} without text. {output / 'text.json'} says why.")
