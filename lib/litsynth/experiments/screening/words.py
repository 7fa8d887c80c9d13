"""What the tables say, in sentences and in tables for reading."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown, side_by_side
from litsynth.experiments.screening.screening import DESIGNS, TRAINED

_NAMES = {"recall": "recall", "wss95": "work saved at 95 % recall", "average_precision": "average precision"}


def verdict(summary: pd.DataFrame, differences: pd.DataFrame, *, workload: float = 0.2) -> str:
    """Return, a line a design, what the trained screener saves and whether it beats each retriever's order."""
    lines = []
    for design in (name for name in DESIGNS if name in set(summary["design"])):
        own = summary[summary["design"] == design]
        at = _nearest(own, workload)
        recall = own[(own["ranker"] == TRAINED) & (own["measure"] == "recall") & (own["workload"] == at)].iloc[0]
        saved = own[(own["ranker"] == TRAINED) & (own["measure"] == "wss95")].iloc[0]
        part = differences[(differences["design"] == design) & (differences["measure"] == "recall")
                           & (differences["workload"] == at)]
        lines.append(
            f"{DESIGNS[design].capitalize()}, {recall['n']} reviews: reading {at:.0%} of the candidates finds "
            f"{shown(recall['value'], recall['low'], recall['high'])} of the included studies, and "
            f"{shown(saved['value'], saved['low'], saved['high'])} of the work is saved at 95 % recall. Difference in "
            "recall: " + "; ".join(map(_against, part.itertuples())) + "."
            + (" With so few reviews the interval is too narrow and decides nothing." if recall["n"] < 6 else ""))
    return "\n".join(lines)


def _nearest(own: pd.DataFrame, workload: float) -> float:
    shares = own[own["measure"] == "recall"]["workload"].unique()
    return float(min(shares, key=lambda share: (abs(share - workload), share)))


def _against(row: Any) -> str:
    clear = row.low == row.low and row.low is not None and (row.low > 0 or row.high < 0)
    return (f"{shown(row.value, row.low, row.high, signed=True)} over {row.b}, higher on {row.higher} and lower on "
            f"{row.lower} of {row.n}" + ("" if clear else " (the interval holds zero)"))


def reading_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the macro means of all orders side by side, a row a design and measure; the curve is left to the picture.
    """
    part = summary[summary["measure"] != "curve"]
    return side_by_side(
        ({"design": DESIGNS[row.design],
          "measure": _NAMES[row.measure] + (f", {row.workload:.0%} read" if row.workload else "")},
         row.ranker, shown(row.value, row.low, row.high), f"{row.n} of {row.reviews}") for row in part.itertuples())


def operating_reading(operating: pd.DataFrame) -> pd.DataFrame:
    """Return the means at each threshold as one row a design and operating point."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in operating.itertuples():
        kept = rows.setdefault((row.design, row.point), {"design": DESIGNS[row.design], "threshold for": row.point})
        kept[row.measure] = f"{shown(row.value, row.low, row.high)}, n {row.n}"
    return pd.DataFrame(rows.values())


def calibration_reading(calibration: pd.DataFrame) -> pd.DataFrame:
    """Return the calibration measures as one row a design."""
    rows: dict[str, dict[str, Any]] = {}
    for row in calibration.itertuples():
        kept = rows.setdefault(row.design, {"design": DESIGNS[row.design], "reviews": row.reviews})
        kept[row.measure.replace("_", " ")] = shown(row.value, row.low, row.high)
    return pd.DataFrame(rows.values())
