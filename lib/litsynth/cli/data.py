"""`litsynth data`: which data sets there are, what they hold, and how they get here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from litsynth.datasets import describe, load, sources
from litsynth.files import dumps
from litsynth.text import printable

data_app = typer.Typer(no_args_is_help=True, help="List, describe, fetch and import data sets.")
_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def register(app: typer.Typer) -> None:
    """Add the `data` commands to the application."""
    app.add_typer(data_app, name="data")


@data_app.command("list")
def list_command(as_json: _Json = False) -> None:
    """List the catalogue: what is on this machine, how large, under which licence, synthetic or not."""
    from litsynth.datasets.hub import presence

    rows = [presence(source) for source in sources().values()]
    if as_json:
        typer.echo(dumps(rows, indent=2))
        return
    for row in rows:
        state = f"here, {_size(row['bytes'])}" if row["present"] else f"not here: litsynth data fetch {row['name']}"
        typer.echo(f"{row['name']}  [{row['shape']}{', synthetic' if row['synthetic'] else ''}]  {state}")
        typer.echo(f"    {row['description']}\n    licence: {row['licence']}")


@data_app.command("info")
def info_command(
    dataset: Annotated[str, typer.Argument(help="A name that `litsynth data list` shows, or a folder.")],
    as_json: _Json = False,
    allow_missing_links: Annotated[
        bool, typer.Option(help="Keep included articles that the corpus lacks, as unreachable.")
    ] = False,
) -> None:
    """Count what a data set holds: splits, links, leakage between splits, gaps, years; and its checksum."""
    facts = describe(load(dataset, allow_missing_links=allow_missing_links))
    typer.echo(printable(dumps(facts, indent=2) if as_json else "\n".join(_lines(facts))))


@data_app.command("fetch")
def fetch_command(
    name: Annotated[
        str, typer.Argument(help="A catalogue name, or a Hub id such as owner/name or owner/name@revision.")
    ],
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit; the catalogue's by default.")] = None,
    force: Annotated[bool, typer.Option(help="Fetch anew what is here already.")] = False,
) -> None:
    """Fetch a data set into data/raw, check it, and record exactly what came."""
    from litsynth.datasets.fetched import read_fetched
    from litsynth.datasets.hub import fetch

    folder = fetch(name, revision=revision, force=force)
    record = read_fetched(folder)
    files = f", revision {record.revision}, {len(record.files)} files" if record else ""
    typer.echo(f"{folder}{files}: checked")


@data_app.command("import")
def import_command(
    files: Annotated[list[Path], typer.Argument(help="RIS, PubMed (.nbib, .txt), CSV or TSV files.")],
    output: Annotated[Path, typer.Option(help="The data set folder to write.")],
    labels: Annotated[
        str, typer.Option(help="The column (CSV) or tag (RIS) that says whether an article was included.")
    ],
    protocol: Annotated[Path | None, typer.Option(help="The review's protocol as TOML, JSON or YAML.")] = None,
    question: Annotated[
        str | None, typer.Option(help="The research question, where there is no protocol file.")
    ] = None,
    split: Annotated[str, typer.Option(help="The split that the review belongs to.")] = "test",
    force: Annotated[bool, typer.Option(help="Replace the folder when it exists.")] = False,
) -> None:
    """Turn your own screened records into a data set: one review, its corpus and its labels."""
    from litsynth.datasets.imports import import_review

    report = import_review(
        files, output, labels=labels, protocol=protocol, question=question, split=split, replace=force
    )
    typer.echo(printable("\n".join(report.lines())))
    typer.echo(f"data set written to {output}; report in {output / 'import_report.json'}")


def _lines(facts: dict[str, Any]) -> list[str]:
    synthetic = "  SYNTHETIC: every number made from it is about the software" if facts["synthetic"] else ""
    lines = [f"{facts['name']}{synthetic}", f"  folder    {facts['folder']}", f"  checksum  {facts['checksum']}"]
    lines += [f"  {key:<9} {facts[key]}" for key in ("revision", "licence") if facts[key]]
    for part in ("reviews", "corpus", "questions"):
        if facts[part]:
            lines.append(f"{part}: {facts[part].get('count', facts[part].get('questions')):,}")
            lines += [f"  {_label(key)}: {_value(key, value)}" for key, value in facts[part].items() if key != "count"]
    return lines


def _label(key: str) -> str:
    return key.replace("_", " ")


def _value(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count:,}" for name, count in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if key.startswith("share_"):
        return f"{value:.1%}"
    return "none" if value is None else str(value) if key.startswith("year_") else f"{value:,}"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"
