"""Verdicts of runs: as recorded or judged anew, with the answers' words or, once promoted, without them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from litsynth.errors import ParameterError
from litsynth.experiments.judge_concordance.verdicts import content_digest, load_verdicts, locate
from litsynth.files import read_json, write_json, write_parquet
from litsynth.records import Dataset, Fact, Question

ANSWERS = ["The dose was 40 mg a day.", "No difference was seen."]
FACTS = {f"F{i}": Fact(f"F{i}", f"P{i}", "results", "stated", statement, statement)
         for i, statement in enumerate(("The dose was 40 mg a day.", "Mortality fell by 12 per cent."))}
DATA = Dataset("bank", "f" * 64, True, facts=FACTS, questions={
    f"Q{i}": Question(f"Q{i}", "single", f"What about {i}?", (f"F{i}",), (f"P{i}",)) for i in range(2)})


def write_run(folder: Path, *, started: str = "2026-01-01", words: bool = True, status: str = "finished") -> Path:
    """Write a run of litbench_conditions by hand: two answers, two judges who disagree on the second."""
    rows, spans = [], []
    for i in range(2):
        base = {"system": "sys", "condition": "T2", "n": 10, "question": f"Q{i}", "fact": f"F{i}"}
        spans.append({**base, "overlap": 1 - i})
        rows += [{"case": f"cell/sys/T2/00010/Q{i}/F{i}", **base, "paper": f"P{i}", "section": "results",
                  "fact_type": "stated", "judge": judge, "verdict": verdict, "status": "voted", "panel": 1 - i}
                 for judge, verdict in (("a", 1), ("b", 1 - i), ("c", None if i else 1))]
    for name, frame in (("verdicts", pd.DataFrame(rows)), ("facts", pd.DataFrame(spans))):
        write_parquet(folder / "tables" / f"{name}.parquet", frame.astype(
            {"verdict": "Int64"} if name == "verdicts" else {}))
    write_json(folder / "manifest.json", {
        "experiment": "litbench_conditions", "id": folder.name, "status": status, "started": started, "facts": {},
        "dataset": {"name": DATA.name, "checksum": DATA.checksum}, "ended": None, "code": {}, "synthetic": True,
        "tables": {}, "sessions": [], "items": 2, "usage": {}, "reason": ""})
    if words:
        lines = [json.dumps({"key": f"cell/sys/T2/00010/Q{i}", "answer": ANSWERS[i],
                             "quotations": [[f"P{i}", f"quoted {i}"]]}) for i in range(2)]
        (folder / "responses.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def runs(workspace: Path) -> Path:
    return workspace / "data" / "runs" / "litbench_conditions"


def test_votes_as_recorded_with_the_words_that_the_judges_saw(runs):
    write_run(runs / "aaaaaaaaaaaa")
    made = load_verdicts("aaaaaa", DATA)
    assert made.judges == ("a", "b", "c")
    assert made.votes.loc[1].tolist() == [1, 0, pd.NA]
    assert made.cells["panel"].tolist() == [1, pd.NA], "one of three is no majority while one has not voted"
    assert made.cells["reference"].tolist() == [1, 0]
    assert made.cells.loc[0, "response"] == "The dose was 40 mg a day.\n\nQuoted: quoted 0"
    assert "P0" not in made.cells.loc[0, "response"], "the paper's name would tell the source"
    assert made.cells.loc[0, "domain"] == "results stated"
    assert made.has_words


def test_judged_anew_by_three_judges_without_a_model(runs):
    write_run(runs / "aaaaaaaaaaaa")
    made = load_verdicts("lexical", DATA)
    assert made.judges == ("lexical", "lexical:numbers", "lexical:words")
    assert made.cells["panel"].tolist() == [1, 0]
    assert "three judges without a model" in made.source


def test_a_promoted_result_has_votes_and_no_words(runs, workspace):
    write_run(workspace / "data" / "results" / "mine", words=False)
    made = load_verdicts("mine", DATA)
    assert not made.has_words
    assert made.cells["panel"].tolist() == [1, pd.NA]
    assert "nothing can be given to a human" in made.notes[0]


def test_the_promoted_run_comes_first_then_the_newest(runs, workspace):
    write_run(runs / "aaaaaaaaaaaa", started="2026-01-01")
    write_run(runs / "bbbbbbbbbbbb", started="2026-02-01")
    write_run(runs / "cccccccccccc", started="2026-03-01", status="failed")
    write_run(runs / "dddddddddddd", started="2026-04-01", words=False)
    assert locate("lexical", DATA).name == "bbbbbbbbbbbb"
    write_json(workspace / "data" / "results" / "bank" / "manifest.json", {"id": "aaaaaaaaaaaa"})
    assert locate("lexical", DATA).name == "aaaaaaaaaaaa"


def test_a_whole_result_comes_before_a_demonstration_models(runs, workspace):
    for name, weak in (("aaaaaaaaaaaa", None), ("bbbbbbbbbbbb", True)):
        folder = write_run(runs / name, started=f"2026-0{1 + bool(weak)}-01")
        write_json(folder / "manifest.json", {**read_json(folder / "manifest.json"), "facts": {"weak_model": weak}})
        write_json(workspace / "data" / "results" / name / "manifest.json", {"id": name})
    assert locate("lexical", DATA).name == "aaaaaaaaaaaa"


def test_verdicts_of_another_data_set_are_refused_naming_both(runs):
    write_run(runs / "aaaaaaaaaaaa")
    with pytest.raises(ParameterError, match="made on data set 'bank', not on 'other'"):
        load_verdicts("aaaaaaaaaaaa", Dataset("other", "0" * 64, True))


def test_the_digest_follows_answers_but_not_their_order(runs):
    folder = write_run(runs / "aaaaaaaaaaaa")
    first = content_digest(folder)
    log = folder / "responses.jsonl"
    log.write_text("\n".join(reversed(log.read_text().splitlines())) + "\n")
    assert content_digest(folder) == first
    log.write_text(log.read_text().replace("40 mg", "400 mg"))
    assert content_digest(folder) != first
