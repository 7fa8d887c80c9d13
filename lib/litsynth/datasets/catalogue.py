"""Finds a data set by its catalogue name or folder and loads it whole: the one door to data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from litsynth.datasets.checksum import content_checksum
from litsynth.datasets.fetched import RECORD_NAME, Fetched, read_fetched, verify
from litsynth.datasets.layout import check_folder, find_layout, has_questions
from litsynth.datasets.metasyn import load_review_part
from litsynth.errors import DataError, unknown_name
from litsynth.files import read_json
from litsynth.paths import data_dir, existing, project_root, raw_dir, resolved
from litsynth.records import Dataset

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

CARD_NAME = "dataset.json"
KINDS = ("folder", "hub", "git")
SHAPES = ("reviews", "questions", "both", "outputs")


@dataclass(frozen=True)
class Source:
    """One entry of `data/SOURCES.toml`.

    `kind`: folder (committed, `location` is relative to the data folder), hub (`location` is a Hugging Face data set
    id) or git (`location` is a repository's address). `files` maps paths to SHA-256 sums where they are known;
    the rest is recorded when fetched. `size` is in bytes, None when unknown.
    """

    name: str
    kind: str
    location: str
    shape: str
    licence: str
    description: str
    citation: str = ""
    homepage: str = ""
    revision: str | None = None
    size: int | None = None
    synthetic: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the data set lies, or would lie once fetched."""
        return _committed(self.location) if self.kind == "folder" else raw_dir() / self.name

    @property
    def is_present(self) -> bool:
        """Whether the data set lies on this machine."""
        return self.folder.is_dir() and any(self.folder.iterdir())


def _committed(location: str) -> Path:
    moved = data_dir(location)
    return moved if moved.exists() else project_root() / "data" / location


def sources(path: Path | None = None) -> dict[str, Source]:
    """Return the catalogue by name, in its order; raises `DataError` that names the entry and key that is wrong."""
    path = path or _committed("SOURCES.toml")
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} is not a readable catalogue ({error})", expected="a TOML file with a table per data set"
        ) from None
    return {name: _source(name, entry, path) for name, entry in entries.items()}


def _source(name: str, entry: Any, path: Path) -> Source:
    known = {item.name for item in fields(Source)} - {"name"}
    if not isinstance(entry, dict) or (unknown := sorted(entry.keys() - known)):
        raise DataError(
            f"{path}: [{name}] has unknown keys: {', '.join(unknown) if isinstance(entry, dict) else entry}",
            expected=", ".join(sorted(known)),
        )
    required = ("kind", "location", "shape", "licence", "description")
    if missing := [key for key in required if not entry.get(key)]:
        raise DataError(f"{path}: [{name}] lacks {', '.join(missing)}", expected=", ".join(required))
    for key, allowed in (("kind", KINDS), ("shape", SHAPES)):
        if entry[key] not in allowed:
            raise DataError(f"{path}: [{name}] {key} is {entry[key]!r}", expected=" or ".join(allowed))
    return Source(name=name, **{**entry, "include": tuple(entry.get("include", ()))})


def source_of(name: str) -> Source:
    """Return the catalogue entry of this name or Hub id; a Hub id outside the catalogue gets an entry of its own.

    Raises `ParameterError` with the nearest name when there is none.
    """
    known = sources()
    if name in known:
        return known[name]
    identifier, _, revision = name.partition("@")
    for source in known.values():
        if source.kind == "hub" and source.location == identifier and not revision:
            return source
    if re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", identifier):
        return Source(
            name=identifier.replace("/", "--"),
            kind="hub",
            location=identifier,
            shape="reviews",
            revision=revision or "main",
            licence="see the data set's page",
            description="a data set of the Hugging Face hub",
        )
    raise unknown_name("data set", name, known, remedy="`litsynth data list` shows them; a folder's path works too")


def load(name_or_folder: str | Path, *, allow_missing_links: bool = False) -> Dataset:
    """Load a data set by catalogue name, fetched Hub id, or folder.

    A catalogue name wins over a folder of that name. Returns reviews with gold, corpus, screening labels and notes,
    or papers, facts and questions, or both, with a checksum of the content. Raises `DataError` that names file and
    row for what does not fit, and `ParameterError` for a name that does not exist.
    """
    text = str(name_or_folder)
    known = sources()
    if not text.strip():
        raise DataError(
            "the data set's name is empty",
            expected="a data set folder or one of " + ", ".join(sorted(known)),
            remedy="name one; . is the working directory",
        )
    if text not in known and existing(text):
        return _load_folder(resolved(text), _source_at(Path(text), known), allow_missing_links)
    if text not in known and (
        isinstance(name_or_folder, Path) or text.startswith((".", "/", "~")) or text.count("/") > 1
    ):
        raise DataError(
            f"{text} does not exist",
            expected="a data set folder or one of " + ", ".join(sorted(known)),
            remedy="check the path",
        )
    source = source_of(text)
    if not source.is_present:
        remedy = f"litsynth data fetch {text}" if source.kind != "folder" else "restore the folder from the repository"
        nothing = "" if source.name in known else f"there is no folder {text!r}, and "
        raise DataError(
            f"{nothing}data set {text!r} is not on this machine (looked in {source.folder})",
            expected=f"its files from {source.location}",
            remedy=remedy,
        )
    return _load_folder(source.folder, source, allow_missing_links)


def _source_at(folder: Path, known: Mapping[str, Source]) -> Source | None:
    place = resolved(folder)
    return next((source for source in known.values() if source.folder.resolve() == place), None)


def _load_folder(folder: Path, source: Source | None, allow_missing_links: bool) -> Dataset:
    check_folder(folder)
    if source and source.shape == "outputs":
        raise DataError(
            f"data set {source.name!r} holds released outputs, no reviews or questions",
            expected="a data set of reviews or questions",
            remedy=f"evaluate its folders: {folder}",
        )
    fetched = _verified(folder, source)
    layout = find_layout(folder)
    parts: dict[str, dict] = {} if layout is None else load_review_part(layout, allow_missing_links=allow_missing_links)
    if has_questions(folder):
        from litsynth.datasets.litbench import load_folder_part

        bank = load_folder_part(folder)
        parts |= {"papers": bank.papers, "facts": bank.facts, "questions": bank.questions}
    card = read_card(folder)
    return Dataset(
        name=source.name if source else str(card.get("name") or folder.name),
        checksum=content_checksum(parts),
        synthetic=bool(card.get("synthetic", source.synthetic if source else False)),
        folder=folder,
        revision=fetched.revision if fetched else card.get("revision", source.revision if source else None),
        licence=card.get("licence", source.licence if source else None),
        **parts,
    )


def _verified(folder: Path, source: Source | None) -> Fetched | None:
    """Check a fetched or catalogued folder against its recorded sums before anything is read from it."""
    fetched = read_fetched(folder)
    expected = dict(fetched.files) if fetched else {}
    expected |= dict(source.files) if source else {}
    name = source.name if source else fetched.name if fetched else folder.name
    committed = source is not None and source.kind == "folder"
    verify(
        folder,
        expected,
        remedy="restore the file from the repository" if committed else f"litsynth data fetch {name} --force",
    )
    return fetched


def read_card(folder: Path) -> dict[str, Any]:
    """Return the folder's own card (`dataset.json`: name, synthetic, licence, revision …), empty when it has none."""
    path = folder / CARD_NAME
    card = read_json(path) if path.is_file() else {}
    if not isinstance(card, dict) or not isinstance(card.get("synthetic", False), bool):
        raise DataError(
            f"{path} is no data set card", expected="an object with name (text) and synthetic (true or false)"
        )
    return card


__all__ = ["CARD_NAME", "RECORD_NAME", "Source", "load", "read_card", "source_of", "sources"]
