"""Completions as JSON Lines: what a publication ships so that anyone can replay it without a key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from litsynth.errors import DataError, ParameterError, unknown_name
from litsynth.files import atomic_path, dumps, parse_json
from litsynth.llm.cache import CacheEntry, CompletionCache
from litsynth.llm.requests import canonical, key_of
from litsynth.llm.stored import from_json

FILTERS = ("endpoint", "model", "prompt_version", "status")


def parse_filters(texts: list[str]) -> dict[str, str]:
    """Return {field: pattern} of texts such as `model=gpt-*`; raises `ParameterError` for any other form or field."""
    filters: dict[str, str] = {}
    for text in texts:
        name, equals, pattern = text.partition("=")
        if not equals:
            raise ParameterError(f"the filter {text!r} has no `=`", expected="FIELD=PATTERN, such as model=gpt-*")
        if name not in FILTERS:
            raise unknown_name("field of a filter", name, FILTERS)
        filters[name] = pattern
    return filters


def export_completions(cache: CompletionCache, target: Path, filters: Mapping[str, str] | None = None) -> int:
    """Write stored answers to a JSON Lines file, by key, and return how many; the same answers give the same bytes."""
    count = 0
    with atomic_path(target) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        for entry in cache.entries(**(filters or {})):
            row = {
                "key": entry.key, "created": entry.created, "request": json.loads(entry.request),
                "completion": json.loads(entry.completion),
            }
            handle.write(dumps(row) + "\n")
            count += 1
    return count


def import_completions(cache: CompletionCache, source: Path) -> tuple[int, int, list[str]]:
    """Add the answers of an exported file; return (added, known already, keys that have another answer here).

    All or nothing: raises `DataError` naming the line of a broken or altered entry before anything is added. Where
    an answer differs from the stored one, the stored one stays.
    """
    if not source.is_file():
        state = "is no file" if source.exists() else "does not exist"
        raise DataError(f"{source} {state}", expected="a file of `litsynth cache export`")
    return cache.add(_read(source))


def _read(source: Path) -> Iterator[CacheEntry]:
    with source.open(encoding="utf-8-sig") as handle:
        try:
            for number, line in enumerate(handle, start=1):
                if line.strip():
                    yield _entry(source, number, line)
        except UnicodeDecodeError as error:
            raise DataError(f"{source} is not UTF-8 ({error})", expected="an exported file") from None


def _entry(source: Path, number: int, line: str) -> CacheEntry:
    try:
        row: dict[str, Any] = parse_json(line)
        request, completion = row["request"], row["completion"]
        text, answer = canonical(request), dumps(completion)
        from_json(answer, request)
        entry = CacheEntry(row["key"], text, answer, float(row["created"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{source}, line {number}: no exported answer ({type(error).__name__}: {error})",
            expected="a line of `litsynth cache export`", remedy="export again, or take the line out",
        ) from None
    if entry.key != key_of(text):
        raise DataError(
            f"{source}, line {number}: the key is not that of the request, so one of them was altered",
            expected=f"the key {key_of(text)}", remedy="get the file again from where it was published",
        )
    return entry
