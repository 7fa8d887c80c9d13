"""Training an encoder: no leakage, no duplicates in a batch, resumable, and usable as any retriever."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_helpers import dataset_of

from litsynth.errors import DataError, ParameterError
from litsynth.retrieval import build_index, open_retriever
from litsynth.retrieval import training as room
from litsynth.retrieval.bm25 import Bm25Retriever
from litsynth.retrieval.corpus import SearchCorpus
from litsynth.retrieval.encoder_files import encoder_settings, find_encoder
from litsynth.retrieval.training import RECORD, TrainingSettings, train_encoder
from litsynth.retrieval.training_pairs import TrainingPair, epoch_batches, training_pairs, with_hard_negatives

TOPICS = ("heart failure adults", "asthma children", "colic infants", "migraine women", "stroke elderly",
          "eczema babies")
DRUGS = ("alphan", "betol", "gammid", "deltin", "epsol", "zetan")  # what each topic's documents speak of, only they
WORDS = sorted({word for topic in TOPICS for word in topic.split()} | {"drug", "trial", "placebo", "study", *DRUGS})
QUERIES = dict(enumerate(TOPICS, start=1))
DOCUMENTS = {10 * i + j: f"{kind} {DRUGS[i - 1]}" for i in QUERIES
             for j, kind in enumerate(("drug trial", "placebo study"))}
PAIRS = [TrainingPair(i, 10 * i + j) for i in QUERIES for j in (0, 1)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """A two-layer encoder with random weights and a vocabulary of these tests' words."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", ":", *WORDS]))
    torch.manual_seed(0)
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder / "bert")
    BertModel(BertConfig(vocab_size=7 + len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                         intermediate_size=32, max_position_embeddings=32)).save_pretrained(folder / "bert")
    module = Transformer(str(folder / "bert"), max_seq_length=32)
    SentenceTransformer(modules=[module, Pooling(16)], prompts={"query": "query: ", "document": ""}).save(
        str(folder / "model"), create_model_card=False)
    return folder / "model"


def base_of(tiny: Path):
    return find_encoder(encoder_settings(str(tiny)))


def settings_of(**changes) -> TrainingSettings:
    return TrainingSettings(**{"batch_size": 4, "learning_rate": 1e-3, "epochs": 2, **changes})


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_the_guard_removes_every_article_of_any_test_review_and_says_how_many():
    links = {1: [10, 11, 12], 2: [11, 20], 3: [30]}
    pairs, guard = training_pairs(links, {11, 30, 99})
    assert [(p.review_id, p.article_id) for p in pairs] == [(1, 10), (1, 12), (2, 20)]
    assert guard.as_dict() == {"links": 6, "articles": 5, "forbidden_articles": 3, "removed_links": 3,
                               "removed_articles": 2, "kept_links": 3, "reviews": 3, "reviews_without_links": 1}
    assert "2 are among the 3 that test reviews link to" in guard.words()
    with pytest.raises(DataError, match="no training pair is left of 1 link"):
        training_pairs({1: [5]}, {5})


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 5), st.sets(st.integers(0, 20)), min_size=1), st.sets(st.integers(0, 20)))
def test_no_forbidden_article_survives(links, forbidden):
    if any(articles - forbidden for articles in links.values()):
        pairs, guard = training_pairs(links, forbidden)
        assert not forbidden & {pair.article_id for pair in pairs}
        assert guard.kept_links + guard.removed_links == guard.links == sum(map(len, links.values()))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(10, 14)), max_size=60), st.integers(1, 9),
       st.integers(0, 3))
def test_batches_hold_every_row_once_and_no_text_twice(rows, size, seed):
    texts = [(f"q{a}", f"d{b}", f"d{c}") for a, b, c in rows]
    batches = epoch_batches(texts, size, (seed, 0))
    assert sorted(row for batch in batches for row in batch) == list(range(len(texts)))
    for batch in batches:
        assert 1 <= len(batch) <= size
        assert len({text for row in batch for text in texts[row]}) == sum(len(texts[row]) for row in batch)
    assert batches == epoch_batches(texts, size, (seed, 0)), "the seed alone decides"


def test_hard_negatives_are_high_in_the_ranking_and_never_linked():
    data = dataset_of({1: "heart drug", 2: "heart failure trial", 3: "heart failure study", 4: "asthma", 5: "heart"})
    bm25 = Bm25Retriever(SearchCorpus(data))
    order = bm25.search("heart failure", 5, exclude=(2,)).ids.tolist()
    pairs = [TrainingPair(7, 2), TrainingPair(7, 2)]
    made = with_hard_negatives(pairs, bm25, {7: "heart failure"}, {7: {2}}, 2, depth=3)
    assert made[0].negatives == tuple(order[:2])
    assert made[1].negatives == (order[2], order[0]), "the pairs of a review take turns"
    assert not any(2 in pair.negatives for pair in made)
    with pytest.raises(DataError, match="hard negatives for review 7"):
        with_hard_negatives(pairs, bm25, {7: "heart failure"}, {7: {2}}, 9)


def test_a_trained_encoder_is_a_retriever_that_ranks_better(tiny, tmp_path):
    base, out = base_of(tiny), tmp_path / "trained"
    made = train_encoder(base, PAIRS, QUERIES, DOCUMENTS, out, settings_of(epochs=60, learning_rate=5e-3))
    losses = [step["loss"] for step in made.steps]
    assert np.mean(losses[-3:]) < np.mean(losses[:3])
    assert find_encoder(encoder_settings(str(out))).settings.query_prefix == "query: "
    assert find_encoder(encoder_settings(str(out))).settings.max_tokens == 32
    data = dataset_of(DOCUMENTS)

    def own_first(retriever) -> float:
        return np.mean([number // 10 == i for i, query in QUERIES.items()
                        for number in retriever.search(query, 2).ids.tolist()])
    after = open_retriever(str(out), data, cache_dir=tmp_path / "cache")
    assert own_first(after) >= 0.9 > own_first(open_retriever(str(tiny), data, cache_dir=tmp_path / "cache"))
    build_index(str(out), data, tmp_path / "index", cache_dir=tmp_path / "cache")
    again = open_retriever(str(out), data, tmp_path / "index", cache_dir=tmp_path / "cache")
    assert again.search("asthma children", 3).ids.tolist() == after.search("asthma children", 3).ids.tolist()


def test_a_stopped_training_resumes_to_the_same_weights_and_a_finished_one_is_not_repeated(tiny, tmp_path, monkeypatch):
    base, chosen = base_of(tiny), settings_of(checkpoint_every=2)
    whole = train_encoder(base, PAIRS, QUERIES, DOCUMENTS, tmp_path / "whole", chosen)
    step, taken = room._Loop.step, []

    def stops_at_four(self, number, rows):
        if number == 4 and not taken:
            taken.append(number)
            raise KeyboardInterrupt
        return step(self, number, rows)
    monkeypatch.setattr(room._Loop, "step", stops_at_four)
    with pytest.raises(KeyboardInterrupt):
        train_encoder(base, PAIRS, QUERIES, DOCUMENTS, tmp_path / "parts", chosen)
    assert not (tmp_path / "parts").exists(), "whole or not at all"
    resumed = train_encoder(base, PAIRS, QUERIES, DOCUMENTS, tmp_path / "parts", chosen)
    assert resumed.resumed_at == 2
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
    assert [s["loss"] for s in resumed.steps] == [s["loss"] for s in whole.steps]
    assert (tmp_path / "parts" / RECORD).read_bytes() == (tmp_path / "whole" / RECORD).read_bytes()
    assert not (tmp_path / "parts.checkpoint").exists()
    monkeypatch.setattr(room._Loop, "__init__", lambda *_: pytest.fail("a finished training was begun again"))
    assert train_encoder(base, PAIRS, QUERIES, DOCUMENTS, tmp_path / "parts", chosen).record == dict(resumed.record)


def test_folders_with_something_else_are_refused(tiny, tmp_path):
    base = base_of(tiny)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("dear diary")
    with pytest.raises(DataError, match="no trained encoder"):
        train_encoder(base, PAIRS, QUERIES, DOCUMENTS, tmp_path / "mine", settings_of())
    assert (tmp_path / "mine" / "notes.txt").exists()
    train_encoder(base, PAIRS, QUERIES, DOCUMENTS, tmp_path / "other", settings_of(max_steps=1))
    with pytest.raises(DataError, match="another training"):
        train_encoder(base, PAIRS, QUERIES, DOCUMENTS, tmp_path / "other", settings_of(max_steps=2))


def test_the_learning_rate_rises_over_the_warm_up_and_falls_after_it(tiny, tmp_path):
    made = train_encoder(base_of(tiny), PAIRS, QUERIES, DOCUMENTS, tmp_path / "out",
                         settings_of(epochs=4, warmup=0.25, learning_rate=1e-3))
    rates = [step["learning_rate"] for step in made.steps]
    top = rates.index(max(rates))
    assert max(rates) == pytest.approx(1e-3)
    assert rates[:top + 1] == sorted(rates[:top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert rates[-1] < 2e-4


def test_pairs_alone_in_a_batch_are_left_out_and_counted_unless_they_have_negatives(tiny, tmp_path):
    base, one = base_of(tiny), [TrainingPair(1, 10), TrainingPair(1, 11), TrainingPair(2, 20)]
    made = train_encoder(base, one, QUERIES, DOCUMENTS, tmp_path / "a", settings_of(epochs=1))
    assert (made.record["pairs"], made.record["pairs_used"], made.record["pairs_alone"]) == (3, 2, 1)
    with pytest.raises(DataError, match="no batch with a wrong answer"):
        train_encoder(base, one[:2], QUERIES, DOCUMENTS, tmp_path / "b", settings_of())
    negatives = [TrainingPair(1, 10, (20,)), TrainingPair(1, 11, (21,))]
    made = train_encoder(base, negatives, QUERIES, DOCUMENTS, tmp_path / "c", settings_of(epochs=1))
    assert made.record["pairs_alone"] == 0


def test_computing_a_batch_in_parts_gives_the_same_loss(tiny, tmp_path):
    # Without dropout the two must agree (Gao et al. 2021): the same gradients, computed in parts.
    config = json.loads((tiny / "config.json").read_text())
    plain = tmp_path / "plain"
    shutil.copytree(tiny, plain)
    (plain / "config.json").write_text(json.dumps({**config, "hidden_dropout_prob": 0.0,
                                                   "attention_probs_dropout_prob": 0.0}))
    runs = [train_encoder(base_of(plain), PAIRS, QUERIES, DOCUMENTS, tmp_path / name, settings_of(mini_batch_size=size))
            for name, size in (("whole", None), ("parts", 2))]
    np.testing.assert_allclose(*[[step["loss"] for step in run.steps] for run in runs], rtol=1e-4)


@pytest.mark.parametrize("changes", [{"epochs": 0}, {"batch_size": 0}, {"learning_rate": 0.0}, {"warmup": 1.0},
                                     {"scale": 0.0}, {"seed": -1}, {"max_steps": 0}])
def test_impossible_settings_are_refused(changes):
    with pytest.raises(ParameterError, match=next(iter(changes))):
        TrainingSettings(**changes)
