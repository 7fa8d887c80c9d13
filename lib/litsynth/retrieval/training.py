"""Fine-tunes a sentence encoder on query-document pairs: Multiple Negatives Ranking Loss, resumable, seeded.

The loss is sentence-transformers' own (Henderson et al. 2017, arXiv 1705.00652: the other documents of the batch are
the wrong answers). The loop is written out here because it then resumes at any step with the very same batches, needs
no further package, and decides nothing by default: AdamW without weight decay, gradients clipped at norm 1, a learning
rate that rises linearly over the warm-up and falls linearly to 0.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from litsynth.errors import DataError, ModelError, ParameterError
from litsynth.files import atomic_path, dumps, read_json, sha256_of, write_json
from litsynth.progress import progress
from litsynth.retrieval.encoder import Encoder
from litsynth.retrieval.encoder_files import EncoderFiles
from litsynth.retrieval.training_pairs import TrainingPair, epoch_batches, pairs_record, texts_of

RECORD, STEPS = "training.json", "training_steps.jsonl"
LARGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """How an encoder is trained; the defaults are the benchmark's.

    `max_steps` ends early, the learning rate then reaches 0 there. `max_tokens` cuts texts in training only (None: as
    the encoder cuts them). `mini_batch_size` computes a batch in parts with the same gradients (Gao et al. 2021, arXiv
    2101.06983), for batches that do not fit into memory. `checkpoint_every` counts steps.
    """

    epochs: int = 1
    batch_size: int = 64
    learning_rate: float = 2e-5
    warmup: float = 0.1
    scale: float = 20.0
    seed: int = 718
    max_steps: int | None = None
    max_tokens: int | None = None
    mini_batch_size: int | None = None
    checkpoint_every: int = 50

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "max_steps", "max_tokens", "mini_batch_size", "checkpoint_every"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(f"{name} is {value}", expected="at least 1", remedy=f"raise {name}")
        for name, low, high in (("learning_rate", 0.0, 1.0), ("warmup", -1e-12, 1.0), ("scale", 0.0, math.inf)):
            value = getattr(self, name)
            if not low < value < high:
                raise ParameterError(f"{name} is {value}", expected=f"a number above {max(low, 0.0):g}"
                                     + (f" and below {high:g}" if high < math.inf else ""), remedy=f"change {name}")
        if self.seed < 0:
            raise ParameterError(f"seed is {self.seed}", expected="0 or more", remedy="use 718")


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished training: the encoder's folder, its record, and each step's loss, learning rate, pairs and seconds."""

    folder: Path
    record: Mapping[str, Any]
    steps: tuple[Mapping[str, Any], ...]
    resumed_at: int = 0


def train_encoder(base: EncoderFiles, pairs: Sequence[TrainingPair], queries: Mapping[int, str],
                  documents: Mapping[int, str], output: Path, settings: TrainingSettings, *, device: str = "auto",
                  about: Mapping[str, Any] | None = None) -> Trained:
    """Train from `base` and write the encoder to the folder `output`, whole or not at all.

    A training that was stopped continues at its last checkpoint (a folder beside `output`, removed at the end) with the
    same batches; one that is finished is not repeated. `about` goes into the record (data set, guard). A batch of a
    single pair without negatives teaches nothing and is left out; the record counts them. The new encoder keeps the
    base's prefixes and token limit. Raises `DataError` when `output` holds something else.
    """
    texts = texts_of(pairs, queries, documents, query_prefix=base.settings.query_prefix or "",
                     document_prefix=base.settings.document_prefix or "")
    record = _record(base, pairs, texts, settings, about or {})
    done = _finished(output, record)
    if done is not None:
        return done
    batches, alone = _batches(texts, settings)
    if not batches:
        raise DataError(f"{len(texts)} pairs of one query give no batch with a wrong answer in it",
                        expected="pairs of at least two queries, or hard negatives",
                        remedy="add train reviews, or ask for hard negatives")
    record = {**record, "steps": len(batches), "pairs_used": sum(map(len, batches)), "pairs_alone": alone}
    loop = _Loop(base, settings, Encoder(base, device=device).device, len(batches))
    holder = output.with_name(f"{output.name}.checkpoint")
    steps = loop.resume(holder, record["identity"])
    start = len(steps)
    for number, batch in enumerate(progress(batches[start:], total=len(batches) - start, stage="train"), start + 1):
        steps.append(loop.step(number, [texts[row] for row in batch]))
        if number % settings.checkpoint_every == 0 and number < len(batches):
            loop.keep(holder, record["identity"], steps)
    _write(loop, output, record, steps)
    shutil.rmtree(holder, ignore_errors=True)
    return Trained(output, record, tuple(steps), start)


def _record(base: EncoderFiles, pairs: Sequence[TrainingPair], texts: Sequence[Sequence[str]],
            settings: TrainingSettings, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decides a training and its hash; where a base lies is no part of it, what it holds is."""
    chosen = asdict(settings)
    chosen.pop("checkpoint_every")
    decisive = {"base": {key: base.identity[key] for key in ("files_sha256", "query_prefix", "document_prefix",
                                                             "max_tokens")},
                "settings": chosen, "pairs": pairs_record(pairs), "texts": sha256_of([list(row) for row in texts])}
    return {"identity": sha256_of(decisive), "base": base.identity, "settings": chosen, "pairs": len(pairs),
            "loss": "MultipleNegativesRankingLoss", "optimizer": "AdamW", "weight_decay": 0.0,
            "largest_gradient": LARGEST_GRADIENT, "about": dict(about)}


def _finished(output: Path, record: Mapping[str, Any]) -> Trained | None:
    """Return the training that `output` holds, None when the folder is free; refuses anything else."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return None
    remedy = "choose another folder, or move this one away"
    if not (output / RECORD).is_file():
        raise DataError(f"{output} holds something that is no trained encoder", expected="a new or empty folder",
                        remedy=remedy)
    there = read_json(output / RECORD)
    if there.get("identity") != record["identity"]:
        raise DataError(f"{output} holds another training ({str(there.get('identity'))[:12]})",
                        expected=f"the training asked for ({record['identity'][:12]})", remedy=remedy)
    return Trained(output, there, tuple(_read_steps(output / STEPS)), there["steps"])


def _read_steps(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _batches(texts: Sequence[Sequence[str]], settings: TrainingSettings) -> tuple[list[list[int]], int]:
    """Return all batches in order and how many pairs stood alone in one without anything to tell apart."""
    made, alone = [], 0
    for epoch in range(settings.epochs):
        for batch in epoch_batches(texts, settings.batch_size, (settings.seed, epoch)):
            if len(batch) > 1 or len(texts[batch[0]]) > 2:
                made.append(batch)
            else:
                alone += 1
    return made[:settings.max_steps], alone


class _Loop:
    """Model, loss and optimizer of one training."""

    def __init__(self, base: EncoderFiles, settings: TrainingSettings, device: str, steps: int) -> None:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        try:
            from sentence_transformers.sentence_transformer import losses
        except ImportError:  # before version 6
            from sentence_transformers import losses

        logging.disable_progress_bar()  # for loading here and saving at the end
        torch.manual_seed(settings.seed)
        try:
            self.model = SentenceTransformer(str(base.folder), device=device, local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
            raise ModelError(f"the encoder in {base.folder} cannot be loaded ({error})",
                             expected="a model that sentence-transformers can load") from error
        self.base, self.settings, self.device, self.steps = base, settings, device, steps
        self.limit = base.settings.max_tokens
        self.model.max_seq_length = min(self.limit, settings.max_tokens or self.limit)
        self.model.train()
        self.loss = (losses.MultipleNegativesRankingLoss(self.model, scale=settings.scale)
                     if settings.mini_batch_size is None else losses.CachedMultipleNegativesRankingLoss(
                         self.model, scale=settings.scale, mini_batch_size=settings.mini_batch_size))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=settings.learning_rate, weight_decay=0.0)

    def rate(self, number: int) -> float:
        """Return the learning rate of a step (counted from 1): up over the warm-up, then down to 0 after the last."""
        warm = math.ceil(self.settings.warmup * self.steps)
        done = number - 1
        share = (done + 1) / max(1, warm) if done < warm else (self.steps - done) / max(1, self.steps - warm)
        return self.settings.learning_rate * min(1.0, share)

    def step(self, number: int, rows: Sequence[Sequence[str]]) -> dict[str, Any]:
        """Take one optimizer step; returns what the log keeps of it."""
        import torch

        begin, rate = time.perf_counter(), self.rate(number)
        torch.manual_seed(self.settings.seed + number)  # dropout: the same whether the training was resumed or not
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        features = [self._features(column) for column in zip(*rows, strict=True)]
        loss = self.loss(features, None)
        if not torch.isfinite(loss):
            raise ModelError(f"the loss of step {number} is not finite", expected="a finite loss",
                             remedy="lower the learning rate")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), LARGEST_GRADIENT)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return {"step": number, "loss": float(loss.detach()), "learning_rate": rate, "pairs": len(rows),
                "seconds": round(time.perf_counter() - begin, 3)}

    def _features(self, texts: Sequence[str]) -> dict[str, Any]:
        made = (getattr(self.model, "preprocess", None) or self.model.tokenize)(list(texts))
        return {name: value.to(self.device) if hasattr(value, "to") else value for name, value in made.items()}

    def keep(self, holder: Path, identity: str, steps: Sequence[Mapping[str, Any]]) -> None:
        """Write a checkpoint in place of the last one."""
        import torch

        with atomic_path(holder) as folder:
            folder.mkdir()
            torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()},
                       folder / "state.pt")
            write_json(folder / "about.json", {"identity": identity, "steps": list(steps)})

    def resume(self, holder: Path, identity: str) -> list[dict[str, Any]]:
        """Load the checkpoint of this training, if there is one, and return the steps that are done."""
        import torch

        if not (holder / "about.json").is_file():
            return []
        about = read_json(holder / "about.json")
        if about["identity"] != identity:
            raise DataError(f"{holder} is the checkpoint of another training ({about['identity'][:12]})",
                            expected=f"one of the training asked for ({identity[:12]})",
                            remedy="give the settings it was begun with, or move that folder away")
        state = torch.load(holder / "state.pt", map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        return about["steps"]


def _write(loop: _Loop, output: Path, record: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> None:
    """Write the encoder with its prefixes as prompts, its record, and the log of its steps."""
    model, chosen = loop.model.eval(), loop.base.settings
    model.max_seq_length = loop.limit
    model.prompts = {"query": chosen.query_prefix or "", "document": chosen.document_prefix or ""}
    model.default_prompt_name = None
    with atomic_path(output) as folder:
        folder.mkdir()
        model.save(str(folder), create_model_card=False)
        write_json(folder / RECORD, record)
        # Times differ from machine to machine: this file's kind is no part of an encoder's identity.
        (folder / STEPS).write_text("".join(dumps(step) + "\n" for step in steps), encoding="utf-8")
