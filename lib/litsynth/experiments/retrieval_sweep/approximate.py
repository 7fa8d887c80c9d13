"""HNSW against exact search: what the published approximate index loses, and what it gains in speed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from litsynth.experiments.store import Run
from litsynth.retrieval import open_retriever, parts_of, protocol_query
from litsynth.retrieval.hnsw import EF_PER_RESULT, EF_PROTOCOL

DEPTH = 200
EF_GRID = (64, 128, 256, 512, 1024)


def compare_hnsw(run: Run) -> pd.DataFrame:
    """Return, for each dense retriever and efSearch, the share of the exact top 200 that HNSW finds, saved as `hnsw`.

    One row an encoder and efSearch: mean and least recall over the reviews' protocol queries. Seconds a query go into
    the manifest, not the table. The last row of each encoder is the default setting for protocol queries.
    """
    dense = [name for name in run.parameters.retrievers if len(parts_of(name)) == 1 and name != "bm25"]
    items = run.compute(_work(run, dense), stage="HNSW against exact search")
    rows = [row for item in items for row in item["rows"]]
    columns = ["retriever", "ef_search", "default", "depth", "recall", "least", "queries"]
    frame = pd.DataFrame(rows, columns=columns)
    run.save_table("hnsw", frame)
    run.record(hnsw_seconds_a_query={item["retriever"]: item["seconds"] for item in items})
    return frame


def _work(run: Run, names: list[str]) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    for name in names:
        yield f"hnsw/{name}", lambda name=name: _compare(run, name)


def _compare(run: Run, name: str) -> dict[str, Any]:
    reviews = run.dataset.split(run.parameters.split)
    queries = {i: (protocol_query(review), review.source_ids) for i, review in reviews.items()}
    depth = min(DEPTH, len(run.dataset.corpus))
    flat = open_retriever(name, run.dataset, kind="flat", device=run.parameters.device)
    exact, flat_seconds = _search(flat, queries, depth)
    default = max(EF_PROTOCOL, EF_PER_RESULT * depth)
    graph = open_retriever(name, run.dataset, kind="hnsw", device=run.parameters.device)
    rows, seconds = [], {"flat": flat_seconds}
    for ef in (*(ef for ef in EF_GRID if ef >= 64 and ef < default), default):
        found, seconds[str(ef)] = _search(graph.with_ef_search(ef), queries, depth)
        shares = [len(found[i] & exact[i]) / len(exact[i]) for i in queries if exact[i]]
        rows.append({"retriever": name, "ef_search": ef, "default": ef == default, "depth": depth,
                     "recall": sum(shares) / len(shares), "least": min(shares), "queries": len(shares)})
    return {"retriever": name, "rows": rows, "seconds": seconds}


def _search(retriever: Any, queries: dict[int, tuple[str, tuple[int, ...]]],
            depth: int) -> tuple[dict[int, set[int]], float]:
    """Return each query's found IDs and the mean seconds a query, the encoding of the query being done before."""
    for query, _ in queries.values():
        retriever.search(query, 1)
    start = time.perf_counter()
    found = {i: set(map(int, retriever.search(query, depth, exclude=exclude).ids))
             for i, (query, exclude) in queries.items()}
    return found, (time.perf_counter() - start) / max(1, len(queries))
