"""Recall of the HNSW index against exact search, with the speed of both, on a data set's real embeddings.

usage: python tests/benchmarks/hnsw_recall.py DATASET [--retriever minilm] [--depth 200] [--output FILE.json]

Queries are the protocols of all reviews and the titles of 200 articles. Embeddings come from the store where they are.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from litsynth import datasets
from litsynth.files import write_json
from litsynth.retrieval import open_retriever, protocol_query
from litsynth.retrieval.dense import DenseRetriever, recall_against_flat
from litsynth.retrieval.hnsw import EF_PER_RESULT, EF_PROTOCOL, Graph

EFFORTS = (64, 128, 256, 512, 1024, 1600, 2400, 3200)


def milliseconds(retriever: DenseRetriever, queries: list[str], depth: int) -> float:
    """Return the median milliseconds of a search, the encoding of the query left out (it is remembered)."""
    seconds = []
    for query in queries:
        retriever.search(query, depth)
        start = time.perf_counter()
        retriever.search(query, depth)
        seconds.append(time.perf_counter() - start)
    return 1000 * float(np.median(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--retriever", default="minilm")
    parser.add_argument("--depth", type=int, default=200)
    parser.add_argument("--titles", type=int, default=200)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    data = datasets.load(options.dataset)
    protocols = [protocol_query(review) for review in data.reviews.values()]
    drawn = np.random.default_rng(718).choice(sorted(data.corpus), min(options.titles, len(data.corpus)), replace=False)
    queries = protocols + [title for number in drawn.tolist() if (title := data.corpus[number].title.strip())]
    start = time.perf_counter()
    retriever = open_retriever(options.retriever, data, kind="hnsw")
    build_seconds, rows = time.perf_counter() - start, []
    flat_milliseconds = milliseconds(retriever.as_flat(), queries, options.depth)
    settings = [("protocol", f"default ({max(EF_PROTOCOL, EF_PER_RESULT * options.depth)})"),
                *((effort, str(effort)) for effort in EFFORTS)]
    built = retriever.graph
    for setting, name in settings:
        retriever.graph = Graph(built._index, setting)
        shares = recall_against_flat(retriever, queries, options.depth)
        rows.append({"ef_search": name, "recall_mean": float(np.mean(shares)), "recall_min": min(shares),
                     "recall_protocols_mean": float(np.mean(shares[:len(protocols)])),
                     "milliseconds": milliseconds(retriever, queries, options.depth)})
    print(f"{len(data.corpus)} articles, {len(queries)} queries, depth {options.depth}; "  # noqa: T201
          f"opened in {build_seconds:.1f} s; flat {flat_milliseconds:.2f} ms a query")
    for row in rows:
        print(f"efSearch {row['ef_search']:>15}: recall mean {row['recall_mean']:.4f}, "  # noqa: T201
              f"min {row['recall_min']:.4f}, protocols {row['recall_protocols_mean']:.4f}; "
              f"{row['milliseconds']:.2f} ms")
    if options.output:
        write_json(options.output, {
            "articles": len(data.corpus), "queries": len(queries), "depth": options.depth,
            "open_seconds": build_seconds, "flat_milliseconds": flat_milliseconds, "hnsw": rows})


if __name__ == "__main__":
    main()
