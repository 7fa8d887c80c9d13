"""What the tables say, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown, side_by_side

_NAMES = {"recall": "recall", "ndcg": "nDCG", "average_precision": "average precision",
          "wss95_screened": "work saved at 95 % recall"}


def verdict(differences: pd.DataFrame, base: str) -> str:
    """Return what training changed, and whether the test reviews are enough to call it real."""
    part = differences[differences["b"] == base]
    lines = []
    for after, own in part.groupby("a", sort=False):
        deepest = own[own["depth"] == own["depth"].max()]
        rows = pd.concat([deepest[deepest["measure"].isin(["recall", "ndcg"])],
                          own[own["measure"] == "average_precision"]])
        words = "; ".join(_change(row) for row in rows.itertuples())
        lines.append(f"{after} against {base} as it was: {words}.")
    sizes = part["n"]
    if len(sizes) and sizes.max() < 6:
        lines.append(f"With {int(sizes.max())} test reviews no difference can be called real: even if every review "
                     f"moved the same way, chance alone would do that with p = {part['smallest_p'].min():.2f}, and an "
                     "interval that resamples so few reviews is too narrow.")
    return "\n".join(lines)


def _change(row: Any) -> str:
    name = _NAMES[row.measure] + (f"@{row.depth}" if row.depth else "")
    clear = row.low == row.low and row.low is not None and (row.low > 0 or row.high < 0)
    return (f"{name} {shown(row.value, row.low, row.high, signed=True)}, higher on {row.higher} and lower on "
            f"{row.lower} of {row.n} reviews" + ("" if clear else " (the interval holds zero)"))


def verdict_of(facts: Mapping[str, Any], differences: pd.DataFrame) -> str:
    """Return `verdict` for a promoted result."""
    return verdict(differences, facts["parameters"]["base_model"])


def reading_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the macro means of all encoders side by side, a row a measure."""
    return side_by_side(
        ({"measure": _NAMES[row.measure] + (f"@{row.depth}" if row.depth else "")}, row.encoder,
         shown(row.value, row.low, row.high), f"{row.n} of {row.reviews}") for row in summary.itertuples())


_GUARD_WORDS = {
    "reviews": "train reviews", "reviews_without_links": "of them without links", "links": "links of train reviews",
    "kept_links": "links kept", "removed_links": "links removed: a test review links to the article too",
    "removed_articles": "articles removed for that reason", "articles": "articles left to train on",
    "forbidden_articles": "articles that test reviews link to", "pairs": "pairs", "pairs_used": "pairs used",
    "pairs_alone": "pairs left out: alone in their batch", "steps": "steps"}


def guard_reading(guard: pd.DataFrame) -> pd.DataFrame:
    """Return what the leakage guard saw and removed for reading, a column a training."""
    names = [name for name in guard.columns if name != "encoder"]
    return pd.DataFrame([{"what": _GUARD_WORDS.get(name, name.replace("_", " ")),
                          **dict(zip(guard["encoder"], map(str, guard[name]), strict=True))} for name in names])
