"""The `litsynth` command: one typer app, with the commands of each room beside it."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from types import FrameType
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
        importlib.import_module(f"litsynth.cli.{room}").register(app)


_register_rooms()


def main() -> None:
    """Run the command line; an error the user can mend is one line and an exit status, not a traceback.

    `LITSYNTH_DEBUG=1` shows the traceback. A closed pipe ends quietly, Ctrl-C with status 130, and a request to end
    (SIGTERM, as batch systems and `timeout` send it) as Ctrl-C does, with status 143.
    """
    asked_to_end: list[int] = []

    def end(number: int, _: FrameType | None) -> NoReturn:
        asked_to_end.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        app()
    except LitsynthError as error:
        _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, SystemExit) as ended:  # typer makes an exit of the one
        if asked_to_end:
            sys.exit(128 + asked_to_end[0])
        sys.exit(130 if isinstance(ended, KeyboardInterrupt) else ended.code)
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
