"""Findings in words and small tables for reading, from a run or from a promoted result."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown, side_by_side
from litsynth.experiments.store import Run

METRIC_WORDS = {
    "retrieval_recall": "retrieval recall", "retrieval_precision": "retrieval precision",
    "conditional_retention": "conditional retention", "post_retrieval_loss": "post-retrieval loss",
    "inclusion_recall": "inclusion recall", "inclusion_precision": "inclusion precision",
    "inclusion_f1": "inclusion F1", "screening_accuracy": "screening accuracy",
}


class PlainText:
    """Text of a model, shown as it is: as escaped text in HTML, never as markup."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre-wrap">{html.escape(self.text)}</pre>'


def reading_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the macro means of both orders side by side, a row a system and metric, and the reviews in them."""
    return side_by_side(
        ({"system": row.system, "metric": METRIC_WORDS[row.metric]}, row.mode, shown(row.value, row.low, row.high),
         _in_the_mean(row)) for row in summary.sort_values(["system", "metric"], kind="stable").itertuples())


def _in_the_mean(row: Any) -> str:
    """Say how many of the reviews asked are in a mean, where the others went, and what unparsed ones would change."""
    missing = [f"{count} {name}" for name, count in (("undefined", row.undefined), ("unparsed", row.unparsed),
                                                     ("failed", row.failed)) if count]
    known = row.unparsed and row.unparsed_as_zero == row.unparsed_as_zero
    zero = f"; {row.unparsed_as_zero:.3f} with unparsed as 0" if known else ""
    return f"{row.n} of {row.asked}" + (f" ({', '.join(missing)}{zero})" if missing else "")


def difference_table(differences: pd.DataFrame) -> pd.DataFrame:
    """Return every paired difference as one row for reading."""
    rows = [{"metric": METRIC_WORDS[row.metric], "difference": f"{row.a} − {row.b}",
             "value (95 % interval)": shown(row.value, row.low, row.high, signed=True), "n": f"{row.n} of {row.asked}"}
            for row in differences.itertuples()]
    return pd.DataFrame(rows, columns=["metric", "difference", "value (95 % interval)", "n"])


def rate_table(rates: pd.DataFrame) -> pd.DataFrame:
    """Return shares of candidates included, a row a group, with counts, interval and the reviews they are from."""
    keys = [name for name in rates.columns if name in ("system", "mode", "who", "place", "abstract", "fails")]
    rows = [{**{key: getattr(row, key) for key in keys}, "included": f"{row.included} of {row.n}",
             "share (95 % interval)": shown(row.value, row.low, row.high), "reviews": row.clusters}
            for row in rates.itertuples()]
    return pd.DataFrame(rows, columns=[*keys, "included", "share (95 % interval)", "reviews"])


def verdict(summary: pd.DataFrame, differences: pd.DataFrame) -> str:
    """Say for each system where reference studies are lost, and what putting them first would change."""
    return "\n".join(_sentence(system, part, differences) for system, part in summary.groupby("system", sort=True))


def _sentence(system: str, part: pd.DataFrame, differences: pd.DataFrame) -> str:
    cells = {(row.mode, row.metric): row for row in part.itertuples()}
    said = []
    for mode in sorted({mode for mode, _ in cells}):
        found, kept = cells[mode, "retrieval_recall"], cells[mode, "conditional_retention"]
        recall, f1 = cells[mode, "inclusion_recall"], cells[mode, "inclusion_f1"]
        if kept.value is None or kept.value != kept.value:
            said.append(f"{mode}: no readable list in {recall.asked} reviews")
            continue
        right = cells[mode, "inclusion_precision"]
        said.append(f"{mode}: {_cell(found)} of the reference studies are among the candidates, {_cell(kept)} of "
                    f"those are kept, and {_cell(right)} of what is included belongs there; inclusion recall "
                    f"{_cell(recall)}, F1 {_cell(f1)} ({recall.asked} reviews)")
    text = f"{system} — " + "; ".join(said) + "."
    rows = differences[(differences["kind"] == "mode") & (differences["a"] == f"{system} / oracle")
                       & (differences["metric"] == "inclusion_recall")]
    for row in rows.itertuples():
        if row.n:
            text += (f" With the reference studies put first, inclusion recall changes by "
                     f"{shown(row.value, row.low, row.high, signed=True)} ({row.n} of {row.asked} reviews).")
    return text


def _cell(row: Any) -> str:
    """Return a mean with its interval, and how many reviews are in it where that is not all of them."""
    words = shown(row.value, row.low, row.high, digits=2)
    if row.n == row.asked:
        return words
    number, _, interval = words.removesuffix(")").partition(" (")
    return f"{number} ({f'{interval}; ' if interval else ''}{row.n} of {row.asked} reviews)"


def calibration_table(calibration: dict[str, Any] | None, screener: dict[str, Any] | None) -> pd.DataFrame:
    """Return the numbers of the systems without a model and how they were chosen, one row each."""
    rows: list[tuple[str, str, float | None]] = []
    if calibration and calibration.get("reviews"):
        rows += [("extractive", "intercept", calibration["intercept"]),
                 *(("extractive", name, weight) for name, weight in calibration["weights"].items()),
                 ("extractive", "threshold", calibration["threshold"]),
                 ("extractive", "inclusion F1 on the train reviews", calibration["f1"]),
                 ("extractive", "the same, each review left out of the choice", calibration["f1_left_out"])]
    if screener:
        rows += [("screener", "intercept", screener["intercept"]),
                 *(("screener", name, weight) for name, weight in screener["weights"].items()),
                 ("screener", "threshold", screener["threshold"]),
                 ("screener", "share of the train reviews' candidates included", screener["share"])]
    return pd.DataFrame(rows, columns=["system", "number", "value"])


def calibration_of(run: Run) -> pd.DataFrame:
    """Return `calibration_table` of a run, saved as `calibration`; empty when no system needed it."""
    kept, learned = run.log.get("calibration") or {}, run.log.get("screener") or {}
    frame = calibration_table(kept.get("calibration"), learned.get("screener")).astype({"value": "float64"})
    run.save_table("calibration", frame)
    return frame


def one_report(items: Iterable[dict[str, Any]]) -> PlainText | None:
    """Return the first report of a model that the run kept, as plain text; None when it kept none."""
    kept = [item for item in items if item.get("report")]
    if not kept:
        return None
    first = kept[0]
    head = f"{first['system']}, {first['mode']}, review {first['review']}: {first['status']} {first['reason']}".rstrip()
    return PlainText(f"{head}\n\n{first['report']}")
