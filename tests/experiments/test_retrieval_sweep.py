"""The retrieval sweep: its notebook run by papermill on a slice of the sample, and the rules of its tables."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from litsynth import datasets
from litsynth.errors import ParameterError
from litsynth.experiments import retrieval_sweep as sweep
from litsynth.experiments.parameters import get_experiment
from litsynth.experiments.retrieval_sweep.ranking import rank_review
from litsynth.experiments.runner import run_experiment
from litsynth.records import Article, Dataset, Gold, Ranking, Review


@pytest.fixture
def slice_of_sample(root: Path, tmp_path: Path) -> Path:
    """Four reviews of the sample's test split over their included studies and 40 other articles."""
    source, folder = root / "data" / "sample", tmp_path / "slice"
    folder.mkdir()
    reviews = pd.read_parquet(source / "reviews.parquet")
    reviews = reviews[reviews["split"] == "test"].sort_values("ID").head(4)
    corpus = pd.read_parquet(source / "corpus.parquet").sort_values("ID")
    columns = ("matched_corpus_ids", "source_review_corpus_ids")
    wanted = {int(i) for column in columns for ids in reviews[column] for i in ids}
    others = [i for i in corpus["ID"] if i not in wanted][:40]
    corpus[corpus["ID"].isin(wanted | set(others))].to_parquet(folder / "corpus.parquet")
    reviews.to_parquet(folder / "reviews.parquet")
    (folder / "dataset.json").write_text(json.dumps({"name": "slice", "synthetic": True}))
    return folder


@pytest.mark.slow
def test_the_notebook_runs_on_a_slice_of_the_sample(slice_of_sample, workspace):
    done = run_experiment("retrieval_sweep", {"dataset": str(slice_of_sample), "depths": "5,20,50"})
    assert done.manifest["status"] == "finished"
    assert done.manifest["synthetic"] is True
    tables = {path.stem: pd.read_parquet(path) for path in (done.directory / "tables").glob("*.parquet")}
    assert set(tables) >= set(get_experiment("retrieval_sweep").tables)
    scores, summary = tables["measures"], tables["summary"]
    asked = scores.groupby(["measure", "depth", "retriever"]).size()
    assert (asked == 4).all(), "every review asked has a row for every measure"
    recall = scores[(scores["measure"] == "recall") & (scores["depth"] == 50)]
    # Macro means are the plain means of the review rows, recomputed here.
    for name, part in recall.groupby("retriever"):
        row = summary[(summary["retriever"] == name) & (summary["measure"] == "recall") & (summary["depth"] == 50)]
        assert row["value"].item() == pytest.approx(part["value"].mean(), abs=1e-12)
        assert row["n"].item() == 4
        assert row["low"].item() <= row["value"].item() <= row["high"].item()
    figures = {path.name for path in (done.directory / "figures").iterdir()}
    assert {"recall_by_depth.svg", "recall_by_depth.csv", "recall_by_depth.alt.txt", "misses.png"} <= figures
    assert "synthetic data" in (done.directory / "figures" / "recall_by_depth.svg").read_text()


class Fixed:
    """A retriever that ranks the corpus in one order, whatever is asked."""

    name = "fixed"

    def __init__(self, order: list[int]) -> None:
        self.order = order

    def search(self, query, k, *, exclude=(), allowed=None):
        ids = [i for i in self.order if i not in set(exclude) and (allowed is None or i in set(allowed))]
        return Ranking(np.array(ids[:k], dtype=np.int64), np.arange(len(ids[:k]), 0, -1, dtype=float))


def _run(included: set[int], *, source: tuple[int, ...] = (), screened=None) -> SimpleNamespace:
    corpus = {i: Article(i, f"title {i}", "" if i == 4 else "words about mice") for i in range(1, 11)}
    data = Dataset("made", "0", True, reviews={1: Review(1, "test", "mice", source_ids=source)}, corpus=corpus,
                   gold={1: Gold(1, frozenset(included))}, screened=screened or {})
    return SimpleNamespace(dataset=data, parameters=SimpleNamespace(depths=[2, 4]))


def test_one_review_by_hand():
    run = _run({2, 4, 9}, source=(9,))
    item = rank_review(Fixed([1, 2, 9, 3, 4, 5, 6, 7, 8, 10]), "fixed", run.dataset.reviews[1], run)
    # 9 is the review's own record: it is neither ranked nor a reference. The order left is 1 2 3 4 5 …
    assert item["relevant"] == 2
    assert item["candidates"] == 9
    assert item["measures"]["recall@2"] == 0.5
    assert item["measures"]["recall@4"] == 1.0
    assert item["measures"]["precision@4"] == 0.5
    assert item["measures"]["average_precision"] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert item["measures"]["rank_of_last"] == 4
    assert item["measures"]["wss95"] == pytest.approx((9 - 4) / 9 - 0.05)
    assert [(row["article"], row["rank"], row["found"], row["no_abstract"]) for row in item["ranks"]] == [
        (2, 2, True, False), (4, 4, True, True)]


def test_a_ranking_that_never_finds_everything_saves_nothing():
    run = _run({2, 4})
    item = rank_review(Fixed([1, 2, 3]), "fixed", run.dataset.reviews[1], run)
    assert item["measures"]["rank_of_last"] == 10  # the whole corpus has to be read
    assert item["measures"]["wss95"] == pytest.approx(-0.05)
    assert item["complete"] is False


def test_a_review_without_references_keeps_its_row_and_leaves_the_mean():
    run = _run(set())
    item = rank_review(Fixed([1, 2]), "fixed", run.dataset.reviews[1], run)
    assert item["status"] == "failed"
    assert item["reason"] == "no reference set"


def test_work_saved_among_the_screened_records_only():
    run = _run({2, 4}, screened={1: {2: True, 4: True, 5: False, 6: False, 7: False}})
    item = rank_review(Fixed([1, 5, 2, 3, 4, 6, 7, 8, 9, 10]), "fixed", run.dataset.reviews[1], run)
    # Among 2 4 5 6 7 the order is 5 2 4 6 7: both found after 3 of 5.
    assert item["screened"] == {"pool": 5, "relevant": 2, "wss95": pytest.approx(2 / 5 - 0.05)}


@pytest.mark.parametrize(("raw", "words"), [
    ({"retrievers": "bm25,bm25"}, "names one twice"),
    ({"retrievers": "bm26"}, "did you mean 'bm25'"),
    ({"depths": "0,5"}, "greater than or equal to 1"),
    ({"depths": "ten"}, "whole number"),
    ({"split": "dev"}, "'train' or 'test' or 'all'"),
])
def test_bad_parameters_are_refused_before_anything_is_searched(root, raw, words):
    def plan() -> None:
        sweep.identities(get_experiment("retrieval_sweep").parse(raw), datasets.load("sample"))

    with pytest.raises(ParameterError) as caught:
        plan()
    assert words in str(caught.value)


def test_a_bank_without_reviews_is_refused():
    empty = Dataset("bank", "0", True)
    with pytest.raises(ParameterError, match="no reviews"):
        sweep.identities(get_experiment("retrieval_sweep").parse({}), empty)
