"""Real data sets load as they are; their counts come from their own README files."""

from __future__ import annotations

from pathlib import Path

import pytest

from litsynth import datasets
from litsynth.files import write_json

pytestmark = pytest.mark.shared


def test_the_drug_reviews_load_as_they_are(shared_data: Path) -> None:
    data = datasets.load(shared_data / "drug_reviews")
    facts = datasets.describe(data)
    # The README's table: 10 reviews, 7 of them train; 12,146 articles, 10,852 with an abstract; 13,028 screened pairs.
    assert facts["reviews"]["splits"] == {"train": 7, "test": 3}
    assert facts["corpus"]["count"] == 12_146
    assert facts["corpus"]["without_abstract"] == 12_146 - 10_852
    assert facts["reviews"]["screened_pairs"] == 13_028
    included = {1: 40, 2: 16, 3: 146, 4: 42, 5: 100, 6: 41, 7: 15, 8: 136, 9: 51, 10: 9}
    assert {i: len(gold.included_ids) for i, gold in data.gold.items()} == included
    assert facts["reviews"]["links"] == sum(included.values())
    for review_id, labels in data.screened.items():
        assert {i for i, yes in labels.items() if yes} == data.gold[review_id].included_ids
    assert not data.synthetic
    assert data.reviews[1].exposure is None
    assert data.reviews[1].inclusion_criteria[0].startswith("Adults with hypertension")


def test_the_same_reviews_in_the_older_layout(shared_data: Path, tmp_path: Path) -> None:
    import pandas as pd

    source = datasets.load(shared_data / "drug_reviews")
    reviews = pd.read_json(shared_data / "drug_reviews" / "reviews.jsonl", lines=True)
    write_json(tmp_path / "test_ids.json", [int(i) for i in reviews[reviews.split == "test"].ID])
    reviews.drop(columns="split").to_json(tmp_path / "papers.json", orient="records")
    pd.read_parquet(shared_data / "drug_reviews" / "corpus.parquet").to_json(tmp_path / "corpus.json", orient="records")
    older = datasets.load(tmp_path)
    assert dict(older.reviews) == dict(source.reviews)
    assert dict(older.gold) == dict(source.gold)
    assert dict(older.corpus) == dict(source.corpus)


def test_the_question_bank_loads(shared_data: Path) -> None:
    facts = datasets.describe(datasets.load(shared_data / "pubmedqa_bank"))
    assert facts["reviews"] is None
    assert facts["questions"] | {"papers": 700, "facts": 700, "questions": 199} == facts["questions"]
