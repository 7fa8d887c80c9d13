"""T4·∞ and T5·∞: the same questions over the live pool of PubMed Central."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from litsynth.datasets.litbench_text import with_text
from litsynth.datasets.pmc import PmcClient
from litsynth.errors import DataError, ParameterError
from litsynth.records import Paper, Passage, Searcher
from litsynth.text import words

MOST_WORDS = 24  # of a question that go into one query


class LivePool:
    """A searcher over all records that match `pool_query` today, such as `epilepsy[mesh]`.

    A search sends the query's content words, joined by OR and restricted to the pool, takes the best
    `papers_per_query` records as the server ranks them, fetches their full text into `folder`, and lets
    `searcher_of` find the passages in them. A paper of the bank (`bank`, matched by PMID or PMCID) keeps its
    id there, so that an answer can name it; any other is called by its PMCID. One pool serves one question,
    so that `paper_ids` are the papers which that question has seen.
    """

    def __init__(self, client: PmcClient, pool_query: str, searcher_of: Callable[[Mapping[str, Paper]], Searcher],
                 folder: Path, *, bank: Mapping[str, Paper] | None = None, papers_per_query: int = 20) -> None:
        if not pool_query.strip():
            raise ParameterError("the pool's query is empty", expected="a PubMed Central query for the specialty",
                                 remedy="give one, such as epilepsy[mesh]")
        self._client, self._pool_query, self._searcher_of = client, pool_query, searcher_of
        self._folder, self._limit = folder, papers_per_query
        self._bank_ids = {_key(paper.identifier): paper.id for paper in (bank or {}).values() if paper.identifier}
        self._seen: dict[str, Paper] = {}
        self._searches: list[dict[str, Any]] = []

    @property
    def paper_ids(self) -> tuple[str, ...]:
        """The papers that searches have brought up so far, in that order."""
        return tuple(self._seen)

    def search(self, query: str, k: int) -> list[Passage]:
        """Return the `k` best passages of the records ranked best for `query`; none when it has no content word."""
        if k < 1:
            raise ParameterError(f"k is {k}", expected="at least 1 passage")
        terms = list(dict.fromkeys(words(query)))[:MOST_WORDS]
        if not terms:
            return []
        # Only letters and digits of the question are sent, so that its text cannot act as query syntax.
        term = f"({' OR '.join(terms)}) AND ({self._pool_query})"
        found = self._client.best(term, self._limit)
        papers = self._papers(found.ids)
        self._seen.update(papers)
        self._searches.append({"query": query, "term": term, "date": found.date, "matches": found.count,
                               "papers": list(papers)})
        return self._searcher_of(papers).search(query, k) if papers else []

    def read(self, paper_id: str) -> list[Passage]:
        """Return all passages of a paper that a search brought up; raises `KeyError` for any other."""
        return self._searcher_of({paper_id: self._seen[paper_id]}).read(paper_id)

    def record(self) -> dict[str, Any]:
        """Return what a run's manifest keeps: the pool's query, its size and date, and every search with its term."""
        return {**pool_record(self._client, self._pool_query), "searches": list(self._searches)}

    def _papers(self, pmcids: tuple[str, ...]) -> dict[str, Paper]:
        places = self._client.fetch(pmcids, self._folder)
        papers = {}
        for pmcid in pmcids:
            place = places[pmcid]
            if place is None:
                continue
            paper_id = self._bank_ids.get(_key(pmcid)) or self._bank_ids.get(_key(_pmid_in(place))) or pmcid
            bare = Paper(paper_id, "gold", "", "", identifier_type="PMCID", identifier=pmcid)
            papers[paper_id] = with_text(bare, place)
        return papers


def pool_record(client: PmcClient, pool_query: str) -> dict[str, Any]:
    """Return the query of a live pool, how many records match it now, and today's UTC date."""
    now = client.best(pool_query, 1)
    if not now.count:
        raise DataError(f"the pool {pool_query!r} is empty", expected="a query that matches records",
                        remedy="check its spelling on the web site of PubMed Central")
    return {"pool": pool_query, "records": now.count, "date": now.date}


def _key(identifier: str | None) -> str:
    return re.sub(r"^PMID:?\s*", "", (identifier or "").strip().upper())


def _pmid_in(place: Path) -> str | None:
    from litsynth.datasets.jats import parse_articles

    return parse_articles(place.read_bytes(), str(place))[0].pmid
