"""Index directories: written whole or not at all, and refused against anything they were not built for."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from litsynth.errors import DataError, IndexMismatchError
from litsynth.files import atomic_path, read_json, write_json

MANIFEST = "index.json"
FORMAT = 1


@contextmanager
def readable(directory: Path) -> Iterator[None]:
    """Turn what a damaged index file raises into a `DataError` that says to build the index again."""
    try:
        yield
    except (OSError, ValueError, EOFError, LookupError, TypeError, AttributeError, RuntimeError) as error:
        raise DataError(f"the index {directory} is damaged or unreadable ({error})", expected="a whole index",
                        remedy="delete it and build it again with `litsynth index`") from error


def _refuse_foreign(directory: Path) -> None:
    """Refuse to replace anything that is not an index: a whole folder would be lost."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise DataError(f"{directory} is a file", expected="a folder for the index", remedy="choose another --output")
    if any(directory.iterdir()) and not (directory / MANIFEST).is_file():
        raise DataError(f"{directory} is a folder with other content, which would be lost",
                        expected="a new or empty folder, or an older index", remedy="choose another --output")


def write_index(directory: Path, manifest: Mapping[str, Any], write_files: Callable[[Path], None]) -> None:
    """Write an index directory atomically: what `write_files` puts into it, and the manifest.

    `manifest` holds `kind`, `identity` (compared when loading) and `details` (for the reader). On any error, a full
    disk among them, nothing is left behind and an older index at `directory` stays.
    """
    directory = Path(directory)
    _refuse_foreign(directory)
    try:
        with atomic_path(directory) as temporary:
            temporary.mkdir()
            write_files(temporary)
            files = {path.relative_to(temporary).as_posix(): path.stat().st_size
                     for path in sorted(temporary.rglob("*")) if path.is_file()}
            packages = {name: version(name) for name in ("litsynth", "numpy", "bm25s", "faiss-cpu")}
            write_json(temporary / MANIFEST, {"format": FORMAT, **manifest, "files": files, "made_with": packages})
    except (OSError, RuntimeError) as error:  # faiss raises RuntimeError for a failed write
        # numpy and faiss report a full disk in their own words, without an error number.
        full = getattr(error, "errno", None) == errno.ENOSPC or any(
            words in str(error) for words in ("No space left", "requested and"))
        first = f"free some space on the disk ({_free_space(directory)} are left)" if full else "check folder and disk"
        raise DataError(f"the index {directory} could not be written ({error})",
                        expected="a writable folder with room for the index",
                        remedy=f"{first}, then try again; nothing half-written was left behind") from error


def _free_space(directory: Path) -> str:
    existing = next(folder for folder in (directory, *directory.absolute().parents) if folder.exists())
    return f"{shutil.disk_usage(existing).free / 1e6:.0f} MB"


def read_manifest(directory: Path, kinds: Collection[str]) -> dict[str, Any]:
    """Return the manifest of an index directory of one of these kinds (bm25, flat, hnsw, hybrid).

    Raises `DataError` when there is none or a file is missing or cut, `IndexMismatchError` for another kind.
    """
    directory = Path(directory)
    if not (directory / MANIFEST).is_file():
        state = "has no " + MANIFEST if directory.is_dir() else "is a file" if directory.exists() else "does not exist"
        raise DataError(f"the index {directory} {state}", expected="a folder made by `litsynth index`",
                        remedy="build it: litsynth index --dataset D --retriever R --output " + str(directory))
    manifest = read_json(directory / MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise IndexMismatchError(f"the index {directory} has format {found!r}, this version reads {FORMAT}",
                                 remedy="build it again with `litsynth index`")
    if manifest.get("kind") not in kinds:
        raise IndexMismatchError(f"the index {directory} is of kind {manifest.get('kind')}, this retriever needs "
                                 f"{' or '.join(kinds)}", expected="an index of this retriever",
                                 remedy="choose the index that belongs to it, or build one with `litsynth index`")
    with readable(directory):
        if not all(isinstance(manifest.get(part), dict) for part in ("files", "identity", "details")):
            raise ValueError(f"{MANIFEST} lacks files, identity or details")
        for name, size in manifest["files"].items():
            if not (directory / name).is_file():
                raise ValueError(f"{name} is missing")
            if (directory / name).stat().st_size != size:
                raise ValueError(f"{name} has {(directory / name).stat().st_size} bytes instead of {size}")
    return manifest


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {name: value}
    return {key: inner for part in value
            for key, inner in _flat(value[part], f"{name}.{part}" if name else str(part)).items()}


def check_identity(directory: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise `IndexMismatchError`, naming both sides of every difference, unless an index is what a search needs."""
    have, need = _flat(stored), _flat(wanted)
    differences = [f"{name} is {have.get(name)!r} in the index and {need.get(name)!r} here"
                   for name in sorted(have.keys() | need.keys()) if have.get(name) != need.get(name)]
    if differences:
        raise IndexMismatchError(f"the index {directory} was built for something else: " + "; ".join(differences),
                                 expected="an index of this retriever and this corpus",
                                 remedy="choose the index that belongs to them, or build one with `litsynth index`")
