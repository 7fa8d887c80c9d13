"""Where the tables of a review data set lie in a folder: flat files, a Hub snapshot, or the older layout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from litsynth.datasets.litbench import has_bank
from litsynth.datasets.tables import TABLE_SUFFIXES, read_json_records
from litsynth.datasets.values import number_list
from litsynth.errors import DataError
from litsynth.files import read_json

_SPLIT_IN_NAME = re.compile(r"(?:^|[^a-z])(train|test|validation|valid|val|dev)(?=[^a-z]|$)", re.IGNORECASE)
_ACCEPTED = (
    "reviews and corpus as .parquet, .jsonl or .json; a Hub snapshot with the configurations reviews and corpus; "
    "papers.json with corpus.json and test_ids.json; or papers, facts and questions as .parquet"
)


@dataclass(frozen=True)
class Layout:
    """The files of one review data set; `reviews` are (file, split that the file's name says or None)."""

    reviews: tuple[tuple[Path, str | None], ...]
    corpus: tuple[Path, ...]
    screened: Path | None = None
    notes: Path | None = None
    test_ids: Path | None = None


def check_folder(folder: Path) -> None:
    """Raise `DataError` unless `folder` is a folder that can be listed."""
    try:
        if not folder.is_dir():
            raise DataError(
                f"{folder} is {'a file' if folder.exists() else 'missing'}",
                expected="a data set folder",
                remedy="give a folder, or a name that `litsynth data list` shows",
            )
        next(folder.iterdir(), None)
    except OSError as error:
        raise DataError(
            f"{folder} cannot be read ({error.strerror})",
            expected="a folder that you may list",
            remedy="check its permissions",
        ) from None


def has_questions(folder: Path) -> bool:
    """Return whether a folder holds a question bank; the older layout's `papers.json` holds reviews and is none."""
    return has_bank(folder) and not _older_reviews(folder)


def find_layout(folder: Path) -> Layout | None:
    """Return where a folder's review data set lies, or None when it only holds a question bank.

    Parquet wins over JSON Lines, and that over JSON, where the same table lies there twice. Raises `DataError`
    when there are reviews without a corpus, a corpus without reviews, or nothing known.
    """
    reviews = _tables(folder, "reviews") or _older_reviews(folder)
    corpus = _tables(folder, "corpus")
    if not reviews and not corpus and has_questions(folder):
        return None
    if not reviews or not corpus:
        found = sorted(
            path.name + ("/" if path.is_dir() else "") for path in folder.iterdir() if not path.name.startswith(".")
        )
        lacking = " and ".join(name for name, files in (("reviews", reviews), ("corpus", corpus)) if not files)
        raise DataError(
            f"{folder} has no {lacking} table; it holds: {', '.join(found) or 'nothing'}",
            expected=_ACCEPTED,
            remedy="put the missing files there, or give another folder",
        )
    test_ids = folder / "test_ids.json"
    return Layout(
        reviews=tuple((path, _split_of(path, folder)) for path in reviews),
        corpus=tuple(corpus),
        screened=_single(folder, "screened"),
        notes=_single(folder, "notes"),
        test_ids=test_ids if test_ids.exists() else None,
    )


def read_test_ids(path: Path) -> frozenset[int]:
    """Return the review IDs of the test split: the list in `test_ids.json`, or its `test_ids` or `test`."""
    value = read_json(path)
    if isinstance(value, dict):
        value = value.get("test_ids", value.get("test"))
    if not isinstance(value, list):
        raise DataError(f"{path} holds no list of review IDs", expected="a JSON list of whole numbers")
    return frozenset(number_list(value, str(path)))


def _tables(folder: Path, name: str) -> list[Path]:
    for files in (_flat(folder, name), _from_card(folder, name), _named(folder, name)):
        if files:
            return files
    return []


def _flat(folder: Path, name: str) -> list[Path]:
    path = _single(folder, name)
    return [path] if path else []


def _single(folder: Path, name: str) -> Path | None:
    for place in (folder, folder / "data"):
        for suffix in TABLE_SUFFIXES:
            if (path := place / (name + suffix)).is_file():
                return path
    return None


def _from_card(folder: Path, name: str) -> list[Path]:
    """Read the `configs` of a Hub data set card; data_files is a pattern, a list of them, or of {split, path}."""
    card = folder / "README.md"
    if not card.is_file() or not card.read_text(encoding="utf-8", errors="replace").startswith("---"):
        return []
    import yaml
    from huggingface_hub import metadata_load

    try:
        facts = metadata_load(card) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(
            f"{card} has a head that is no YAML ({' '.join(str(error).split())})",
            expected="a data set card as the hub writes it, or a README without a `---` head",
            remedy="mend the lines between the `---`",
        ) from None
    configs = facts.get("configs")
    for config in configs if isinstance(configs, list) else []:
        if isinstance(config, dict) and config.get("config_name") == name:
            return _existing(folder, list(_patterns(config.get("data_files"))))
    return []


def _patterns(data_files: object) -> Iterator[str]:
    if isinstance(data_files, str):
        yield data_files
    for item in data_files if isinstance(data_files, list) else []:
        yield from _patterns(item.get("path") if isinstance(item, dict) else item)


def _existing(folder: Path, patterns: Sequence[str]) -> list[Path]:
    inside = [pattern for pattern in patterns if not pattern.startswith("/") and ".." not in Path(pattern).parts]
    return sorted(
        {path for pattern in inside for path in folder.glob(pattern) if path.suffix.lower() in TABLE_SUFFIXES}
    )


def _named(folder: Path, name: str) -> list[Path]:
    """Find files by name (reviews/train-00000-of-00001.parquet, data/reviews_test.jsonl …) in one format."""
    for suffix in TABLE_SUFFIXES:
        files = []
        for path in sorted(folder.rglob(f"*{suffix}")):
            parts = path.relative_to(folder).parts
            hidden = any(part.startswith(".") for part in parts)
            if not hidden and any(re.match(rf"{name}(?![a-z])", part, re.IGNORECASE) for part in parts):
                files.append(path)
        if files:
            return files
    return []


def _older_reviews(folder: Path) -> list[Path]:
    path = folder / "papers.json"
    if not path.is_file():
        return []
    _, _, records = read_json_records(path)
    # A question bank's papers may bear the same name; only a review has a question.
    return (
        [path] if any("research_question" in {str(key).casefold() for key in record} for record in records[:1]) else []
    )


def _split_of(path: Path, folder: Path) -> str | None:
    parts = path.relative_to(folder).with_suffix("").parts
    for part in reversed(parts):
        if match := _SPLIT_IN_NAME.search(part):
            return match.group(1).lower()
    return None
