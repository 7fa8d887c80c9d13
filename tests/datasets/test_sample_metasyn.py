"""The synthetic reviews keep their promises: same bytes, near misses that fail one criterion, no perfect retriever."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import pytest

from litsynth import datasets
from litsynth.datasets import sample, sample_metasyn
from litsynth.datasets.sample_metasyn_world import CRITERIA
from litsynth.files import sha256_file
from litsynth.records import Dataset
from litsynth.text import words


@pytest.fixture(scope="module")
def data() -> Dataset:
    """The committed sample."""
    return datasets.load("sample")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, written anew in this process."""
    folder = tmp_path_factory.mktemp("sample")
    sample.write_sample(folder)
    return folder


def test_the_committed_sample_is_what_the_code_makes(data: Dataset, made: Path) -> None:
    assert datasets.load(made).checksum == data.checksum, "run `python -m litsynth.datasets.sample`"
    # The embedded model's answers to the sample are kept beside it and are not made by the generator.
    committed = {path.name for path in data.folder.iterdir()} - {"completions.jsonl"}
    assert {path.name for path in made.iterdir()} == committed


def test_another_process_writes_the_same_bytes(made: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "litsynth.datasets.sample", str(tmp_path)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    names = sorted(path.name for path in tmp_path.iterdir())
    assert "corpus.parquet" in names
    for name in names:
        assert sha256_file(tmp_path / name) == sha256_file(made / name)


def test_another_seed_makes_another_sample_of_the_same_make(data: Dataset) -> None:
    tables = sample_metasyn.generate(3)
    assert {row["ID"] for row in tables["corpus"]}.isdisjoint(data.corpus)
    assert len(tables["reviews"]) == 24


def test_size_and_counts(data: Dataset) -> None:
    facts = datasets.describe(data)
    assert data.synthetic
    assert facts["reviews"]["splits"] == {"train": 16, "test": 8}
    assert facts["corpus"]["count"] >= 2_000
    assert 0.05 <= facts["corpus"]["share_without_abstract"] <= 0.08
    assert facts["reviews"]["with_exposure_only"] == 12
    assert facts["reviews"]["links_least"] >= 3
    assert facts["reviews"]["linked_from_several_splits"] > 0, "leakage between splits must be there to be found"
    assert facts["reviews"]["links_outside_corpus"] == facts["reviews"]["source_records_outside_corpus"] == 0
    assert facts["reviews"]["included_and_source"] == []
    assert set(facts["reviews"]["directions"]) == {"Positive", "Negative", "Mixed", "NR"}
    assert sum(path.stat().st_size for path in data.folder.iterdir()) < 3_000_000
    lengths = np.array([len(article.abstract.split()) for article in data.corpus.values()])
    # About 1.3 word pieces a word: 200 words pass an encoder's limit of 256, 400 that of 512.
    assert (lengths > 200).sum() > 100
    assert (lengths > 400).sum() > 20
    assert any(article.sections for article in data.corpus.values())


def test_ids_tell_nothing(data: Dataset) -> None:
    ids = np.array(list(data.corpus))
    assert ((ids >= 100_000_000) & (ids < 1_000_000_000)).all()
    assert (np.diff(ids) > 0).all()
    included = {i for gold in data.gold.values() for i in gold.included_ids}
    places = np.flatnonzero([i in included for i in ids]) / len(ids)
    # A uniform sample of n places has mean 1/2 with standard deviation 1/sqrt(12 n); four of them are allowed.
    assert abs(places.mean() - 0.5) < 4 / np.sqrt(12 * len(places))


def test_hard_negatives_fail_one_criterion_each(data: Dataset) -> None:
    hard = {i: note for i, note in data.notes.items() if note["kind"] == "hard_negative"}
    assert set(Counter(note["fails"] for note in hard.values())) == set(CRITERIA)
    for article_id, note in hard.items():
        review, article = data.reviews[note["review_id"]], data.corpus[article_id]
        assert article_id not in data.gold[review.id].included_ids
        assert article.abstract, "a hard negative can be judged from its abstract"
        in_time = int(review.search_start_date[:4]) <= article.year <= int(review.search_end_date[:4])
        assert in_time == (note["fails"] != "date")
    per_review = Counter(note["review_id"] for note in hard.values())
    assert min(per_review.values()) >= 12


def test_included_studies_are_within_the_search_dates(data: Dataset) -> None:
    for review in data.reviews.values():
        for article_id in data.gold[review.id].included_ids:
            assert review.search_start_date[:4] <= str(data.corpus[article_id].year) <= review.search_end_date[:4]


def test_near_duplicates_and_own_records(data: Dataset) -> None:
    twins = {i: note for i, note in data.notes.items() if note["kind"] == "near_duplicate"}
    assert len(twins) >= 20
    for article_id, note in twins.items():
        assert note["duplicate_of"] in data.gold[note["review_id"]].included_ids
        assert article_id not in data.gold[note["review_id"]].included_ids
        assert data.corpus[note["duplicate_of"]].title in data.corpus[article_id].title
    own = {i for review in data.reviews.values() for i in review.source_ids}
    assert len(own) >= 5
    assert {i for i, note in data.notes.items() if note["kind"] == "source_review"} == own
    titles = {gold.title for gold in data.gold.values()}
    assert any(data.corpus[i].title in titles for i in own)


def test_no_protocol_names_its_title(data: Dataset) -> None:
    for review in data.reviews.values():
        assert data.gold[review.id].title not in " ".join(filter(None, (review.research_question, review.population)))
        assert len(review.inclusion_criteria) >= 5
        assert len(review.exclusion_criteria) >= 4


def _query(review: object) -> str:
    names = ("research_question", "population", "intervention", "exposure", "comparison", "outcome")
    return " ".join(filter(None, (getattr(review, name) for name in names)))


def test_bm25_is_neither_hopeless_nor_perfect(data: Dataset) -> None:
    ids = np.array(list(data.corpus))
    index = bm25s.BM25(method="robertson", k1=1.5, b=0.75)
    index.index([words(f"{a.title} {a.abstract}") for a in data.corpus.values()], show_progress=False)
    recalls, outranking = {50: [], 200: []}, 0
    for review in data.reviews.values():
        scores = index.get_scores([word for word in words(_query(review)) if word in index.vocab_dict])
        scores = np.where(np.isin(ids, review.source_ids), -1, scores)
        ranked = ids[np.lexsort((ids, -scores))]
        included = data.gold[review.id].included_ids
        for depth, values in recalls.items():
            values.append(len(included & set(ranked[:depth].tolist())) / len(included))
        place = {int(i): rank for rank, i in enumerate(ranked)}
        last = max(place[i] for i in included)
        outranking += any(
            place[i] < last
            for i, note in data.notes.items()
            if note["review_id"] == review.id and note["kind"] == "hard_negative"
        )
    assert 0.5 <= np.mean(recalls[50]) <= 0.85
    assert np.mean(recalls[50]) < np.mean(recalls[200]) < 0.97
    assert outranking >= 20
