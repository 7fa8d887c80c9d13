"""From a data set's links to a trained encoder: where reference sets meet training, behind the leakage guard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litsynth.errors import DataError
from litsynth.records import Dataset
from litsynth.retrieval import document_text, open_retriever, protocol_query
from litsynth.retrieval.encoder_files import EncoderFiles, encoder_settings, find_encoder
from litsynth.retrieval.training import Trained, TrainingSettings, train_encoder
from litsynth.retrieval.training_pairs import LeakageGuard, TrainingPair, training_pairs, with_hard_negatives

NEGATIVES_FROM = "bm25"


@dataclass(frozen=True)
class Lesson:
    """All that an encoder is trained on: pairs, the texts they name, and what the guard removed."""

    pairs: tuple[TrainingPair, ...]
    queries: Mapping[int, str]
    documents: Mapping[int, str]
    guard: LeakageGuard


def lesson_of(dataset: Dataset, hard_negatives: int = 0) -> Lesson:
    """Return the train reviews' links without any article that a test review links to, with hard negatives if asked.

    Hard negatives come from the top of BM25 for the train review's query; no article that any review links to and
    no record of a review itself is one. Links to articles that the corpus lacks are no pairs. Raises `DataError`
    without a train split.
    """
    train, test = dataset.split("train"), dataset.split("test")
    if not train:
        raise DataError(f"data set {dataset.name!r} has no train reviews", expected="reviews with split train",
                        remedy="choose a data set with a train split")
    links = {i: [article for article in _linked(dataset, i) if article in dataset.corpus] for i in train}
    forbidden = set().union(*(_linked(dataset, i) for i in test)) if test else set()
    pairs, guard = training_pairs(links, forbidden)
    queries = {i: protocol_query(review) for i, review in train.items()}
    if hard_negatives:
        linked = set().union(*(_linked(dataset, i) for i in dataset.reviews))
        own = {source for review in dataset.reviews.values() for source in review.source_ids}
        pairs = with_hard_negatives(pairs, open_retriever(NEGATIVES_FROM, dataset), queries,
                                    dict.fromkeys(train, linked | own), hard_negatives)
    used = {number for pair in pairs for number in (pair.article_id, *pair.negatives)}
    return Lesson(tuple(pairs), queries, {i: document_text(dataset.corpus[i]) for i in used}, guard)


def _linked(dataset: Dataset, review_id: int) -> set[int]:
    gold = dataset.gold.get(review_id)
    return set(gold.included_ids) - set(dataset.reviews[review_id].source_ids) if gold else set()


def base_encoder(name: str, *, model: str | None = None, revision: str | None = None) -> EncoderFiles:
    """Return the encoder that training starts from: a retriever's name, a hub id or a folder."""
    return find_encoder(encoder_settings(name, model=model, revision=revision))


def train_on(dataset: Dataset, base: EncoderFiles, output: Path, settings: TrainingSettings, *,
             hard_negatives: int = 0, device: str = "auto") -> tuple[Trained, LeakageGuard]:
    """Train an encoder on a data set's train reviews and write it to `output`; see `train_encoder`."""
    lesson = lesson_of(dataset, hard_negatives)
    about: dict[str, Any] = {"dataset": dataset.name, "checksum": dataset.checksum, "synthetic": dataset.synthetic,
                             "guard": lesson.guard.as_dict(), "hard_negatives": hard_negatives,
                             "hard_negatives_from": NEGATIVES_FROM if hard_negatives else None}
    trained = train_encoder(base, lesson.pairs, lesson.queries, lesson.documents, output, settings, device=device,
                            about=about)
    return trained, lesson.guard
