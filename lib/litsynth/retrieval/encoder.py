"""A sentence encoder whose vectors are the same bytes whatever the batch, the order or the number of cores."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from litsynth.errors import ModelError, ParameterError, unknown_name
from litsynth.retrieval.encoder_files import EncoderFiles

DEVICES = ("auto", "cpu", "cuda", "mps")
ACCELERATOR_BATCH = 64
# Vectors lie on a grid of whole multiples of a power of two. Then every product and every partial sum of an inner
# product is exact in float64, and a score does not depend on the order of summation (see `exact_scores`).
NORMALISED_STEP = 2.0**-20
PLAIN_STEP, PLAIN_LARGEST = 2.0**-16, 256.0


def to_grid(vectors: np.ndarray, *, normalise: bool) -> np.ndarray:
    """Return float32 vectors (n, d) on the grid; normalised ones have length 1 within about 1e-5.

    Raises `ModelError` for values that are not finite, or too large for exact scores.
    """
    values = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ModelError("the encoder returned values that are not finite", expected="finite numbers",
                         remedy="check the model's files; on an accelerator try device=cpu")
    if normalise:
        length = np.linalg.norm(values, axis=1, keepdims=True)
        values = np.divide(values, length, out=np.zeros_like(values), where=length > 0)
        return (np.rint(values / NORMALISED_STEP) * NORMALISED_STEP).astype(np.float32)
    if np.abs(values).max(initial=0.0) >= PLAIN_LARGEST:
        raise ModelError(f"the encoder returned values of {np.abs(values).max():.0f} and more",
                         expected=f"values below {PLAIN_LARGEST:.0f}", remedy="use normalise=True")
    return (np.rint(values / PLAIN_STEP) * PLAIN_STEP).astype(np.float32)


class Encoder:
    """One sentence-transformers model; its weights are loaded when the first text has to be encoded.

    On a CPU every text is computed alone and on one thread, several texts side by side: without padding that is faster
    than batches, and a vector depends on nothing but its text. On an accelerator texts go in padded batches, which can
    change the last bits (about 1e-7); the store keeps what was computed first.
    """

    def __init__(self, files: EncoderFiles, *, device: str = "auto", batch_size: int | None = None) -> None:
        if device not in DEVICES:
            raise unknown_name("device", device, DEVICES)
        if batch_size is not None and (isinstance(batch_size, bool) or not isinstance(batch_size, int)
                                       or batch_size < 1):
            raise ParameterError(f"batch_size is {batch_size!r}", expected="a whole number of at least 1",
                                 remedy="leave it out for the default")
        self.files, self._asked_device, self._asked_batch = files, device, batch_size

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the vectors: model, revision, hash of its files, prefixes, token limit, normalisation."""
        return self.files.identity

    @cached_property
    def device(self) -> str:
        """The device in use; `auto` takes cuda, then mps, then cpu."""
        import torch

        there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if self._asked_device == "auto":
            return next(name for name in ("cuda", "mps", "cpu") if there[name])
        if not there[self._asked_device]:
            raise ParameterError(f"device {self._asked_device!r} is not available on this machine",
                                 expected="one of " + ", ".join(["auto", *(name for name in there if there[name])]),
                                 remedy="use device=auto")
        return self._asked_device

    @property
    def chunk(self) -> int:
        """How many texts are encoded between two writes to the store."""
        return max(ACCELERATOR_BATCH, self._asked_batch or 0) * (1 if self.device == "cpu" else 8)

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        try:
            model = SentenceTransformer(str(self.files.folder), device=self.device, local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError) as error:
            raise ModelError(f"the encoder in {self.files.folder} cannot be loaded ({error})",
                             expected="a model that sentence-transformers can load without code of its own",
                             remedy="fetch it again, or check that its files are whole") from error
        finally:
            logging.enable_progress_bar()
        model.max_seq_length = self.files.settings.max_tokens
        return model.eval()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text before it is cut, special tokens included."""
        return [len(ids) for ids in self._model.tokenizer(
            list(texts), truncation=False, padding=False, verbose=False)["input_ids"]]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of `texts` (prefix included), shape (n, dimension), float32 on the grid."""
        if not texts:
            raise ParameterError("no texts to encode", expected="at least one text", remedy="pass some")
        raw = self._encode_alone(texts) if self.device == "cpu" else self._encode_batches(texts)
        return to_grid(raw, normalise=self.files.settings.normalise)

    def _features(self, texts: Sequence[str]) -> dict[str, Any]:
        model = self._model
        return (getattr(model, "preprocess", None) or model.tokenize)(list(texts))

    def _encode_alone(self, texts: Sequence[str]) -> np.ndarray:
        import torch

        # Tokenised here, one after another: fast tokenisers must not be shared between threads.
        features = [self._features([text]) for text in texts]

        def forward(feature: dict[str, Any]) -> np.ndarray:
            with torch.inference_mode():
                return self._model.forward(feature)["sentence_embedding"][0].float().numpy()

        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with ThreadPoolExecutor(min(threads, len(features))) as pool:
                return np.stack(list(pool.map(forward, features)))
        finally:
            torch.set_num_threads(threads)

    def _encode_batches(self, texts: Sequence[str]) -> np.ndarray:
        import torch

        size, parts = self._asked_batch or ACCELERATOR_BATCH, []
        for start in range(0, len(texts), size):
            features = {name: value.to(self.device) if hasattr(value, "to") else value
                        for name, value in self._features(texts[start:start + size]).items()}
            with torch.inference_mode():
                parts.append(self._model.forward(features)["sentence_embedding"].float().cpu().numpy())
        return np.concatenate(parts)
