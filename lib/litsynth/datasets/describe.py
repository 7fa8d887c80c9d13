"""What a loaded data set holds, counted: sizes, splits, links, leakage, gaps."""

from __future__ import annotations

from collections import Counter
from typing import Any

from litsynth.records import Dataset


def describe(dataset: Dataset) -> dict[str, Any]:
    """Return the facts that `litsynth data info` prints, JSON-ready; parts that the data set lacks are None."""
    return {
        "name": dataset.name,
        "folder": str(dataset.folder) if dataset.folder else None,
        "checksum": dataset.checksum,
        "synthetic": dataset.synthetic,
        "revision": dataset.revision,
        "licence": dataset.licence,
        "reviews": _reviews(dataset) if dataset.reviews else None,
        "corpus": _corpus(dataset) if dataset.corpus else None,
        "questions": _questions(dataset) if dataset.questions or dataset.papers else None,
    }


def _reviews(dataset: Dataset) -> dict[str, Any]:
    linked: dict[str, set[int]] = {}
    for review in dataset.reviews.values():
        linked.setdefault(review.split, set()).update(dataset.gold[review.id].included_ids)
    links = [len(answer.included_ids) for answer in dataset.gold.values()]
    times = Counter(article for articles in linked.values() for article in articles)
    reviews = dataset.reviews.values()
    return {
        "count": len(dataset.reviews),
        "splits": dict(Counter(review.split for review in reviews)),
        "other_splits": sorted({review.split for review in reviews} - {"train", "test"}),
        "with_intervention": sum(review.intervention is not None for review in reviews),
        "with_exposure_only": sum(review.intervention is None and review.exposure is not None for review in reviews),
        "links": sum(links),
        "links_least": min(links),
        "links_most": max(links),
        "without_references": sorted(i for i, answer in dataset.gold.items() if not answer.included_ids),
        "linked_articles": len(times),
        "linked_from_several_splits": sum(count > 1 for count in times.values()),
        "links_outside_corpus": sum(
            len(answer.included_ids - dataset.corpus.keys()) for answer in dataset.gold.values()
        ),
        "source_records": len({i for review in reviews for i in review.source_ids}),
        "source_records_outside_corpus": len(
            {i for review in reviews for i in review.source_ids} - dataset.corpus.keys()
        ),
        "included_and_source": sorted(
            review.id for review in reviews if dataset.gold[review.id].included_ids & set(review.source_ids)
        ),
        "directions": dict(Counter(answer.effect_direction or "NR" for answer in dataset.gold.values())),
        "screened_pairs": sum(map(len, dataset.screened.values())),
        "notes": len(dataset.notes),
    }


def _corpus(dataset: Dataset) -> dict[str, Any]:
    articles = dataset.corpus.values()
    years = [article.year for article in articles if article.year is not None]
    titles = Counter(article.title.casefold() for article in articles if article.title)
    without = sum(not article.abstract for article in articles)
    return {
        "count": len(dataset.corpus),
        "without_abstract": without,
        "share_without_abstract": without / len(dataset.corpus),
        "without_title": sum(not article.title for article in articles),
        "without_year": len(dataset.corpus) - len(years),
        "year_first": min(years, default=None),
        "year_last": max(years, default=None),
        "with_full_text": sum(bool(article.sections) for article in articles),
        "repeated_titles": sum(count - 1 for count in titles.values()),
    }


def _questions(dataset: Dataset) -> dict[str, Any]:
    return {
        "papers": len(dataset.papers),
        "roles": dict(Counter(paper.role for paper in dataset.papers.values())),
        "facts": len(dataset.facts),
        "questions": len(dataset.questions),
        "kinds": dict(Counter(question.kind for question in dataset.questions.values())),
    }
