"""From a report and its candidates to the selection: dedicated list first, the whole report only when there is none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from litsynth.errors import ScoringError
from litsynth.scoring.selection.corpus_ids import disputes, mentions, withdraws
from litsynth.scoring.selection.empty import says_nothing_included
from litsynth.scoring.selection.entries import Entries, read_entries
from litsynth.scoring.selection.headings import is_correction, is_replacement
from litsynth.scoring.selection.lines import Line, read_lines
from litsynth.scoring.selection.sections import Section, candidate_sections, excluded_line_numbers
from litsynth.scoring.selection.titles import TitleIndex

Method = Literal["dedicated_list", "empty_statement", "whole_report", "none"]


@dataclass(frozen=True, slots=True)
class Selection:
    """The articles that a report includes.

    `included_ids` are candidates, in candidate order, read as the benchmark's released selections read a list:
    everything its section lists, unless the entry says that it is not included or does not exist. `contested_ids` are
    those of the included and unmatched IDs that the report's own words call excluded nevertheless (an entry
    "Excluded because …", a bold heading "Borderline but excluded" below the list, an entry that a corrected
    list drops): `strict_ids` leaves them out. `unmatched_ids` are explicit IDs that are no candidate,
    `unmatched_entries`
    list entries that name nothing known, `withdrawn` entries that the report itself takes back. `strict` is true when a
    dedicated list (or a statement that it is empty) decided; `whole_report` is the fallback. `resolved` is false when
    neither names an article: not an empty selection.
    """

    included_ids: tuple[int, ...] = ()
    unmatched_ids: tuple[int, ...] = ()
    unmatched_entries: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    contested_ids: tuple[int, ...] = ()
    method: Method = "none"
    heading: str = ""
    resolved: bool = False
    strict: bool = False

    @property
    def strict_ids(self) -> tuple[int, ...] | None:
        """The included IDs of the dedicated list without the contested ones; None when there is no dedicated list."""
        contested = frozenset(self.contested_ids)
        return tuple(i for i in self.included_ids if i not in contested) if self.strict else None

    @property
    def strict_unmatched_ids(self) -> tuple[int, ...] | None:
        """The unmatched IDs of the dedicated list without the contested ones; None when there is no dedicated list."""
        contested = frozenset(self.contested_ids)
        return tuple(i for i in self.unmatched_ids if i not in contested) if self.strict else None

    def as_dict(self) -> dict[str, Any]:
        """Return the selection as JSON-ready values."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def _candidate_titles(candidates: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
    titles = []
    for position, candidate in enumerate(candidates):
        identifier = candidate.get("corpus_id", candidate.get("id"))
        if isinstance(identifier, bool) or not isinstance(identifier, int):
            raise ScoringError(
                f"candidate {position} has the ID {identifier!r}",
                expected="an integer under corpus_id",
                remedy="give every candidate its corpus ID and title",
            )
        titles.append((identifier, str(candidate.get("title") or "")))
    return titles


def parse_selection(report: str, candidates: Sequence[Mapping[str, Any]], *, fallback: bool = True) -> Selection:
    """Return the final included list of `report`.

    `candidates` are the articles the system was shown, each a mapping with `corpus_id` (or `id`) and
    `title`; `fallback=False` reads the dedicated list only. An unresolved selection is returned, not raised: whether
    it is an error is for the caller to say. Raises `ScoringError` for a candidate without an integer ID. Time is
    linear in the length of the report.
    """
    titles = _candidate_titles(candidates)
    order = tuple(dict.fromkeys(identifier for identifier, _ in titles))
    known, index = frozenset(order), TitleIndex(titles)
    lines = read_lines(report)
    sections = candidate_sections(lines)
    chosen = _chosen_section(sections, index, known)
    if chosen:
        merged = _with_earlier_parts(*chosen, sections, index, known)
        return _selection(merged, order, known, "dedicated_list", chosen[0].heading)
    statement = _empty_statement(lines)
    if statement:
        return Selection(method="empty_statement", heading=statement[:200], resolved=True, strict=True)
    return _from_whole(lines, index, order, known) if fallback else Selection()


def _selection(
    entries: Entries, order: Sequence[int], known: Collection[int], method: Method, heading: str
) -> Selection:
    named = {*entries.ids, *entries.titled}
    unmatched = dict.fromkeys(i for i in entries.ids if i not in known)
    included = tuple(i for i in order if i in named)
    return Selection(
        included_ids=included,
        unmatched_ids=tuple(unmatched),
        unmatched_entries=tuple(dict.fromkeys(entries.unmatched)),
        withdrawn=tuple(dict.fromkeys(entries.withdrawn)),
        contested_ids=tuple(i for i in (*included, *unmatched) if i not in entries.undisputed),
        method=method,
        heading=heading,
        resolved=True,
        strict=method != "whole_report",
    )


def _chosen_section(
    sections: Sequence[Section], index: TitleIndex, known: Collection[int]
) -> tuple[Section, Entries] | None:
    """Return the likeliest section that names a known kind of article or says that there is none.

    A section whose entries map to nothing is taken only when no other section does better.
    """
    nameless = None
    for section in sections:
        entries = _section_entries(section, index, known)
        if entries is not None and (entries.ids or entries.titled or not entries.unmatched):
            return section, entries
        if entries is not None and nameless is None:
            nameless = section, entries
    return nameless


def _section_entries(section: Section, index: TitleIndex, known: Collection[int]) -> Entries | None:
    """Return what the section lists, or None when it is no list: prose that neither names an article nor denies any."""
    if _opens_empty(section):
        return Entries()
    entries = read_entries(section.lines, index, known, section.contested)
    if entries.ids or entries.titled:
        return entries
    if section.role == "evidence":
        return None
    if any(says_nothing_included(line.text, in_list=True) for line in section.lines if not line.quoted):
        return Entries(withdrawn=entries.withdrawn)
    return entries if entries.found else None


def _opens_empty(section: Section) -> bool:
    """Tell whether a list begins with the statement that it is empty; IDs after it are studies that came close."""
    first = next((line for line in section.lines if line.kind not in ("blank", "rule")), None)
    return (
        section.role in ("final_list", "list")
        and first is not None
        and not first.quoted
        and first.kind != "row"
        and says_nothing_included(first.text, in_list=True)
    )


def _with_earlier_parts(
    section: Section,
    entries: Entries,
    sections: Sequence[Section],
    index: TitleIndex,
    known: Collection[int],
) -> Entries:
    """Add the list sections that run up to this one without a break, or enclose it.

    "Included trials" and "Included cohorts" are parts of one list; before a corrected list, or around a final one, the
    entries that it does not repeat are disputed. A list that calls itself corrected or revised stands alone: what it
    drops of the list just before it is withdrawn.
    """
    if is_replacement(section.heading):
        return _without_replaced(section, entries, sections, index, known)
    merged, current = entries, section
    roles = ("list", "final_list") if is_correction(section.heading) else (section.role,)
    before = [s for s in sections if s.role in roles and s.start < section.start]
    for earlier in sorted(before, key=lambda s: -s.start):
        encloses = earlier.end > current.start
        if not encloses and earlier.end != current.start:
            break
        part = _section_entries(earlier, index, known)
        if part is None:
            break
        stands = part.undisputed if not (encloses or is_correction(current.heading)) else set()
        merged = Entries(
            part.ids + merged.ids,
            part.titled + merged.titled,
            part.unmatched + merged.unmatched,
            part.withdrawn + merged.withdrawn,
            merged.undisputed | stands,
        )
        current = earlier
    return merged


def _without_replaced(
    section: Section, entries: Entries, sections: Sequence[Section], index: TitleIndex, known: Collection[int]
) -> Entries:
    before = [s for s in sections if s.role in ("list", "final_list") and s.end == section.start]
    earlier = _section_entries(before[0], index, known) if before else None
    if earlier is not None:
        named = {*entries.ids, *entries.titled}
        dropped = dict.fromkeys(i for i in (*earlier.ids, *earlier.titled) if i not in named)
        entries.withdrawn += [f"Corpus ID: {identifier} (not in {section.heading})" for identifier in dropped]
    return entries


def _empty_statement(lines: Iterable[Line]) -> str:
    return next(
        (
            line.text
            for line in lines
            if not line.quoted and line.kind != "row" and says_nothing_included(line.text, in_list=False)
        ),
        "",
    )


def _from_whole(lines: Sequence[Line], index: TitleIndex, order: Sequence[int], known: Collection[int]) -> Selection:
    """Return what the whole report names outside exclusions, criteria and references."""
    skipped = excluded_line_numbers(lines)
    entries = Entries()
    for line in lines:
        if line.number in skipped or line.quoted or not line.text or withdraws(line.text) or disputes(line.text):
            continue
        found = mentions(line.text)
        entries.add(mention.value for mention in found if mention.value >= 0)
        entries.add([] if found else index.find(line.marked), titled=True)
    if not (entries.ids or entries.titled):
        return Selection()
    return _selection(entries, order, known, "whole_report", "")
