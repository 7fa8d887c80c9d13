"""Folders of every accepted layout load to the same records, and every bad input is one clear error."""

# ruff: noqa: E501 -- a table of cases reads best with one case a line
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from litsynth import datasets
from litsynth.errors import DataError
from litsynth.records import Section

REVIEWS = [
    {
        "ID": 7, "Title": "A review", "Research_Question": "Does it help?", "Population": "Adults", "Intervention": "Drug X",
        "Exposure": "NR", "Comparison": "", "Outcome": None, "search_start_date": "2001-01-01", "search_end_date": None,
        "inclusion_criteria": "Adults; trials ", "exclusion_criteria": "NR", "source_review_corpus_ids": [102],
        "matched_corpus_ids": [101, 103], "Effect_Direction": "positive", "Key_Insights": "One.\nTwo.",
        "Effect_Size_Value": 0.8, "split": "train",
    },
    {
        "ID": 8, "Title": "NR", "Research_Question": "Is it harmful?", "Population": "Children", "Intervention": "NR",
        "Exposure": "Smoke", "Comparison": None, "Outcome": "Asthma", "search_start_date": None, "search_end_date": None,
        "inclusion_criteria": "", "exclusion_criteria": None, "source_review_corpus_ids": [], "matched_corpus_ids": [104],
        "Effect_Direction": "NR", "Key_Insights": "", "Effect_Size_Value": float("nan"), "split": "test",
    },
]  # fmt: skip
CORPUS = [
    {"ID": 104, "title": "Fourth", "abstract": "Text.", "pmid": "4", "year": 2001, "authors": ["A B", "C D"], "sections": []},
    {"ID": 101, "title": "First", "abstract": "NR", "pmid": None, "year": None, "authors": [], "sections": []},
    {"ID": 102, "title": "Second", "abstract": "", "pmid": "2", "year": 1999, "authors": ["E"],
     "sections": [{"heading": "Methods", "text": "We did."}]},
    {"ID": 103, "title": "Third", "abstract": "More text.", "pmid": "3", "year": 2003, "authors": [], "sections": []},
]  # fmt: skip


def _clean(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: None if value != value else value for key, value in row.items()} for row in rows]


def _write_parquet(folder: Path, reviews: list[dict], corpus: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(reviews).to_parquet(folder / "reviews.parquet")
    pd.DataFrame(corpus).to_parquet(folder / "corpus.parquet")


def _write_json(folder: Path, reviews: list[dict], corpus: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reviews.json").write_text(json.dumps(reviews))  # with NaN, as json.dump writes it
    (folder / "corpus.json").write_text(json.dumps(_clean(corpus)))


def _write_jsonl(folder: Path, reviews: list[dict], corpus: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("reviews", reviews), ("corpus", corpus)):
        (folder / f"{name}.jsonl").write_text("\ufeff" + "".join(json.dumps(row) + "\n" for row in _clean(rows)))


def _write_hub_by_name(folder: Path, reviews: list[dict], corpus: list[dict]) -> None:
    for split in ("train", "test"):
        rows = [{k: v for k, v in row.items() if k != "split"} for row in reviews if row["split"] == split]
        path = folder / "reviews" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_parquet(path)
    (folder / "corpus").mkdir()
    pd.DataFrame(corpus[:2]).to_parquet(folder / "corpus" / "train-00000-of-00002.parquet")
    pd.DataFrame(corpus[2:]).to_parquet(folder / "corpus" / "train-00001-of-00002.parquet")


def _write_hub_by_card(folder: Path, reviews: list[dict], corpus: list[dict]) -> None:
    _write_hub_by_name(folder / "parts", reviews, corpus)
    (folder / "parts" / "reviews").rename(folder / "parts" / "tasks")
    (folder / "parts" / "corpus").rename(folder / "parts" / "pool")
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: reviews\n  data_files:\n  - split: train\n    path: parts/tasks/train-*\n"
        "  - split: test\n    path: parts/tasks/test-*\n- config_name: corpus\n  data_files: parts/pool/*.parquet\n---\nText.\n"
    )


def _write_older(folder: Path, reviews: list[dict], corpus: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{k: v for k, v in row.items() if k != "split"} for row in _clean(reviews)]
    (folder / "papers.json").write_text(json.dumps(rows))
    (folder / "corpus.json").write_text(json.dumps({str(row["ID"]): {k: v for k, v in row.items() if k != "ID"} for row in corpus}))
    (folder / "test_ids.json").write_text("[8]")


WRITERS = (_write_parquet, _write_json, _write_jsonl, _write_hub_by_name, _write_hub_by_card, _write_older)


@pytest.mark.parametrize("write", WRITERS)
def test_every_layout_gives_the_same_records(write: Callable, tmp_path: Path) -> None:
    _write_json(tmp_path / "reference", REVIEWS, CORPUS)
    reference = datasets.load(tmp_path / "reference")
    folder = tmp_path / "mine"
    write(folder, REVIEWS, CORPUS)
    loaded = datasets.load(folder)
    if write is not _write_hub_by_name and write is not _write_hub_by_card:  # split files are read in order of name
        assert loaded.checksum == reference.checksum
        assert list(loaded.reviews) == [7, 8]
    assert dict(loaded.reviews) == dict(reference.reviews)
    assert dict(loaded.gold) == dict(reference.gold)
    assert list(loaded.corpus.items()) == list(reference.corpus.items())
    assert loaded.name == "mine"
    assert not loaded.synthetic


def test_what_the_fields_become(tmp_path: Path) -> None:
    _write_parquet(tmp_path, REVIEWS, CORPUS)
    data = datasets.load(str(tmp_path))
    review, gold = data.reviews[7], data.gold[7]
    assert (review.exposure, review.comparison, review.outcome, review.search_end_date) == (None, None, None, None)
    assert review.inclusion_criteria == ("Adults", "trials")
    assert review.exclusion_criteria == ()
    assert review.source_ids == (102,)
    assert gold.included_ids == {101, 103}
    assert gold.effect_direction == "Positive"
    assert gold.key_insights == ("One.", "Two.")
    assert gold.effects == {"Effect_Size_Value": 0.8}
    assert data.gold[8].effect_direction is None
    assert data.gold[8].effects == {}
    assert data.gold[8].title == ""
    assert [article.id for article in data.corpus.values()] == [104, 101, 102, 103]
    assert data.corpus[101].abstract == ""
    assert data.corpus[102].sections == (Section("Methods", "We did.", ""),)
    assert data.corpus[101].year is None
    assert data.corpus[104].authors == ("A B", "C D")
    assert list(data.split("test")) == [8]


@pytest.mark.parametrize("change", [
    lambda r, c: c[0].update(abstract="Text"), lambda r, c: c.reverse(), lambda r, c: r[0].update(matched_corpus_ids=[101]),
    lambda r, c: r[0].update(split="test"), lambda r, c: c[0].update(authors=["A", "B C D"]), lambda r, c: c.pop(0) and r.pop(),
])  # fmt: skip
def test_any_other_content_has_another_checksum(change: Callable, tmp_path: Path) -> None:
    reviews, corpus = [dict(row) for row in REVIEWS], [dict(row) for row in CORPUS]
    _write_parquet(tmp_path / "a", reviews, corpus)
    change(reviews, corpus)
    _write_parquet(tmp_path / "b", reviews, corpus)
    assert datasets.load(tmp_path / "a").checksum != datasets.load(tmp_path / "b").checksum


def test_forgiving_column_names(tmp_path: Path) -> None:
    reviews = [{"review id": 1, "Question": "Q?", "Included-IDs": [5], "SPLIT": "test"}]
    _write_json(tmp_path, reviews, [{"corpus_id": 5, "Title": "T", "ABSTRACT": "A", "PubMed ID": 77, "Publication Year": "2001"}])
    data = datasets.load(tmp_path)
    assert data.corpus[5].pmid == "77"
    assert data.corpus[5].year == 2001
    assert data.gold[1].included_ids == {5}


def test_screened_and_notes(tmp_path: Path) -> None:
    _write_parquet(tmp_path, REVIEWS, CORPUS)
    pd.DataFrame({"review_ID": [7, 7, 8], "corpus_ID": [101, 104, 104], "label_included": [1, 0, 1]}).to_parquet(
        tmp_path / "screened.parquet")  # fmt: skip
    pd.DataFrame({"corpus_ID": [104], "review_ID": [7], "kind": ["hard_negative"], "fails": ["date"], "x": [None]}).to_parquet(
        tmp_path / "notes.parquet")  # fmt: skip
    data = datasets.load(tmp_path)
    assert data.screened == {7: {101: True, 104: False}, 8: {104: True}}
    assert data.notes == {104: {"review_id": 7, "kind": "hard_negative", "fails": "date"}}


def test_missing_links_can_be_kept_as_unreachable(tmp_path: Path) -> None:
    _write_json(tmp_path, REVIEWS, CORPUS[1:])
    data = datasets.load(tmp_path, allow_missing_links=True)
    assert data.gold[8].included_ids == {104}
    assert datasets.describe(data)["reviews"]["links_outside_corpus"] == 1


def _edit(which: str, row: int, **changes: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        reviews, corpus = [dict(r) for r in REVIEWS], [dict(r) for r in CORPUS]
        {"reviews": reviews, "corpus": corpus}[which][row].update(changes)
        _write_json(folder, reviews, corpus)

    return write


def _without(which: str, column: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        tables = {"reviews": REVIEWS, "corpus": CORPUS}
        tables[which] = [{k: v for k, v in row.items() if k != column} for row in tables[which]]
        _write_parquet(folder, tables["reviews"], tables["corpus"])

    return write


def _then(name: str, content: bytes | None) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        _write_parquet(folder, REVIEWS, CORPUS)
        path = folder / name
        path.write_bytes(path.read_bytes()[:200] if content is None else content)

    return write


def _empty_corpus(folder: Path) -> None:
    _write_json(folder, REVIEWS, [])
    (folder / "corpus.json").write_text("[]")


def _float_ids(folder: Path) -> None:
    _write_parquet(folder, REVIEWS, [{**row, "ID": float(row["ID"])} for row in CORPUS])


def _two_names(folder: Path) -> None:
    _write_json(folder, REVIEWS, [{**row, "Abstract": "B"} for row in CORPUS])


def _no_split(folder: Path) -> None:
    _write_json(folder, [{k: v for k, v in row.items() if k != "split"} for row in REVIEWS], CORPUS)


def _unknown_test_id(folder: Path) -> None:
    _write_older(folder, REVIEWS, CORPUS)
    (folder / "test_ids.json").write_text("[8, 99]")


def _only(name: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        _write_json(folder, REVIEWS, CORPUS)
        (folder / f"{name}.json").unlink()

    return write


def _labels(**columns: list) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        _write_parquet(folder, REVIEWS, CORPUS)
        pd.DataFrame(columns).to_parquet(folder / "screened.parquet")

    return write


def _broken_text(folder: Path) -> None:
    _write_parquet(folder, REVIEWS, CORPUS)
    path = folder / "corpus.parquet"
    pd.DataFrame(CORPUS).to_parquet(path, compression=None)
    path.write_bytes(path.read_bytes().replace(b"More text.", b"More \xff\xfext."))


BAD_INPUTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing column": (_without("reviews", "Research_Question"),
                       r"reviews\.parquet has no column Research_Question; columns found: ID, .*Expected: Research_Question or question"),
    "missing id column": (_without("corpus", "ID"), r"corpus\.parquet has no column ID; .*ID or corpus_ID or article_ID"),
    "two columns of one name": (_two_names, r"corpus\.json has two columns of one name, 'abstract' and 'Abstract'"),
    "duplicate article": (_edit("corpus", 1, ID=104), r"corpus\.json, record 2: article 104 occurs twice"),
    "duplicate review": (_edit("reviews", 1, ID=7), r"reviews\.json, record 2: review 7 occurs twice"),
    "links outside the corpus": (_edit("reviews", 0, matched_corpus_ids=[101, 1, 2, 3, 4, 5, 6]),
                                 r"review 7 includes 6 articles that the corpus does not have: 1, 2, 3, 4, 5 and 1 more"),
    "boolean id": (_edit("corpus", 1, ID=True), r"corpus\.json, record 2: ID is True \(bool\)"),
    "float id": (_edit("corpus", 1, ID=101.0), r"corpus\.json, record 2: ID is 101\.0 \(float\)"),
    "float ids in Parquet": (_float_ids, r"corpus\.parquet, row 1: ID is 104\.0 \(float\).*column with gaps"),
    "boolean link": (_edit("reviews", 0, matched_corpus_ids=[True]), r"reviews\.json, record 1: matched_corpus_ids is True"),
    "link list as a number": (_edit("reviews", 0, matched_corpus_ids=101), r"matched_corpus_ids is 101 \(int\)"),
    "title as a list": (_edit("corpus", 0, title=["A"]), r"corpus\.json, record 1: title is \['A'\] \(list\)"),
    "year as a word": (_edit("corpus", 3, year="soon"), r"corpus\.json, record 4: year is 'soon'"),
    "sections as text": (_edit("corpus", 0, sections="Methods"), r"record 1: sections is no list of objects"),
    "no question": (_edit("reviews", 1, Research_Question="NR"), r"record 2: Research_Question of review 8 is not reported"),
    "unknown direction": (_edit("reviews", 0, Effect_Direction="Up"), r"Effect_Direction is 'Up'.*Positive, Negative, Mixed or NR"),
    "no split": (_no_split, r"review 7 belongs to no split.*test_ids\.json"),
    "unknown test id": (_unknown_test_id, r"test_ids\.json names reviews that do not exist: 99"),
    "empty corpus": (_empty_corpus, r"corpus\.json holds no article"),
    "truncated Parquet": (_then("corpus.parquet", None), r"corpus\.parquet is not a readable Parquet file.*may have been cut off"),
    "garbage Parquet": (_then("reviews.parquet", b"hello"), r"reviews\.parquet is not a readable Parquet file"),
    "broken text in Parquet": (_broken_text, r"corpus\.parquet is not a readable Parquet file .*utf-8"),
    "empty Parquet file": (_then("corpus.parquet", b""), r"corpus\.parquet is not a readable Parquet file"),
    "no corpus": (_only("corpus"), r"has no corpus table; it holds: reviews\.json.*Expected: reviews and corpus as \.parquet"),
    "no reviews": (_only("reviews"), r"has no reviews table; it holds: corpus\.json"),
    "empty folder": (lambda folder: folder.mkdir(), r"has no reviews and corpus table; it holds: nothing"),
    "a file": (lambda folder: folder.write_text("x"), r"is a file.*Expected: a data set folder"),
    "missing folder": (lambda folder: None, r"does not exist.*check the path"),
    "label of an unknown review": (_labels(review_ID=[9], corpus_ID=[101], label_included=[1]), r"row 1: review_ID is 9, which is no review"),
    "label of an unknown article": (_labels(review_ID=[7], corpus_ID=[9], label_included=[1]), r"corpus_ID is 9, which is no article"),
    "label as a word": (_labels(review_ID=[7], corpus_ID=[101], label_included=["maybe"]), r"label_included is 'maybe'"),
    "contradictory labels": (_labels(review_ID=[7, 7], corpus_ID=[101, 101], label_included=[1, 0]), r"row 2 contradicts"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_INPUTS)
def test_bad_input_is_one_clear_error(name: str, tmp_path: Path) -> None:
    write, message = BAD_INPUTS[name]
    write(tmp_path / "set")
    with pytest.raises(DataError, match=message) as caught:
        datasets.load(tmp_path / "set")
    assert "\n" not in str(caught.value)


def test_a_folder_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    _write_json(tmp_path, REVIEWS, CORPUS)
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataError, match=r"cannot be read \(Permission denied\)"):
        datasets.load(tmp_path)


@pytest.mark.parametrize(("text", "message"), [
    ('[{"ID": 1', r"corpus\.json is not readable JSON"), ('"text"', r"holds str"), ("[1]", r"record 1: int instead of an object"),
    ('{"ID": 104, "title": "A", "abstract": "B"}\n{"ID": 10', r"corpus\.json, line 2 is not readable JSON"),
])  # fmt: skip
def test_broken_json_names_the_place(text: str, message: str, tmp_path: Path) -> None:
    _write_json(tmp_path, REVIEWS, CORPUS)
    (tmp_path / "corpus.json").write_text(text)
    with pytest.raises(DataError, match=message):
        datasets.load(tmp_path)


def test_other_splits_are_stated(tmp_path: Path) -> None:
    _edit("reviews", 0, split="pilot")(tmp_path)
    facts = datasets.describe(datasets.load(tmp_path))
    assert facts["reviews"]["splits"] == {"pilot": 1, "test": 1}
    assert facts["reviews"]["other_splits"] == ["pilot"]


def test_description_counts_what_matters(tmp_path: Path) -> None:
    reviews = [dict(row) for row in REVIEWS]
    reviews[1]["matched_corpus_ids"] = [101, 102]
    reviews[1]["source_review_corpus_ids"] = [102, 555]
    _write_parquet(tmp_path, [*reviews, {**REVIEWS[1], "ID": 9, "matched_corpus_ids": []}], CORPUS)
    facts = datasets.describe(datasets.load(tmp_path))
    json.dumps(facts, allow_nan=False)
    assert facts["reviews"] | {
        "count": 3, "links": 4, "without_references": [9], "linked_articles": 3, "linked_from_several_splits": 1,
        "source_records": 2, "source_records_outside_corpus": 1, "included_and_source": [8], "with_exposure_only": 2,
    } == facts["reviews"]  # fmt: skip
    assert facts["corpus"] | {
        "count": 4, "without_abstract": 2, "share_without_abstract": 0.5, "year_first": 1999, "year_last": 2003,
        "with_full_text": 1,
    } == facts["corpus"]  # fmt: skip
    assert facts["questions"] is None
