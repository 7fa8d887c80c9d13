"""The conditions experiment: its design, its cells, its tables by hand, what is asked again, and its notebook."""

from __future__ import annotations

import datetime
import importlib.util
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from litsynth import datasets
from litsynth.conditions import Pools, candidate_set
from litsynth.errors import ParameterError
from litsynth.experiments import litbench_conditions as litbench
from litsynth.experiments import open_run
from litsynth.experiments.litbench_conditions import design
from litsynth.experiments.litbench_conditions.asking import Bench, _work
from litsynth.experiments.litbench_conditions.cells import METRICS
from litsynth.experiments.litbench_conditions.figures import card_rows
from litsynth.experiments.litbench_conditions.published import (
    published_accuracy,
    published_contrasts,
    published_over_refusal,
    published_refusals,
)
from litsynth.experiments.parameters import get_experiment
from litsynth.experiments.runner import run_experiment
from litsynth.llm import BudgetExceeded
from litsynth.llm.scripted import ScriptedModel
from litsynth.records import Completion, Dataset, Fact, Question

TOPICS = ("zelamine", "brontide", "quarvin", "mistol")


def _paper(paper_id: str, topic: str, role: str) -> dict:
    text = (f"The trial enrolled adults given {topic}. Relapse under {topic} occurred in 102 of 204 adults. "
            f"No adult given {topic} died.")
    return {"paper_id": paper_id, "role": role, "stratum": "fevers" if role == "gold" else "barley",
            "title": f"A trial of {topic}", "sections": [{"heading": "Results", "text": text, "section": "results"}]}


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Four gold papers on four drugs, three decoys, a question for each drug and two for pairs of drugs."""
    folder = tmp_path / "bank"
    folder.mkdir()
    papers = [_paper(f"G{i}", topic, "gold") for i, topic in enumerate(TOPICS)]
    papers += [_paper(f"D{i}", f"northern plot {i}", "decoy") for i in range(3)]
    facts = [{"fact_id": f"F{i}", "paper_id": f"G{i}", "section": "results",
              "fact_type": "interpretation" if i == 3 else "stated",
              "statement": f"Relapse under {topic} occurred in 102 of 204 adults.",
              "quote": f"Relapse under {topic} occurred in 102 of 204 adults."} for i, topic in enumerate(TOPICS)]
    questions = [{"question_id": f"Q{i}", "kind": "single", "question": f"How often did relapse under {topic} occur?",
                  "fact_ids": [f"F{i}"], "paper_ids": [f"G{i}"]} for i, topic in enumerate(TOPICS)]
    questions += [{"question_id": f"P{a}{b}", "kind": "two_paper", "fact_ids": [f"F{a}", f"F{b}"],
                   "paper_ids": [f"G{a}", f"G{b}"],
                   "question": f"How often did relapse under {TOPICS[a]} occur, and how often did relapse under "
                               f"{TOPICS[b]} occur?"} for a, b in ((0, 1), (0, 2))]
    for name, rows in (("papers", papers), ("facts", facts), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def _parse(**raw):
    return get_experiment("litbench_conditions").parse(raw)


class Stub:
    """A run without a directory: it keeps tables and computes at once."""

    def __init__(self, dataset: Dataset | None = None, **raw) -> None:
        self.dataset, self.parameters, self.tables = dataset, _parse(**{"resamples": 200, **raw}), {}

    def save_table(self, name, frame):
        self.tables[name] = frame


# What is asked

def test_a_larger_sample_holds_the_smaller_and_takes_domains_in_proportion():
    facts = {f"f{i}": Fact(f"f{i}", "p", "table" if i < 60 else "results", "stated", "", "") for i in range(80)}
    questions = {f"q{i}": Question(f"q{i}", "single", "", (f"f{i}",), ("p",)) for i in range(80)}
    data = Dataset("made", "0", True, facts=facts, questions=questions)
    small, large = (design.chosen_questions(data, number, seed=1)["single"] for number in (20, 40))
    assert {q.id for q in small} < {q.id for q in large}
    tables = sum(facts[q.fact_ids[0]].section == "table" for q in large)
    assert 29 <= tables <= 31  # 60 of 80 are about tables: 30 of 40, and systematic sampling misses by one at most
    assert design.chosen_questions(data, None, seed=1)["single"] == list(questions.values())
    assert design.chosen_questions(data, 20, seed=1)["single"] == small
    assert design.chosen_questions(data, 20, seed=2)["single"] != small


def test_numbers_of_papers_follow_pools_cap_and_parameters(bank):
    data = datasets.load(bank)
    pools = Pools.of(data.papers)
    made = design.grids(_parse(dataset=str(bank)), data, pools)
    assert made["T1"] == (1,)
    assert made["T2"] == (4,)  # the answering paper and three decoys
    assert made["T7-control"] == (3,)
    capped = design.grids(_parse(conditions="T2,T3", n_values="{T2: [2, 3, 500]}", max_n=3), data, pools)
    assert capped == {"T2": (2, 3), "T3": (3,)}


@pytest.mark.parametrize(("raw", "words"), [
    ({"systems": "extractiv"}, "did you mean 'extractive'"),
    ({"systems": "extractive,extractive"}, "names one twice"),
    ({"systems": "ircot"}, "needs a model"),
    ({"systems": "extractive:local"}, "uses none"),
    ({"options": "{extractive: {refusal_threshold: much}}"}, "cannot be 'much'"),
    ({"options": "{extractive: {refusal_treshold: 0.5}}"}, "did you mean 'refusal_threshold'"),
    ({"options": "{ircot: {iterations: 1}}"}, "unknown system in parameter 'options'"),
    ({"conditions": "T1,T9"}, "unknown condition 'T9'"),
    ({"conditions": "T1,T1"}, "names one twice"),
    ({"conditions": "T4-live"}, "'live_pool' is empty"),
    ({"n_values": "{T5: [1]}"}, "at least 2"),
    ({"n_values": "{T9: [1]}"}, "unknown condition"),
    ({"conditions": "T1", "n_values": "{T2: [5]}"}, "which 'conditions' does not"),
    ({"judges": "lexical,lexical:words"}, "can be tied"),
    ({"judges": "lexical:wrds"}, "did you mean 'lexical:words'"),
])
def test_bad_parameters_are_refused_before_anything_is_asked(bank, raw, words):
    data = datasets.load(bank)
    with pytest.raises(ParameterError) as caught:
        litbench.identities(_parse(**raw), data)
    assert words in str(caught.value)


def test_options_are_read_by_the_types_that_the_system_declares(bank):
    data = datasets.load(bank)
    made = litbench.identities(_parse(options="{extractive: {refusal_threshold: '0.9', passages: '3'}}"), data)
    options = made["systems"]["extractive"]["options"]
    assert (options["refusal_threshold"], options["passages"]) == (0.9, 3)


def test_no_model_judges_its_own_answers(bank, monkeypatch):
    monkeypatch.setattr(design, "open_model", lambda name, cap=None: ScriptedModel([], name=name))
    data = datasets.load(bank)
    with pytest.raises(ParameterError, match="is also a judge"):
        litbench.identities(_parse(systems="ircot:one", judges="one"), data)
    allowed = litbench.identities(_parse(systems="ircot:one", judges="one", conditions="T6,T6-control"), data)
    assert allowed["systems"]["ircot:one"]["model"] == "scripted:one"


# Cells

def _items(bank: Path, **raw) -> tuple[Stub, list[dict]]:
    stub = Stub(datasets.load(bank), **raw)
    bench = Bench(stub)
    kept: dict[str, dict] = {}
    bench.keep = lambda key, words: kept.update({key: words})
    items = [{**task(), "key": key} for key, task in _work(bench)]
    stub.words = kept
    return stub, sorted(items, key=lambda item: item["key"])


def test_every_cell_is_an_item_of_ids_and_numbers(bank):
    stub, items = _items(bank, conditions="T1,T3,T5,T6,T6-control")
    cells = litbench.cell_table(stub, items)
    # 4 questions in T1, T3 (N 4), T6 and its control (N 1 and 3 each), 2 in T5 (N 7).
    assert cells.groupby("condition").size().to_dict() == {"T1": 4, "T3": 4, "T5": 2, "T6": 8, "T6-control": 8}
    told = json.dumps(items) + cells.to_csv() + litbench.fact_table(stub, items).to_csv()
    assert "elapse" not in told, "words of questions and papers stay out of what may be published"
    assert "elapse" in json.dumps(stub.words)
    right = cells[(cells["condition"] == "T1") & (cells["question"] == "Q0")].iloc[0]
    assert right["status"] == "scored"
    assert right[["credit", "traceable", "seen", "total"]].tolist() == [1, 1, 1, 1]
    withheld = cells[cells["condition"] == "T6"]
    assert withheld["gold"].eq(0).all()
    assert withheld["seen"].eq(0).all()
    assert withheld["credit"].isna().all(), "where the evidence is withheld only the refusal counts"
    drawn = candidate_set(stub.dataset.questions["Q0"], "T3", 4, stub.dataset.papers, seed=0)
    assert len(drawn.paper_ids) == 4


def test_tally_is_the_sum_of_four_ways_to_end(bank):
    stub, items = _items(bank, conditions="T1,T6")
    items[0] |= {"status": "unparsed"}
    items[1] |= {"status": "failed"}
    table = litbench.tally(stub, litbench.cell_table(stub, items))
    assert (table["total"] == table["scored"] + table["refused"] + table["unparsed"] + table["failed"]).all()
    assert table["unparsed"].sum() == table["failed"].sum() == 1


def test_verdicts_hold_every_judges_vote(bank):
    stub, items = _items(bank, conditions="T1", judges="lexical,lexical:words,lexical:numbers")
    table = litbench.verdict_table(stub, items)
    assert sorted(table["judge"].unique()) == ["lexical", "lexical:numbers", "lexical:words"]
    assert len(table) == 3 * table["case"].nunique()
    assert table["status"].eq("voted").all()


class Moody(ScriptedModel):
    """Fails while it is `down`, then answers from the first passage shown."""

    def __init__(self) -> None:
        super().__init__(self.say, name="moody", weak=True, context_window=8000)
        self.down = True

    def say(self, request):
        if self.down:
            return Completion(status="failed", reason="the server is down")
        if "findings" in request.schema["properties"]:
            quote = "Relapse under zelamine occurred in 102 of 204 adults."
            return {"findings": [{"refused": False, "answer": quote, "paper_id": "G0", "quotation": quote}]}
        return {"reason": "", "enough": True, "papers": ["G0"], "query": ""}


def test_a_cell_without_an_answer_is_asked_again_and_a_finished_one_is_not(bank, workspace, monkeypatch):
    model = Moody()
    monkeypatch.setattr(design, "open_model", lambda name, cap=None: model)
    run = open_run("litbench_conditions", dataset=str(bank), systems=["ircot:moody"], conditions=["T1"], resamples=100)
    first = litbench.ask_questions(run)
    assert {item["status"] for item in first} == {"failed"}
    assert all(item["retry"] for item in first)
    assert len(run.log) == 0, "no answer is no result"
    model.down = False
    second = litbench.ask_questions(run)
    assert {item["status"] for item in second} == {"scored"}
    assert [item["source"] for item in second] == [1, 0, 0, 0]
    assert second[0]["system"] == "ircot:moody (weak)"
    asked = len(model.requests)
    assert litbench.ask_questions(run) == second
    assert len(model.requests) == asked, "nothing finished is asked again"
    words = litbench.responses(run.directory)
    assert words[second[0]["key"]]["quotations"] == [["G0", "Relapse under zelamine occurred in 102 of 204 adults."]]


def test_failed_cells_are_kept_when_that_is_asked_for(bank, workspace, monkeypatch):
    monkeypatch.setattr(design, "open_model", lambda name, cap=None: Moody())
    run = open_run("litbench_conditions", dataset=str(bank), systems=["ircot:moody"], conditions=["T1"], resamples=100,
                   keep_failed=True, seed=1)
    items = litbench.ask_questions(run)
    assert len(run.log) == 4
    cells = litbench.cell_table(run, items)
    table = litbench.accuracy(run, cells)
    row = table[table["metric"] == "semantic"].iloc[0]
    assert (row["asked"], row["n"]) == (4, 0)
    assert pd.isna(row["value"]), "nothing that failed is counted as wrong"


def test_judges_are_asked_again_for_a_sample(bank, workspace):
    run = open_run("litbench_conditions", dataset=str(bank), conditions=["T1"], resamples=100, repeats=2, seed=2)
    items = litbench.ask_questions(run)
    table = litbench.ask_judges_again(run, items)
    assert table[["judge", "cases", "agreed"]].values.tolist() == [["lexical", 2, 2]]


def test_a_spending_cap_leaves_a_run_that_resumes(bank, workspace, monkeypatch):
    class Capped(Moody):
        def complete(self, request):
            if len(self.requests) >= 4:
                raise BudgetExceeded("the cap stopped calls")
            return super().complete(request)

    model = Capped()
    model.down = False
    monkeypatch.setattr(design, "open_model", lambda name, cap=None: model)
    run = open_run("litbench_conditions", dataset=str(bank), systems=["ircot:moody"], conditions=["T1"], resamples=100,
                   seed=3)
    with pytest.raises(BudgetExceeded):
        litbench.ask_questions(run)
    manifest = json.loads((run.directory / "manifest.json").read_text())
    assert (manifest["status"], manifest["items"]) == ("partial", 2)


def test_live_pool_credits_only_who_names_the_original_paper(bank, workspace):
    place = Path(__file__).resolve().parent.parent / "datasets" / "eutils_server.py"
    spec = importlib.util.spec_from_file_location("eutils_server_for_litbench", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = module.EutilsServer()
    restated = "<sec><title>Results</title><p>Relapse under zelamine occurred in 102 of 204 adults.</p></sec>"
    server.articles = {7: module.article_xml(7, body=restated)}
    server.dates = {7: datetime.date(2026, 7, 14)}
    try:
        run = open_run("litbench_conditions", dataset=str(bank), conditions=["T4-live"], live_pool="fevers[mesh]",
                       live_address=server.url, questions=1, resamples=100,
                       options={"extractive": {"refusal_threshold": 0.0}})
        (item,) = litbench.ask_questions(run)
    finally:
        server.close()
    assert item["condition"] == "T4·∞"
    assert item["named"] == ["PMC7"]
    assert item["live"]["records"] == 1
    assert item["credit"] == 0, "a paper that repeats the fact earns nothing"
    cells = litbench.cell_table(run, [item])
    assert litbench.composition(run, cells).empty
    assert litbench.by_n(run, cells)["n_papers"].tolist() == [0, 0, 0]


# Tables by hand

def _cells(*rows: dict) -> pd.DataFrame:
    """Return cells with what the rows name; the rest is plain."""
    plain = {"system": "s", "condition": "T2", "n": 10, "question": "q", "kind": "single", "domain_a": "results stated",
             "domain_b": None, "paper_a": "A", "paper_b": None, "status": "scored", "reason": "", "unreadable": False,
             **dict.fromkeys(METRICS), "seen": 1, "total": 10}
    return pd.DataFrame([{**plain, **row} for row in rows]).astype(dict.fromkeys(METRICS, "Int64"))


def test_a_question_counts_once_whatever_its_numbers_of_papers():
    # q1 is credited at 3 of 4 numbers of papers, q2 at 0 of 1: (0.75 + 0) / 2, not 3 / 5.
    cells = _cells(*({"question": "q1", "n": n, "credit": int(n > 1)} for n in (1, 10, 50, 100)),
                   {"question": "q2", "paper_a": "B", "credit": 0})
    row = litbench.accuracy(Stub(), cells).query("metric == 'semantic'").iloc[0]
    assert row["value"] == pytest.approx(0.375)
    assert (row["n"], row["clusters"], row["asked"], row["cells"]) == (2, 2, 2, 5)


def test_unreadable_answers_leave_the_denominator_and_count_in_the_strict_figure():
    cells = _cells({"question": "q1", "credit": 1}, {"question": "q2", "paper_a": "B", "status": "unparsed",
                                                     "unreadable": True})
    row = litbench.accuracy(Stub(), cells).query("metric == 'semantic'").iloc[0]
    assert (row["value"], row["n"], row["asked"]) == (1.0, 1, 2)
    assert row["strict"] == 0.5


def test_two_paper_conditions_resample_papers():
    pairs = [("A", "B"), ("A", "C"), ("A", "D"), ("E", "F")]
    cells = _cells(*({"condition": "T5", "kind": "two_paper", "question": f"q{i}", "paper_a": a, "paper_b": b,
                      "credit": i % 2} for i, (a, b) in enumerate(pairs)))
    row = litbench.accuracy(Stub(), cells).query("metric == 'semantic'").iloc[0]
    assert (row["value"], row["n"], row["clusters"]) == (0.5, 4, 6)
    assert "papers" in row["method"]
    assert row["low_components"] < row["low"]


def test_each_n_has_wilsons_interval():
    cells = _cells(*({"question": f"q{i}", "n": 50, "condition": "T6", "refusal": int(i < 9)} for i in range(10)))
    row = litbench.by_n(Stub(), cells).iloc[0]
    assert (row["metric"], row["successes"], row["n"], row["asked"]) == ("refusal", 9, 10, 10)
    # Wilson 95 % for 9 of 10: 0.596 to 0.982 (Newcombe 1998, method 3; R: binom::binom.wilson(9, 10)).
    assert (row["low"], row["high"]) == (pytest.approx(0.5958, abs=1e-4), pytest.approx(0.9821, abs=1e-4))


def test_contrasts_use_the_cells_that_count_for_both_systems():
    rows = [("a", "q1", 10, 1), ("b", "q1", 10, 0), ("a", "q1", 50, 1), ("b", "q1", 50, None), ("a", "q2", 10, 0),
            ("b", "q2", 10, 0), ("a", "q3", 10, 1)]
    cells = _cells(*({"system": s, "question": q, "n": n, "credit": c, "paper_a": q} for s, q, n, c in rows))
    row = litbench.contrasts(Stub(systems="extractive"), cells).query("metric == 'semantic'").iloc[0]
    assert (row["a"], row["b"], row["n"], row["value"]) == ("a", "b", 2, 0.5)  # q1: 1 - 0 at N 10 alone; q2: 0 - 0


def test_stated_against_interpretation():
    cells = _cells(*({"question": f"q{i}", "paper_a": f"p{i}", "credit": c, "domain_a": f"results {kind}"}
                     for i, (kind, c) in enumerate([("stated", 1), ("stated", 1), ("stated", 0), ("interpretation", 1),
                                                    ("interpretation", 0), ("unclassified", 0)])))
    row = litbench.fact_types(Stub(), cells).query("condition == 'T1–T4'").iloc[0]
    assert (row["stated_questions"], row["interpretation_questions"]) == (3, 2)
    assert row["value"] == pytest.approx(2 / 3 - 1 / 2)


def test_refusal_against_its_control():
    rows = [("T6", "q1", 10, 1), ("T6", "q2", 10, 1), ("T6", "q3", 10, 0), ("T6", "q1", 1, 1), ("T6", "q4", 10, None),
            ("T6-control", "q1", 10, 1), ("T6-control", "q2", 10, 0), ("T6-control", "q3", 10, 0),
            ("T6-control", "q4", 10, 0)]
    cells = _cells(*({"condition": c, "question": q, "n": n, "refusal": r, "paper_a": q} for c, q, n, r in rows))
    table = litbench.refusal(Stub(), cells).set_index("n_papers")
    at_ten = table.loc[10]
    assert (at_ten["refused"], at_ten["of"], at_ten["control_refused"], at_ten["control_of"]) == (2, 3, 1, 4)
    assert at_ten["difference_value"] == pytest.approx(1 / 3)  # on q1, q2, q3: 1 - 1, 1 - 0, 0 - 0
    assert pd.isna(table.loc[1, "difference_value"]), "N 1 has no control here"
    assert "no matched control" in table.loc[1, "difference_reason"]
    assert table.loc[0, "rate"] == pytest.approx(2 / 3)  # q1 1 over two N, q2 1, q3 0


def test_where_credit_is_lost():
    rows = [("q1", 1, 1, "scored"), ("q2", 0, 0, "scored"), ("q3", 0, 1, "scored"), ("q4", 0, 1, "refused"),
            ("q5", 1, 0, "scored"), ("q6", None, 1, "failed")]
    cells = _cells(*({"question": q, "paper_a": q, "credit": c, "seen": seen, "status": s} for q, c, seen, s in rows))
    row = litbench.failures(Stub(), cells).query("n_papers == 0").iloc[0]
    assert {name: int(row[name]) for name in ("counted", "found", "credited", "credited_unseen", "lost", "not_found",
                                              "misread", "declined")} == {
        "counted": 5, "found": 3, "credited": 2, "credited_unseen": 1, "lost": 3, "not_found": 1, "misread": 1,
        "declined": 1}
    assert row["value"] == pytest.approx(1 / 3)


def test_credit_against_traceability():
    rows = [(1, 1), (1, 0), (0, 1), (0, 0), (1, 1), (None, 1)]
    cells = _cells(*({"question": f"q{i}", "paper_a": f"p{i}", "credit": c, "traceable": t}
                     for i, (c, t) in enumerate(rows)))
    row = litbench.traceability(Stub(), cells).iloc[0]
    assert row[["credited_and_traceable", "credited_alone", "traceable_alone", "neither"]].tolist() == [2, 1, 1, 1]
    assert row["value"] == pytest.approx(3 / 5)


def test_report_card_pools_responses_and_tells_white_from_grey(bank):
    stub = Stub(datasets.load(bank))
    cells = _cells({"question": "Q0", "n": 10, "credit": 1}, {"question": "Q0", "n": 50, "credit": 1},
                   {"question": "Q1", "paper_a": "B", "credit": 0}, {"question": "Q2", "paper_a": "C"},
                   {"condition": "T5", "kind": "two_paper", "question": "P01", "paper_b": "B", "credit": 0,
                    "domain_b": "results interpretation"})
    table = litbench.domains(stub, cells)
    full = table[table["card"] == "full"].set_index(["condition", "domain"])
    one = full.loc[("T2", "results stated")]
    assert (one["credited"], one["counted"], one["asked"], one["questions"], one["state"]) == (2, 3, 4, 2, "value")
    assert one["value"] == pytest.approx(2 / 3)
    assert full.loc[("T2", "abstract stated"), "state"] == "no question"  # the bank asks none there
    assert full.loc[("T3", "results stated"), "state"] == "not evaluated"  # it does, and T3 was not run
    assert full.loc[("T2", "results interpretation"), "state"] == "not evaluated"
    assert full.loc[("T5", "results stated"), "counted"] == full.loc[("T5", "results interpretation"), "counted"] == 1
    assert len(full) == 14 * 7  # T1 to T7; what is not published shows when it was run
    compact = table[table["card"] == "compact"].set_index(["condition", "domain"])
    assert compact.loc[("T1–T4", "stated"), "counted"] == 3


def test_decomposition_compares_the_same_numbers_of_papers(bank):
    stub = Stub(datasets.load(bank))
    joint = [("P01", "F0", 1, 100), ("P01", "F1", 0, 100), ("P02", "F0", 1, 100), ("P02", "F2", 1, 100),
             ("P01", "F0", 1, 10), ("P01", "F1", 1, 10)]
    alone = [("Q0", "F0", 1, 100), ("Q1", "F1", 1, 100), ("Q2", "F2", 1, 100), ("Q2", "F2", 0, 500)]
    facts = pd.DataFrame([{"system": "s", "condition": c, "question": q, "fact": f, "credit": v, "n": n}
                          for c, rows in (("T5", joint), ("T4", alone)) for q, f, v, n in rows]).astype(
        {"credit": "Int64"})
    table = litbench.decomposition(stub, _cells({"condition": "T5"}), facts).set_index("part")["value"]
    # P01 has one fact at N 100 and both at 10, P02 both at 100: both = (0.5 + 1) / 2.
    assert table["both"] == pytest.approx(0.75)
    assert table["one"] == pytest.approx(0.25)
    assert table["neither"] == 0.0
    # At N 100, where both were run: separately 1 and 1; jointly 0 and 1.
    assert table["both_separately"] == 1.0
    assert table["synthesis_penalty"] == pytest.approx(0.5)


def test_pair_graph_and_result_without_hubs():
    pairs = [("H", f"p{i}") for i in range(10)] + [("x", "y"), ("y", "z")]
    cells = _cells(*({"condition": "T5", "kind": "two_paper", "question": f"q{i:02d}", "paper_a": a, "paper_b": b,
                      "credit": int(a != "H")} for i, (a, b) in enumerate(pairs)))
    graph = litbench.pair_graph_table(Stub(), cells).set_index("quantity")["value"]
    assert graph["papers"] == 14
    assert graph["hubs (degree ≥ 10)"] == 1
    assert graph["questions in the largest component"] == 10
    row = litbench.without_hub_papers(Stub(), cells).iloc[0]
    assert row["all"] == pytest.approx(2 / 12)
    assert (row["value"], row["n"], row["left_out"], row["hubs"]) == (1.0, 2, 10, 1)


def test_published_values_stand_in_the_same_form_and_are_marked(root):
    table = published_accuracy()
    row = table[(table["system"] == "Sonnet-5 (published)") & (table["condition"] == "T4")].iloc[0]
    assert (row["value"], row["low"], row["high"], row["n"]) == (pytest.approx(0.911), pytest.approx(0.895),
                                                                pytest.approx(0.927), 2188)
    refusals = published_refusals()
    sonnet = refusals[(refusals["system"] == "Sonnet-5 (published)") & (refusals["condition"] == "T6")].iloc[0]
    assert (sonnet["refused"], sonnet["of"], round(100 * sonnet["rate"], 1)) == (574, 605, 94.9)
    # Wilson's interval of 574 of 605 (R: binom::binom.wilson): 0.9281 to 0.9637.
    assert (sonnet["low"], sonnet["high"]) == (pytest.approx(0.9281, abs=1e-3), pytest.approx(0.9637, abs=1e-3))
    assert published_over_refusal() == ("DeepSeek-V4-Flash (published)", pytest.approx(0.803))
    assert published_contrasts()["a"].str.endswith("(published)").all()
    own = litbench.accuracy(Stub(), _cells({"credit": 1}, {"question": "q2", "paper_a": "B", "credit": 0}))
    rows = card_rows(own)
    assert rows["system"].tolist()[0] == "s"
    assert rows["system"].iloc[1:].str.endswith("(published)").all()


def test_findings_say_numbers_with_denominators_and_what_kind_of_judge(bank):
    stub, items = _items(bank, conditions="T1,T5,T6,T6-control")
    cells = litbench.cell_table(stub, items)
    tables = litbench.accuracy(stub, cells), litbench.refusal(stub, cells), litbench.failures(stub, cells)
    words = litbench.findings(stub, *tables)
    assert words.startswith("extractive. Credited, in percent: T1 ")
    assert "(n = 4)" in words
    assert re.search(r"Declined, in percent: T6 [\d.]+ \([\d.]+ to [\d.]+\) of 8 responses against [\d.]+ \(.*\) of 8 "
                     r"controls\.", words)
    assert words.endswith("Judged by words alone, not by a model.")
    shown = litbench.reading_table(tables[0])
    assert {"extractive", "Sonnet-5 (published)"} <= set(shown["system"])


# The whole

@pytest.mark.slow
def test_the_notebook_runs_to_its_end(bank, workspace):
    raw = {"dataset": str(bank), "resamples": "100", "judges": "lexical,lexical:words,lexical:numbers", "repeats": "3",
           "conditions": "T1,T4,T5,T6,T6-control"}
    done = run_experiment("litbench_conditions", raw)
    assert done.manifest["status"] == "finished"
    tables = {path.stem: pd.read_parquet(path) for path in (done.directory / "tables").glob("*.parquet")}
    assert set(tables) >= set(get_experiment("litbench_conditions").tables)
    tally, cells = tables["tally"], tables["cells"]
    assert tally["total"].sum() == len(cells) == done.manifest["items"] - 3
    assert tables["design"]["cells_a_system"].sum() == len(cells)
    figures = {path.name for path in (done.directory / "figures").iterdir()}
    assert {f"{name}.{kind}" for name in ("report_card", "compact_card", "condition_card", "degradation", "refusal",
                                          "decomposition", "where_credit_is_lost", "pair_graph")
            for kind in ("svg", "png", "pdf", "csv", "alt.txt")} <= figures
    assert "seconds" not in tables["costs"].columns, "times differ from run to run and are no part of a table"
    assert done.manifest["facts"]["lexical_judges"] is True


@pytest.mark.shared
def test_a_real_bank_is_answered_and_its_words_stay_out_of_tables(shared_data):
    data = datasets.load(shared_data / "pubmedqa_bank")
    stub = Stub(data, questions=3, max_n=100, conditions="T1,T4,T5,T6,T6-control")
    bench = Bench(stub)
    bench.keep = lambda key, words: None
    items = [{**task(), "key": key} for key, task in _work(bench)]
    cells = litbench.cell_table(stub, items)
    assert (cells["total"] <= cells["n"]).all()
    assert cells[cells["condition"] == "T1"]["seen"].eq(1).all()
    told = json.dumps(items)
    sentences = [fact.quote for fact in data.facts.values()] + [q.text for q in data.questions.values()]
    assert not [text for text in sentences if text and text in told]


def test_every_public_name_is_there():
    assert all(hasattr(litbench, name) for name in litbench.__all__)


def test_further_runs_of_the_book_have_parameters_that_the_experiment_takes():
    experiment = get_experiment("litbench_conditions")
    data = datasets.load("sample")
    for name, raw in experiment.book_runs.items():
        assert name.endswith("-sample"), "results made by `make book` stay out of git"
        assert litbench.identities(experiment.parse(raw), data)["judges"]["panel"]
