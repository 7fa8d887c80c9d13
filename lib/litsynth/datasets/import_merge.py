"""Merges records of one article, never joins two different DOIs, and loses no title or abstract."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from litsynth.datasets.import_readers import Record
from litsynth.text import fold_title

# Shorter titles ("Reply", "Editorial comment") are shared by many articles.
SPECIFIC_TITLE = 25


@dataclass
class Group:
    """Records taken for one article; the first is the one that is kept, the rest was merged into it."""

    records: list[Record] = field(default_factory=list)

    def distinct(self, name: str) -> set[str]:
        """The different non-empty values that the records have for an identifier."""
        return {value for record in self.records if (value := getattr(record, name))}

    def accepts(self, other: Group) -> bool:
        """Whether joining another group would keep at most one DOI, one PubMed id and one PMC id."""
        return all(len(self.distinct(name) | other.distinct(name)) <= 1 for name in ("doi", "pmid", "pmc_id"))

    @property
    def merged(self) -> Record:
        """One record with the first non-empty value of each field, and the longest abstract."""
        first = self.records[0]
        names = ("title", "doi", "pmid", "pmc_id", "authors", "journal", "year", "publication_types")
        values = {
            name: next((v for record in self.records if (v := getattr(record, name))), getattr(first, name))
            for name in names
        }
        return replace(first, **values, abstract=max((record.abstract for record in self.records), key=len))


def merge(records: Iterable[Record]) -> list[Group]:
    """Return groups of records of one article, in order of their first record.

    Two records are one article when they share a DOI or a PubMed id, or when their folded titles agree, are specific
    enough, and years (where both have one) differ by at most one. Records with different DOIs, or different PubMed
    ids, are never joined. Repeats until nothing joins any more, since a join can supply a missing identifier.
    """
    groups = [Group([record]) for record in records]
    while True:
        joined = _merge_once(groups)
        if len(joined) == len(groups):
            return joined
        groups = joined


def _merge_once(groups: Sequence[Group]) -> list[Group]:
    kept: list[Group] = []
    places: dict[str, list[Group]] = {}
    for group in groups:
        home = next(
            (other for key in _keys(group) for other in places.get(key, ()) if _same_article(other, group, key)), None
        )
        if home is None:
            home = Group([])
            kept.append(home)
        home.records.extend(group.records)
        for key in _keys(home):
            if home not in (known := places.setdefault(key, [])):
                known.append(home)
    return kept


def _keys(group: Group) -> Iterator[str]:
    for name in ("doi", "pmid"):
        yield from (f"{name}:{value}" for value in sorted(group.distinct(name)))
    for title in dict.fromkeys(fold_title(record.title) for record in group.records):
        if len(title) >= SPECIFIC_TITLE:
            yield f"title:{title}"


def _same_article(one: Group, other: Group, key: str) -> bool:
    if not one.accepts(other):
        return False
    if not key.startswith("title:"):
        return True
    years = [{record.year for record in group.records if record.year} for group in (one, other)]
    return not years[0] or not years[1] or min(abs(a - b) for a in years[0] for b in years[1]) <= 1


def article_ids(records: Sequence[Record]) -> list[int]:
    """Return a nine-digit number per record, hashed from its DOI, PubMed id or title: stable, and telling nothing."""
    taken: set[int] = set()
    ids = []
    for record in records:
        identity = record.doi or record.pmid or f"{fold_title(record.title)} {record.year} {record.abstract[:200]}"
        attempt = 0
        while (number := _number(f"{identity}#{attempt}")) in taken:
            attempt += 1
        taken.add(number)
        ids.append(number)
    return ids


def _number(text: str) -> int:
    return (
        100_000_000 + int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big") % 900_000_000
    )
