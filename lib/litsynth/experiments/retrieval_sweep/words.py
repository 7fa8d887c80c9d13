"""The sweep's findings in words and in small tables for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown, side_by_side
from litsynth.experiments.store import Run

_SHOWN = ("recall", "ndcg", "precision", "average_precision", "wss95", "wss95_screened", "rank_of_last")


def at_depth(run: Run, summary: pd.DataFrame, depth: int | None = None) -> pd.DataFrame:
    """Return the measures at one depth (the largest when None), a row a retriever, for reading.

    Each cell is a macro mean with its 95 % interval; `reviews` is the number of reviews in the mean of recall.
    """
    depth = depth or max(run.parameters.depths)
    part = summary[summary["depth"].isin([0, depth]) & summary["measure"].isin(_SHOWN)]
    rows = []
    for retriever in run.parameters.retrievers:
        own = part[part["retriever"] == retriever].set_index("measure")
        cells = {}
        for name in _SHOWN:
            if name in own.index:
                row = own.loc[name]
                digits = 0 if name == "rank_of_last" else 3
                label = f"{name}@{depth}" if row["depth"] else name
                cells[label] = f"{shown(row['value'], row['low'], row['high'], digits=digits)}, n = {row['n']}"
        rows.append({"retriever": retriever, **cells})
    return pd.DataFrame(rows).set_index("retriever")


def verdict(run: Run, standing: pd.DataFrame, table: pd.DataFrame) -> str:
    """Say which retriever finds most at the largest depth, and how sure that is."""
    return verdict_of({"parameters": run.parameters.model_dump(mode="json")}, standing, table)


def verdict_of(manifest: Mapping[str, Any], standing: pd.DataFrame, table: pd.DataFrame) -> str:
    """Say the same from a promoted result's manifest and tables."""
    depth = max(manifest["parameters"]["depths"])
    if len(standing) == 1:
        return f"{standing.iloc[0]['retriever']} was the only retriever: there is nothing to compare it with."
    first = standing.iloc[0]
    reviews = int(first["n"])
    lead = table[(table["measure"] == "recall") & (table["depth"] == depth)
                 & ((table["a"] == first["retriever"]) | (table["b"] == first["retriever"]))]
    parts = []
    for row in lead.itertuples():
        flip = -1 if row.b == first["retriever"] else 1
        other = row.a if flip < 0 else row.b
        low, high = (row.low, row.high) if flip > 0 else (_negative(row.high), _negative(row.low))
        parts.append(f"{shown(flip * row.value, low, high, signed=True)} over {other}")
    share = first["share_first"]
    known = share is not None and share == share
    sure = f"; it comes first, alone or tied, in {share:.0%} of bootstrap resamples of the reviews" if known else ""
    return (f"{first['retriever']} finds the largest share of included studies within {depth} "
            f"on {reviews} reviews{sure}. "
            + "Its lead in recall: " + "; ".join(parts) + ".")


def reading_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the macro means of all retrievers side by side, a row a measure and depth."""
    return side_by_side(
        ({"measure": f"{row.measure}@{row.depth}" if row.depth else row.measure}, row.retriever,
         shown(row.value, row.low, row.high, digits=0 if row.measure == "rank_of_last" else 3),
         f"{row.n} of {row.reviews}") for row in summary.itertuples())


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
