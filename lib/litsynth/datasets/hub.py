"""Fetches data sets: a snapshot of the Hugging Face hub or a git repository, checked, and whole or absent."""

from __future__ import annotations

import fnmatch
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from litsynth.datasets.catalogue import Source, source_of
from litsynth.datasets.fetched import RECORD_NAME, Fetched, read_fetched, verify, write_fetched
from litsynth.datasets.layout import find_layout, has_questions
from litsynth.errors import DataError
from litsynth.files import atomic_path, sha256_file
from litsynth.progress import progress

_CONFIGURATIONS = ("reviews", "corpus")


def fetch(name: str, *, revision: str | None = None, force: bool = False) -> Path:
    """Fetch a data set by catalogue name or Hub id (`owner/name`, `owner/name@revision`) and return its folder.

    The folder appears only when every file came and every known checksum fits; an interrupted download goes on where
    it stopped. What is there already is checked and kept, unless `force` or another `revision` asks for it anew.
    Raises `DataError` when offline, when the source has no such revision, and when a checksum differs.
    """
    source = source_of(name)
    if source.kind == "folder":
        raise DataError(
            f"data set {name!r} is part of the repository",
            expected="a data set of the hub or of git",
            remedy="nothing needs fetching; restore its folder from the repository if it is missing",
        )
    wanted = revision or source.revision or "main"
    target = source.folder
    present = read_fetched(target) if target.is_dir() else None
    if present and not force and (revision is None or present.revision == wanted):
        verify(target, present.files, remedy=f"litsynth data fetch {name} --force")
        return target
    staging = target.with_name(f".{target.name}.partial")
    staging.mkdir(parents=True, exist_ok=True)
    found = (_fetch_snapshot if source.kind == "hub" else _fetch_repository)(source, wanted, staging)
    verify(staging, source.files, remedy="compare data/SOURCES.toml with the source; it may have changed")
    _require_content(source, staging)
    files = [path for path in sorted(staging.rglob("*")) if path.is_file() and path.name != RECORD_NAME]
    sums = {
        path.relative_to(staging).as_posix(): sha256_file(path)
        for path in progress(files, total=len(files), stage=f"checksums of {source.name}")
    }
    write_fetched(staging, Fetched(source.name, source.location, found, sums))
    with atomic_path(target) as temporary:
        staging.replace(temporary)
    return target


def _fetch_snapshot(source: Source, revision: str, staging: Path) -> str:
    """Download a Hub snapshot into `staging` and return its commit; files that the hub knows sums of are compared."""
    import httpx
    import huggingface_hub
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        facts = huggingface_hub.HfApi().dataset_info(source.location, revision=revision, files_metadata=True)
        huggingface_hub.snapshot_download(
            source.location,
            repo_type="dataset",
            revision=facts.sha,
            local_dir=staging,
            allow_patterns=list(source.include) or None,
        )
    except (OSError, ValueError, httpx.HTTPError) as error:
        raise _unreachable(source, revision, error) from None
    verify(staging, _known_sums(facts, source.include), remedy=f"litsynth data fetch {source.name} once more")
    shutil.rmtree(staging / ".cache", ignore_errors=True)
    _drop_others(staging, {item.rfilename for item in facts.siblings or []})
    if not _has_tables(staging):
        _convert(source, staging)
    return str(facts.sha)


def _drop_others(folder: Path, names: Collection[str]) -> None:
    """Remove what an earlier, interrupted download of another revision left behind."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).as_posix() not in names:
            path.unlink()


def _known_sums(facts: Any, include: Iterable[str]) -> dict[str, str]:
    patterns = tuple(include) or ("*",)
    return {
        item.rfilename: item.lfs.sha256
        for item in facts.siblings or []
        if item.lfs is not None and any(fnmatch.fnmatch(item.rfilename, pattern) for pattern in patterns)
    }


def _has_tables(folder: Path) -> bool:
    try:
        return find_layout(folder) is not None or has_questions(folder)
    except DataError:
        return False


def _convert(source: Source, staging: Path) -> None:
    """Write Parquet from a snapshot in another format (CSV, Arrow …), as the `datasets` library reads it."""
    import datasets

    try:
        for configuration in _CONFIGURATIONS:
            splits: Mapping[str, Any] = datasets.load_dataset(
                str(staging), configuration, cache_dir=str(staging / ".cache")
            )
            for split, table in splits.items():
                path = staging / configuration / f"{split}.parquet"
                path.parent.mkdir(exist_ok=True)
                table.to_parquet(str(path))
    except (ValueError, OSError, datasets.exceptions.DatasetsError) as error:
        raise DataError(
            f"{source.location} has no readable configuration {configuration!r} ({_first_line(error)})",
            expected="a data set with the configurations reviews and corpus",
            remedy="check the id and revision",
        ) from None
    finally:
        shutil.rmtree(staging / ".cache", ignore_errors=True)


def _fetch_repository(source: Source, revision: str, staging: Path) -> str:
    """Fetch one revision of a git repository without its history, unpack the files asked for, return the commit."""
    if revision.startswith("-") or source.location.startswith("-"):
        raise DataError(f"{revision!r} of {source.location!r} is no revision", expected="a branch, tag or commit")
    repository = staging / ".repository"
    try:
        if not (repository / "HEAD").exists():
            _git(["init", "--quiet", "--bare", str(repository)])
        quiet = "--progress" if sys.stderr.isatty() else "--quiet"
        _git(["-C", str(repository), "fetch", "--depth", "1", quiet, source.location, revision], capture=False)
        commit = _git(["-C", str(repository), "rev-parse", "FETCH_HEAD"]).strip()
        _git(["-C", str(repository), "archive", "--format=tar", "--output", str(staging / ".files.tar"), "FETCH_HEAD"])
    except FileNotFoundError:
        raise DataError(
            "git is not installed", expected="git, which fetches this data set", remedy="install git"
        ) from None
    except subprocess.CalledProcessError as error:
        raise _unreachable(source, revision, error) from None
    with tempfile.TemporaryDirectory(dir=staging.parent) as aside:
        archive = (staging / ".files.tar").replace(Path(aside) / "files.tar")
        shutil.rmtree(staging)
        staging.mkdir()
        _unpack(archive, staging, source.include)
    return commit


def _git(arguments: list[str], *, capture: bool = True) -> str:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(
        ["git", *arguments],
        check=True,
        text=True,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if capture or not sys.stderr.isatty() else None,
    )
    return done.stdout


def _unpack(archive: Path, folder: Path, include: Iterable[str]) -> None:
    patterns = tuple(pattern.replace("**", "*") for pattern in include) or ("*",)
    with tarfile.open(archive) as tar:
        wanted = [item for item in tar if item.isfile() and any(fnmatch.fnmatch(item.name, p) for p in patterns)]
        tar.extractall(folder, members=wanted, filter="data")


def _require_content(source: Source, staging: Path) -> None:
    if source.shape in ("reviews", "both"):
        find_layout(staging)
    empty = [
        path for path in staging.rglob("*") if path.is_file() and path.suffix == ".parquet" and path.stat().st_size == 0
    ]
    if empty or not any(path.is_file() for path in staging.rglob("*")):
        raise DataError(
            f"{empty[0] if empty else staging} is empty after the download from {source.location}",
            expected="files with content",
            remedy=f"litsynth data fetch {source.name} --force",
        )


def _unreachable(source: Source, revision: str, error: Exception) -> DataError:
    detail = getattr(error, "stderr", None) or error
    return DataError(
        f"{source.location} at revision {revision!r} could not be fetched ({_first_line(detail)})",
        expected="a connection to the source and a revision that exists there",
        remedy=f"go online and run `litsynth data fetch {source.name}` again, which goes on where it stopped; "
        f"or copy the files into {source.folder}",
    )


def _first_line(error: object) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def presence(source: Source) -> dict[str, Any]:
    """Return what `litsynth data list` shows of a catalogue entry, JSON-ready; `bytes` is None when it is not here."""
    present = source.is_present
    fetched = read_fetched(source.folder) if present else None
    size = sum(path.stat().st_size for path in source.folder.rglob("*") if path.is_file()) if present else None
    return {
        "name": source.name,
        "kind": source.kind,
        "shape": source.shape,
        "location": source.location,
        "present": present,
        "bytes": size,
        "revision": fetched.revision if fetched else source.revision,
        "licence": source.licence,
        "synthetic": source.synthetic,
        "description": source.description,
        "citation": source.citation,
        "folder": str(source.folder),
    }
