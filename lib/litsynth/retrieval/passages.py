"""Passages of papers and keyword search over any set of candidate papers.

A bank is split and indexed once (`PassageIndex`); a searcher over one question's candidates
(`CandidateSearcher`) only restricts the rows, so that making one and asking it takes about a
millisecond. All statistics (how many passages hold a word, the mean length) are those of the
candidate set: numbers from outside would tell a system about papers that it must not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from litsynth.errors import DataError, ParameterError
from litsynth.records import Paper, Passage, Ranking
from litsynth.retrieval.sentences import sentence_spans
from litsynth.text import STOP_WORDS

PASSAGE_SENTENCES = 3  # sentences a passage
PASSAGE_OVERLAP = 1  # sentences that two neighbouring passages share
SATURATION = 1.5  # BM25's k1
LENGTH_WEIGHT = 0.75  # BM25's b

_TOKEN = re.compile(r"\w+")


class UnknownPaperError(DataError, KeyError):
    """A paper that is no candidate of the question at hand."""

    __str__ = Exception.__str__  # KeyError would show the message in quotation marks


def term_of(token: str) -> str | None:
    """Return the search term of a lower-cased word, or None for one that is not searched.

    Stop words and single letters are not searched; a plural s is dropped ("seizures" finds "seizure").
    """
    if token in STOP_WORDS or (len(token) < 2 and not token.isdigit()):
        return None
    if len(token) > 3 and token[-1] == "s" and token[-2] not in "siu" and not token.isdigit():
        return token[:-1]
    return token


def terms(text: str) -> list[str]:
    """Return the search terms of `text`, in order, repeats included."""
    return [term for token in _TOKEN.findall(text.lower()) if (term := term_of(token)) is not None]


def merge_passages(passages: Iterable[Passage]) -> list[Passage]:
    """Join the overlapping passages of a paper in reading order into one passage a section.

    White space between sentences becomes spaces; offsets within a section stay right.
    """
    sections: dict[tuple[str, int], Passage] = {}
    for passage in passages:
        key = (passage.paper_id, passage.section)
        known = sections.get(key)
        if known is None:
            sections[key] = Passage(*key, passage.heading, passage.start, passage.text)
            continue
        length = passage.start - known.start
        text = known.text.ljust(length)[: max(length, 0)] + passage.text
        if len(text) > len(known.text):
            sections[key] = Passage(*key, known.heading, known.start, text)
    return list(sections.values())


class _Vocabulary(dict[str, int]):
    """Numbers of lower-cased words: -1 for one that is not searched, else the number of its term."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        term = term_of(token)
        number = -1 if term is None else self.terms.setdefault(term, len(self.terms))
        self[token] = number
        return number


class PassageIndex:
    """The passages of all papers of a bank, with the postings of their terms.

    A passage is `sentences` successive sentences of one section, `overlap` of them shared with the
    next; its terms are those of its text, its section's heading and its paper's title. Rows stand in the order
    (paper id, section, start), which also breaks ties. Role and stratum of a paper are not kept.
    """

    def __init__(self, papers: Mapping[str, Paper] | Iterable[Paper], *, sentences: int = PASSAGE_SENTENCES,
                 overlap: int = PASSAGE_OVERLAP) -> None:
        if not 0 <= overlap < sentences:
            raise ParameterError(f"passages of {sentences} sentences cannot share {overlap}",
                                 expected="0 <= overlap < sentences", remedy="choose a smaller overlap")
        listed = papers.values() if isinstance(papers, Mapping) else papers
        ordered = sorted(listed, key=lambda paper: paper.id)
        self.paper_ids: tuple[str, ...] = tuple(paper.id for paper in ordered)
        self.position: dict[str, int] = {paper_id: i for i, paper_id in enumerate(self.paper_ids)}
        if len(self.position) < len(ordered):
            doubled = sorted({i for i in self.paper_ids if self.paper_ids.count(i) > 1})
            raise DataError(f"papers listed twice: {', '.join(doubled[:5])}", expected="one record a paper",
                            remedy="remove the duplicates from the bank")
        self._sections = tuple(paper.sections for paper in ordered)
        self._build(ordered, sentences, overlap)

    def _build(self, papers: Sequence[Paper], sentences: int, overlap: int) -> None:
        """Split every section and count the terms of every passage."""
        vocabulary = _Vocabulary()
        tokens: list[int] = []
        rows: list[tuple[int, int, int, int]] = []  # paper, section, start, end
        ranges: list[tuple[int, int, int, int]] = []  # tokens of title and heading, tokens of the sentences
        for number, paper in enumerate(papers):
            for section_number, section in enumerate(paper.sections):
                spans = sentence_spans(section.text)
                if not spans:
                    continue
                bounds = [len(tokens)]
                for text in (f"{paper.title} {section.heading}", *(section.text[a:b] for a, b in spans)):
                    tokens.extend(map(vocabulary.__getitem__, _TOKEN.findall(text.lower())))
                    bounds.append(len(tokens))
                for first in range(0, max(len(spans) - overlap, 1), sentences - overlap):
                    last = min(first + sentences, len(spans)) - 1
                    rows.append((number, section_number, spans[first][0], spans[last][1]))
                    ranges.append((bounds[0], bounds[1], bounds[first + 1], bounds[last + 2]))
        self._rows = np.array(rows, dtype=np.int32).reshape(-1, 4)
        self._terms = vocabulary.terms
        counts = np.bincount(self._rows[:, 0], minlength=len(papers))
        self.first_row = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._count(np.array(tokens, dtype=np.int32), np.array(ranges, dtype=np.int64).reshape(-1, 4))

    def _count(self, tokens: np.ndarray, ranges: np.ndarray) -> None:
        """Turn token ranges, shape (rows, 4), into postings by term and row lengths."""
        from scipy.sparse import coo_matrix

        row_parts, term_parts = [], []
        for start, end in ((ranges[:, 0], ranges[:, 1]), (ranges[:, 2], ranges[:, 3])):
            sizes = end - start
            row = np.repeat(np.arange(len(ranges), dtype=np.int32), sizes)
            offset = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            term = tokens[np.repeat(start, sizes) + offset]
            row_parts.append(row[term >= 0])
            term_parts.append(term[term >= 0])
        row, term = np.concatenate(row_parts), np.concatenate(term_parts)
        shape = (len(ranges), max(len(self._terms), 1))
        matrix = coo_matrix((np.ones(len(row), dtype=np.float32), (row, term)), shape=shape).tocsc()
        matrix.sort_indices()
        self._indptr, self._indices, self._frequencies = matrix.indptr, matrix.indices, matrix.data
        self.lengths = np.bincount(row, minlength=len(ranges)).astype(np.float64)
        self._length_sums = np.concatenate([[0.0], np.cumsum(self.lengths)])

    def __len__(self) -> int:
        return len(self._rows)

    def postings(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that hold `term`, ascending, and how often each does; both of shape (n,)."""
        number = self._terms.get(term)
        if number is None:
            return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        stretch = slice(self._indptr[number], self._indptr[number + 1])
        return self._indices[stretch], self._frequencies[stretch]

    def passage(self, row: int, score: float = 0.0) -> Passage:
        """Return the passage of one row."""
        paper, section, start, end = map(int, self._rows[row])
        source = self._sections[paper][section]
        return Passage(self.paper_ids[paper], section, source.heading, start, source.text[start:end], score)

    def length_of(self, positions: np.ndarray) -> tuple[int, float]:
        """Return how many passages and how many terms the papers at `positions` have together."""
        first, last = self.first_row[positions], self.first_row[positions + 1]
        return int((last - first).sum()), float((self._length_sums[last] - self._length_sums[first]).sum())

    def searcher(self, paper_ids: Sequence[str]) -> CandidateSearcher:
        """Return the searcher over a set of candidate papers."""
        return CandidateSearcher(paper_ids, self)


class CandidateSearcher:
    """Keyword search (BM25) over the passages of a question's candidate papers, and nothing else.

    score(q, p) = sum over the distinct terms t of q of idf(t) tf (k1 + 1) / (tf + k1 (1 - b + b |p| / mean |p|)) with
    idf(t) = ln(1 + (P - n_t + 0.5) / (n_t + 0.5)), P passages, n_t of them with t, all within the candidate set
    (Robertson and Zaragoza 2009; the 1 + keeps common terms positive). Raises `UnknownPaperError` for a
    candidate that the index does not have and `DataError` for one named twice.
    """

    def __init__(self, paper_ids: Sequence[str], index: PassageIndex) -> None:
        self.paper_ids: tuple[str, ...] = tuple(paper_ids)
        self._index = index
        try:
            positions = np.array([index.position[paper_id] for paper_id in self.paper_ids], dtype=np.int64)
        except KeyError as error:
            raise UnknownPaperError(f"candidate {error.args[0]!r} is not in the indexed bank",
                                    expected="papers of the bank that the index was built from",
                                    remedy="build the index and the candidate set from the same data set") from None
        chosen = np.zeros(len(index.paper_ids), dtype=bool)
        chosen[positions] = True
        if int(chosen.sum()) < len(positions):
            doubled = next(i for i in self.paper_ids if self.paper_ids.count(i) > 1)
            raise DataError(f"candidate {doubled!r} is named twice", expected="each candidate paper once",
                            remedy="draw the candidate set again")
        self._members = np.repeat(chosen, np.diff(index.first_row))
        self._all = bool(chosen.all())
        self._passages, total = index.length_of(positions)
        mean = total / self._passages if self._passages else 1.0
        self._length_scale = SATURATION * LENGTH_WEIGHT / mean if mean else 0.0

    def _postings(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        rows, frequencies = self._index.postings(term)
        if self._all or not len(rows):
            return rows, frequencies
        keep = self._members[rows]
        return rows[keep], frequencies[keep]

    def _inverse_frequency(self, holders: int) -> float:
        return float(np.log1p((self._passages - holders + 0.5) / (holders + 0.5)))

    def search(self, query: str, k: int) -> list[Passage]:
        """Return the `k` best passages, best first, ties by (paper id, section, start); `k` is at least 1."""
        if k < 1:
            raise ParameterError(f"k = {k} passages", expected="at least 1", remedy="ask for one passage or more")
        found, scores = [], []
        for term in dict.fromkeys(terms(query)):
            rows, frequencies = self._postings(term)
            if not len(rows):
                continue
            norm = SATURATION * (1 - LENGTH_WEIGHT) + self._length_scale * self._index.lengths[rows]
            found.append(rows)
            scores.append(self._inverse_frequency(len(rows)) * (SATURATION + 1) * frequencies / (frequencies + norm))
        if not found:
            return []
        summed = np.bincount(np.concatenate(found), weights=np.concatenate(scores))
        rows = np.flatnonzero(summed)
        ranking = Ranking.of(rows, summed[rows], k)
        return [self._index.passage(int(row), float(score))
                for row, score in zip(ranking.ids, ranking.scores, strict=True)]

    def read(self, paper_id: str) -> list[Passage]:
        """Return all passages of a candidate in reading order; raises `UnknownPaperError` for any other paper."""
        position = self._index.position.get(paper_id)
        if position is None or paper_id not in self.paper_ids:
            raise UnknownPaperError(f"paper {paper_id!r} is not among the {len(self.paper_ids)} candidate papers",
                                    expected="a paper that a search returned",
                                    remedy="search first, then read what it names")
        first, last = self._index.first_row[position], self._index.first_row[position + 1]
        return [self._index.passage(row) for row in range(first, last)]
