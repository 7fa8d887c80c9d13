"""Whole invented reports in the manner of released ones, with the selections read from them by hand."""

import json
from pathlib import Path

import pytest

from litsynth.scoring.selection import parse_selection

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "selection"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", EXPECTED["reports"])
def test_selection_of_a_whole_report(name):
    found = parse_selection((FOLDER / name).read_text(encoding="utf-8"), EXPECTED["candidates"])
    read = {
        "included_ids": list(found.included_ids),
        "unmatched_ids": list(found.unmatched_ids),
        "unmatched_entries": list(found.unmatched_entries),
        "contested_ids": list(found.contested_ids),
        "strict_ids": list(found.strict_ids),
        "withdrawn": len(found.withdrawn),
        "heading": found.heading,
    }
    assert read == EXPECTED["reports"][name]


def test_every_golden_report_has_an_expectation():
    assert {path.name for path in FOLDER.glob("*.md")} == set(EXPECTED["reports"])
