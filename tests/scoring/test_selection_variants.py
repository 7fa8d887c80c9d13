"""The selection parser against known lists in every combination of wording, heading form and layout."""

import pytest
from selection_reports import CANDIDATES, LAYOUTS, NO_TITLES, TITLE_LAYOUTS, WORDINGS, reports

from litsynth.scoring.selection import parse_selection

INCLUDED = (12, 7, 40493, 3)
EMPTY_STATEMENTS = (
    "None were included.",
    "**None were included.**",
    "- None",
    "No studies were included.",
    "No eligible studies",
    "No study met all eligibility criteria.",
    "*No article in the pool met the criteria; Corpus ID: 88 came closest.*",
    "No primary study was eligible.",
    "Nothing was included.",
    "0 studies",
    "N/A",
    "The final list is empty.",
    "None of the candidates met the inclusion criteria.",
    "没有符合条件的研究。",
    "Aucune étude incluse.",
)


@pytest.mark.parametrize(
    ("layouts", "candidates"),
    [(LAYOUTS, NO_TITLES), (LAYOUTS, CANDIDATES), (TITLE_LAYOUTS, CANDIDATES)],
    ids=["IDs, titles unknown", "IDs and titles", "titles only"],
)
@pytest.mark.parametrize("wording", WORDINGS)
def test_known_list_in_every_wording_and_layout(wording, layouts, candidates):
    wrong = {}
    for description, report in reports(layouts, INCLUDED, wordings=(wording,)):
        found = parse_selection(report, candidates)
        read = (found.included_ids, found.unmatched_ids, found.unmatched_entries, found.withdrawn, found.contested_ids)
        if read != (INCLUDED, (), (), (), ()) or not found.strict or found.method != "dedicated_list":
            wrong[description] = found
    assert not wrong


def test_there_are_at_least_300_variants():
    assert sum(1 for _ in reports(LAYOUTS, INCLUDED)) >= 300


@pytest.mark.parametrize("statement", EMPTY_STATEMENTS)
@pytest.mark.parametrize(
    "heading", ["## Final included studies", "**Included primary-study articles**", "Included studies:"]
)
def test_explicit_statement_is_a_resolved_empty_list(heading, statement):
    found = parse_selection(f"# Report\n\nCorpus ID: 12 was excluded.\n\n{heading}\n\n{statement}\n", CANDIDATES)
    assert (found.included_ids, found.unmatched_ids, found.unmatched_entries) == ((), (), ())
    assert found.resolved
    assert found.strict
