"""Loading and checking question banks; the small bank here is written for these tests."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from litsynth.cli import app
from litsynth.datasets.litbench import has_bank, load_folder_part, read_part, text_status
from litsynth.datasets.litbench_quotes import comparable, contains_verbatim
from litsynth.datasets.litbench_validate import validate
from litsynth.datasets.litbench_write import write_bank
from litsynth.errors import DataError
from litsynth.records import Paper, Section

HEADER = "paper_id,role,stratum,identifier_type,identifier,doi,title,journal,year,url\n"
GOLD = '1_Lee_2017,gold (carries answers),socks,PMID,11,10.1/a,"Socks, woollen",J Feet,2017,https://x/1\n'
DECOY = "PMC5,decoy (no answer),hats,PMCID,PMC5,,Hats,J Heads,2020,https://x/5\n"


def tables(**changes) -> dict[str, list[dict]]:
    """A sound bank of two gold papers and one decoy, with rows replaced or added by table."""
    text = "Wool kept the feet of 40 people warm. Cotton did not."
    base = {
        "papers": [
            {"paper_id": "a", "role": "gold", "stratum": "socks", "sections": [section("Results", text, "results")]},
            {"paper_id": "b", "role": "gold", "stratum": "socks",
             "sections": [section("Methods", "We knitted by hand for three weeks.", "methods")]},
            {"paper_id": "d", "role": "decoy", "stratum": "hats", "sections": [section("Results", "Hats.", "results")]},
        ],
        "facts": [
            {"fact_id": "f1", "paper_id": "a", "section": "results", "fact_type": "stated",
             "statement": "Wool warmed 40 people.", "quote": "Wool kept the feet of 40 people warm."},
            {"fact_id": "f2", "paper_id": "b", "section": "methods", "fact_type": "interpretation",
             "statement": "No machine was used.", "quote": "We knitted by hand for three weeks."},
        ],
        "questions": [
            {"question_id": "q1", "kind": "single", "question": "How many had warm feet in wool?", "fact_ids": ["f1"],
             "paper_ids": ["a"]},
            {"question_id": "q2", "kind": "two_paper", "question": "Who had warm feet, and how were socks made?",
             "fact_ids": ["f1", "f2"], "paper_ids": ["a", "b"]},
        ],
    }
    return {name: [*rows, *changes.get(name, [])] for name, rows in base.items()}


def section(heading: str, text: str, name: str) -> dict[str, str]:
    return {"heading": heading, "text": text, "section": name}


def write(folder, rows: dict[str, list[dict]]):
    folder.mkdir(exist_ok=True)
    for name, table in rows.items():
        pd.DataFrame(table).to_parquet(folder / f"{name}.parquet", index=False)
    return folder


def problems(folder) -> dict[tuple[str, int], list[str]]:
    found: dict[tuple[str, int], list[str]] = {}
    for finding in validate(read_part(folder)):
        found.setdefault((finding.file.split(".")[0], finding.row), []).append(f"{finding.severity}: {finding.problem}")
    return found


def test_sound_bank_loads_and_has_nothing_wrong(tmp_path):
    folder = write(tmp_path / "bank", tables())
    part = load_folder_part(folder)
    assert [len(table) for table in (part.papers, part.facts, part.questions)] == [3, 2, 2]
    assert part.papers["a"].sections == (Section("Results", "Wool kept the feet of 40 people warm. Cotton did not.",
                                                 "results"),)
    assert part.facts["f1"].label is None
    assert part.papers["a"].year is None
    assert validate(part) == []


def test_written_bank_reads_back_the_same(tmp_path):
    part = load_folder_part(write(tmp_path / "bank", tables()))
    for name in ("one", "two"):
        write_bank(tmp_path / name, part)
    again = load_folder_part(tmp_path / "one")
    assert again == part
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


@pytest.mark.parametrize(("table", "row", "wanted"), [
    ("papers", {"paper_id": "a", "role": "gold"}, "its id stands in row 1 already"),
    ("papers", {"paper_id": "e", "role": "silver"}, "its role 'silver' is neither gold nor decoy"),
    ("papers", {"paper_id": "", "role": "gold"}, "it has no id"),
    ("facts", {"fact_id": "f3", "paper_id": "z", "section": "results", "fact_type": "stated", "statement": "s",
               "quote": "q"}, "its paper 'z' is not among the papers"),
    ("facts", {"fact_id": "f3", "paper_id": "a", "section": "results", "fact_type": "guess", "statement": "s",
               "quote": "Cotton did not."}, "unknown fact type 'guess' (known: stated, interpretation, unclassified)"),
    ("questions", {"question_id": "q3", "kind": "two_paper", "question": "Five words are enough here?",
                   "fact_ids": ["f1"], "paper_ids": ["a"]}, "a two_paper question with 1 paper(s) instead of 2"),
    ("questions", {"question_id": "q3", "kind": "two_paper", "question": "Five words are enough here?",
                   "fact_ids": ["f1", "f1"], "paper_ids": ["a", "a"]}, "it names the paper 'a' twice"),
    ("questions", {"question_id": "q3", "kind": "single", "question": "Five words are enough here?",
                   "fact_ids": ["f1", "f2"], "paper_ids": ["a", "b"]},
     "a single question with 2 paper(s) instead of 1"),
    ("questions", {"question_id": "q3", "kind": "single", "question": "Five words are enough here?",
                   "fact_ids": ["f2"], "paper_ids": ["a"]}, "its fact 'f2' belongs to 'b' and not to 'a'"),
    ("questions", {"question_id": "q3", "kind": "single", "question": "Five words are enough here?",
                   "fact_ids": ["f9"], "paper_ids": ["a"]}, "its fact 'f9' is not among the facts"),
    ("questions", {"question_id": "q3", "kind": "triple", "question": "Five words are enough here?",
                   "fact_ids": ["f1"], "paper_ids": ["a"]}, "unknown kind 'triple' (known: single, two_paper)"),
    ("questions", {"question_id": "q3", "kind": "single", "question": "Five words are enough here?",
                   "fact_ids": ["f1"], "paper_ids": ["y"]}, "its paper 'y' is not among the papers"),
    ("questions", {"question_id": "q1", "kind": "single", "question": "Five words are enough here?",
                   "fact_ids": ["f1"], "paper_ids": ["a"]}, "its id stands in row 1 already"),
])
def test_broken_links_name_their_row_and_keep_the_bank_from_loading(tmp_path, table, row, wanted):
    folder = write(tmp_path / "bank", tables(**{table: [row]}))
    number = len(tables()[table]) + 1
    assert f"error: {wanted}" in problems(folder)[table, number]
    with pytest.raises(DataError, match=rf"{table}\.parquet, row {number}"):
        load_folder_part(folder)


@pytest.mark.parametrize(("table", "row", "wanted"), [
    ("facts", {"fact_id": "f3", "paper_id": "a", "section": "results", "fact_type": "stated", "statement": "Silk.",
               "quote": "Silk kept the feet warm."},
     "error: its quote is not verbatim in paper 'a': 'Silk kept the feet warm.'"),
    ("facts", {"fact_id": "f3", "paper_id": "a", "section": "methods", "fact_type": "stated", "statement": "No.",
               "quote": "Cotton did not."}, "warning: its quote stands in results and not in methods"),
    ("facts", {"fact_id": "f3", "paper_id": "a", "section": "appendix", "fact_type": "stated", "statement": "No.",
               "quote": "Cotton did not."},
     "error: unknown section 'appendix' (known: abstract, introduction, methods, results, discussion, table, figure)"),
    ("facts", {"fact_id": "f3", "paper_id": "d", "section": "results", "fact_type": "stated", "statement": "Hats.",
               "quote": "Hats."}, "warning: a fact of the decoy 'd', which should carry no answer"),
    ("facts", {"fact_id": "f3", "paper_id": "a", "section": "results", "fact_type": None, "statement": "No.",
               "quote": "Cotton did not."}, "warning: no fact type: it counts in no domain"),
    ("facts", {"fact_id": "f3", "paper_id": "a", "section": "results", "fact_type": "stated", "statement": "",
               "quote": ""}, "error: it has no quote"),
    ("questions", {"question_id": "q3", "kind": "single", "question": "Warm feet?", "fact_ids": ["f1"],
                   "paper_ids": ["a"]}, "warning: 2 words instead of 5 to 30"),
    ("questions", {"question_id": "q3", "kind": "single", "question": "Is it true that wool warmed 40 people?",
                   "fact_ids": ["f1"], "paper_ids": ["a"]}, "warning: it contains its answer (fact 'f1')"),
])
def test_breaches_of_the_banks_rules_name_their_row_and_still_load(tmp_path, table, row, wanted):
    folder = write(tmp_path / "bank", tables(**{table: [row]}))
    assert wanted in problems(folder)[table, len(tables()[table]) + 1]
    load_folder_part(folder)


def test_asked_fact_of_a_decoy_is_an_error(tmp_path):
    fact = {"fact_id": "f3", "paper_id": "d", "section": "results", "fact_type": "stated", "statement": "Hats.",
            "quote": "Hats."}
    asked = {"question_id": "q3", "kind": "single", "question": "What is this about, then?", "fact_ids": ["f3"],
             "paper_ids": ["d"]}
    found = problems(write(tmp_path / "bank", tables(facts=[fact], questions=[asked])))
    assert found["facts", 3] == ["error: a fact of the decoy 'd' that a question asks"]
    assert found["questions", 3] == ["error: its paper 'd' is a decoy"]


def test_forgiving_names_and_spellings(tmp_path):
    rows = tables()
    rows["papers"][0]["role"] = "gold (carries answers)"
    rows["papers"] = [{"ID": row.pop("paper_id"), **row} for row in rows["papers"]]
    rows["facts"][0]["fact_type"], rows["facts"][1]["section"] = "Recall", "Method"
    rows["questions"] = [{**row, "kind": row["kind"].replace("_", "-"), "fact_ids": ";".join(row["fact_ids"]),
                          "paper_ids": json.dumps(row["paper_ids"])} for row in rows["questions"]]
    part = load_folder_part(write(tmp_path / "bank", rows))
    assert part == load_folder_part(write(tmp_path / "plain", tables()))


def test_errors_list_what_was_found(tmp_path):
    with pytest.raises(DataError, match=r"no question bank \(found: nothing\)"):
        load_folder_part(tmp_path)
    rows = tables()
    write(tmp_path / "bank", {**rows, "facts": [{"fact_id": "f1", "paper": "a"}]})
    with pytest.raises(DataError, match=r"no column paper_id.*columns found: fact_id, paper"):
        load_folder_part(tmp_path / "bank")
    (tmp_path / "bank" / "facts.parquet").unlink()
    with pytest.raises(DataError, match="questions but no facts"):
        load_folder_part(tmp_path / "bank")
    rows["papers"][1]["year"] = "soon"
    with pytest.raises(DataError, match=r"papers.parquet, row 2: year"):
        load_folder_part(write(tmp_path / "other", rows))


def test_manifest_is_a_bank_without_text(tmp_path):
    (tmp_path / "corpus_papers.csv").write_text("\ufeff" + HEADER + GOLD + DECOY, encoding="utf-8")
    (tmp_path / "gold_papers.csv").write_text(HEADER + GOLD)
    part = load_folder_part(tmp_path)
    assert has_bank(tmp_path)
    assert list(part.papers.values()) == [
        Paper("1_Lee_2017", "gold", "socks", "Socks, woollen", (), "PMID", "11", "10.1/a", "J Feet", 2017, "https://x/1"),
        Paper("PMC5", "decoy", "hats", "Hats", (), "PMCID", "PMC5", None, "J Heads", 2020, "https://x/5"),
    ]
    assert part.facts == {}
    assert validate(part) == []
    (tmp_path / "corpus_papers.csv").unlink()
    (tmp_path / "decoy_papers.csv").write_text((HEADER + DECOY).replace(",", ";"))
    assert load_folder_part(tmp_path) == part
    (tmp_path / "decoy_papers.csv").write_text(HEADER + "PMC5,decoy\n")
    with pytest.raises(DataError, match="row 1 has 2 cells"):
        load_folder_part(tmp_path)


@pytest.mark.parametrize(("text", "quote", "found"), [
    ("a treat\u00adment e\ufb00ect of 5\u201310 %", "treatment effect of 5-10 %", True),  # soft hyphen, ligature, dash
    ("a long-\nterm treat-\nment", "long-term treatment", True),  # line ends
    ("area of 1.73 m\u00b2", "1.73 m2", True),
    ("\u201cwarm\u201d feet", '"warm" feet', True),
    ("range 2-3 mg", "range 23 mg", False),  # a hyphen between digits is not a line's end
    ("the heart was", "art was", False),  # words are whole
    ("heart, art was", "art was", True),
    ("anything", "", False),
])
def test_quotes_are_verbatim_however_typeset(text, quote, found):
    assert contains_verbatim(comparable(text), quote) is found


def test_text_status():
    paper = Paper("a", "gold", "", "")
    assert text_status(paper) == "none"
    for name, status in (("abstract", "abstract_only"), ("results", "full"), ("", "full")):
        assert text_status(Paper("a", "gold", "", "", (Section("", "x", name),))) == status


def test_command_prints_every_finding_and_fails_on_errors(tmp_path):
    bad = {"fact_id": "f3", "paper_id": "a", "section": "results", "fact_type": "stated", "statement": "Silk.",
           "quote": "Silk."}
    sound, broken = write(tmp_path / "sound", tables()), write(tmp_path / "broken", tables(facts=[bad, bad]))
    done = CliRunner().invoke(app, ["bank", "validate", str(sound)])
    assert done.exit_code == 0
    assert done.output == "3 papers, 2 facts, 2 questions, 0 errors, 0 warnings\n"
    done = CliRunner().invoke(app, ["bank", "validate", str(broken)])
    assert done.exit_code == 1
    assert "error: facts.parquet, row 3 (f3): its quote is not verbatim in paper 'a': 'Silk.'" in done.output
    assert "error: facts.parquet, row 4 (f3): its id stands in row 3 already" in done.output
    done = CliRunner().invoke(app, ["bank", "validate", str(broken), "--json", "--limit", "1"])
    account = json.loads(done.output)
    assert (account["errors"], len(account["findings"])) == (3, 1)


@pytest.mark.shared
def test_real_bank_loads_as_it_is(shared_data):
    part = load_folder_part(shared_data / "pubmedqa_bank")
    kinds = [question.kind for question in part.questions.values()]
    assert (len(part.papers), kinds.count("single"), kinds.count("two_paper")) == (700, 139, 60)
    findings = validate(part)
    assert not [finding for finding in findings if finding.severity == "error"]
    assert sum("of the decoy" in finding.problem for finding in findings) == 561
