"""The `litsynth` command: one typer app, with the commands of each room beside it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import NoReturn

import typer

from litsynth.errors import LitsynthError
from litsynth.text import printable

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
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Python would complain about the closed pipe once more while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:  # a path that cannot be read or written, wherever it was used
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}. Expected: a readable or writable path, and room on its disk. "
              "To mend it: check the path, its permissions and the free space.", 1)


def _fail(message: str, status: int) -> NoReturn:
    """Print one line that no foreign text in it can colour, move or continue, and exit; a traceback when debugging."""
    if os.environ.get("LITSYNTH_DEBUG") == "1":
        raise
    typer.echo("error: " + " ".join(printable(message).split()), err=True)
    sys.exit(status)
