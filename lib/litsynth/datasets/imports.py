"""Bring your own review: exported records and labels become a data set folder, every record accounted for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litsynth.datasets.catalogue import CARD_NAME, load
from litsynth.datasets.import_merge import Group, article_ids, merge
from litsynth.datasets.import_readers import FileReport, Record, labels_of, read_file
from litsynth.datasets.metasyn import REVIEW_FIELDS
from litsynth.datasets.tables import Field, match_columns, plain_name
from litsynth.datasets.values import (
    is_reported,
    number_list,
    split_items,
    split_lines,
    text_or_none,
    whole_number,
)
from litsynth.errors import DataError, unknown_name
from litsynth.files import atomic_path, read_json, write_json
from litsynth.records import Article

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

INCLUDED = frozenset({"1", "1.0", "yes", "y", "true", "include", "included", "relevant", "asreview_relevant"})
EXCLUDED = frozenset(
    {
        "0",
        "0.0",
        "no",
        "n",
        "false",
        "exclude",
        "excluded",
        "irrelevant",
        "not relevant",
        "asreview_irrelevant",
        "asreview_not_relevant",
    }
)
REPORT_NAME = "import_report.json"
_RETRACTION = "retract"


@dataclass
class ImportReport:
    """What became of every record: read = kept + merged + rejected."""

    files: list[dict[str, Any]]
    kept: list[dict[str, Any]]
    merged: list[dict[str, Any]]
    rejected: list[dict[str, Any]]
    ignored_lines: list[dict[str, Any]]
    retracted: list[int] = field(default_factory=list)
    label_conflicts: list[int] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    without_title: int = 0
    without_abstract: int = 0

    @property
    def read(self) -> int:
        """The number of records read from all files."""
        return sum(item["read"] for item in self.files)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON can hold it."""
        counts = {"read": self.read, "kept": len(self.kept), "merged": len(self.merged), "rejected": len(self.rejected)}
        return {
            "counts": counts,
            "labels": self.labels,
            "without_title": self.without_title,
            "without_abstract": self.without_abstract,
            "files": self.files,
            "kept": self.kept,
            "merged": self.merged,
            "rejected": self.rejected,
            "retracted": self.retracted,
            "label_conflicts": self.label_conflicts,
            "ignored_lines": self.ignored_lines,
        }

    def lines(self) -> list[str]:
        """Return the report as lines for people; lists are cut at ten."""
        lines = [
            f"read {self.read} = kept {len(self.kept)} + merged {len(self.merged)} + rejected {len(self.rejected)}"
        ]
        for item in self.files:
            lines.append(
                f"  {item['source']}: {item['read']} records, {item['format']}, {item['encoding']}, "
                f"{item['share_without_abstract']:.0%} without abstract"
            )
        lines += [
            f"  rejected {item['source']} record {item['record']}: {item['reason']}" for item in self.rejected[:10]
        ]
        lines += [f"  ignored {item['source']} line {item['line']}: {item['text']}" for item in self.ignored_lines[:10]]
        hidden = max(0, len(self.rejected) - 10) + max(0, len(self.ignored_lines) - 10)
        lines += [f"  and {hidden} more in the report"] if hidden else []
        lines.append(
            f"corpus: {len(self.kept)} articles, {self.without_abstract} without abstract, "
            f"{self.without_title} without title, {len(self.retracted)} retracted"
        )
        if self.labels:
            lines.append("labels: " + ", ".join(f"{name} {count}" for name, count in self.labels.items()))
        if self.label_conflicts:
            lines.append(f"conflicting labels on {len(self.label_conflicts)} merged articles, counted as included")
        return lines


def read_articles(paths: Sequence[Path]) -> tuple[list[Article], ImportReport]:
    """Read exports of any known format, merge duplicates, and return articles in order of ID with the report."""
    articles, _, report = _read(paths)
    return articles, report


def _read(paths: Sequence[Path]) -> tuple[list[Article], dict[int, Group], ImportReport]:
    if not paths:
        raise DataError("no file to import", expected="RIS, PubMed, CSV or TSV files")
    files = [read_file(Path(path)) for path in paths]
    groups = merge(record for file in files for record in file.records)
    best = [group.merged for group in groups]
    by_id = dict(sorted(zip(article_ids(best), groups, strict=True)))
    articles = [_article(article_id, group.merged) for article_id, group in by_id.items()]
    return articles, by_id, _report(files, by_id, articles)


def _article(article_id: int, record: Record) -> Article:
    return Article(
        article_id,
        record.title,
        record.abstract,
        record.pmid,
        record.pmc_id,
        record.doi,
        record.authors,
        record.journal,
        record.year,
    )


def _report(files: Sequence[FileReport], by_id: Mapping[int, Group], articles: Sequence[Article]) -> ImportReport:
    places = {i: [{"source": r.source, "record": r.number} for r in group.records] for i, group in by_id.items()}
    return ImportReport(
        files=[
            {
                "source": file.source,
                "format": file.format,
                "encoding": file.encoding,
                "read": file.read,
                "rejected": len(file.rejected),
                "ignored_lines": len(file.ignored_lines),
                "share_without_abstract": sum(not record.abstract for record in file.records)
                / max(1, len(file.records)),
            }
            for file in files
        ],
        kept=[{"id": i, **place[0]} for i, place in places.items()],
        merged=[{"into": i, **other} for i, place in places.items() for other in place[1:]],
        rejected=[item for file in files for item in file.rejected],
        ignored_lines=[item for file in files for item in file.ignored_lines],
        retracted=[
            i for i, group in by_id.items() if any(_RETRACTION in t.casefold() for t in group.merged.publication_types)
        ],
        without_title=sum(not article.title for article in articles),
        without_abstract=sum(not article.abstract for article in articles),
    )


def import_review(
    paths: Sequence[Path],
    output: Path,
    *,
    labels: str,
    protocol: Path | None = None,
    question: str | None = None,
    split: str = "test",
    replace: bool = False,
) -> ImportReport:
    """Write a data set folder from exported records, their labels and one review's protocol, and return the report.

    `labels` names the column or tag with the screening decision; a record without one is in the corpus, unlabelled.
    The protocol is a TOML, JSON or YAML file with the names of the reviews table, or the `question` alone. Raises
    `DataError` when a file has no record, a label is not understood, or the folder exists and `replace` is false.
    """
    output = Path(output)
    _check_target(output, replace)
    review = read_protocol(protocol) if protocol else {}
    review |= {"Research_Question": question} if question else {}
    if not is_reported(review.get("Research_Question")):
        raise DataError(
            f"{protocol or 'the import'} has no research question",
            expected="Research_Question in the protocol file",
            remedy="add it, or give --question",
        )
    if not is_reported(review.get("split", split)):
        raise DataError("the split has no name", expected="train or test", remedy="give --split test")
    articles, groups, report = _read(paths)
    decisions = _decisions(groups, labels, report)
    review = {"ID": 1, "split": split, **review, "matched_corpus_ids": sorted(i for i, yes in decisions.items() if yes)}
    with atomic_path(output) as folder:
        folder.mkdir()
        _write(folder, review, articles, groups, decisions)
        write_json(folder / REPORT_NAME, report.as_dict())
        write_json(folder / CARD_NAME, {"name": output.name, "synthetic": False})
        load(folder)
    return report


def _check_target(output: Path, replace: bool) -> None:
    if output.exists() and not replace:
        raise DataError(
            f"{output} exists already", expected="a new folder", remedy="choose another one, or use --force"
        )
    if output.is_file() or (output.is_dir() and any(output.iterdir()) and not (output / REPORT_NAME).is_file()):
        raise DataError(
            f"{output} was not made by an import, and what it holds would be lost",
            expected="a new or empty folder, or an earlier import to replace",
            remedy="choose another --output",
        )


def read_protocol(path: Path) -> dict[str, Any]:
    """Return a protocol from TOML, JSON or YAML under the reviews table's column names; unknown names are errors."""
    path = Path(path)
    value = _read_settings(path)
    if not isinstance(value, dict):
        raise DataError(f"{path} holds no named fields", expected="name: value pairs such as Research_Question")
    matched = match_columns(list(value), [Field(item.name, item.aliases) for item in REVIEW_FIELDS], path)
    if unknown := [name for name in value if name not in matched.values()]:
        raise unknown_name(f"field in {path}", unknown[0], (item.name for item in REVIEW_FIELDS))
    if "matched_corpus_ids" in matched:
        raise DataError(
            f"{path} has {matched['matched_corpus_ids']}",
            expected="included articles from the labels alone",
            remedy="leave it out of the protocol",
        )
    read = {name: _protocol_value(name, value[column], f"{path}: {column}") for name, column in matched.items()}
    return {name: part for name, part in read.items() if part is not None}


def _protocol_value(name: str, value: Any, where: str) -> Any:
    """Return a value as the reviews table holds it; raises `DataError` naming the protocol's file and field."""
    if name == "ID":
        return whole_number(value, where)
    if name == "source_review_corpus_ids":
        return list(number_list(value, where))
    if name.endswith("criteria"):
        return "; ".join(split_items(value, where)) or None
    if name == "Key_Insights":
        return "\n".join(split_lines(value, where)) or None
    return text_or_none(value, where)


def _read_settings(path: Path) -> Any:
    if path.suffix.lower() == ".json":
        return read_json(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".toml":
            return tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is not readable ({error})", expected="a TOML, JSON or YAML file") from None
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is not readable YAML ({error})", expected="a TOML, JSON or YAML file") from None


def _decisions(groups: Mapping[int, Group], column: str, report: ImportReport) -> dict[int, bool]:
    """Return {article: included?} of every labelled article, and count labels in the report."""
    places = {id(record): article_id for article_id, group in groups.items() for record in group.records}
    records = [record for group in groups.values() for record in group.records]
    found: dict[int, set[bool]] = {}
    for record, texts in labels_of(records, column):
        decision = _decision(texts, record, column)
        if decision is not None:
            found.setdefault(places[id(record)], set()).add(decision)
    decisions = {article_id: any(values) for article_id, values in sorted(found.items())}
    report.label_conflicts = sorted(article_id for article_id, values in found.items() if len(values) > 1)
    report.labels = {
        "included": sum(decisions.values()),
        "excluded": len(decisions) - sum(decisions.values()),
        "unlabelled": len(groups) - len(decisions),
    }
    return decisions


def _decision(texts: Iterable[str], record: Record, column: str) -> bool | None:
    """Return what a label says; notes and keywords may hold other texts beside it, a column of its own may not."""
    values = [text.strip().casefold() for text in texts if is_reported(text)]
    if any(value in INCLUDED for value in values):
        return True
    if any(value in EXCLUDED for value in values):
        return False
    if values and plain_name(column) not in ("n1", "notes", "kw", "keywords"):
        raise DataError(
            f"{record.source}, record {record.number}: label {column!r} is {values[0]!r}",
            expected="one of " + ", ".join(sorted(INCLUDED | EXCLUDED)) + ", or nothing when not screened",
            remedy="write 1 for included and 0 for excluded",
        )
    return None


def _write(
    folder: Path,
    review: Mapping[str, Any],
    articles: Sequence[Article],
    groups: Mapping[int, Group],
    decisions: Mapping[int, bool],
) -> None:
    import pandas as pd

    pd.DataFrame([review]).to_parquet(folder / "reviews.parquet", index=False)
    rows = [
        {
            "ID": article.id,
            "pmid": article.pmid,
            "pmc_id": article.pmc_id,
            "doi": article.doi,
            "title": article.title,
            "abstract": article.abstract,
            "authors": list(article.authors),
            "journal": article.journal,
            "year": article.year,
            "publication_types": list(groups[article.id].merged.publication_types),
        }
        for article in articles
    ]
    pd.DataFrame(rows).astype({"year": "Int64"}).to_parquet(folder / "corpus.parquet", index=False)
    screened = [{"review_ID": review["ID"], "corpus_ID": i, "label_included": int(yes)} for i, yes in decisions.items()]
    pd.DataFrame(screened, columns=["review_ID", "corpus_ID", "label_included"]).to_parquet(
        folder / "screened.parquet", index=False
    )
