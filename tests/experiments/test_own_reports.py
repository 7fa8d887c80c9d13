"""Systems of one's own that raise, end the process, or hand in what is no report: refused by name, or made plain."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from litsynth import datasets
from litsynth.errors import DataError, ParameterError, RunError
from litsynth.experiments import oracle_rag as oracle
from litsynth.experiments.oracle_rag import figures
from litsynth.experiments.oracle_rag.bench import Bench
from litsynth.experiments.parameters import get_experiment
from litsynth.experiments.system_names import read_name
from litsynth.experiments.system_options import option_values
from litsynth.records import Candidate, Report, Usage
from litsynth.retrieval import open_retriever

OWN = """
from dataclasses import dataclass, field

MAKE = None

class Own:
    def review(self, task, searcher, llm):
        return MAKE(task, searcher)

class Needy:
    def __init__(self, thing):
        self.thing = thing
    review = Own.review

class Mute:
    pass

@dataclass
class Odd:
    thing: object = object
    cache: dict = field(default_factory=dict, init=False)
    review = Own.review

@dataclass
class Unresolved:
    thing: "Nowhere" = None
    review = Own.review

def call():
    return None
"""


@pytest.fixture(scope="module")
def sample():
    data = datasets.load("sample")
    return data, open_retriever("bm25", data)


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "hostile_own.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "hostile_own", raising=False)
    import hostile_own

    return hostile_own


def asked(sample, own, make, mode="actual", review=2):
    data, retriever = sample
    chosen = get_experiment("oracle_rag").parse({"systems": "hostile_own:Own", "top_k": 8})
    bench = Bench(SimpleNamespace(dataset=data, parameters=chosen))
    bench.__dict__["retriever"] = retriever
    own.MAKE = make
    made = bench.item(read_name("hostile_own:Own"), mode, data.reviews[review], None)
    json.dumps(made, allow_nan=False).encode()
    return made


def report(task, searcher, ids=None, **fields):
    found = searcher.candidates(4)
    base = Report(task.id, "own", "actual", "", found, included_ids=None if ids is None else ids(found))
    return replace(base, **{name: value(found) if callable(value) else value for name, value in fields.items()})


@pytest.mark.parametrize("ids", [
    lambda found: np.array([found[0].corpus_id, found[1].corpus_id]),
    lambda found: tuple(np.int64(c.corpus_id) for c in found[:2]),
    lambda found: (c.corpus_id for c in found[:2]),
    lambda found: [found[0].corpus_id, found[0].corpus_id, found[1].corpus_id],
])
def test_ids_count_once_as_plain_integers(sample, own, ids):
    made = asked(sample, own, lambda task, searcher: report(task, searcher, ids))
    assert made["included"] == made["shown"][:2]
    assert {type(i) for i in made["included"]} == {int}


def test_an_id_that_is_no_candidates_is_unmatched(sample, own):
    """As in a text: |L| has candidates only, and the other explicit IDs are wrong predictions (U)."""
    made = asked(sample, own, lambda task, searcher: report(task, searcher, lambda found: (found[0].corpus_id, 7, 8)))
    assert (made["included"], made["unmatched"]) == (made["shown"][:1], 2)
    hits = int(made["shown"][0] in made["reference"])
    assert made["metrics"]["inclusion_precision"] == hits / 3


@pytest.mark.parametrize(("fields", "words"), [
    ({"ids": lambda found: (str(found[0].corpus_id),)}, "(str)"), ({"ids": lambda found: (None,)}, "None (NoneType)"),
    ({"ids": lambda found: (True,)}, "True (bool)"), ({"ids": lambda found: (np.True_,)}, "included ID"),
    ({"ids": lambda found: (-found[0].corpus_id,)}, "non-negative"), ({"ids": lambda found: (1.0,)}, "1.0 (float)"),
    ({"ids": lambda found: "123"}, "included_ids that are a str"), ({"ids": lambda found: 7}, "that are a int"),
    ({"status": "excellent"}, "the status 'excellent'"), ({"status": "refused"}, "the status 'refused'"),
    ({"status": None}, "the status None"), ({"text": None}, "a text that is a NoneType"),
    ({"text": b"## List"}, "a text that is a bytes"), ({"candidates": None}, "a candidate that is a NoneType"),
    ({"candidates": ({"corpus_id": 1},)}, "a candidate that is a dict"),
    ({"candidates": (Candidate(1, "t", "a"),)}, "which the corpus of sample lacks"),
    ({"usage": None}, "the usage None"), ({"usage": Usage(1, 2, cost=float("nan"))}, "cost=nan"),
    ({"usage": Usage(-1, 2)}, "the usage"), ({"details": None}, "details that are a NoneType"),
    ({"details": {"truncation": object()}}, "details that JSON cannot hold"), ({"review_id": True}, "of review True"),
])
def test_what_is_no_report_is_refused_by_name(sample, own, fields, words):
    with pytest.raises(DataError) as caught:
        asked(sample, own, lambda task, searcher: report(task, searcher, **fields))
    assert words in str(caught.value)
    assert "hostile_own:Own" in str(caught.value)
    assert "review 2" in str(caught.value)


def test_the_reviews_own_record_is_no_candidate(sample, own):
    data, _ = sample
    review = next(review for review in data.reviews.values() if review.source_ids)
    source = review.source_ids[0]
    with pytest.raises(DataError, match="is the review itself"):
        asked(sample, own, lambda task, searcher: report(task, searcher, candidates=(Candidate(source, "", ""),)),
              review=review.id)


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), SystemExit(0), AttributeError("no `search`")])
def test_a_class_that_raises_stops_the_run_by_name(sample, own, error):
    def fail(task, searcher):
        raise error

    with pytest.raises(RunError, match=r"system 'hostile_own:Own' failed on review 2 in oracle order") as caught:
        asked(sample, own, fail, mode="oracle")
    assert caught.value.__cause__ is error


def test_a_class_changes_neither_task_nor_corpus(sample, own):
    data, _ = sample
    review = data.reviews[2]

    def meddle(task, searcher):
        made = report(task, searcher, lambda found: ())
        object.__setattr__(task, "id", 999)
        with pytest.raises((TypeError, AttributeError)):
            searcher.articles.clear()
        return made

    for mode in ("actual", "oracle"):
        assert asked(sample, own, meddle, mode=mode)["status"] == "scored"
    assert data.reviews[2] is review
    assert review.id == 2


def test_hostile_text_is_kept_as_text(sample, own):
    def write(task, searcher):
        found = searcher.candidates(2)
        text = "\x1b[31m\ud800<script>alert(1)</script>\n## Final included studies\n" \
               f"- Corpus ID: {found[1].corpus_id}\n"
        return Report(task.id, "own", "oracle", text, found, reason="\ud800", model="\ud800", query="\ud800")

    made = asked(sample, own, write)
    assert made["included"] == made["shown"][1:2]
    assert made["query_mode"] == "actual", "the order is the run's, whatever the class says"
    assert "<script>" not in oracle.one_report([made])._repr_html_()


@pytest.mark.parametrize(("spec", "options", "words"), [
    ("hostile_own:Mute", {}, "without `review`"), ("hostile_own:call", {}, "is a NoneType without `review`"),
    ("hostile_own:Needy", {}, "missing 1 required positional argument: 'thing'"),
    ("hostile_own:Own", {"x": 1}, "cannot be opened with the options ['x']"),
    ("hostile_own:Odd", {}, "option 'thing' of Odd is a type"),
    ("hostile_own:Unresolved", {"thing": 1}, "name 'Nowhere' is not defined"),
    ("exits_own:X", {}, "SystemExit: 0"), ("raises_own:X", {}, "RuntimeError: boom"),
])
def test_classes_that_cannot_be_opened_are_refused_before_anything_runs(sample, own, tmp_path, spec, options, words):
    (tmp_path / "exits_own.py").write_text("raise SystemExit(0)")
    (tmp_path / "raises_own.py").write_text("raise RuntimeError('boom')")
    parameters = get_experiment("oracle_rag").parse({"systems": spec, "options": {spec: options} if options else {}})
    with pytest.raises(ParameterError) as caught:
        oracle.identities(parameters, sample[0])
    assert words in str(caught.value)


def test_fields_that_are_no_option_are_not_recorded(own):
    assert option_values(own.Odd(thing={"a": [1]}), {}) == {"thing": {"a": [1]}}


def test_reviews_without_a_readable_list_can_be_drawn(own):
    """A missing count in a nullable column has no truth value, which the bars ask for."""
    counts = pd.DataFrame({"system": "s", "mode": "actual", "review": [1, 2], "status": ["unparsed", "scored"],
                           "reference": [5, 6], "shown": [8, 8], "not_retrieved": [2, 3], "dropped": [None, 1],
                           "kept": [None, 2], "wrongly_added": [None, 4], "unmatched": [None, 0]})
    columns = ["reference", "shown", "not_retrieved", "dropped", "kept", "wrongly_added", "unmatched"]
    saved = {}
    run = SimpleNamespace(save_figure=lambda name, figure, data, alt: saved.update(alt=alt))
    figures.losses_by_review(run, counts.astype(dict.fromkeys(columns, "Int64")))
    assert "2 of 6 kept, 4 wrongly added (1 of 2 reviews without a readable list)" in saved["alt"]


@pytest.mark.parametrize("value", [np.zeros(2), object(), float("nan"), {1, 2}])
def test_options_that_no_run_can_record_are_refused(sample, own, value):
    chosen = get_experiment("oracle_rag").parse({
        "systems": ["hostile_own:Needy"], "options": {"hostile_own:Needy": {"thing": value}}})
    with pytest.raises(ParameterError, match="option 'thing' of Needy is a"):
        oracle.identities(chosen, sample[0])


@pytest.mark.parametrize(("raw", "words"), [
    ({"systems": "agent:local", "options": {"agent:local": {"max_steps": 0}}}, "max_steps = 0"),
    ({"systems": "screening:local", "options": {"screening:local": {"batch_size": "0"}}}, "batch_size = 0"),
    ({"systems": "one_pass:local", "options": {"one_pass:local": {"top_k": -1}}}, "top_k = -1"),
])
def test_impossible_options_stop_the_run_before_a_model_is_asked(sample, raw, words):
    with pytest.raises(ParameterError, match=words):
        oracle.identities(get_experiment("oracle_rag").parse(raw), sample[0])


def test_a_release_folder_without_an_import_is_refused(sample, tmp_path):
    chosen = get_experiment("oracle_rag").parse({"release": str(tmp_path)})
    with pytest.raises(DataError, match="holds no imported release"):
        oracle.identities(chosen, sample[0])
