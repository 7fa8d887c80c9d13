"""Tables for reading, and the findings in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from litsynth.conditions import condition_named
from litsynth.experiments.estimates import side_by_side
from litsynth.experiments.litbench_conditions.accuracy import measures_of
from litsynth.experiments.litbench_conditions.published import published_accuracy, published_contrasts
from litsynth.experiments.store import Run


def in_percent(value: float | None, low: float | None = None, high: float | None = None, *,
               signed: bool = False) -> str:
    """Return shares as percent with the interval, such as `71.9 (69.8 to 73.9)`; a dash where undefined."""
    form = "{:+.1f}" if signed else "{:.1f}"
    if value is None or pd.isna(value):
        return "–"
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return form.format(100 * value) + " (no interval)"
    return f"{form.format(100 * value)} ({form.format(100 * low)} to {form.format(100 * high)})"


def accuracy_shown(accuracy: pd.DataFrame, metric: str = "semantic") -> pd.DataFrame:
    """Return percent with 95 % intervals and numbers of questions, a row a system and a column a condition.

    Published systems follow, marked as published; they were measured on the private bank, not on these data.
    """
    own = accuracy[accuracy["metric"] == metric]
    both = pd.concat([own, published_accuracy(metric)], ignore_index=True)
    cells = [f"{in_percent(row.value, row.low, row.high)}, n = {int(row.n)}" for row in both.itertuples()]
    both = both.assign(cell=cells)
    return _wide(both, "system", "condition", "cell")


_METRICS = {"semantic": "answer right", "composite": "source and passage right", "both": "all three right",
            "refusal": "refused"}


def reading_table(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and refusal in percent, a row a system and condition, published rows last; for reading."""
    both = pd.concat([accuracy, published_accuracy(), published_accuracy("composite")], ignore_index=True)
    return side_by_side((
        ({"system": row.system, "condition": row.condition}, f"{_METRICS[row.metric]}, %",
         in_percent(row.value, row.low, row.high),
         f"{int(row.n):,}" + ("" if row.clusters != row.clusters else f" ({int(row.clusters):,} papers)"))
        for row in both.itertuples()), counted="questions", named=False)


def _wide(frame: pd.DataFrame, index: str, column: str, value: str) -> pd.DataFrame:
    rows, columns = list(dict.fromkeys(frame[index])), list(dict.fromkeys(frame[column]))
    return frame.pivot(index=index, columns=column, values=value).reindex(index=rows, columns=columns).fillna("")


def contrasts_shown(contrasts: pd.DataFrame, metric: str = "semantic") -> pd.DataFrame:
    """Return differences between systems in percentage points, published ones after one's own."""
    both = pd.concat([contrasts[contrasts["metric"] == metric], published_contrasts(metric)], ignore_index=True)
    cells = [in_percent(row.value, row.low, row.high, signed=True) for row in both.itertuples()]
    return both.assign(difference=cells)[["condition", "a", "b", "difference"]]


def fact_types_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return stated and interpretation accuracy in percent with their difference and numbers of questions."""
    return pd.DataFrame([{
        "system": row.system, "condition": row.condition,
        "stated": f"{in_percent(row.stated).split(' (')[0]}, n = {row.stated_questions}",
        "interpretation": f"{in_percent(row.interpretation).split(' (')[0]}, n = {row.interpretation_questions}",
        "difference (points)": in_percent(row.value, row.low, row.high, signed=True)} for row in table.itertuples()])


def refusal_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return refusals, over-refusals and their difference in percent; N 0 is shown as all."""
    return pd.DataFrame([{
        "system": row.system, "condition": row.condition, "N": "all" if row.n_papers == 0 else str(row.n_papers),
        "refused, answer withheld": f"{in_percent(row.rate, row.low, row.high)}, {row.refused} of {row.of}",
        "refused, control": f"{in_percent(row.control_rate, row.control_low, row.control_high)}, "
                            f"{row.control_refused} of {row.control_of}",
        "difference (points)": in_percent(row.difference_value, row.difference_low, row.difference_high, signed=True)}
        for row in table.itertuples()])


def parts_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the two-paper decomposition in percent."""
    return pd.DataFrame([{
        "system": row.system, "part": row.part.replace("_", " "),
        "percent": in_percent(row.value, row.low, row.high, signed=row.part == "synthesis_penalty"),
        "questions": row.n, "note": row.reason} for row in table.itertuples()])


def findings(run: Run, accuracy: pd.DataFrame, refusal: pd.DataFrame, failures: pd.DataFrame) -> str:
    """Say in three sentences a system what its numbers show: credit by condition, declining, where credit is lost."""
    return findings_of({"synthetic": run.dataset.synthetic, "parameters": run.parameters.model_dump(mode="json")},
                       accuracy, refusal, failures)


def findings_of(manifest: Mapping[str, Any], accuracy: pd.DataFrame, refusal: pd.DataFrame,
                failures: pd.DataFrame) -> str:
    """Say the same from a promoted result's manifest and tables."""
    said = []
    for system in dict.fromkeys(accuracy["system"]):
        own = [frame[frame["system"] == system] for frame in (accuracy, refusal, failures)]
        said += [f"{system}.", *_ranking(own[0]), *_refusing(own[1]), *_losing(own[2])]
    labels = " Synthetic data." if manifest["synthetic"] else ""
    lexical = " Judged by words alone, not by a model." if any(
        name.startswith("lexical") for name in manifest["parameters"]["judges"]) else ""
    return " ".join(said) + labels + lexical


def _ranking(accuracy: pd.DataFrame) -> list[str]:
    control = accuracy["condition"].map(lambda name: condition_named(name).control_of is not None).astype(bool)
    part = accuracy[(accuracy["metric"] == "semantic") & accuracy["value"].notna() & ~control]
    if part.empty:
        return []
    said = [f"{row.condition} {in_percent(row.value, row.low, row.high)} (n = {row.n})" for row in part.itertuples()]
    return ["Credited, in percent: " + ", ".join(said) + "."]


def _refusing(refusal: pd.DataFrame) -> list[str]:
    part = refusal[(refusal["n_papers"] == 0) & refusal["difference_value"].notna()]
    words = [f"{row.condition} {in_percent(row.rate, row.low, row.high)} of {row.of} responses against "
             f"{in_percent(row.control_rate, row.control_low, row.control_high)} of {row.control_of} controls"
             for row in part.itertuples()]
    return ["Declined, in percent: " + ", ".join(words) + "."] if words else []


def _losing(failures: pd.DataFrame) -> list[str]:
    control = failures["condition"].map(lambda name: measures_of(name)[-1] == "refusal").astype(bool)
    part = failures[(failures["n_papers"] == 0) & ~control]
    lost, missed = int(part["lost"].sum()), int(part["not_found"].sum())
    if not lost:
        return []
    return [f"Of {lost} answers without credit, {missed} lacked the source among the passages, "
            f"{int(part['misread'].sum())} had it all the same, {int(part['declined'].sum())} had it and declined."]
