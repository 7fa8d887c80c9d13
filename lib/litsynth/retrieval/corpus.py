"""The searchable side of a data set: articles in order of ID, their document text, and what identifies them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from litsynth.errors import DataError
from litsynth.records import Article, Dataset

DOCUMENT_TEMPLATE = "title abstract, white space collapsed/1"


def document_text(article: Article) -> str:
    """Return what every retriever reads of an article: title and abstract, white space collapsed."""
    return " ".join(f"{article.title or ''} {article.abstract or ''}".split())


class SearchCorpus:
    """The articles of a data set in ascending order of ID, whatever order its file has.

    `ids` has shape (n,), int64, ascending: row r of every index is the article `ids[r]`.
    Raises `DataError` when the data set has no corpus.
    """

    def __init__(self, dataset: Dataset) -> None:
        if not dataset.corpus:
            raise DataError(f"data set {dataset.name!r} has an empty corpus", expected="at least one article",
                            remedy="check its corpus file, or choose a data set with reviews (`litsynth data list`)")
        self.dataset_name, self.dataset_checksum = dataset.name, dataset.checksum
        self.ids = np.array(sorted(dataset.corpus), dtype=np.int64)
        self.ids.setflags(write=False)
        self._articles = dataset.corpus

    def __len__(self) -> int:
        return len(self.ids)

    def texts(self) -> Iterator[str]:
        """Yield the document text of every article, in order of `ids`."""
        for number in self.ids.tolist():
            yield document_text(self._articles[number])

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of all IDs, titles and abstracts: what an index was built for."""
        digest = hashlib.sha256()
        for number in self.ids.tolist():
            title, abstract = self._articles[number].title or "", self._articles[number].abstract or ""
            # The lengths before the texts keep two different corpora from giving one stream of bytes.
            digest.update(f"{number} {len(title)} {len(abstract)} {title}{abstract}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @property
    def identity(self) -> dict[str, object]:
        """What an index records of its corpus: number of articles, hash and document template."""
        return {"articles": len(self), "sha256": self.sha256, "template": DOCUMENT_TEMPLATE}
