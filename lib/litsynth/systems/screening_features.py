"""What a screener without a model sees of each candidate: how it answers to each part of the protocol.

Train and test reviews are about different topics, so a word such as a drug's name that decided one review decides no
other. Nearly all features are therefore relations between candidate and protocol, compared within the review's pool.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from litsynth.records import Candidate, Retriever, Review
from litsynth.retrieval.query import protocol_query, reported
from litsynth.systems.extractive_review import DESIGNS
from litsynth.text import words

FIELDS = ("protocol", "question", "population", "acted", "comparison", "outcome")
IN_TITLE = ("population", "acted", "comparison", "outcome")
LARGEST = 4.0  # standard deviations at which a feature is cut, so that one odd candidate decides nothing
_PATTERNS = {name: re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE) for name, pattern in DESIGNS.items()}
_YEAR = re.compile(r"(\d{4})")


def protocol_fields(task: Review) -> dict[str, str]:
    """Return the texts of `FIELDS` by name, empty where not reported; criteria are not among them."""
    acted = task.intervention if reported(task.intervention) else task.exposure
    return {"protocol": protocol_query(task), "question": reported(task.research_question),
            "population": reported(task.population), "acted": reported(acted),
            "comparison": reported(task.comparison), "outcome": reported(task.outcome)}


def feature_names(signals: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns of `pool_features` for these retrievers, in order."""
    scores = [f"{signal}: {field}" for signal in signals for field in FIELDS]
    places = [f"{signal}: place in the pool" for signal in signals]
    return (*scores, *places, *(f"title: {field}" for field in IN_TITLE), *(f"title names {name}" for name in DESIGNS),
            *(f"abstract names {name}" for name in DESIGNS), "no abstract", "length of the abstract",
            "outside of the search dates")


def pool_features(task: Review, candidates: Sequence[Candidate], retrievers: Mapping[str, Retriever]) -> np.ndarray:
    """Return the features of every candidate of one review, shape (candidates, features), float64.

    * For each retriever and protocol field: the candidate's score for that field as a query, less the pool's mean, in
      standard deviations of the pool, at most `LARGEST` either way; 0 for a field that is not reported.
    * The candidate's place in the retriever's order for the whole protocol, from 1 (first) to 0.
    * The share of a field's distinct words in the title; the kinds of study that title and abstract name (1 or 0).
    * Whether there is no abstract, its length (logarithm of words, standardised), and whether the year lies outside of
      the search dates.

    Ranks of the given list are not used: in oracle order they would give the reference away.
    """
    ids = np.array([candidate.corpus_id for candidate in candidates], dtype=np.int64)
    texts = protocol_fields(task)
    columns: list[np.ndarray] = []
    places: list[np.ndarray] = []
    for retriever in retrievers.values():
        for field in FIELDS:
            scores = _scores(retriever, texts[field], ids)
            columns.append(_standardised(scores))
            if field == "protocol":
                places.append(_places(scores, ids))
    columns += places
    titles = [frozenset(words(candidate.title)) for candidate in candidates]
    for field in IN_TITLE:
        wanted = frozenset(words(texts[field]))
        columns.append(np.array([len(wanted & title) / len(wanted) if wanted else 0.0 for title in titles]))
    for part in ("title", "abstract"):
        columns += [np.array([float(bool(pattern.search(getattr(candidate, part)))) for candidate in candidates])
                    for pattern in _PATTERNS.values()]
    lengths = np.array([math.log1p(len(candidate.abstract.split())) for candidate in candidates])
    first, last = _year_of(task.search_start_date), _year_of(task.search_end_date)
    columns += [(lengths == 0).astype(float), _standardised(lengths),
                np.array([float(_outside(candidate.year, first, last)) for candidate in candidates])]
    return np.column_stack(columns) if len(ids) else np.empty((0, len(feature_names(tuple(retrievers)))))


def _scores(retriever: Retriever, query: str, ids: np.ndarray) -> np.ndarray:
    """Return each article's score for a query, 0 where it was not retrieved or the query is empty."""
    made = np.zeros(len(ids))
    if query and len(ids):
        found = retriever.search(query, len(ids), allowed=ids)
        place = {number: row for row, number in enumerate(ids.tolist())}
        made[[place[int(number)] for number in found.ids]] = found.scores
    return made


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = float(values.std()) if len(values) else 0.0
    return np.clip((values - values.mean()) / spread, -LARGEST, LARGEST) if spread > 0 else np.zeros(len(values))


def _places(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    places = np.empty(len(scores))
    places[np.lexsort((ids, -scores))] = np.arange(len(scores))
    return 1.0 - places / max(1, len(scores) - 1)


def _year_of(date: str | None) -> int | None:
    match = _YEAR.search(reported(date))
    return int(match.group(1)) if match else None


def _outside(year: int | None, first: int | None, last: int | None) -> bool:
    return year is not None and ((first is not None and year < first) or (last is not None and year > last))
