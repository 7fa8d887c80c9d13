"""From items to tables: measures, macro means, paired differences and misses."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import estimate_row
from litsynth.experiments.store import Run
from litsynth.stats import mean_bootstrap, paired_bootstrap, rank_bootstrap

LOW_OVERLAP = 0.1  # an included study that shares under a tenth of the query's words counts as a vocabulary gap


def score_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return a row a review, retriever, measure and depth with value, status and reason; saved as `measures`."""
    rows = []
    for item in items:
        base = {"retriever": item["retriever"], "review": item["review"], "relevant": item["relevant"],
                "candidates": item["candidates"], "status": item["status"], "reason": item["reason"]}
        made = dict(item["measures"]) or dict.fromkeys(_names(run))
        if item.get("screened"):
            made["wss95_screened"] = item["screened"]["wss95"]
        for name, value in made.items():
            kind, _, depth = name.partition("@")
            note = _INCOMPLETE if kind in ("rank_of_last", "wss95") and not item.get("complete", True) else ""
            rows.append({**base, "measure": kind, "depth": int(depth) if depth else 0, "value": value,
                         "reason": item["reason"] or note})
    frame = pd.DataFrame(rows).astype({"value": "float64"})
    frame = frame.sort_values(["retriever", "measure", "depth", "review"], kind="stable", ignore_index=True)
    run.save_table("measures", frame)
    return frame


_INCOMPLETE = "not every included study was retrieved; the rest of the corpus counts as read"


def _names(run: Run) -> list[str]:
    depths = sorted(set(run.parameters.depths))
    return [f"{kind}@{depth}" for depth in depths for kind in ("recall", "precision", "ndcg")] + [
        "average_precision", "rank_of_last", "wss95"]


def summarise(run: Run, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the macro mean over reviews of each retriever, measure and depth with its interval, saved as `summary`.

    A review without a reference set leaves the mean; one with nothing retrieved counts as 0. `n` is the number of
    reviews in the mean, `reviews` the number asked.
    """
    rows = []
    for (retriever, measure, depth), part in scores.groupby(["retriever", "measure", "depth"], sort=True):
        valid = part["value"].dropna()
        estimate = mean_bootstrap(valid, seed=run.parameters.seed, resamples=run.parameters.resamples)
        rows.append({"retriever": retriever, "measure": measure, "depth": depth, "reviews": len(part),
                     **estimate_row(estimate)})
    frame = pd.DataFrame(rows)
    run.save_table("summary", frame)
    return frame


def differences(run: Run, scores: pd.DataFrame) -> pd.DataFrame:
    """Return each paired difference of two retrievers over the reviews that both have; saved as `differences`."""
    rows = []
    for (measure, depth), part in scores.groupby(["measure", "depth"], sort=True):
        wide = part.pivot(index="review", columns="retriever", values="value")
        for a, b in combinations(run.parameters.retrievers, 2):
            both = wide[[a, b]].dropna()
            estimate = paired_bootstrap(both[a], both[b], seed=run.parameters.seed,
                                        resamples=run.parameters.resamples)
            rows.append({"measure": measure, "depth": depth, "a": a, "b": b, **estimate_row(estimate)})
    columns = ["measure", "depth", "a", "b", "value", "low", "high", "n", "clusters", "method", "reason"]
    frame = pd.DataFrame(rows, columns=columns)
    run.save_table("differences", frame)
    return frame


def standing(run: Run, scores: pd.DataFrame) -> pd.DataFrame:
    """Return each retriever's rank by recall at the largest depth with its bootstrap interval, saved as `standing`."""
    depth = max(run.parameters.depths)
    part = scores[(scores["measure"] == "recall") & (scores["depth"] == depth)]
    wide = part.pivot(index="retriever", columns="review", values="value").dropna(axis="columns")
    ranks = rank_bootstrap(wide.to_numpy(), seed=run.parameters.seed, resamples=run.parameters.resamples)
    rows = [{"retriever": name, "measure": f"recall@{depth}", **estimate_row(rank),
             "share_first": rank.details.get("first")} for name, rank in zip(wide.index, ranks, strict=True)]
    frame = pd.DataFrame(rows).sort_values(["value", "retriever"], kind="stable", ignore_index=True)
    run.save_table("standing", frame)
    return frame


def misses(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return one row an included study and retriever, with its rank and why it may be missed, saved as `misses`.

    `found` says whether it stands within the largest depth. `trait` is one of: no abstract; few query words
    (shares under a tenth of the query's words); other.
    """
    rows = [{"retriever": item["retriever"], "review": item["review"], "article": row["article"], "rank": row["rank"],
             "found": row["found"], "no_abstract": row["no_abstract"],
             "query_words_shared": row["query_words_shared"], "trait": _trait(row)}
            for item in items for row in item["ranks"]]
    columns = ["retriever", "review", "article", "rank", "found", "no_abstract", "query_words_shared", "trait"]
    frame = pd.DataFrame(rows, columns=columns).astype({"rank": "Int64"})
    run.save_table("misses", frame)
    return frame


def _trait(row: dict[str, Any]) -> str:
    if row["no_abstract"]:
        return "no abstract"
    return "few query words" if row["query_words_shared"] < LOW_OVERLAP else "other"


def miss_summary(run: Run, table: pd.DataFrame) -> pd.DataFrame:
    """Return how many included studies of each trait each retriever misses; saved as `miss_summary`."""
    counts = table.groupby(["retriever", "trait"], sort=True)["found"].agg(["size", "sum"]).reset_index()
    counts = counts.rename(columns={"size": "studies", "sum": "found"})
    counts["missed"] = counts["studies"] - counts["found"]
    counts["share_missed"] = counts["missed"] / counts["studies"]
    run.save_table("miss_summary", counts)
    return counts


def left_out(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the reviews that are named beside the means: without a reference set, or with nothing retrieved."""
    odd = scores[scores["reason"].isin(["no reference set", "nothing retrieved: every measure is 0"])]
    return odd[["retriever", "review", "status", "reason"]].drop_duplicates(ignore_index=True)
