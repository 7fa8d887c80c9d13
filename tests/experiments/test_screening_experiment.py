"""The screening experiment: learning without looking, thresholds, and the notebook on a slice of the sample."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from litsynth import datasets
from litsynth.errors import DataError, ParameterError
from litsynth.experiments import screening
from litsynth.experiments.parameters import get_experiment
from litsynth.experiments.runner import run_experiment
from litsynth.experiments.screening import models
from litsynth.experiments.screening.learning import OPERATING_POINTS, learn
from litsynth.experiments.screening.pools import pool_of
from litsynth.llm.scripted import ScriptedModel
from litsynth.records import Article, Dataset, Gold, Review
from litsynth.retrieval.bm25 import Bm25Retriever
from litsynth.retrieval.corpus import SearchCorpus
from litsynth.scoring.selection import parse_selection
from litsynth.systems.screening_features import feature_names, pool_features
from litsynth.systems.screening_model import FittedRanker, LogisticModel, TrainedScreener
from litsynth.systems.screening_prompts import EXTRACT_VERSION, QUERIES_VERSION
from litsynth.systems.screening_steps import SearchingCandidates

REVIEWS, EACH = 6, 12


def made() -> Dataset:
    """Six reviews of twelve screened articles; the four included ones name the review's topic and a trial."""
    reviews, corpus, gold, screened = {}, {}, {}, {}
    for i in range(1, REVIEWS + 1):
        reviews[i] = Review(i, "train" if i <= 4 else "test", f"Does drug{i} help condition{i}?",
                            population=f"condition{i}", intervention=f"drug{i}", source_ids=(100 * i + 99,))
        for j in range(EACH):
            number, good = 100 * i + j, j < 4
            text = f"drug{i} for condition{i}, randomised trial" if good else f"a review of condition{i}"
            corpus[number] = Article(number, text, text + " words" * j)
        corpus[100 * i + 99] = Article(100 * i + 99, f"drug{i} for condition{i}, randomised trial", "")
        gold[i] = Gold(i, frozenset(100 * i + j for j in range(4)))
        screened[i] = {100 * i + j: j < 4 for j in range(EACH)} | {100 * i + 99: True}
    return Dataset("made", "0" * 64, True, reviews=reviews, corpus=corpus, gold=gold, screened=screened,
                   notes={105: {"review_id": 1, "fails": "design"}, 505: {"review_id": 5, "fails": "design"}})


@pytest.fixture(scope="module")
def world():
    data = made()
    return data, {"bm25": Bm25Retriever(SearchCorpus(data))}


def pools(data, signals):
    return [pool_of(data, review, signals, 200) for review in data.reviews.values()]


def test_a_pool_is_what_was_screened_without_the_review_itself(world):
    data, signals = world
    pool = pool_of(data, data.reviews[1], signals, 5)
    assert pool.ids == tuple(range(100, 112)), "all that was screened, whatever top_k; 199 is the review's own record"
    assert pool.relevant == frozenset({100, 101, 102, 103})
    assert pool.features.shape == (EACH, len(feature_names(("bm25",))))
    assert sorted(pool.orders["bm25"]) == list(pool.ids)
    bare = replace(data, screened={})
    retrieved = pool_of(bare, data.reviews[1], signals, 6)
    assert len(retrieved.ids) == 6
    assert 199 not in retrieved.ids
    assert retrieved.relevant == frozenset({100, 101, 102, 103})
    assert retrieved.reference == 4


def test_features_do_not_depend_on_the_order_or_rank_of_candidates(world):
    data, signals = world
    pool = pool_of(data, data.reviews[2], signals, 200)
    turned = tuple(replace(c, rank=99 - n, score=n) for n, c in enumerate(pool.candidates))[::-1]
    np.testing.assert_allclose(pool_features(data.reviews[2], turned, signals)[::-1], pool.features)
    assert np.isfinite(pool.features).all()


def test_what_was_learned_from_some_reviews_ranks_another(world):
    data, signals = world
    every = pools(data, signals)
    learned = learn(every[:5], ["bm25"], 0.95)
    assert learned.reviews == (1, 2, 3, 4, 5)
    chances = learned.model.apply(every[5].features)
    assert chances[:4].min() > chances[4:].max()
    assert learn(every[:5], ["bm25"], 0.95) == learned, "the same again"
    assert learned.thresholds[OPERATING_POINTS[0]] <= chances[:4].min()
    # The reviews learned from include a third of their candidates: probabilities have to hold on average.
    assert learned.share == pytest.approx(1 / 3)
    with pytest.raises(DataError, match="1 reviews have both"):
        learn(every[:1], ["bm25"], 0.95)


def test_the_screener_includes_by_threshold_and_its_report_is_read(world):
    data, signals = world
    learned = learn(pools(data, signals)[:5], ["bm25"], 0.95)
    screener = TrainedScreener(ranker=FittedRanker(learned.model, signals), threshold=0.5, top_k=8)
    review = data.reviews[6]
    searcher = SearchingCandidates("drug6 condition6", signals["bm25"], data.corpus, review.source_ids)
    report = screener.review(review, searcher)
    assert 699 not in {c.corpus_id for c in report.candidates}
    assert set(report.included_ids) == {600, 601, 602, 603}
    titles = [{"corpus_id": c.corpus_id, "title": c.title} for c in report.candidates]
    assert set(parse_selection(report.text, titles).included_ids) == set(report.included_ids)
    with pytest.raises(ParameterError):
        TrainedScreener(ranker=screener.ranker, threshold=1.5)
    with pytest.raises(ParameterError, match="weights for"):
        LogisticModel(("bm25",), 0.0, (1.0,))


def run_of(data, **changes):
    chosen = get_experiment("screening").parse({"signals": "bm25", **changes})
    tables = {}

    def compute(work, stage):
        return [{**task(), "key": key} for key, task in sorted(work)]
    return SimpleNamespace(dataset=data, parameters=chosen, compute=compute, record=lambda **facts: None,
                           save_table=tables.__setitem__, tables=tables)


def test_both_designs_and_all_tables_on_made_data(world):
    data, signals = world
    run = run_of(data, workloads="0.25,0.5")
    bench = screening.Bench(run)
    bench.__dict__["signals"] = signals
    items = screening.screen(run, bench)
    assert [(i["design"], i["review"]) for i in items] == [("left out", n) for n in range(1, 7)] + [
        ("split", 5), ("split", 6)]
    for item in items:
        assert item["review"] not in item["learned"]["reviews"], "no review teaches about itself"
        if item["design"] == "split":
            assert item["learned"]["reviews"] == [1, 2, 3, 4]
        counts = item["operating"]["best F1"]
        assert sum(counts.values()) == item["candidates"] == EACH
    measures = screening.measure_table(run, items)
    summary, table = screening.summarise(run, measures), screening.differences(run, measures)
    first = summary[(summary["ranker"] == "trained") & (summary["measure"] == "recall") & (summary["workload"] == 0.5)]
    assert (first["value"] == 1.0).all(), "half of twelve holds the four"
    assert "6 reviews" in screening.verdict(summary, table)
    operating = screening.operating_table(run, items)
    assert set(operating["measure"]) == {"recall", "precision", "f1", "workload"}
    calibration = screening.calibration_tables(run, items).set_index(["design", "measure"])["value"]
    assert calibration["left out", "brier"] < calibration["left out", "brier_constant"]
    assert run.tables["reliability"]["count"].sum() == 8 * EACH
    criteria = screening.criteria_table(run, items, [])
    assert list(criteria["candidates"]) == [1, 1], "only the split counts, once a threshold"
    assert len(screening.weight_table(run, items)) == len(feature_names(("bm25",)))


def test_a_model_screens_beside_it_and_what_it_wrote_stays_out_of_items_of_real_data(world, monkeypatch):
    def answer(request):
        if request.prompt_version == QUERIES_VERSION:
            return {"queries": ["drug5 condition5", "condition5 trial", "drug5"]}
        if request.prompt_version == EXTRACT_VERSION:
            return {"finding": "SECRET finding", "measure": "none", "value": None, "low": None, "high": None}
        ids = [int(n) for n in re.findall(r"^Corpus ID: (\d+)", request.messages[1]["content"], re.MULTILINE)]
        return {"decisions": [{"id": n, "reason": "SECRET reason", "criterion": "none" if n % 100 < 4 else "design",
                               "include": n % 100 < 4} for n in ids[1:]]}

    class Door(ScriptedModel):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass
    data, signals = world
    monkeypatch.setattr(models, "open_model", lambda *a, **k: Door(answer))
    for synthetic in (True, False):
        real = replace(data, synthetic=synthetic)
        run = run_of(real, model="default", model_reviews=1, model_candidates=8, model_batch=8)
        bench = screening.Bench(run)
        bench.__dict__["signals"] = signals
        items = models.screen_by_model(run, bench)
        assert ("SECRET" in json.dumps(items)) is synthetic
        assert items[0]["prompt_version"].count("/") == 3
        counts = models.model_tables(run, items)
        row = counts.iloc[0]
        assert row["candidates"] == 8 == row["decided"] + row["unparsed"] + row["failed"]
        assert row["tp"] + row["fp"] + row["fn"] + row["tn"] == row["decided"]
        assert list(counts["screener"]) == ["scripted", "trained, best F1"]
        assert len(run.tables["model_decisions"]) == 8


@pytest.mark.parametrize(("raw", "words"), [
    ({"signals": "bm25,bm25"}, "names one twice"), ({"workloads": "0,0.5"}, "shares in"),
    ({"signals": "bm26"}, "signals"), ({"target_recall": "1"}, "target_recall"),
])
def test_bad_parameters_are_refused(raw, words):
    with pytest.raises(ParameterError) as caught:
        screening.identities(get_experiment("screening").parse(raw), datasets.load("sample"))
    assert words in str(caught.value)


def test_a_data_set_without_splits_is_refused(world):
    data = world[0]
    only = Dataset("one", "0", True, reviews={1: data.reviews[1]}, corpus=data.corpus, gold=data.gold)
    with pytest.raises(ParameterError, match="no train and test reviews"):
        screening.identities(get_experiment("screening").parse({}), only)


@pytest.mark.slow
def test_the_notebook_runs_on_a_slice_of_the_sample(root: Path, tmp_path: Path, workspace):
    source, folder = root / "data" / "sample", tmp_path / "slice"
    folder.mkdir()
    reviews = pd.read_parquet(source / "reviews.parquet").sort_values("ID").groupby("split").head(4)
    corpus = pd.read_parquet(source / "corpus.parquet").sort_values("ID")
    named = [*reviews["matched_corpus_ids"], *reviews["source_review_corpus_ids"]]
    wanted = {int(i) for ids in named for i in ids}
    others = [i for i in corpus["ID"] if i not in wanted][:150]
    corpus[corpus["ID"].isin(wanted | set(others))].to_parquet(folder / "corpus.parquet")
    reviews.to_parquet(folder / "reviews.parquet")
    (folder / "dataset.json").write_text(json.dumps({"name": "slice", "synthetic": True}))
    done = run_experiment("screening", {"dataset": str(folder), "signals": "bm25", "top_k": "60", "resamples": "200"})
    assert done.manifest["status"] == "finished"
    tables = {path.stem: pd.read_parquet(path) for path in (done.directory / "tables").glob("*.parquet")}
    assert set(tables) >= set(get_experiment("screening").tables)
    measures, summary = tables["measures"], tables["summary"]
    for (design, ranker), part in measures[measures["measure"] == "wss95"].groupby(["design", "ranker"]):
        row = summary[(summary["design"] == design) & (summary["ranker"] == ranker) & (summary["measure"] == "wss95")]
        assert row["value"].item() == pytest.approx(part["value"].mean(), abs=1e-12)
    figures = {path.name for path in (done.directory / "figures").iterdir()}
    assert {"recall_by_workload.svg", "paired_differences.csv", "calibration.alt.txt"} <= figures
