"""Training before and after: the guard on a whole data set, labels, tables and the notebook with a tiny encoder."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from typer.testing import CliRunner

from litsynth import datasets
from litsynth.cli import app
from litsynth.errors import DataError, ParameterError
from litsynth.experiments import train_retriever as training
from litsynth.experiments.parameters import get_experiment
from litsynth.experiments.runner import run_experiment
from litsynth.experiments.train_retriever.tables import differences
from litsynth.experiments.train_retriever.training import lesson_of
from litsynth.records import Article, Dataset, Gold, Review

WORDS = ("alphan", "betol", "trial", "for", "in", "adults", "with", "colic", "asthma", "stroke", "gout", "study",
         "drug", "research", "question", "population")


def made() -> Dataset:
    """Three train reviews and two test reviews; articles 12 and 21 are linked to by a test review too."""
    topics = {1: "colic", 2: "asthma", 3: "stroke", 4: "gout", 5: "colic"}
    reviews = {i: Review(i, "train" if i < 4 else "test", f"drug for {topic}", population=f"adults with {topic}",
                         source_ids=(i * 10 + 9,)) for i, topic in topics.items()}
    links = {1: {10, 11, 12}, 2: {20, 21}, 3: {30, 31}, 4: {40, 41, 21}, 5: {50, 12}}
    corpus = {i * 10 + j: Article(i * 10 + j, f"{'alphan' if j < 3 else 'betol'} trial in {topic}", f"study {j}")
              for i, topic in topics.items() for j in range(10)}
    return Dataset("made", "0" * 64, True, reviews=reviews, corpus=corpus,
                   gold={i: Gold(i, frozenset(ids)) for i, ids in links.items()})


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """A one-layer encoder with random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    torch.manual_seed(0)
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=48).save_pretrained(folder / "bert")
    BertModel(BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                         intermediate_size=32, max_position_embeddings=48)).save_pretrained(folder / "bert")
    SentenceTransformer(modules=[Transformer(str(folder / "bert"), max_seq_length=48), Pooling(16)]).save(
        str(folder / "model"), create_model_card=False)
    return folder / "model"


def test_nothing_that_a_test_review_links_to_is_learned_from():
    data = made()
    lesson = lesson_of(data)
    assert {pair.article_id for pair in lesson.pairs} == {10, 11, 20, 30, 31}
    assert lesson.guard.as_dict() == {"links": 7, "articles": 7, "forbidden_articles": 5, "removed_links": 2,
                                      "removed_articles": 2, "kept_links": 5, "reviews": 3, "reviews_without_links": 0}
    assert set(lesson.queries) == {1, 2, 3}, "no test query either"


def test_hard_negatives_are_linked_to_by_no_review_and_are_no_review_themselves():
    data = made()
    linked = set().union(*(gold.included_ids for gold in data.gold.values()))
    own = {source for review in data.reviews.values() for source in review.source_ids}
    lesson = lesson_of(data, hard_negatives=3)
    chosen = {number for pair in lesson.pairs for number in pair.negatives}
    assert chosen
    assert not chosen & (linked | own)
    assert all(len(pair.negatives) == 3 for pair in lesson.pairs)
    assert set(lesson.documents) == chosen | {pair.article_id for pair in lesson.pairs}


def test_the_samples_test_links_are_all_kept_out():
    data = datasets.load("sample")
    forbidden = set().union(*(data.gold[i].included_ids for i in data.split("test")))
    lesson = lesson_of(data, hard_negatives=2)
    used = set(lesson.documents)
    assert not used & forbidden
    assert lesson.guard.removed_articles > 0, "the sample has an article in common, so that the guard has work"


def test_a_data_set_without_train_reviews_is_refused():
    data = made()
    test_only = Dataset("t", "0", True, reviews=data.split("test"), corpus=data.corpus, gold=data.gold)
    with pytest.raises(DataError, match="no train reviews"):
        lesson_of(test_only)
    with pytest.raises(ParameterError, match="split 'train'"):
        training.identities(get_experiment("train_retriever").parse({}), test_only)
    with pytest.raises(ParameterError, match="what was screened"):
        training.identities(get_experiment("train_retriever").parse({"corpus": "screened"}), data)


def test_three_reviews_can_show_nothing_real():
    chosen = get_experiment("train_retriever").parse({"resamples": "200"})
    found = {"minilm": (0.1, 0.2, 0.3), "trained": (0.2, 0.3, 0.5), "bm25": (0.1, 0.1, 0.1)}
    rows = [{"encoder": encoder, "review": review, "measure": "recall", "depth": 200, "value": value}
            for encoder, values in found.items() for review, value in enumerate(values)]
    run = SimpleNamespace(parameters=chosen, save_table=lambda *_: None)
    table = differences(run, pd.DataFrame(rows))
    row = table[table["b"] == "minilm"].iloc[0]
    assert row["value"] == pytest.approx(0.4 / 3)
    assert (row["higher"], row["equal"], row["lower"]) == (3, 0, 0)
    # All three signs alike: 2 of the 2^3 = 8 equally likely sign patterns.
    assert row["smallest_p"] == 0.25
    assert "no difference can be called real" in training.verdict(table, "minilm")


def test_the_command_trains_shows_the_guard_and_is_not_repeated(tiny, tmp_path, root):
    command = ["train-retriever", "--dataset", "sample", "--base-model", str(tiny), "--max-steps", "2", "--batch-size",
               "4", "--device", "cpu", "--output", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "leakage guard" in done.stderr
    assert "2 steps over 8 pairs" in done.stderr
    assert done.stdout.strip().endswith("out")
    before = (tmp_path / "out" / "model.safetensors").stat().st_mtime_ns
    assert CliRunner().invoke(app, command).exit_code == 0
    assert (tmp_path / "out" / "model.safetensors").stat().st_mtime_ns == before
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert record["about"]["guard"]["removed_articles"] > 0
    assert record["settings"]["scale"] == 20.0
    assert record["settings"]["seed"] == 718


@pytest.mark.slow
def test_the_notebook_runs_with_a_tiny_encoder(tiny, root, tmp_path, workspace):
    done = run_experiment("train_retriever", {
        "base_model": str(tiny), "hard_negatives": "0,1", "max_steps": "2", "batch_size": "4", "pool_depth": "5",
        "depths": "5,20", "resamples": "200"})
    assert done.manifest["status"] == "finished"
    tables = {path.stem: pd.read_parquet(path) for path in (done.directory / "tables").glob("*.parquet")}
    assert set(tables) >= set(get_experiment("train_retriever").tables)
    assert set(tables["measures"]["encoder"]) == {str(tiny), "trained", "trained, 1 hard negative", "bm25"}
    changes = tables["changes"]
    assert (changes["after"] == changes["before"] + changes["gained"] - changes["lost"]).all()
    assert (done.directory / "encoders" / "hard_negatives_1" / "training.json").is_file()
    assert {"losses.svg", "before_and_after.alt.txt"} <= {p.name for p in (done.directory / "figures").iterdir()}
