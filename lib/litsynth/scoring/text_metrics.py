"""Soft agreement between two lists of sentences, by embeddings, and checks that extracted sentences are verbatim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from litsynth.text import fold_title

Encode = Callable[[Sequence[str]], np.ndarray]
EMBEDDED_ENCODER = "minilm"
PUBLISHED_ENCODER = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2"


@dataclass(frozen=True)
class SentenceEncoder:
    """A named function from sentences to vectors, shape (n, dimension); `identity` decides its vectors."""

    name: str
    encode: Encode
    identity: str = ""


def open_encoder(name: str = EMBEDDED_ENCODER, *, device: str = "cpu") -> SentenceEncoder:
    """Open a sentence encoder: `minilm` (embedded, the default), a folder, or a hub id such as `PUBLISHED_ENCODER`.

    Its weights are loaded at the first sentence. Raises `ParameterError` or `ModelError` for what is not there.
    """
    from litsynth.retrieval.encoder import Encoder
    from litsynth.retrieval.encoder_files import encoder_settings, find_encoder

    encoder = Encoder(find_encoder(encoder_settings(name)), device=device)
    return SentenceEncoder(name, encoder.encode, encoder.files.fingerprint)


def soft_f1(reference: Sequence[str], extracted: Sequence[str], encoder: SentenceEncoder) -> float | None:
    """Return the soft F1 of `extracted` against `reference`, from 0 to 1; None without a reference, 0 without extracts.

    With cosine similarity of sentence embeddings (negative ones count as 0): recall is the mean over reference items of
    the best match, precision the mean over extracted items of the best match, F1 their harmonic mean.
    """
    wanted, given = [t for t in reference if t.strip()], [t for t in extracted if t.strip()]
    if not wanted:
        return None
    if not given:
        return 0.0
    vectors = _unit(encoder.encode([*wanted, *given]))
    similarity = np.clip(vectors[: len(wanted)] @ vectors[len(wanted) :].T, 0.0, 1.0)
    recall, precision = float(similarity.max(axis=1).mean()), float(similarity.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _unit(vectors: np.ndarray) -> np.ndarray:
    values = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return np.divide(values, length, out=np.zeros_like(values), where=length > 0)


def verbatim(items: Sequence[str], report: str) -> list[bool]:
    """Tell for each item whether its words stand in the report in this order, whatever their case and typography."""
    words = f" {fold_title(report)} "
    return [bool(folded) and f" {folded} " in words for folded in map(fold_title, items)]
