"""A data set of four reviews, submissions to it, and judges that are scripted; shared by the evaluator's tests."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from litsynth.llm.scripted import ScriptedModel
from litsynth.records import Article, Dataset, Gold, ModelRequest, Review
from litsynth.scoring import judge_prompts as prompts
from litsynth.scoring.evaluation import Evaluator
from litsynth.scoring.text_metrics import SentenceEncoder

TITLES = {i: f"A randomised comparison number {i} of two exercise programmes" for i in range(101, 111)}
EXAMPLE: dict[str, Any] = {
    "review_id": 63,
    "retrieved_article_ids": [101, 102, 103],
    "included_article_ids": [101, 103],
    "unmatched_included_article_ids": [],
    "unmatched_included_entries": [],
}
INSIGHTS = ("Exercise shortens recovery after surgery.", "too short")


def dataset(*, bare: bool = False) -> Dataset:
    """Return four reviews, three of them in the test split; `bare` leaves out what judge metrics refer to."""
    criteria = () if bare else ("adults only",)
    reviews = {
        i: Review(
            i,
            "train" if i == 1 else "test",
            f"Question {i}?",
            inclusion_criteria=criteria,
            exclusion_criteria=() if bare else ("no children",),
        )
        for i in (1, 63, 64, 65)
    }
    gold = {
        i: Gold(i, frozenset({101, 104}), "", None if bare else "Positive", INSIGHTS[1:] if bare else INSIGHTS)
        for i in reviews
    }
    corpus = {i: Article(i, title, "Abstract.") for i, title in TITLES.items()}
    return Dataset("tiny", "c" * 64, True, reviews=reviews, gold=gold, corpus=corpus)


def letters(texts: Any) -> np.ndarray:
    """Return letter counts as vectors: equal sentences have cosine 1."""
    return np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], dtype=float)


def judged_evaluator(judge: Any, *, bare: bool = False, source: str = "report") -> Evaluator:
    """Return an evaluator with a judge and the letters encoder."""
    return Evaluator(dataset(bare=bare), source, judge, SentenceEncoder("letters", letters, "letters-1"))


def good_judge(**changes: Any) -> ScriptedModel:
    """Return a judge that answers every question; `changes` replace answers by name."""
    answers = {
        "criteria": {"inclusion_criteria": ["adults only"], "exclusion_criteria": []},
        "direction": {"direction": "Positive", "reason": "It says so."},
        "insights": {"insights": ["Exercise helps."]},
        "coverage": {"score": 0.75, "reason": "Most."},
        "structure": {"score": 3.5, "reason": "Plain."},
        **changes,
    }
    schemas = {id(getattr(prompts, f"{name.upper()}_SCHEMA")): name for name in answers}

    def answer(request: ModelRequest) -> Any:
        return answers[schemas[id(request.schema)]]

    return ScriptedModel(answer)


def write_review(folder: Path, results: Any, report: str | None) -> Path:
    """Write one submission and return the path of its results.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    if report is not None:
        (folder / "report.md").write_text(report, encoding="utf-8")
    return folder / "results.json"


def write_folder(
    folder: Path,
    ids: Any = (63, 64, 65),
    *,
    report: str | None = "# R\n\n## Final included studies\n- Corpus ID: 101\n",
) -> Path:
    """Write a complete submission of the test split and return its folder."""
    for review_id in ids:
        write_review(folder / f"review_{review_id}", {**EXAMPLE, "review_id": review_id}, report)
    return folder


def with_checksum(data: Dataset, checksum: str) -> Dataset:
    """Return the data set under another checksum."""
    return replace(data, checksum=checksum)
