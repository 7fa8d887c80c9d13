"""Review data sets in the MetaSyn shape: tables become reviews, gold, corpus, screening labels and notes."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from litsynth.datasets.layout import Layout, read_test_ids
from litsynth.datasets.tables import Block, Field, read_blocks
from litsynth.datasets.values import (
    few,
    is_reported,
    json_ready,
    number_list,
    split_items,
    split_lines,
    text_or_none,
    whole_number,
    year_or_none,
)
from litsynth.errors import DataError
from litsynth.records import Article, Gold, Review, Section

DIRECTIONS = ("Positive", "Negative", "Mixed")
REVIEW_FIELDS = (
    Field("ID", ("review_ID",), required=True),
    Field("Research_Question", ("question",), required=True),
    Field("Population"),
    Field("Intervention"),
    Field("Exposure"),
    Field("Comparison", ("comparator",)),
    Field("Outcome", ("outcomes",)),
    Field("search_start_date", ("search_start",)),
    Field("search_end_date", ("search_end",)),
    Field("inclusion_criteria"),
    Field("exclusion_criteria"),
    Field("source_review_corpus_ids", ("source_corpus_ids", "source_ids")),
    Field("matched_corpus_ids", ("included_corpus_ids", "included_ids"), required=True),
    Field("Effect_Direction"),
    Field("Key_Insights"),
    Field("Title", ("review_title",)),
    Field("split"),
)
CORPUS_FIELDS = (
    Field("ID", ("corpus_ID", "article_ID"), required=True),
    Field("title", ("primary_title",), required=True),
    Field("abstract", required=True),
    Field("pmid", ("pubmed_id",)),
    Field("pmc_id", ("pmcid",)),
    Field("doi"),
    Field("authors"),
    Field("journal"),
    Field("year", ("publication_year",)),
    Field("sections"),
)
SCREENED_FIELDS = (
    Field("review_ID", required=True),
    Field("corpus_ID", ("article_ID",), required=True),
    Field("label_included", ("included",), required=True),
)
NOTE_FIELDS = (Field("corpus_ID", ("article_ID",), required=True), Field("review_ID", required=True))


def load_review_part(layout: Layout, *, allow_missing_links: bool = False) -> dict[str, dict]:
    """Return reviews, gold, corpus, screened and notes by name, in source order.

    Raises `DataError` that names file, row and column for everything that does not fit; an included article that
    the corpus lacks is an error unless `allow_missing_links`, which keeps it in the reference set.
    """
    corpus = read_corpus(layout.corpus)
    reviews, gold = _read_reviews(layout)
    if not allow_missing_links:
        _check_links(gold, corpus, layout)
    return {
        "reviews": reviews,
        "gold": gold,
        "corpus": corpus,
        "screened": _read_screened(layout.screened, reviews, corpus) if layout.screened else {},
        "notes": _read_notes(layout.notes, corpus) if layout.notes else {},
    }


def read_corpus(paths: Sequence[Path]) -> dict[int, Article]:
    """Return the articles of one or several corpus files by ID, in source order; none at all is an error."""
    corpus: dict[int, Article] = {}
    with _collection_paused():
        for path in paths:
            for block in read_blocks(path, CORPUS_FIELDS):
                for row, article in enumerate(_articles(block)):
                    if article.id in corpus:
                        _refuse_twice("article", article.id, block.where(row))
                    corpus[article.id] = article
    if not corpus:
        raise DataError(
            f"{few(paths)} holds no article", expected="at least one row", remedy="write or fetch the corpus again"
        )
    return corpus


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Pause the search for reference cycles: none arise here, and walking a growing corpus takes long."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _articles(block: Block) -> list[Article]:
    ids = [whole_number(value, block.where(row, "ID")) for row, value in enumerate(block.column("ID"))]
    texts = {name: _texts(block, name) for name in ("title", "abstract", "pmid", "pmc_id", "doi", "journal")}
    years = [
        value if type(value) is int and 0 < value <= 9999 else year_or_none(value, block.where(row, "year"))
        for row, value in enumerate(block.column("year"))
    ]
    authors, sections = block.column("authors"), block.column("sections")
    return [
        Article(
            ids[row],
            texts["title"][row] or "",
            texts["abstract"][row] or "",
            texts["pmid"][row],
            texts["pmc_id"][row],
            texts["doi"][row],
            _authors(authors[row], block, row) if authors[row] else (),
            texts["journal"][row],
            years[row],
            _sections(sections[row], block, row) if sections[row] else (),
        )
        for row in range(len(block))
    ]


def _texts(block: Block, name: str) -> list[str | None]:
    # A corpus has a million of these values: the usual case, too long to say "not reported", comes first.
    return [
        value.strip()
        if type(value) is str and len(value) > 20
        else None
        if value is None
        else text_or_none(value, block.where(row, name))
        for row, value in enumerate(block.column(name))
    ]


def _authors(value: Any, block: Block, row: int) -> tuple[str, ...]:
    if type(value) is list and all(type(item) is str for item in value):
        return tuple(value)
    return split_items(value, block.where(row, "authors"))


def _sections(value: Any, block: Block, row: int) -> tuple[Section, ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise DataError(f"{block.where(row, 'sections')} is no list of objects", expected="a list of {heading, text}")
    where = block.where(row, "sections")
    parts = (
        Section(
            text_or_none(item.get("heading"), where) or "",
            text_or_none(item.get("text"), where) or "",
            text_or_none(item.get("section"), where) or "",
        )
        for item in value
    )
    return tuple(part for part in parts if part.heading or part.text)


def _read_reviews(layout: Layout) -> tuple[dict[int, Review], dict[int, Gold]]:
    reviews: dict[int, Review] = {}
    gold: dict[int, Gold] = {}
    test_ids = read_test_ids(layout.test_ids) if layout.test_ids else None
    for path, split in layout.reviews:
        for block in read_blocks(path, REVIEW_FIELDS, extra=True):
            for row in range(len(block)):
                review_id = whole_number(block.column("ID")[row], block.where(row, "ID"))
                if review_id in reviews:
                    _refuse_twice("review", review_id, block.where(row))
                reviews[review_id] = _review(review_id, block, row, split, test_ids)
                gold[review_id] = _gold(review_id, block, row)
    if not reviews:
        raise DataError(f"{few([path for path, _ in layout.reviews])} holds no review", expected="at least one row")
    if test_ids is not None and (unknown := sorted(test_ids - reviews.keys())):
        raise DataError(
            f"{layout.test_ids} names reviews that do not exist: {few(unknown)}", expected="IDs of the reviews"
        )
    return reviews, gold


def _review(review_id: int, block: Block, row: int, split: str | None, test_ids: frozenset[int] | None) -> Review:
    def text(name: str) -> str | None:
        return text_or_none(block.column(name)[row], block.where(row, name))

    question = text("Research_Question")
    if question is None:
        raise DataError(
            f"{block.where(row, 'Research_Question')} of review {review_id} is not reported",
            expected="a research question",
            remedy="write the question, or leave the review out",
        )
    named = text("split") or split
    if named is None and test_ids is not None:
        named = "test" if review_id in test_ids else "train"
    if named is None:
        raise DataError(
            f"{block.where(row)}: review {review_id} belongs to no split",
            expected="train or test",
            remedy="add a column `split`, one file a split (train, test), or test_ids.json",
        )
    return Review(
        id=review_id,
        split=named,
        research_question=question,
        population=text("Population"),
        intervention=text("Intervention"),
        exposure=text("Exposure"),
        comparison=text("Comparison"),
        outcome=text("Outcome"),
        search_start_date=text("search_start_date"),
        search_end_date=text("search_end_date"),
        inclusion_criteria=split_items(block.column("inclusion_criteria")[row], block.where(row, "inclusion_criteria")),
        exclusion_criteria=split_items(block.column("exclusion_criteria")[row], block.where(row, "exclusion_criteria")),
        source_ids=number_list(
            block.column("source_review_corpus_ids")[row], block.where(row, "source_review_corpus_ids")
        ),
    )


def _gold(review_id: int, block: Block, row: int) -> Gold:
    direction = text_or_none(block.column("Effect_Direction")[row], block.where(row, "Effect_Direction"))
    if direction is not None and direction.capitalize() not in DIRECTIONS:
        raise DataError(
            f"{block.where(row, 'Effect_Direction')} is {direction!r}", expected=", ".join(DIRECTIONS) + " or NR"
        )
    effects = {name: json_ready(values[row]) for name, values in block.extra.items() if is_reported(values[row])}
    return Gold(
        review_id=review_id,
        included_ids=frozenset(
            number_list(block.column("matched_corpus_ids")[row], block.where(row, "matched_corpus_ids"))
        ),
        title=text_or_none(block.column("Title")[row], block.where(row, "Title")) or "",
        effect_direction=direction and direction.capitalize(),
        key_insights=split_lines(block.column("Key_Insights")[row], block.where(row, "Key_Insights")),
        effects={name: value for name, value in effects.items() if value is not None},
    )


def _check_links(gold: Mapping[int, Gold], corpus: Mapping[int, Article], layout: Layout) -> None:
    bad = {review_id: sorted(answer.included_ids - corpus.keys()) for review_id, answer in gold.items()}
    bad = {review_id: ids for review_id, ids in bad.items() if ids}
    if bad:
        review_id, ids = next(iter(bad.items()))
        others = f" (and {len(bad) - 1} other reviews)" if len(bad) > 1 else ""
        raise DataError(
            f"{layout.reviews[0][0]}: review {review_id}{others} includes {len(ids)} articles "
            f"that the corpus does not have: {few(ids)}",
            expected="matched_corpus_ids that are IDs of the corpus",
            remedy="add the articles to the corpus, or load with allow_missing_links=True to keep them as unreachable "
            "(`litsynth data info --allow-missing-links` counts them)",
        )


def _read_screened(path: Path, reviews: Mapping, corpus: Mapping) -> dict[int, dict[int, bool]]:
    screened: dict[int, dict[int, bool]] = {}
    for block in read_blocks(path, SCREENED_FIELDS):
        for row, (review, article, label) in enumerate(
            zip(block.column("review_ID"), block.column("corpus_ID"), block.column("label_included"), strict=True)
        ):
            review_id = _known(review, reviews, "review", block.where(row, "review_ID"))
            article_id = _known(article, corpus, "article of the corpus", block.where(row, "corpus_ID"))
            if label not in (0, 1):
                raise DataError(f"{block.where(row, 'label_included')} is {label!r}", expected="0, 1, false or true")
            labels = screened.setdefault(review_id, {})
            if labels.setdefault(article_id, bool(label)) != bool(label):
                raise DataError(
                    f"{block.where(row)} contradicts an earlier label of article {article_id}", expected="one label"
                )
    return screened


def _read_notes(path: Path, corpus: Mapping) -> dict[int, dict[str, Any]]:
    notes: dict[int, dict[str, Any]] = {}
    for block in read_blocks(path, NOTE_FIELDS, extra=True):
        for row, article in enumerate(block.column("corpus_ID")):
            article_id = _known(article, corpus, "article of the corpus", block.where(row, "corpus_ID"))
            if article_id in notes:
                raise DataError(
                    f"{block.where(row)}: article {article_id} has a note already", expected="one note an article"
                )
            rest = {name: json_ready(values[row]) for name, values in block.extra.items() if is_reported(values[row])}
            notes[article_id] = {
                "review_id": whole_number(block.column("review_ID")[row], block.where(row, "review_ID")),
                **rest,
            }
    return notes


def _known(value: Any, known: Mapping, what: str, where: str) -> int:
    number = whole_number(value, where)
    if number not in known:
        raise DataError(f"{where} is {number}, which is no {what}", expected=f"the ID of a {what.split()[0]}")
    return number


def _refuse_twice(what: str, number: int, where: str) -> None:
    raise DataError(
        f"{where}: {what} {number} occurs twice",
        expected="each ID once",
        remedy="merge the rows, or give one of them another ID",
    )
