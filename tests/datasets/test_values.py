"""What single values mean: not reported in all its spellings, criteria, identifiers, years."""

from __future__ import annotations

import datetime
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litsynth.datasets.identifiers import normalise_doi
from litsynth.datasets.values import (
    is_reported,
    json_ready,
    number_list,
    split_items,
    split_lines,
    text_or_none,
    whole_number,
    year_or_none,
)
from litsynth.errors import DataError

_ITEM = st.text(st.characters(codec="utf-8", exclude_characters=";&"), min_size=1).map(str.strip).filter(is_reported)


@pytest.mark.parametrize("value", [None, float("nan"), "", "  ", "NR", "nr", " Nr. ", "Not reported", "NaN", [], ()])
def test_not_reported(value: object) -> None:
    assert not is_reported(value)
    assert split_items(value, "here") == ()
    assert split_lines(value, "here") == ()
    assert number_list(value, "here") == ()
    assert year_or_none(value, "here") is None


@pytest.mark.parametrize("value", ["None", "N/A or NR", "0", 0, 0.0, "NRS score", False])
def test_reported(value: object) -> None:
    assert is_reported(value)


@given(st.lists(_ITEM), st.sampled_from(["; ", ";", " ;  ", ";;", ";NR;"]))
def test_criteria_come_back_in_order_whatever_separates_them(items: list[str], separator: str) -> None:
    assert split_items(separator.join(items), "here") == tuple(items)


@given(st.text())
def test_criteria_are_never_empty_or_unreported(text: str) -> None:
    assert all(item == item.strip() and is_reported(item) for item in split_items(text, "here"))


def test_entities_do_not_split_criteria() -> None:
    assert split_items("Age &gt; 18 years; BMI &lt; 30 &amp; stable", "here") == ("Age > 18 years", "BMI < 30 & stable")


def test_insights_are_lines() -> None:
    assert split_lines("First; with a semicolon\n\n  Second  \nNR\n", "here") == ("First; with a semicolon", "Second")


def test_numbers_and_dates_become_text() -> None:
    assert text_or_none(2004, "here") == "2004"
    assert text_or_none(2004.0, "here") == "2004"
    assert text_or_none(datetime.date(2004, 3, 1), "here") == "2004-03-01"


@pytest.mark.parametrize("value", [True, 1.0, -3, "1.0", "007", "abc", None, [1], float("nan")])
def test_identifiers_are_whole_numbers(value: object) -> None:
    with pytest.raises(DataError, match=r"corpus\.json, row 7: ID is .*Expected: a non-negative whole number"):
        whole_number(value, "corpus.json, row 7: ID")


@given(st.integers(0, 10**12))
def test_identifiers_as_numbers_or_digits(number: int) -> None:
    assert whole_number(number, "here") == whole_number(str(number), "here") == number


def test_lists_of_identifiers() -> None:
    assert number_list([3, 1, 3], "here") == (3, 1)
    assert number_list("[3, 1]", "here") == (3, 1)
    with pytest.raises(DataError, match="list of whole numbers"):
        number_list(7, "here")


@pytest.mark.parametrize(("value", "year"), [(2004, 2004), (2004.0, 2004), ("2004", 2004), ("2004.0", 2004)])
def test_years(value: object, year: int) -> None:
    assert year_or_none(value, "here") == year


@pytest.mark.parametrize("value", ["spring", 2004.5, True, [2004]])
def test_bad_years(value: object) -> None:
    with pytest.raises(DataError, match="a year such as"):
        year_or_none(value, "here")


@given(st.recursive(st.none() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=8))
def test_json_ready_holds_no_nan(value: object) -> None:
    import json

    ready = json_ready(value)
    assert json.loads(json.dumps(ready, allow_nan=False)) == ready


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.1000/ABC", "10.1000/abc"),
        ("http://dx.doi.org/10.1000%2Fabc", "10.1000/abc"),
        ("doi:10.1000/Ab.C ", "10.1000/ab.c"),
        ("DOI 10.1000/abc.", "10.1000/abc"),
        ("10.1000/abc [doi]", "10.1000/abc"),
        ("10.1002/(SICI)1097(1)1:1<1::AID-X>3.0.CO;2-9", "10.1002/(sici)1097(1)1:1<1::aid-x>3.0.co;2-9"),
        ("n/a", None), ("NR", None), ("", None), (None, None), ("PMID 123", None),
    ],
)  # fmt: skip
def test_dois(text: str | None, doi: str | None) -> None:
    assert normalise_doi(text) == doi


@given(st.from_regex(r"10\.\d{4,6}/[A-Za-z0-9][A-Za-z0-9._/-]{0,20}[A-Za-z0-9]", fullmatch=True),
       st.sampled_from(["", "doi:", "DOI: ", "https://doi.org/", "http://dx.doi.org/", "  "]))  # fmt: skip
def test_a_doi_has_one_spelling(doi: str, prefix: str) -> None:
    assert normalise_doi(prefix + doi) == normalise_doi(doi.upper()) == doi.lower()
    assert normalise_doi(normalise_doi(doi)) == doi.lower()


@given(st.text())
def test_doi_of_anything_is_a_doi_or_none(text: str) -> None:
    doi = normalise_doi(text)
    assert doi is None or (doi.startswith("10.") and doi == doi.lower() and normalise_doi(doi) == doi)


def test_nan_is_nothing_in_json() -> None:
    assert json_ready({"a": [math.inf, 1.5], 3: datetime.date(2020, 1, 2)}) == {"a": [None, 1.5], "3": "2020-01-02"}
