"""The entries of a list section: which articles each one names, and which entries the report withdraws."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from litsynth.scoring.selection.corpus_ids import (
    CORRECTION,
    Mention,
    disputes,
    lacks_number,
    leading_number,
    mentions,
    replaced_ids,
    withdraws,
)
from litsynth.scoring.selection.empty import says_nothing_included
from litsynth.scoring.selection.lines import Line
from litsynth.scoring.selection.titles import SHORTEST_CHARACTERS, SHORTEST_WORDS, TitleIndex

_ID_COLUMN = re.compile(
    r"(?:(?:metasyn|local)?[\s_-]*corpus[\s_-]*(?:ids?|identifier|number|no\.?|#)|(?:article"
    r"|record)[\s_-]*ids?|ids?)\s*(?:\([^()]*\))?",
    re.IGNORECASE,
)
_CELL_NUMBER = re.compile(r"(?<![\w.])((?<![^\s,;(\[])-?[0-9]{1,12}|[0-9]{1,12})(?![\w.])")
_STATUS_COLUMN = re.compile(
    r"(?:decision|status|included\??|include\??|verdict|selection|final decision|eligible\??)", re.IGNORECASE
)
_NEGATIVE_CELL = re.compile(
    r"(?:no|not included|exclude[d]?|ineligible|not eligible|omitted|✗|✘|❌|×|n)\b.*|[✗✘❌×].*", re.IGNORECASE
)
_ONLY_LABEL = re.compile(r"(?:corpus|article|record)?[\s_-]*ids?\s*[:#=]?\s*", re.IGNORECASE)
_NOTE = re.compile(
    r"(?:note|notes|comment|caveat|correction|important|total|n\s*=|rationale|reason|why|design|population"
    r"|year|key|outcome|finding|abstract)\b",
    re.IGNORECASE,
)
_ADDED = re.compile(
    r"\b(?:by oversight|(?:is|are|was|were|should) also (?:be )?(?:eligible|included|added|listed)"
    r"|should have been (?:included|listed))\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:see also|cf\.?|same (?:trial|cohort|study|sample) as|similar to|companion (?:to|of)|unlike"
    r"|duplicate of|overlaps? with|in contrast to|compared with)\s*[\"'(]*$",
    re.IGNORECASE,
)
_CLOSE = 6  # characters between two IDs of one run
_LONGEST_ENTRY = 700  # characters beside the IDs of a plain line; a longer one is prose


@dataclass
class Entries:
    """What a section names, in order: explicit IDs, titled articles, entries that name nothing, withdrawn texts.

    `undisputed` are the articles that at least one mention lists without calling them excluded.
    """

    ids: list[int] = field(default_factory=list)
    titled: list[int] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    undisputed: set[int] = field(default_factory=set)

    def add(self, articles: Iterable[int], *, titled: bool = False, disputed: bool = False) -> None:
        """Add named articles; one undisputed mention is enough for an article to stand."""
        articles = list(articles)
        (self.titled if titled else self.ids).extend(articles)
        if not disputed:
            self.undisputed.update(articles)

    @property
    def found(self) -> bool:
        """Whether the section names any article, or withdraws one."""
        return bool(self.ids or self.titled or self.unmatched or self.withdrawn)


@dataclass
class _Block:
    """Consecutive lines that make one entry; `is_item` when a list marker, table row or entry heading opened it."""

    lines: list[Line]
    is_item: bool
    group: int

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True)
class _Named:
    """One explicit ID of an entry, the text that belongs to it, and whether that withdraws or disputes it."""

    value: int
    text: str
    withdrawn: bool
    disputed: bool


def read_entries(
    lines: Sequence[Line], titles: TitleIndex, candidates: Collection[int], contested: Collection[int] = ()
) -> Entries:
    """Return what the lines of a list section name; quoted lines count only when the section has no others.

    Articles named on a line whose number is in `contested` are disputed.
    """
    own = [line for line in lines if not line.quoted or line.kind == "blank"]
    usable = own if any(line.kind in ("item", "row", "text", "bold", "heading") for line in own) else list(lines)
    rows, others = _split_tables(usable)
    entries = Entries()
    for table in rows:
        _read_table(table, titles, entries, contested)
    blocks = _blocks(_join_split_labels(others))
    labelled = bool(entries.ids) or any(mentions(block.text) for block in blocks)
    _read_blocks(blocks, titles, candidates if not labelled else (), entries, contested)
    _withdraw_replaced(blocks, entries)
    return entries


def _split_tables(lines: Sequence[Line]) -> tuple[list[list[Line]], list[Line]]:
    tables: list[list[Line]] = []
    others: list[Line] = []
    previous_row = False
    for line in lines:
        if line.kind == "row":
            if not previous_row:
                tables.append([])
            tables[-1].append(line)
            previous_row = True
        elif line.kind == "rule" and previous_row:
            continue
        else:
            previous_row = False
            others.append(line)
    return tables, others


def _column(cells: Sequence[str], pattern: re.Pattern[str]) -> int | None:
    return next((number for number, cell in enumerate(cells) if pattern.fullmatch(cell.strip())), None)


def _read_table(rows: Sequence[Line], titles: TitleIndex, entries: Entries, contested: Collection[int]) -> None:
    """Read one table: a Corpus ID column by its header, else labelled IDs or exact titles in the cells."""
    header = rows[0].cells
    id_column, status_column = _column(header, _ID_COLUMN), _column(header, _STATUS_COLUMN)
    has_header = id_column is not None or not mentions(rows[0].text)
    for row in rows[1:] if has_header else rows:
        cell = row.cells[id_column] if id_column is not None and id_column < len(row.cells) else ""
        found = (
            mentions(cell)
            or [Mention(int(n), 0, 0) for n in _CELL_NUMBER.findall(cell)]
            or mentions(row.text)
        )
        verdict = row.cells[status_column] if status_column is not None and status_column < len(row.cells) else ""
        named = [] if found else titles.find(row.marked)
        if (found or named) and (_NEGATIVE_CELL.fullmatch(verdict.strip()) or withdraws(row.text)):
            entries.withdrawn.append(row.text)
        elif found:
            entries.add((mention.value for mention in found if mention.value >= 0), disputed=row.number in contested)
            if any(mention.value < 0 for mention in found):
                entries.unmatched.append(" | ".join(row.cells))
        else:
            entries.add(named, titled=True, disputed=row.number in contested)
            unreadable = bool(re.search(r"\w", cell)) and not _NOTE.match(row.cells[0]) and not any(
                says_nothing_included(other, in_list=True) for other in row.cells if other != cell)
            if not named and (unreadable or (id_column is None and not entries.ids and _substantial(row.text))):
                entries.unmatched.append(" | ".join(row.cells) if unreadable else max(row.cells, key=len))


def _join_split_labels(lines: Sequence[Line]) -> list[Line]:
    """Join a line that ends with a bare `Corpus ID:` to a following line that is nothing but a number."""
    joined: list[Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        number_only = line.kind == "text" and re.fullmatch(r"-?[0-9]{1,12}[.,;]?", line.text)
        if (
            last is not None
            and number_only
            and last.kind != "blank"
            and _ONLY_LABEL.fullmatch(last.text[-40:].split("|")[-1].strip())
        ):
            joined[-1] = Line(
                last.number,
                last.kind,
                f"{last.text} {line.text}",
                f"{last.marked} {line.marked}",
                last.indent,
                last.level,
                last.marker,
            )
        else:
            joined.append(line)
    return joined


def _blocks(lines: Sequence[Line]) -> list[_Block]:
    """Group lines into entries by markers, indentation, blank lines and IDs."""
    blocks: list[_Block] = []
    top: int | None = None  # indentation of the list's outermost items
    blank, group = True, 0
    for line in lines:
        if line.kind in ("blank", "rule"):
            blank = True
            continue
        current = blocks[-1] if blocks else None
        if line.kind == "item":
            if top is None or line.indent < top + 2 or current is None or not current.is_item:
                top = line.indent if top is None or not (current and current.is_item) else min(top, line.indent)
                blocks.append(_Block([line], True, group))
            else:
                current.lines.append(line)
        elif line.kind in ("heading", "bold"):
            group += line.kind == "heading"
            blocks.append(_Block([line], bool(mentions(line.text)), group))
        elif current is None or (blank and line.indent < 2 and not _continues(current, line)):
            group += 1
            blocks.append(_Block([line], False, group))
        elif not blank and not current.is_item and _starts_with_id(line) and mentions(current.text):
            blocks.append(_Block([line], False, group))
        else:
            current.lines.append(line)
        blank = False
    return blocks


def _starts_with_id(line: Line) -> bool:
    return any(mention.start <= 3 for mention in mentions(line.text)[:1])


def _continues(block: _Block, line: Line) -> bool:
    """Tell whether an unindented line after a blank one belongs to the entry: an ID for a title without one."""
    return _starts_with_id(line) and not mentions(block.text) and len(block.text.split()) >= 3


def _read_blocks(
    blocks: Sequence[_Block], titles: TitleIndex, bare: Collection[int], entries: Entries, contested: Collection[int]
) -> None:
    """Read all entries; `bare` are the candidates whose bare number counts: those of a section without labels."""
    nameless: list[tuple[int, str]] = []
    groups_with_articles: set[int] = set()
    for block in blocks:
        disputed = block.lines[0].number in contested
        if _read_block(block, titles, bare, entries, disputed=disputed):
            groups_with_articles.add(block.group)
        elif block.is_item and not disputed and lacks_number(block.text) and not _NOTE.match(block.text):
            (entries.withdrawn if withdraws(block.text) else entries.unmatched).append(block.text)
        elif block.is_item and not disputed and _substantial(block.lines[0].text):
            nameless.append((block.group, block.lines[0].text))
    only_titles = not entries.ids and not entries.titled
    entries.unmatched += [text for group, text in nameless if only_titles or group in groups_with_articles]


def _substantial(text: str) -> bool:
    return len(text) >= SHORTEST_CHARACTERS and len(text.split()) >= SHORTEST_WORDS and not _NOTE.match(text)


def _read_block(block: _Block, titles: TitleIndex, bare: Collection[int], entries: Entries, *, disputed: bool) -> bool:
    """Read one entry into `entries`; returns whether it names an article (also one that it withdraws)."""
    found = _entry_mentions(block)
    if not found and block.is_item:
        number = leading_number(block.lines[0].text)
        if number is not None and number in bare:
            found = [_Named(number, block.text, False, disputes(block.text))]
    for named in found:
        if named.withdrawn:
            entries.withdrawn.append(named.text)
        elif named.value < 0:
            whole = " ".join(named.text.split())
            entries.unmatched.append(whole if len(found) == 1 else f"Corpus ID: {named.value}")
        else:
            entries.add([named.value], disputed=disputed or named.disputed)
    if found or mentions(block.text):
        return bool(found)
    titled = titles.find(" | ".join(line.marked for line in block.lines)) if _may_name(block) else []
    if not titled and len(block.lines) > 1:
        titled = titles.find(" ".join(line.marked for line in block.lines))  # a title that runs over two lines
    if titled and withdraws(block.text):
        entries.withdrawn.append(block.text)
    else:
        entries.add(titled, titled=True, disputed=disputed or disputes(block.text))
    return bool(titled)


def _may_name(block: _Block) -> bool:
    return block.is_item or len(block.text) < 600


def _entry_mentions(block: _Block) -> list[_Named]:
    """Return the explicit IDs of an entry, each with its own stretch of text and what that says of it.

    In a list item every labelled ID counts; on other lines only IDs that open or end the line, so that prose inside
    the section adds nothing. The stretch of an ID runs to the next ID of the entry.
    """
    offset, places = 0, []
    for number, line in enumerate(block.lines):
        found = mentions(line.text)
        free = (number == 0 and block.is_item) or line.kind in ("item", "bold", "heading")
        standing = found if free or (found and _ADDED.search(line.text)) else _standing(line.text, found)
        for mention in standing:
            if not _COMPARED.search(line.text[max(0, mention.start - 40) : mention.start]):
                places.append(Mention(mention.value, mention.start + offset, mention.end + offset, mention.doubtful))
        offset += len(line.text) + 1
    text = "\n".join(line.text for line in block.lines) + "\n"
    return [_named(text, places, position) for position in range(len(places))]


def _named(text: str, places: Sequence[Mention], position: int) -> _Named:
    mention, last = places[position], position + 1 == len(places)
    begin = 0 if position == 0 else mention.start
    stretch = text[begin:] if last else text[begin : places[position + 1].start]
    corrected = mention.doubtful and (not last or bool(CORRECTION.search(stretch)))
    verdict_at = min(mention.end - begin, len(stretch))
    return _Named(
        mention.value, stretch.strip(), corrected or withdraws(stretch), disputes(stretch, verdict_at=verdict_at)
    )


def _standing(text: str, found: Sequence[Mention]) -> list[Mention]:
    """Return the IDs with which a plain line begins or ends, and those that follow one another closely there."""
    if not found:
        return []
    runs: list[list[Mention]] = [[found[0]]]
    for mention in found[1:]:
        if mention.start - runs[-1][-1].end <= _CLOSE:
            runs[-1].append(mention)
        else:
            runs.append([mention])
    opens = found[0].start <= 3 and len(text) - runs[0][-1].end < _LONGEST_ENTRY
    ends = len(text) - found[-1].end <= 3 and runs[-1][0].start < _LONGEST_ENTRY
    first = runs[0] if opens else []
    return first + (runs[-1] if ends and not (opens and len(runs) == 1) else [])


def _withdraw_replaced(blocks: Sequence[_Block], entries: Entries) -> None:
    """Take back IDs that a later sentence of the section replaces (`its Corpus ID is 1053, not 1243`)."""
    for block in blocks:
        for number in replaced_ids(block.text):
            if number in entries.ids:
                entries.ids = [identifier for identifier in entries.ids if identifier != number]
                entries.withdrawn.append(block.text)
