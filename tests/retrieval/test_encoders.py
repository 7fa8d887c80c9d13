import json
import sqlite3
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from retrieval_helpers import FakeEncoder, dataset_of

from litsynth.errors import DataError, IndexMismatchError, ModelError, ParameterError
from litsynth.retrieval import build_index, open_retriever
from litsynth.retrieval.corpus import DOCUMENT_TEMPLATE
from litsynth.retrieval.embeddings import EmbeddingStore, embed_documents, text_key
from litsynth.retrieval.encoder import Encoder
from litsynth.retrieval.encoder_files import BGE_QUERY_PREFIX, encoder_settings, find_encoder, own_token_limit

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "aspirin", "placebo", "pain", "trial", "of", "and", "for",
              "represent", "this", "sentence", "searching", "relevant", "passages", ":", "."]
TEXTS = {4: "aspirin for pain", 2: "trial of placebo", 7: "pain and pain and pain and pain and pain and pain and pain",
         5: "", 9: "aspirin for pain"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random two-layer BERT in the layout of the real encoders: transformer, pooling of [CLS], normalisation."""
    import torch
    from sentence_transformers import SentenceTransformer
    with warnings.catch_warnings():  # version 6 has another place for them, version 5 only this one
        warnings.simplefilter("ignore", DeprecationWarning)
        from sentence_transformers.models import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    torch.manual_seed(718)
    BertModel(BertConfig(vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                         intermediate_size=64, max_position_embeddings=24)).save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=24).save_pretrained(folder)
    transformer = Transformer(str(folder), max_seq_length=16)
    saved = tmp_path_factory.mktemp("encoder")
    modules = [transformer, Pooling(32, pooling_mode="cls"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(saved))
    return saved


@pytest.fixture
def encoder(tiny: Path) -> Encoder:
    return Encoder(find_encoder(encoder_settings("dense_raw", model=str(tiny))), device="cpu")


@pytest.mark.parametrize("name", ["dense_raw", "ma_retriever"])
def test_the_published_encoders_prefix_their_queries_and_search(tiny: Path, tmp_path: Path, name: str) -> None:
    data = dataset_of(TEXTS)
    retriever = open_retriever(name, data, model=str(tiny), cache_dir=tmp_path)
    assert retriever.identity["encoder"]["query_prefix"] == BGE_QUERY_PREFIX
    assert retriever.identity["encoder"]["document_prefix"] == ""
    assert retriever.identity["dimension"] == 32
    query = "pain of aspirin"
    ranking = retriever.search(query, 10, exclude=[2])
    assert sorted(ranking.ids.tolist()) == [4, 5, 7, 9]
    place = {number: rank for rank, number in enumerate(ranking.ids.tolist())}
    assert place[9] == place[4] + 1  # the same text ties exactly, so the lower ID comes first
    plain = open_retriever(name, data, model=str(tiny), cache_dir=tmp_path, query_prefix="")
    assert plain.search(query, 10).scores.tobytes() != retriever.search(query, 10).scores.tobytes()


def test_a_vector_depends_on_its_text_alone(encoder: Encoder) -> None:
    import torch

    texts = list(TEXTS.values())
    together = encoder.encode(texts)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    turned = encoder.encode(texts[::-1])[::-1]
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        parallel = encoder.encode(texts)
    finally:
        torch.set_num_threads(threads)
    assert together.tobytes() == alone.tobytes() == turned.tobytes() == parallel.tobytes()
    assert torch.get_num_threads() == threads
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)


def test_padded_batches_differ_by_rounding_only(encoder: Encoder) -> None:
    """The path for accelerators, run here on the CPU."""
    texts = list(TEXTS.values())
    batched = encoder._encode_batches(texts)
    assert np.abs(batched - encoder.encode(texts)).max() < 1e-5


def test_vectors_are_those_of_sentence_transformers(tiny: Path, encoder: Encoder) -> None:
    from sentence_transformers import SentenceTransformer

    texts = list(TEXTS.values())
    expected = SentenceTransformer(str(tiny), device="cpu").encode(texts, normalize_embeddings=True)
    assert np.abs(encoder.encode(texts) - expected).max() < 1e-5


def test_a_model_folder_is_used_with_its_own_prompts_and_limit(tiny: Path, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "with-prompts"
    shutil.copytree(tiny, folder)
    settings = json.loads((folder / "config_sentence_transformers.json").read_text())
    settings["prompts"] = {"query": "trial: ", "document": "passages: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    retriever = open_retriever(str(folder), dataset_of(TEXTS), cache_dir=tmp_path / "cache")
    used = retriever.identity["encoder"]
    assert (used["query_prefix"], used["document_prefix"], used["max_tokens"]) == ("trial: ", "passages: ", 16)
    assert retriever.share_cut == 1 / 5  # 13 words, a prefix of two tokens, two special tokens: 17 of at most 16
    assert used["files_sha256"] != find_encoder(encoder_settings(str(tiny))).fingerprint
    assert open_retriever(str(folder), dataset_of(TEXTS), cache_dir=tmp_path / "cache", max_tokens=8,
                          document_prefix="").identity["encoder"]["max_tokens"] == 8


def test_a_saved_index_is_refused_for_other_weights(tiny: Path, tmp_path: Path) -> None:
    import shutil

    from safetensors.torch import load_file, save_file

    data = dataset_of(TEXTS)
    manifest = build_index("dense_raw", data, tmp_path / "index", model=str(tiny), cache_dir=tmp_path)
    assert manifest["identity"]["encoder"]["model"] == str(tiny)
    open_retriever("dense_raw", data, tmp_path / "index", model=str(tiny), cache_dir=tmp_path).search("pain", 2)
    other = tmp_path / "other"
    shutil.copytree(tiny, other)
    weights = load_file(other / "model.safetensors")
    weights["embeddings.word_embeddings.weight"] += 1
    save_file(weights, other / "model.safetensors", metadata={"format": "pt"})
    both = r"encoder\.files_sha256 is '[0-9a-f]{64}' in the index and '[0-9a-f]{64}' here"
    with pytest.raises(IndexMismatchError, match=both):
        open_retriever("dense_raw", data, tmp_path / "index", model=str(other), cache_dir=tmp_path)


def test_the_embedded_encoder_states_its_limit() -> None:
    """all-MiniLM-L6-v2 was saved with max_seq_length 256 (sentence_bert_config.json), below the benchmark's 512."""
    files = find_encoder(encoder_settings("minilm"))
    assert own_token_limit(files.folder) == 256
    assert files.identity["max_tokens"] == 256
    assert files.identity["query_prefix"] == ""


def test_a_model_that_cannot_be_fetched_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match=r"BAAI/bge-large-en-v1.5 is not on this machine.*hf download.*--model FOLDER"):
        open_retriever("dense_raw", dataset_of(TEXTS))


def test_a_folder_that_is_no_model_and_names_that_are_no_retriever_are_errors(tmp_path: Path) -> None:
    data = dataset_of(TEXTS)
    with pytest.raises(ModelError, match=r"no modules\.json"):
        open_retriever(str(tmp_path), data)
    (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_retriever(str(tmp_path), data, cache_dir=tmp_path / "cache")
    for name, nearest in (("bm52", "bm25"), ("hybrid:bm25+mini", "minilm"), ("dense-raw", "dense_raw")):
        with pytest.raises(ParameterError, match=f"did you mean '{nearest}'"):
            open_retriever(name, data)
    for name in ("hybrid:bm25", "hybrid:bm25+bm25", "hybrid:", "hybrid:hybrid+bm25"):
        with pytest.raises(ParameterError):
            open_retriever(name, data)


def test_options_are_checked(tmp_path: Path) -> None:
    data = dataset_of(TEXTS)
    for options, problem in (({"devcie": "cpu"}, "did you mean 'device'"), ({"kind": "tree"}, "index kind 'tree'"),
                             ({"device": "tpu"}, "device 'tpu'"), ({"batch_size": 0}, "batch_size is 0")):
        with pytest.raises(ParameterError, match=problem):
            open_retriever("minilm", data, cache_dir=tmp_path, **options)
    with pytest.raises(ParameterError, match="exactly one encoder"):
        open_retriever("bm25", data, model="somewhere")


@pytest.fixture
def store(tmp_path: Path) -> EmbeddingStore:
    return EmbeddingStore.of(FakeEncoder(), tmp_path)


def test_an_interrupted_encoding_continues_where_it_stopped(store: EmbeddingStore) -> None:
    texts = [f"word{number} text" for number in range(19)]

    class Dying(FakeEncoder):
        def encode(self, texts: list[str]) -> np.ndarray:
            if len(self.encoded) >= 8:
                raise KeyboardInterrupt
            return super().encode(texts)

    dying, second, third = Dying(), FakeEncoder(), FakeEncoder()
    with pytest.raises(KeyboardInterrupt):
        embed_documents(dying, store, texts)
    resumed = embed_documents(second, store, texts)
    assert sorted(dying.encoded + second.encoded) == sorted(texts)
    assert len(second.encoded) == 11
    again = embed_documents(third, store, texts)
    assert third.encoded == []
    assert again.vectors.tobytes() == resumed.vectors.tobytes()


_KILLED = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from retrieval_helpers import FakeEncoder
from litsynth.retrieval.embeddings import EmbeddingStore, embed_documents

class Slow(FakeEncoder):
    def encode(self, texts):
        time.sleep(0.05)
        return super().encode(texts)

embed_documents(Slow(), EmbeddingStore.of(FakeEncoder(), Path(sys.argv[1])), [f"word{n} text" for n in range(400)])
"""


def test_a_killed_process_loses_at_most_one_batch(tmp_path: Path) -> None:
    texts = [f"word{number} text" for number in range(400)]
    store = EmbeddingStore.of(FakeEncoder(), tmp_path)
    command = [sys.executable, "-c", _KILLED, str(tmp_path), str(Path(__file__).parent)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    keys = [text_key(DOCUMENT_TEMPLATE, text) for text in texts]
    try:
        deadline = time.monotonic() + 120
        while len(store.get(keys)) < 12:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    kept = len(store.get(keys))
    encoder = FakeEncoder()
    embedded = embed_documents(encoder, store, texts)
    assert 12 <= kept < 400
    assert len(encoder.encoded) == 400 - kept
    assert embedded.vectors.tobytes() == FakeEncoder().encode(texts).tobytes()


def test_two_writers_at_once_share_the_work(tmp_path: Path) -> None:
    texts = [f"word{number} text" for number in range(40)]
    encoders = [FakeEncoder(), FakeEncoder()]
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda encoder: embed_documents(encoder, EmbeddingStore.of(encoder, tmp_path), texts),
                              encoders)
    assert one.vectors.tobytes() == other.vectors.tobytes()
    assert len(encoders[0].encoded) + len(encoders[1].encoded) == len(texts)  # nothing twice


def test_equal_texts_are_encoded_once_and_the_first_vector_stays(store: EmbeddingStore) -> None:
    encoder = FakeEncoder()
    embedded = embed_documents(encoder, store, ["same", "same", "other words"])
    assert sorted(encoder.encoded) == ["other words", "same"]
    assert embedded.tokens.tolist() == [3, 3, 4]
    store.put([text_key(DOCUMENT_TEMPLATE, "same")], [99], np.ones((1, 8), dtype=np.float32))
    assert embed_documents(encoder, store, ["same"]).vectors.tobytes() == embedded.vectors[0].tobytes()


def test_encoders_with_other_settings_do_not_share_vectors(tmp_path: Path) -> None:
    paths = {EmbeddingStore.of(FakeEncoder(**changes), tmp_path).path
             for changes in ({}, {"max_tokens": 9}, {"normalise": False})}
    assert len(paths) == 3


def test_a_damaged_store_says_what_to_do(store: EmbeddingStore) -> None:
    embed_documents(FakeEncoder(), store, ["one", "two"])
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE vectors SET vector = x'00' WHERE tokens = 3")
    with pytest.raises(DataError, match=r"sizes.*computed again"):
        embed_documents(FakeEncoder(), store, ["one", "two"])
    store.path.write_bytes(b"not a database at all, but long enough to be read as a header of one........" * 20)
    with pytest.raises(DataError, match=r"cannot be used.*computed again"):
        embed_documents(FakeEncoder(), store, ["one", "two"])
