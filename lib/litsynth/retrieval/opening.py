"""Opens and builds retrievers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from litsynth.errors import ParameterError, unknown_name
from litsynth.records import Dataset, Retriever
from litsynth.retrieval.bm25 import Bm25Retriever
from litsynth.retrieval.corpus import SearchCorpus
from litsynth.retrieval.dense import build_dense, load_dense
from litsynth.retrieval.embeddings import EmbeddingStore
from litsynth.retrieval.encoder import Encoder
from litsynth.retrieval.encoder_files import ENCODERS, encoder_settings, find_encoder, looks_like_model
from litsynth.retrieval.hybrid import HybridRetriever, part_folder
from litsynth.retrieval.index_files import read_manifest

RETRIEVERS = ("bm25", *ENCODERS, "hybrid")
KINDS = ("flat", "hnsw")
_HYBRID_DEFAULT = ("bm25", "minilm")
_MODEL_OPTIONS = ("model", "revision", "query_prefix", "document_prefix", "max_tokens", "normalise")
_DENSE_OPTIONS = ("device", "batch_size", "kind", "ef_search", "cache_dir")


def parts_of(name: str) -> tuple[str, ...]:
    """Return the names that a retriever's name stands for: itself, or the parts of a hybrid, in order.

    `hybrid` is bm25 and minilm; `hybrid:bm25+dense_raw` lists its parts. Raises `ParameterError` for a name that is no
    retriever, no model folder and no hub id.
    """
    if name == "hybrid":
        return _HYBRID_DEFAULT
    parts = tuple(name.removeprefix("hybrid:").split("+")) if name.startswith("hybrid:") else (name,)
    for part in parts:
        if part == "hybrid":
            raise ParameterError(f"{name!r} has a hybrid inside a hybrid", expected="retrievers of one kind each",
                                 remedy="write out its parts, such as hybrid:bm25+minilm")
        if not part or not (part in RETRIEVERS or looks_like_model(part)):
            raise unknown_name("retriever", part, RETRIEVERS,
                               remedy="possible too: a model folder, a hub id (owner/model), hybrid:bm25+NAME")
    return parts


def _check_options(parts: tuple[str, ...], options: Mapping[str, Any]) -> None:
    for option in options:
        if option not in _MODEL_OPTIONS + _DENSE_OPTIONS:
            raise unknown_name("retriever option", option, _MODEL_OPTIONS + _DENSE_OPTIONS)
    named = [option for option in _MODEL_OPTIONS if options.get(option) is not None]
    dense = [part for part in parts if part != "bm25"]
    if named and len(dense) != 1:
        raise ParameterError(f"{', '.join(named)} given for {'+'.join(parts)}",
                             expected="these options with exactly one encoder among the retrievers",
                             remedy="leave them out, or open the encoder alone")
    if options.get("kind") not in (None, *KINDS):
        raise unknown_name("index kind", str(options["kind"]), KINDS)


def _open_encoder(name: str, options: Mapping[str, Any]) -> tuple[Encoder, EmbeddingStore]:
    settings = encoder_settings(name, **{key: options.get(key) for key in _MODEL_OPTIONS})
    encoder = Encoder(find_encoder(settings), device=options.get("device") or "auto",
                      batch_size=options.get("batch_size"))
    folder = options.get("cache_dir")
    return encoder, EmbeddingStore.of(encoder, Path(folder) if folder is not None else None)


def _open_one(name: str, corpus: SearchCorpus, directory: Path | None, options: Mapping[str, Any]) -> Any:
    if name == "bm25":
        return Bm25Retriever(corpus) if directory is None else Bm25Retriever.load(directory, corpus)
    encoder, store = _open_encoder(name, options)
    ef_search = options.get("ef_search") or "protocol"
    if directory is None:
        return build_dense(name, corpus, encoder, store, kind=options.get("kind") or "flat", ef_search=ef_search)
    return load_dense(directory, name, corpus, encoder, store, kind=options.get("kind"), ef_search=ef_search)


def _open_all(name: str, corpus: SearchCorpus, place: Callable[[str], Path | None], options: Mapping[str, Any]) -> Any:
    parts = parts_of(name)
    _check_options(parts, options)
    opened = [_open_one(part, corpus, place(part), options) for part in parts]
    return HybridRetriever(name, opened) if name == "hybrid" or name.startswith("hybrid:") else opened[0]


def open_retriever(name: str, dataset: Dataset, index_dir: str | Path | None = None, **options: Any) -> Retriever:
    """Open a retriever over the corpus of a data set, from a saved index where `index_dir` is given.

    `name`: bm25, minilm, dense_raw, ma_retriever, hybrid (bm25 and minilm), hybrid:A+B, a model folder or a hub id.
    Options, all for encoders and without effect on bm25: `device` (auto, cpu, cuda, mps), `batch_size` (accelerators
    only), `kind` (flat, hnsw), `ef_search` (protocol, agent, a number), `cache_dir` (of embeddings), and for exactly
    one encoder `model` (its folder or hub id), `revision`, `query_prefix`, `document_prefix`, `max_tokens`,
    `normalise`. Raises `ParameterError`, `ModelError`, `DataError` (no corpus, no index) or `IndexMismatchError`.
    """
    hybrid = len(parts_of(name)) > 1
    if hybrid and index_dir is not None:
        read_manifest(Path(index_dir), ("hybrid",))  # says when there is none, or when it is not whole

    def place(part: str) -> Path | None:
        if index_dir is None:
            return None
        return part_folder(Path(index_dir), part) if hybrid else Path(index_dir)
    return _open_all(name, SearchCorpus(dataset), place, options)


def build_index(name: str, dataset: Dataset, output: str | Path, **options: Any) -> dict[str, Any]:
    """Build a retriever's index and write it to `output`, atomically; returns its manifest.

    Takes the options of `open_retriever`. An older index at `output` is replaced; any other content is refused.
    """
    return _open_all(name, SearchCorpus(dataset), lambda part: None, options).save(Path(output))
