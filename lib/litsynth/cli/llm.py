"""Commands about language models: which there are, the embedded one, and the completions that are kept."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Optional

import typer

cache_app = typer.Typer(help="Show, export and import the stored answers of models.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add `models`, `serve-model` and `cache` to the command line."""
    app.command("models")(list_models)
    app.command("serve-model")(serve_model)
    app.add_typer(cache_app, name="cache")


def list_models() -> None:
    """List the model profiles; of keys only whether they are set."""
    from litsynth.errors import ParameterError
    from litsynth.llm import profiles

    for name, profile in profiles().items():
        try:
            where = "on this machine" if profile.kind == "embedded" else f"at {profile.address()}"
            facts = [f"{profile.model_name()} {where}"]
        except ParameterError as error:
            facts = [f"not usable yet: {error.problem}"]
        if profile.weak:
            facts.append("weak demonstration model")
        facts.append(f"key {profile.key_env}".rstrip() + f" {profile.key_state()}")
        typer.echo(f"{name}: " + "; ".join(facts))


def serve_model(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")] = 8080,
    gguf: Annotated[Optional[Path], typer.Option(help="A model file instead of the packaged one.")] = None,  # noqa: UP045
    slots: Annotated[int, typer.Option(min=1, max=64, help="Requests answered at the same time.")] = 2,
    ctx: Annotated[int, typer.Option(min=256, help="Context window of each slot, in tokens.")] = 8192,
    verbose: Annotated[bool, typer.Option(help="Show what the server says.")] = False,
) -> None:
    """Serve the embedded model behind an OpenAI-compatible address on this machine until Ctrl-C."""
    from dataclasses import replace

    from litsynth.errors import ModelError
    from litsynth.llm.local import local_identity, model_file, template_of
    from litsynth.llm.profiles import find_profile
    from litsynth.llm.server import start_server

    profile = find_profile(str(gguf)) if gguf else find_profile("local")
    profile = replace(profile, slots=slots, context_window=ctx)
    try:
        server = start_server(
            str(model_file(profile)), port=port, slots=slots, context=ctx, template=template_of(profile),
            name=profile.model, quiet=not verbose,
        )
    except RuntimeError as error:
        raise ModelError(
            f"the model could not be served on port {port} ({error})",
            expected="a free port and a model file that loads",
            remedy="choose another --port (0 takes a free one); --verbose shows more",
        ) from None
    label = " (weak demonstration model)" if profile.weak else ""
    typer.echo(f"{profile.model}{label} at {server.listening_address}/v1: {slots} slots of {ctx} tokens")
    typer.echo(f"identity {local_identity(profile)}; Ctrl-C stops it")
    while True:
        time.sleep(3600)


@cache_app.command("info")
def cache_info() -> None:
    """Show what is stored, by endpoint, model, prompt version and status, after a check of the whole file."""
    from litsynth.llm.cache import CompletionCache

    facts = CompletionCache().info()
    journal = f", journal {facts['journal']}" if facts["journal"] else ""
    typer.echo(f"{facts['path']}: {facts['answers']:,} answers, {facts['bytes']:,} bytes{journal}")
    for group in facts["groups"]:
        facts_of_group = [str(group[name]) for name in ("answers", "status", "prompt_version", "model", "endpoint")]
        typer.echo("  " + "  ".join(facts_of_group))


@cache_app.command("export")
def cache_export(
    target: Annotated[Path, typer.Argument(help="The JSON Lines file to write.")],
    select: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--filter", help="FIELD=PATTERN: endpoint, model, prompt_version or status, with * and ?."),
    ] = None,
) -> None:
    """Write stored answers to a JSON Lines file that anyone can import and replay without a key."""
    from litsynth.llm.archive import export_completions, parse_filters
    from litsynth.llm.cache import CompletionCache

    count = export_completions(CompletionCache(), target, parse_filters(select or []))
    typer.echo(f"{target}: {count:,} answers")


@cache_app.command("import")
def cache_import(source: Annotated[Path, typer.Argument(help="A file of `cache export`.")]) -> None:
    """Add exported answers; what is stored already stays, and where an answer differs, that is said."""
    from litsynth.llm.archive import import_completions
    from litsynth.llm.cache import CompletionCache

    added, known, conflicts = import_completions(CompletionCache(), source)
    typer.echo(f"{source}: {added:,} answers added, {known:,} known already")
    if conflicts:
        shown = ", ".join(key[:12] for key in conflicts[:5])
        typer.echo(f"{len(conflicts):,} of them have another answer here, which was kept: {shown}", err=True)
