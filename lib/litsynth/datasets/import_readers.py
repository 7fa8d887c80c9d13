"""Reads the files that literature databases export (RIS, PubMed, CSV and TSV), whatever surrounds their records."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litsynth.datasets.identifiers import normalise_doi
from litsynth.datasets.tables import Field, match_columns, plain_name
from litsynth.datasets.values import is_reported
from litsynth.errors import DataError

COLUMNS = (
    Field("title", ("article_title", "document_title", "primary_title", "TI", "T1")),
    Field("abstract", ("abstract_note", "notes_abstract", "summary", "AB", "N2")),
    Field("doi", ("DO", "digital_object_identifier")),
    Field("pmid", ("pubmed_id", "PM")),
    Field("pmc_id", ("pmcid", "PMC")),
    Field("authors", ("author", "author_names", "AU")),
    Field("journal", ("source_title", "publication_title", "journal_name", "JO", "JF", "T2")),
    Field("year", ("publication_year", "PY", "Y1", "date")),
    Field("publication_types", ("publication_type", "document_type", "PT")),
)
_RIS_KEYS = {
    "title": ("title", "primary_title"),
    "abstract": ("abstract", "notes_abstract"),
    "doi": ("doi",),
    "authors": ("authors", "first_authors"),
    "year": ("year", "publication_year", "date"),
    "journal": ("journal_name", "alternate_title3", "alternate_title2", "secondary_title"),
}
_RIS_TAG = re.compile(r"^([A-Z][A-Z0-9])  -(?: (.*)|\s*)$")
_RIS_LOOSE_TAG = re.compile(r"^([A-Z][A-Z0-9]) -(?: (.*)|\s*)$")  # where a file writes all its tags so
_RIS_NOISE = re.compile(r"^(?:\d+\.?|<\d+>|\[\d+\]|record\s+#?\d+(?:\s+of\s+\d+)?|https?://\S+)$", re.IGNORECASE)
_NBIB_TAG = re.compile(r"^[A-Z]{2,4} {0,2}- ")


@dataclass(frozen=True)
class Record:
    """One record as its file gives it; `raw` holds every field by name for labels and other columns."""

    source: str
    number: int
    title: str = ""
    abstract: str = ""
    doi: str | None = None
    pmid: str | None = None
    pmc_id: str | None = None
    authors: tuple[str, ...] = ()
    journal: str | None = None
    year: int | None = None
    publication_types: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class FileReport:
    """What was found in one file: how it was read, its records, and the lines that belong to none."""

    source: str
    format: str
    encoding: str
    records: list[Record] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)
    ignored_lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def read(self) -> int:
        """The number of records in the file, rejected ones among them."""
        return len(self.records) + len(self.rejected)

    def ignore(self, number: int, line: str) -> None:
        """Note a line that belongs to no record."""
        self.ignored_lines.append({"source": self.source, "line": number, "text": line.strip()[:200]})


def read_file(path: Path) -> FileReport:
    """Read one export, its format told by its content; a file without a single record is an error."""
    path = Path(path)
    text, encoding = decode(path)
    kind = _format_of(path, text)
    report = FileReport(path.name, kind, encoding)
    {"ris": _read_ris, "nbib": _read_nbib, "table": _read_table}[kind](text, report, path)
    if not report.read:
        raise DataError(
            f"{path} holds no record (read as {kind}, {encoding})",
            expected="an export with at least one record",
            remedy="export it again as RIS, PubMed format or CSV",
        )
    return report


def decode(path: Path) -> tuple[str, str]:
    """Return a file's text and its encoding: by byte order mark, else UTF-8, else the likeliest single-byte one."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror})", expected="a readable file", remedy="check the path"
        ) from None
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
        (b"", "utf-8"),
    ):
        if raw.startswith(mark):
            try:
                return raw.decode(encoding).lstrip("\ufeff"), encoding
            except UnicodeDecodeError:
                continue
    # Exports that are not Unicode come from Windows; a detector prefers rarer code pages on short texts.
    try:
        return raw.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(raw).best()
    if best is None:
        raise DataError(
            f"{path} is no text in any known encoding", expected="RIS, PubMed or CSV text", remedy="export it as UTF-8"
        )
    return str(best), best.encoding


def _format_of(path: Path, text: str) -> str:
    if re.search(r"^PMID ?- ", text, re.MULTILINE):
        return "nbib"
    if re.search(r"^TY  ?-", text, re.MULTILINE):
        return "ris"
    if path.suffix.lower() in (".ris", ".nbib"):
        raise DataError(
            f"{path} holds no record: no line starts with `TY  -` or `PMID-`",
            expected="RIS or PubMed records",
            remedy="export it again",
        )
    return "table"


def _read_ris(text: str, report: FileReport, path: Path) -> None:
    import rispy

    for number, lines in enumerate(_ris_records(text, report), start=1):
        try:
            entry = rispy.loads("\n".join(lines) + "\n")[0]
        except (ValueError, OSError, IndexError, KeyError) as error:
            report.rejected.append({"source": report.source, "record": number, "reason": f"unreadable RIS: {error}"})
            continue
        values = {name: _first(entry, keys) for name, keys in _RIS_KEYS.items()}
        raw = {**entry, **entry.get("unknown_tag", {})}
        raw |= {
            tag: [line[6:] for line in lines if line.startswith(f"{tag}  -")] for tag in {line[:2] for line in lines}
        }
        _keep(report, number, values, raw)


def _ris_records(text: str, report: FileReport) -> Iterator[list[str]]:
    """Yield each record's lines with wrapped ones joined; everything between records, and noise within, is noted."""
    current: list[str] | None = None
    pattern = _RIS_TAG if re.search(r"^TY  -", text, re.MULTILINE) else _RIS_LOOSE_TAG
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = line.rstrip()
        match = pattern.match(line.lstrip())
        tag = match.group(1) if match else None
        if tag == "TY":
            if current:  # the record before lacks its ER line
                yield [*current, "ER  - "]
            current = [f"TY  - {(match.group(2) or '').strip()}"]
        elif tag == "ER" and current:
            yield [*current, "ER  - "]
            current = None
        elif current is None:
            if line.strip():
                report.ignore(number, line)
        elif match:
            current.append(f"{tag}  - {(match.group(2) or '').strip()}")
        elif _RIS_NOISE.match(line.strip()) and not current[-1].startswith(("UR", "L1", "L2")):
            report.ignore(number, line)
        elif line.strip():
            current[-1] += " " + line.strip()
    if current:
        yield [*current, "ER  - "]


def _read_nbib(text: str, report: FileReport, path: Path) -> None:
    from Bio import Medline

    for number, entry in enumerate(Medline.parse(_nbib_lines(text, report)), start=1):
        values = {
            "title": entry.get("TI"),
            "abstract": entry.get("AB"),
            "pmid": entry.get("PMID"),
            "pmc_id": entry.get("PMC"),
            "doi": _doi_of(entry),
            "authors": entry.get("FAU") or entry.get("AU"),
            "journal": entry.get("JT") or entry.get("TA"),
            "year": entry.get("DP"),
            "publication_types": entry.get("PT"),
        }
        _keep(report, number, values, dict(entry))


def _nbib_lines(text: str, report: FileReport) -> list[str]:
    """Return the lines of records with one blank line before each `PMID-`; anything else is noted."""
    lines: list[str] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if re.match(r"PMID ?- ", line):
            lines += ["\n", line.replace("PMID - ", "PMID- ", 1) + "\n"]
        elif lines and (line.startswith("      ") or _NBIB_TAG.match(line)):
            lines.append(line + "\n")
        elif line.strip():
            report.ignore(number, line)
    return lines[1:]


def _doi_of(entry: Mapping[str, Any]) -> str | None:
    # The DOI of many records stands in LID alone.
    found = re.search(r"(\S+)\s*\[doi\]", " ".join([*_texts(entry.get("LID")), *_texts(entry.get("AID"))]))
    return found.group(1) if found else None


def _read_table(text: str, report: FileReport, path: Path) -> None:
    csv.field_size_limit(16 * 1024 * 1024)
    first, _, rest = text.partition("\n")
    if re.fullmatch(r"\"?sep=(.)\"?\s*", first, re.IGNORECASE):
        report.ignore(1, first)
        text = rest
    delimiter = _delimiter(text, path)
    report.format = {",": "CSV", ";": "CSV with semicolons", "\t": "TSV", "|": "CSV with bars"}[delimiter]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        _refuse_open_quote(text, delimiter, path)
        header = [name.strip() for name in next(reader)]
        matched = match_columns([name for name in header if name], COLUMNS, path)
        for number, row in enumerate(reader, start=1):
            if not any(cell.strip() for cell in row):
                continue
            if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
                reason = f"{len(row)} fields where the header has {len(header)}"
                report.rejected.append({"source": report.source, "record": number, "reason": reason})
                continue
            raw = dict(zip(header, [*row, *[""] * (len(header) - len(row))], strict=False))
            _keep(report, number, {name: raw[column] for name, column in matched.items()}, raw)
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}", expected="CSV or TSV text") from None


def _refuse_open_quote(text: str, delimiter: str, path: Path) -> None:
    """Raise `DataError` for a quotation mark that is never closed, behind which all later rows would vanish."""
    start, end = 1, "\ue000"
    reader = csv.reader(io.StringIO(f"{text}\n{end}\n", newline=""), delimiter=delimiter)
    for row in reader:
        if row == [end]:
            return
        start, last = reader.line_num + 1, start
    raise DataError(
        f"{path}, line {last}: a quotation mark is opened in this row and never closed",
        expected="every quoted field closed",
        remedy='close it, or write "" for a quotation mark within a field',
    )


def _delimiter(text: str, path: Path) -> str:
    """Return the delimiter under which the header has most of the known columns; none known is an error."""
    known = {plain_name(name) for item in COLUMNS for name in (item.name, *item.aliases)}
    headers = {mark: next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), []) for mark in ",;\t|"}
    scores = {
        mark: (sum(plain_name(name) in known for name in header), len(header)) for mark, header in headers.items()
    }
    best = max(scores, key=lambda mark: scores[mark])
    found = {plain_name(name) for name in headers[best]}
    needed = {plain_name(name) for item in COLUMNS[:2] for name in (item.name, *item.aliases)}
    if not found & needed:
        accepted = " or ".join(name for item in COLUMNS[:2] for name in (item.name, *item.aliases))
        raise DataError(
            f"{path} has neither titles nor abstracts; columns found: {', '.join(headers[best]) or 'none'}",
            expected=f"a column {accepted}",
            remedy="rename the columns",
        )
    return best


def _keep(report: FileReport, number: int, values: Mapping[str, Any], raw: Mapping[str, Any]) -> None:
    """Add a record, or reject it with its reason when it has neither title nor abstract."""
    title, abstract = _joined(values.get("title")), _joined(values.get("abstract"))
    if not title and not abstract:
        report.rejected.append({"source": report.source, "record": number, "reason": "neither title nor abstract"})
        return
    year = re.search(r"\b(1[5-9]\d\d|20\d\d)\b", _joined(values.get("year")))
    pmid = re.search(r"\d+", _joined(values.get("pmid")))
    report.records.append(
        Record(
            report.source,
            number,
            title,
            abstract,
            normalise_doi(_joined(values.get("doi"))),
            pmid.group() if pmid else None,
            _joined(values.get("pmc_id")) or None,
            _people(values.get("authors")),
            _joined(values.get("journal")) or None,
            int(year.group()) if year else None,
            tuple(
                part for text in _texts(values.get("publication_types")) for part in re.split(r"\s*;\s*", text) if part
            ),
            raw,
        )
    )


def _people(value: Any) -> tuple[str, ...]:
    # "Abel, A; Brandt, B" needs the semicolon as separator; without one, commas only separate names without their own.
    names = _texts(value) if not isinstance(value, str) else re.split(r"\s*;\s*|\s*\|\s*", value)
    return tuple(name.strip() for name in names if is_reported(name))


def _first(entry: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((entry[key] for key in keys if is_reported(entry.get(key))), None)


def _texts(value: Any) -> list[str]:
    if not is_reported(value):
        return []
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]


def _joined(value: Any) -> str:
    return " ".join(" ".join(_texts(value)).split())


def labels_of(records: Iterable[Record], column: str) -> Iterator[tuple[Record, list[str]]]:
    """Yield each record with the texts of its label field; a field that no record has is an error."""
    wanted = plain_name(column)
    found: set[str] = set()
    any_found = False
    for record in records:
        found |= record.raw.keys()
        names = [name for name in record.raw if plain_name(name) == wanted]
        any_found = any_found or bool(names)
        yield record, [text for name in names for text in _texts(record.raw[name])]
    if not any_found:
        raise DataError(
            f"no record has a column or tag {column!r}; found: {', '.join(sorted(found))}",
            expected="the column that says included or excluded",
            remedy="name it with --labels",
        )
