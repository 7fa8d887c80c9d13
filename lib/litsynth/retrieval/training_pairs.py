"""What an encoder is trained on: query-document pairs without leakage, hard negatives, and the batches of an epoch.

Which document belongs to which query is decided by reference sets; whoever calls these functions hands the links in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from litsynth.errors import DataError, ParameterError
from litsynth.records import Retriever


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A query (named by its review), a document that answers it, and documents that look alike but do not."""

    review_id: int
    article_id: int
    negatives: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LeakageGuard:
    """What the guard saw and removed: links and distinct articles of the train reviews.

    `forbidden_articles` counts the distinct articles that any test review links to.
    """

    links: int
    articles: int
    forbidden_articles: int
    removed_links: int
    removed_articles: int
    kept_links: int
    reviews: int
    reviews_without_links: int

    def as_dict(self) -> dict[str, int]:
        """Return it as JSON-ready values."""
        return asdict(self)

    def words(self) -> str:
        """Return one sentence that says what was removed."""
        return (f"leakage guard: of {self.articles} articles that {self.reviews} train reviews link to, "
                f"{self.removed_articles} are among the {self.forbidden_articles} that test reviews link to and were "
                f"removed with their {self.removed_links} links; {self.kept_links} of {self.links} links are left")


def training_pairs(links: Mapping[int, Collection[int]],
                   forbidden: Collection[int]) -> tuple[list[TrainingPair], LeakageGuard]:
    """Return the positives, by review and article, without any article in `forbidden`, and what that removed.

    `links` maps each train review to the articles it links to. Raises `DataError` when nothing is left.
    """
    out = frozenset(forbidden)
    every = [(review, article) for review in sorted(links) for article in sorted(set(links[review]))]
    kept = [pair for pair in every if pair[1] not in out]
    articles = {article for _, article in every}
    left = {review for review, _ in kept}
    guard = LeakageGuard(len(every), len(articles), len(out), len(every) - len(kept), len(articles & out), len(kept),
                         len(links), sum(review not in left for review in links))
    if not kept:
        raise DataError(f"no training pair is left of {len(every)} links of {len(links)} train reviews",
                        expected="train reviews that link to articles which no test review links to",
                        remedy="choose a data set with a train split and reference sets")
    return [TrainingPair(*pair) for pair in kept], guard


def with_hard_negatives(pairs: Sequence[TrainingPair], retriever: Retriever, queries: Mapping[int, str],
                        never: Mapping[int, Collection[int]], number: int, *, depth: int = 100) -> list[TrainingPair]:
    """Return the pairs with `number` negatives each: articles that `retriever` ranks high for the review's query.

    `never` holds for each review what must not serve as one (every linked article of any review, and the review's own
    records); these leave before the ranking is cut at `depth`. The pairs of a review take turns through the ranking.
    Raises `DataError` where a review's search finds fewer than `number`.
    """
    if number < 0:
        raise ParameterError(f"hard_negatives is {number}", expected="0 or more", remedy="use 0 for none")
    if number == 0:
        return list(pairs)
    made, found, turn = [], {}, {}
    for pair in pairs:
        review = pair.review_id
        if review not in found:
            ranking = retriever.search(queries[review], max(depth, number), exclude=never[review])
            found[review], turn[review] = ranking.ids.tolist(), 0
            if len(found[review]) < number:
                raise DataError(f"{retriever.name} finds {len(found[review])} hard negatives for review {review}",
                                expected=f"at least {number}", remedy="ask for fewer hard negatives")
        start = turn[review]
        turn[review] = (start + number) % len(found[review])
        chosen = tuple(found[review][(start + step) % len(found[review])] for step in range(number))
        made.append(replace(pair, negatives=chosen))
    return made


def epoch_batches(texts: Sequence[Sequence[str]], size: int, seed: Sequence[int]) -> list[list[int]]:
    """Return one epoch's batches of row numbers: every row once, no text twice in a batch, at most `size` rows each.

    `texts` holds the texts of each row (query, positive, negatives). Rows come in an order drawn from `seed`; a row
    that shares a text with a row of the batch waits for a later one. Without that, a document would count as a wrong
    answer to the very query that it answers. Where few queries have many documents, batches are smaller than `size`.
    """
    if size < 1:
        raise ParameterError(f"batch_size is {size}", expected="at least 1", remedy="use 64")
    waiting = np.random.default_rng(list(seed)).permutation(len(texts)).tolist()
    batches = []
    while waiting:
        batch, seen, later = [], set(), []
        for row in waiting:
            if len(batch) < size and seen.isdisjoint(texts[row]):
                batch.append(row)
                seen.update(texts[row])
            else:
                later.append(row)
        batches.append(batch)
        waiting = later
    return batches


def texts_of(pairs: Iterable[TrainingPair], queries: Mapping[int, str], documents: Mapping[int, str], *,
             query_prefix: str = "", document_prefix: str = "") -> list[tuple[str, ...]]:
    """Return (query, positive, negatives …) of every pair, with the encoder's prefixes."""
    return [(query_prefix + " ".join(queries[pair.review_id].split()),
             *(document_prefix + documents[number] for number in (pair.article_id, *pair.negatives)))
            for pair in pairs]


def pairs_record(pairs: Sequence[TrainingPair]) -> list[list[Any]]:
    """Return the pairs as JSON-ready values: what a training's identity is made of."""
    return [[pair.review_id, pair.article_id, *pair.negatives] for pair in pairs]
