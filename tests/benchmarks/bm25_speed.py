"""Time and memory of BM25 against rank_bm25 on one large corpus, in one run, with a check that both find the same.

usage: python tests/benchmarks/bm25_speed.py DATASET [--documents 140000] [--output FILE.json]

The corpus is made of the sentences of a data set's abstracts: shuffled and dealt out again in the real lengths, as
often as needed. Needs rank_bm25 and about 6 GB.
"""

from __future__ import annotations

import argparse
import re
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from litsynth import datasets
from litsynth.files import write_json
from litsynth.records import Article, Dataset
from litsynth.retrieval import SearchCorpus, document_text, protocol_query
from litsynth.retrieval.bm25 import Bm25Retriever
from litsynth.text import words

DEPTH = 200


def shuffled_corpus(dataset: Dataset, documents: int, seed: int = 718) -> Dataset:
    """Return a data set of `documents` articles whose sentences are those of `dataset`, shuffled across articles."""
    rng = np.random.default_rng(seed)
    articles = list(dataset.corpus.values())
    sentences = [re.split(r"(?<=[.!?])\s+", article.abstract) if article.abstract else [] for article in articles]
    pool, lengths = [one for group in sentences for one in group], [len(group) for group in sentences]
    corpus: dict[int, Article] = {}
    while len(corpus) < documents:
        order, titles, start = rng.permutation(len(pool)), rng.permutation(len(articles)), 0
        for title, length in zip(titles, lengths, strict=True):
            abstract = " ".join(pool[row] for row in order[start:start + length])
            start += length
            number = len(corpus) + 1
            corpus[number] = Article(number, articles[title].title, abstract)
            if len(corpus) == documents:
                break
    return Dataset("shuffled", "0" * 64, True, reviews=dataset.reviews, corpus=corpus)


def resident_megabytes() -> float:
    """Return the memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def timed(work: Any) -> tuple[Any, float]:
    """Return the result of a call and its seconds."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def build_ours(dataset: str, documents: int, folder: Path) -> dict[str, float]:
    """Build and save our index; returns figures."""
    data = shuffled_corpus(datasets.load(dataset), documents)
    before = resident_megabytes()
    built, build_seconds = timed(lambda: Bm25Retriever(SearchCorpus(data)))
    _, save_seconds = timed(partial(built.save, folder / "index"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    size = sum(path.stat().st_size for path in (folder / "index").iterdir()) / 1e6
    return {"build_seconds": build_seconds, "save_seconds": save_seconds, "index_megabytes": size,
            "build_peak_memory_megabytes": peak - before}


def search_ours(dataset: str, documents: int, folder: Path) -> tuple[dict[str, float], list[np.ndarray]]:
    """Load our index and query it; returns figures and the top ids of every query."""
    source = datasets.load(dataset)
    corpus = SearchCorpus(shuffled_corpus(source, documents))
    queries = [protocol_query(review) for review in source.reviews.values()]
    _, hash_seconds = timed(lambda: corpus.sha256)
    _, import_seconds = timed(lambda: import_module("bm25s"))
    before = resident_megabytes()
    retriever, load_seconds = timed(lambda: Bm25Retriever.load(folder / "index", corpus))
    loaded, rounds = resident_megabytes() - before, []
    found = [retriever.search(query, DEPTH).ids for query in queries]
    for _ in range(5):
        rounds.append([timed(lambda query=query: retriever.search(query, DEPTH))[1] for query in queries])
    return {"import_seconds": import_seconds, "corpus_hash_seconds": hash_seconds, "load_seconds": load_seconds,
            "memory_after_load_megabytes": loaded,
            "memory_after_queries_megabytes": resident_megabytes() - before,
            "query_seconds": float(np.median(rounds, axis=0).mean())}, found


def measure_peer(dataset: str, documents: int) -> tuple[dict[str, float], list[np.ndarray]]:
    """Build and query rank_bm25; returns figures and the top ids of every query by our tie rule."""
    source = datasets.load(dataset)
    data = shuffled_corpus(source, documents)
    ids, before = np.array(sorted(data.corpus)), resident_megabytes()
    tokens = [words(document_text(data.corpus[number])) for number in ids.tolist()]
    peer, build_seconds = timed(lambda: BM25Okapi(tokens))
    tokens.clear()
    memory, tops, seconds = resident_megabytes() - before, [], []
    for query in (protocol_query(review) for review in source.reviews.values()):
        scores, spent = timed(lambda query=query: peer.get_scores(words(query)))
        order, sorting = timed(lambda scores=scores: np.lexsort((ids, -scores))[:DEPTH])
        tops.append(ids[order[scores[order] > 0]])
        seconds.append(spent + sorting)
    return {"build_seconds": build_seconds, "memory_megabytes": memory, "query_seconds": float(np.mean(seconds))}, tops


def alone(work: Any, *arguments: Any) -> Any:
    """Call `work` in a process of its own, so that no other measurement's memory counts."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--documents", type=int, default=140_000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = alone(build_ours, options.dataset, options.documents, Path(folder))
        searched, found = alone(search_ours, options.dataset, options.documents, Path(folder))
    ours = {**built, **searched}
    peer, wanted = alone(measure_peer, options.dataset, options.documents)
    overlaps = [len(np.intersect1d(one, other)) / max(1, len(other)) for one, other in zip(found, wanted, strict=True)]
    same_order = sum(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))
    result = {"documents": options.documents, "queries": len(found), "depth": DEPTH, "ours": ours, "rank_bm25": peer,
              "ratio": peer["query_seconds"] / ours["query_seconds"], "top_overlap_min": min(overlaps),
              "top_same_order": same_order}
    for side in ("ours", "rank_bm25"):
        for name, value in result[side].items():
            print(f"{side:10} {name:32} {value:12.4f}")  # noqa: T201
    print(f"rank_bm25 / ours a query: {result['ratio']:.0f}; top {DEPTH} overlap at least {min(overlaps):.4f}, "  # noqa: T201
          f"same order for {same_order} of {len(found)}")
    if options.output:
        write_json(options.output, result)


if __name__ == "__main__":
    main()
