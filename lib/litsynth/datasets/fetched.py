"""The record of a fetched data set: what came from where, and whether it is still what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from litsynth.errors import DataError
from litsynth.files import read_json, sha256_file, write_json

RECORD_NAME = "fetched.json"


@dataclass(frozen=True)
class Fetched:
    """What was fetched: name, location, the exact revision, and the SHA-256 sum of every file."""

    name: str
    location: str
    revision: str
    files: Mapping[str, str]


def write_fetched(folder: Path, record: Fetched) -> None:
    """Write the record into the fetched folder."""
    write_json(folder / RECORD_NAME, {**asdict(record), "files": dict(record.files)})


def read_fetched(folder: Path) -> Fetched | None:
    """Return the record of a fetched folder, or None when the folder was not fetched by this package."""
    path = folder / RECORD_NAME
    if not path.is_file():
        return None
    value = read_json(path)
    try:
        return Fetched(str(value["name"]), str(value["location"]), str(value["revision"]), dict(value["files"]))
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{path} is no record of a fetched data set",
            expected="name, location, revision and files",
            remedy="fetch the data set again with --force",
        ) from None


def verify(folder: Path, expected: Mapping[str, str], *, remedy: str) -> None:
    """Raise `DataError` with path, expected sum and remedy for the first file that is missing, empty or altered."""
    for name, expected_sum in sorted(expected.items()):
        path = folder / name
        if not path.is_file():
            problem = f"{path} is missing"
        elif path.stat().st_size == 0 and expected_sum != sha256_file(path):
            problem = f"{path} is empty"
        elif (found := sha256_file(path)) != expected_sum:
            problem = f"{path} was altered: its SHA-256 is {found}"
        else:
            continue
        raise DataError(problem, expected=f"the file with SHA-256 {expected_sum}", remedy=remedy)
