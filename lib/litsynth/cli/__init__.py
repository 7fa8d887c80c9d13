"""The `litsynth` command: one typer app, with the commands of each room beside it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

import typer

from litsynth.errors import LitsynthError

_ROOMS = ("data", "retrieval", "rag", "llm", "metasyn", "release", "litbench", "statistics", "agents", "training",
          "experiments")

app = typer.Typer(
    name="litsynth", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="Measure whether literature search and evidence synthesis by machines can be trusted.",
)


def _register_rooms() -> None:
    for room in _ROOMS:
        name = f"litsynth.cli.{room}"
        if importlib.util.find_spec(name):
            importlib.import_module(name).register(app)


_register_rooms()


def main() -> None:
    """Run the command line; an error the user can mend is one line and an exit status, not a traceback.

    `LITSYNTH_DEBUG=1` shows the traceback. A closed pipe ends quietly, Ctrl-C with status 130.
    """
    try:
        app()
    except LitsynthError as error:
        if os.environ.get("LITSYNTH_DEBUG") == "1":
            raise
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Python would complain about the closed pipe once more while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
