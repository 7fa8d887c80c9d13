"""Exports of literature databases come in whole: every record accounted for, no DOI lost, no two DOIs merged."""

# ruff: noqa: E501 -- the exports below are as wide as exports are
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litsynth import datasets
from litsynth.datasets.import_merge import article_ids, merge
from litsynth.datasets.import_readers import Record, read_file
from litsynth.datasets.imports import import_review, read_articles, read_protocol
from litsynth.errors import DataError, ParameterError

# An export as several hosts write it: counters, links, a search strategy and stray tags stand between the records,
# one abstract is wrapped, one stands in N2, one record lacks its ER line.
RIS = """\
Search strategy: exp heart failure/ and lorvaprin.mp.

1.
TY  - JOUR
AU  - Abel, A.
AU  - Brandt, B.
T1  - Lorvaprin in heart failure with a long title
AB  - A first line of the abstract
that goes on in the next line.
DO  - https://doi.org/10.5555/ABC.1
PY  - 2004/03/01/
LB  - 1
ER  -
Link to full text: somewhere
Y2  - 2021/01/01
<2>
TY  - JOUR
TI  - Sulvaprin against placebo in adults, a randomised trial
N2  - The abstract stands in N2.
JO  - Made-up Journal
Y1  - 2011
https://example.org/openurl
LB  - 0
TY  - CONF
TI  - The record before had no end line
ER  -

3.
"""
NBIB = """\
PMID- 90000001
OWN - MADE
TI  - A trial of lorvaprin that goes
      over two lines.
LID - 10.5555/Nbib.7 [doi]
AB  - The abstract is wrapped at a width of eighty characters, and its second
      line must not be lost; 5 m2 stays.
FAU - Castell, Carla
AU  - Castell C
PT  - Journal Article
PT  - Retracted Publication
DP  - 2015 Jun
PMC - PMC900001
JT  - Made-up journal of trials

PMID- 90000002
TI  - Another record.
PT  - Journal Article
DP  - 2016
"""
COMMA = 'id,Title,Abstract,DOI,Year,included\n1,"First; with a semicolon","Text, with commas",10.5555/A,2001,1\n2,Zweite Größe,,,2002,0\n'


def _write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_ris_with_everything_between_its_records(tmp_path: Path) -> None:
    report = read_file(_write(tmp_path, "export.ris", RIS))
    assert [record.title for record in report.records] == [
        "Lorvaprin in heart failure with a long title", "Sulvaprin against placebo in adults, a randomised trial",
        "The record before had no end line",
    ]  # fmt: skip
    first, second, _ = report.records
    assert first.abstract == "A first line of the abstract that goes on in the next line."
    assert (first.doi, first.year, first.authors) == ("10.5555/abc.1", 2004, ("Abel, A.", "Brandt, B."))
    assert second.abstract == "The abstract stands in N2."
    assert (second.journal, second.year) == ("Made-up Journal", 2011)
    assert [(item["line"], item["text"]) for item in report.ignored_lines] == [
        (1, "Search strategy: exp heart failure/ and lorvaprin.mp."), (3, "1."), (14, "Link to full text: somewhere"),
        (15, "Y2  - 2021/01/01"), (16, "<2>"), (22, "https://example.org/openurl"), (28, "3."),
    ]  # fmt: skip


def test_ris_with_single_spaces_and_text_that_looks_like_a_tag(tmp_path: Path) -> None:
    loose = "TY - JOUR\nTI - Loose\nAB - Text\nER -\n"
    assert [r.abstract for r in read_file(_write(tmp_path, "a.ris", loose)).records] == ["Text"]
    wrapped = "TY  - JOUR\nTI  - Strict\nAB  - Ratio 0.7, 95 %\nCI - 0.6 to 0.9\nER  - \n"
    assert [r.abstract for r in read_file(_write(tmp_path, "b.ris", wrapped)).records] == ["Ratio 0.7, 95 % CI - 0.6 to 0.9"]


@pytest.mark.parametrize(("encoding", "name"), [
    ("utf-8-sig", "utf-8-sig"), ("cp1252", "cp1252"), ("utf-16", "utf-16"), ("utf-8", "utf-8"),
])  # fmt: skip
def test_ris_in_any_encoding(encoding: str, name: str, tmp_path: Path) -> None:
    text = RIS.replace("Lorvaprin in", "Löwenzahn – “für” die")
    report = read_file(_write(tmp_path, "export.ris", text.replace("\n", "\r\n").encode(encoding)))
    assert report.encoding == name
    assert report.records[0].title == "Löwenzahn – “für” die heart failure with a long title"
    assert len(report.records) == 3


def test_nbib_keeps_ids_abstract_and_retraction(tmp_path: Path) -> None:
    for content in (NBIB, "\ufeff" + NBIB, NBIB.replace("\n", "\r\n")):
        report = read_file(_write(tmp_path, "pubmed.nbib", content))
        first, second = report.records
        assert first.doi == "10.5555/nbib.7"
        assert (first.pmid, first.pmc_id, first.year) == ("90000001", "PMC900001", 2015)
        assert first.title == "A trial of lorvaprin that goes over two lines."
        assert first.abstract.endswith("its second line must not be lost; 5 m2 stays.")
        assert "Retracted Publication" in first.publication_types
        assert (second.pmid, second.abstract) == ("90000002", "")


def test_retracted_articles_are_named(tmp_path: Path) -> None:
    articles, report = read_articles([_write(tmp_path, "pubmed.nbib", NBIB)])
    assert report.retracted == [article.id for article in articles if article.pmid == "90000001"]


@pytest.mark.parametrize("change", [
    lambda text: text,
    lambda text: "\ufeff" + text,
    lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    lambda text: '\ufeffid;Title;Abstract;DOI;Year;included\r\n1;"First; with a semicolon";Text, with commas;10.5555/A;2001;1\r\n'
                 "2;Zweite Größe;;;2002;0\r\n",
    lambda text: 'sep=;\nid;Title;Abstract;DOI;Year;included\n1;"First; with a semicolon";"Text, with commas";10.5555/A;2001;1\n'
                 "2;Zweite Größe;;;2002;0\n",
    lambda text: "id\tTitle\tAbstract\tDOI\tYear\tincluded\n1\tFirst; with a semicolon\tText, with commas\t10.5555/A\t2001\t1\n"
                 "2\tZweite Größe\t\t\t2002\t0\n",
    lambda text: text.encode("cp1252"),
])  # fmt: skip
def test_every_dialect_gives_the_rows_of_the_comma_version(change: Callable, tmp_path: Path) -> None:
    report = read_file(_write(tmp_path, "records.csv", change(COMMA)))
    assert [(r.title, r.abstract, r.doi, r.year, r.raw["included"]) for r in report.records] == [
        ("First; with a semicolon", "Text, with commas", "10.5555/a", 2001, "1"), ("Zweite Größe", "", None, 2002, "0"),
    ]  # fmt: skip


def test_a_file_with_only_id_abstract_and_label(tmp_path: Path) -> None:
    path = _write(tmp_path, "mine.csv", "id,abstract,label\n1,Some text,1\n2,Other text,0\n3,,1\n4,a,b,c,d\n")
    articles, report = read_articles([path])
    assert sorted(article.abstract for article in articles) == ["Other text", "Some text"]
    assert report.read == 4
    assert [(item["record"], item["reason"]) for item in report.rejected] == [
        (3, "neither title nor abstract"), (4, "5 fields where the header has 3"),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), [
    ("a.csv", "name,text of record,label\n1,2,3\n",
     r"neither titles nor abstracts; columns found: name, text of record, label\. Expected: a column title or"),
    ("a.csv", "", "columns found: none"), ("a.csv", "title,abstract\n", "holds no record"),
    ("a.ris", "nothing here\n", r"no line starts with `TY  -` or `PMID-`"), ("a.nbib", "", "no line starts with"),
    ("a.csv", "title,Title,abstract\na,b,c\n", "two columns of one name"),
])  # fmt: skip
def test_zero_records_is_an_error(name: str, content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_file(_write(tmp_path, name, content))
    with pytest.raises(DataError, match="cannot be read"):
        read_file(tmp_path / "absent.csv")


def _record(number: int, title: str, **values: object) -> Record:
    return Record("f", number, title, **values)


LONG = "Effects of lorvaprin on admission in heart failure"


def test_dois_in_another_spelling_are_duplicates(tmp_path: Path) -> None:
    first = _write(tmp_path, "a.csv", f"title,abstract,doi\n{LONG},,https://doi.org/10.5555/X.1\n")
    second = _write(tmp_path, "b.csv", "title,abstract,doi\n,The abstract,DOI: 10.5555/x.1\n")
    articles, report = read_articles([first, second])
    assert [(a.title, a.abstract, a.doi) for a in articles] == [(LONG, "The abstract", "10.5555/x.1")]
    assert report.merged == [{"into": articles[0].id, "source": "b.csv", "record": 1}]
    assert (report.without_title, report.without_abstract) == (0, 0)


@pytest.mark.parametrize(("one", "other", "same"), [
    ({"title": LONG, "doi": "10.5/1"}, {"title": LONG, "doi": "10.5/2"}, False),
    ({"title": LONG + ": Part I", "doi": "10.5/1"}, {"title": LONG + ": Part II", "doi": "10.5/2"}, False),
    ({"title": LONG + ": Part I"}, {"title": LONG + ": Part II"}, False),
    ({"title": LONG, "pmid": "1"}, {"title": LONG, "pmid": "2"}, False),
    ({"title": LONG, "pmid": "1", "doi": "10.5/1"}, {"title": "Other", "pmid": "1", "doi": "10.5/2"}, False),
    ({"title": LONG, "doi": "10.5/1"}, {"title": LONG.upper() + "."}, True),
    ({"title": LONG, "year": 2001}, {"title": LONG, "year": 2002}, True),
    ({"title": LONG, "year": 2001}, {"title": LONG, "year": 2009}, False),
    ({"title": "Reply"}, {"title": "Reply"}, False),
    ({"title": "Reply", "pmid": "1"}, {"title": "In reply", "pmid": "1"}, True),
])  # fmt: skip
def test_what_is_one_article(one: dict, other: dict, same: bool) -> None:
    for first, second in ((one, other), (other, one)):
        assert len(merge([_record(1, **first), _record(2, **second)])) == (1 if same else 2)


_records = st.lists(st.builds(
    Record, source=st.just("f"), number=st.integers(1, 9), title=st.sampled_from(["", LONG, LONG + " again", "Reply"]),
    abstract=st.sampled_from(["", "Short.", "A longer abstract."]), doi=st.sampled_from([None, "10.5/1", "10.5/2"]),
    pmid=st.sampled_from([None, "1", "2"]), year=st.sampled_from([None, 2001, 2005]),
), max_size=12)  # fmt: skip


@given(_records)
def test_merging_keeps_every_record_and_all_that_is_known(records: list[Record]) -> None:
    groups = merge(records)
    assert sorted(id(r) for group in groups for r in group.records) == sorted(map(id, records))
    for group in groups:
        assert len(group.distinct("doi")) <= 1
        assert len(group.distinct("pmid")) <= 1
        # Coverage must not fall: what any record of the article has, the article has.
        for name in ("title", "abstract", "doi", "pmid", "year"):
            assert bool(getattr(group.merged, name)) == any(getattr(record, name) for record in group.records)
    ids = article_ids([group.merged for group in groups])
    assert len(set(ids)) == len(groups)
    assert all(100_000_000 <= i < 1_000_000_000 for i in ids)


PROTOCOL = {
    ".json": '{"research_question": "Does it help?", "population": "Adults", "Inclusion criteria": ["Trials", "Adults"]}',
    ".toml": 'research_question = "Does it help?"\npopulation = "Adults"\ninclusion_criteria = "Trials; Adults"\n',
    ".yaml": "Research_Question: Does it help?\npopulation: Adults\ninclusion_criteria:\n- Trials\n- Adults\n",
}


@pytest.mark.parametrize("suffix", PROTOCOL)
def test_an_imported_review_loads(suffix: str, tmp_path: Path) -> None:
    protocol = _write(tmp_path, f"protocol{suffix}", PROTOCOL[suffix])
    files = [_write(tmp_path, "a.ris", RIS), _write(tmp_path, "b.csv",
             "title,abstract,doi,lb\nLorvaprin again,Other abstract,10.5555/abc.1,0\nUnscreened,Text,,\n")]  # fmt: skip
    report = import_review(files, tmp_path / "mine", labels="LB", protocol=protocol)
    data = datasets.load(tmp_path / "mine")
    review = data.reviews[1]
    assert (review.research_question, review.population, review.split) == ("Does it help?", "Adults", "test")
    assert review.inclusion_criteria == ("Trials", "Adults")
    by_title = {article.title: i for i, article in data.corpus.items()}
    included = by_title["Lorvaprin in heart failure with a long title"]
    assert data.gold[1].included_ids == {included}
    assert data.screened[1] == {
        included: True,
        by_title["Sulvaprin against placebo in adults, a randomised trial"]: False,
    }
    assert report.label_conflicts == [included]
    assert report.labels == {"included": 1, "excluded": 1, "unlabelled": 2}
    saved = json.loads((tmp_path / "mine" / "import_report.json").read_text())
    assert saved["counts"] == {"read": 5, "kept": 4, "merged": 1, "rejected": 0}
    assert any("read 5 = kept 4 + merged 1 + rejected 0" in line for line in report.lines())
    assert [item["source"] for item in saved["ignored_lines"]] == ["a.ris"] * 7


def test_import_errors_leave_nothing_behind(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.csv", "title,abstract,label\nA title,Text,perhaps\n")
    with pytest.raises(DataError, match=r"a\.csv, record 1: label 'label' is 'perhaps'.*write 1 for included"):
        import_review([path], tmp_path / "out", labels="label", question="Q?")
    with pytest.raises(DataError, match=r"no record has a column or tag 'decision'; found: abstract, label, title"):
        import_review([path], tmp_path / "out", labels="decision", question="Q?")
    with pytest.raises(DataError, match="no research question"):
        import_review([path], tmp_path / "out", labels="label")
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="exists already"):
        import_review([path], tmp_path / "out", labels="label", question="Q?")
    with pytest.raises(DataError, match="no file to import"):
        read_articles([])


def test_an_unknown_protocol_field_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="did you mean 'Population'"):
        read_protocol(_write(tmp_path, "p.toml", 'research_question = "Q?"\npopulatoin = "A"\n'))
    for name, text in (("p.toml", "="), ("p.yaml", "a: [b"), ("p.json", "{"), ("p.yml", "just text")):
        with pytest.raises(DataError, match=name):
            read_protocol(_write(tmp_path, name, text))


PROTOCOL_FAULTS = {
    "split: [1]": r"protocol\.yaml: split is \[1\]",
    "ID: -4": r"protocol\.yaml: ID is -4",
    "Population: yes": r"protocol\.yaml: Population is True",
    "inclusion_criteria: [a, {b: 1}]": r"protocol\.yaml: inclusion_criteria is",
    "matched_corpus_ids: [1]": "from the labels alone",
    "Outcome: " + "[" * 5000: "not readable YAML",
}


@pytest.mark.parametrize("line", PROTOCOL_FAULTS)
def test_protocol_faults_name_the_protocol_and_leave_nothing(line: str, tmp_path: Path) -> None:
    records = _write(tmp_path, "a.csv", "title,abstract,label\nA title,Text,1\n")
    protocol = _write(tmp_path, "protocol.yaml", f"Research_Question: Does it work\n{line}\n")
    with pytest.raises(DataError, match=PROTOCOL_FAULTS[line]):
        import_review([records], tmp_path / "out", labels="label", protocol=protocol)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "protocol.yaml"]


def test_criteria_may_be_texts_and_numbers(tmp_path: Path) -> None:
    records = _write(tmp_path, "a.csv", "title,abstract,label\nA title,Text,1\n")
    protocol = _write(tmp_path, "p.yaml", "Research_Question: Does it work\ninclusion_criteria: [adults, 18]\n")
    import_review([records], tmp_path / "out", labels="label", protocol=protocol)
    assert datasets.load(tmp_path / "out").reviews[1].inclusion_criteria == ("adults", "18")


def test_only_an_earlier_import_is_replaced(tmp_path: Path) -> None:
    records = _write(tmp_path, "a.csv", "title,abstract,label\nA title,Text,1\n")
    thesis = tmp_path / "work"
    thesis.mkdir()
    (thesis / "thesis.txt").write_text("five years")
    for output in (thesis, records):
        with pytest.raises(DataError, match="not made by an import"):
            import_review([records], output, labels="label", question="Does it work", replace=True)
    assert (thesis / "thesis.txt").read_text() == "five years"
    for _ in range(2):
        import_review([records], tmp_path / "out", labels="label", question="Does it work", replace=True)


def test_an_open_quotation_mark_hides_no_rows(tmp_path: Path) -> None:
    head = "title,abstract,label\n"
    broken = _write(tmp_path, "a.csv", head + 'First,fine,0\n"Second,open,1\nThird,text,0\n')
    with pytest.raises(DataError, match=r"a\.csv, line 3: a quotation mark is opened"):
        read_file(broken)
    # Closed ones may hold line ends, doubled marks, and marks within unquoted text.
    whole = _write(tmp_path, "b.csv", head + '"First\nline","say ""so""",0\nA 5" tube,x,1')
    assert [record.title for record in read_file(whole).records] == ["First line", 'A 5" tube']
