"""From items to tables: measures, thresholds, calibration and errors by criterion, with intervals over reviews."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.screening.learning import OPERATING_POINTS
from litsynth.experiments.screening.models import model_criteria
from litsynth.experiments.screening.screening import CURVE, SPLIT, TRAINED
from litsynth.experiments.store import Run
from litsynth.scoring.screening import Decisions, brier_score, expected_calibration_error, reliability
from litsynth.stats import mean_bootstrap, paired_bootstrap, wilson_interval

# Most candidates are unlikely: bins of equal width would put nearly all of them into the first.
EDGES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
CURVE_MEASURE = "curve"


def measure_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return a row a design, ranker, review, measure and workload (0: none), with status; saved as `measures`."""
    rows = []
    for item in items:
        base = {"design": item["design"], "review": item["review"], "split": item["split"],
                "candidates": item["candidates"], "relevant": item["relevant"], "reference": item["reference"],
                "status": item["status"], "reason": item["reason"]}
        rankers = item["rankers"] or {name: {"average_precision": None} for name in (TRAINED, *run.parameters.signals)}
        for ranker, made in rankers.items():
            for name, value in made.items():
                if name == CURVE_MEASURE:
                    rows += [{**base, "ranker": ranker, "measure": CURVE_MEASURE, "workload": share, "value": recall}
                             for share, recall in zip(CURVE, value, strict=True)]
                else:
                    kind, _, share = name.partition("@")
                    rows.append({**base, "ranker": ranker, "measure": kind, "workload": float(share or 0),
                                 "value": value})
    frame = pd.DataFrame(rows).astype({"value": "float64"})
    frame = frame.sort_values(["design", "ranker", "measure", "workload", "review"], kind="stable", ignore_index=True)
    run.save_table("measures", frame)
    return frame


def summarise(run: Run, measures: pd.DataFrame) -> pd.DataFrame:
    """Return macro means over reviews with intervals for each design, ranker, measure and workload; saved as `summary`.

    A review without an included study among its candidates leaves the mean; `reviews` counts those asked.
    """
    rows = []
    for (design, ranker, measure, share), part in measures.groupby(["design", "ranker", "measure", "workload"],
                                                                   sort=True):
        estimate = mean_bootstrap(part["value"].dropna(), seed=run.parameters.seed, resamples=run.parameters.resamples)
        rows.append({"design": design, "ranker": ranker, "measure": measure, "workload": share, "reviews": len(part),
                     **estimate_row(estimate)})
    frame = pd.DataFrame(rows)
    run.save_table("summary", frame)
    return frame


def differences(run: Run, measures: pd.DataFrame) -> pd.DataFrame:
    """Return the trained screener minus each retriever's order, review by review; saved as `differences`.

    `higher`, `equal` and `lower` count reviews.
    """
    rows = []
    part = measures[measures["measure"] != CURVE_MEASURE]
    for (design, measure, share), own in part.groupby(["design", "measure", "workload"], sort=True):
        wide = own.pivot(index="review", columns="ranker", values="value")
        for other in run.parameters.signals:
            both = wide[[TRAINED, other]].dropna()
            change = both[TRAINED] - both[other]
            estimate = paired_bootstrap(both[TRAINED], both[other], seed=run.parameters.seed,
                                        resamples=run.parameters.resamples)
            rows.append({"design": design, "measure": measure, "workload": share, "a": TRAINED, "b": other,
                         **estimate_row(estimate), "higher": int((change > 0).sum()),
                         "equal": int((change == 0).sum()), "lower": int((change < 0).sum())})
    columns = ["design", "measure", "workload", "a", "b", *COLUMNS, "higher", "equal", "lower"]
    frame = pd.DataFrame(rows, columns=columns)
    run.save_table("differences", frame)
    return frame


def operating_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return means over reviews of the decisions at each threshold, saved as `operating_summary`.

    The decisions of each review are saved as `operating`.
    """
    rows = []
    for item in items:
        for point in OPERATING_POINTS:
            made = Decisions(**item["operating"][point])
            rows.append({"design": item["design"], "point": point, "review": item["review"],
                         "threshold": item["learned"]["thresholds"][point], "candidates": item["candidates"],
                         "tp": made.tp, "fp": made.fp, "fn": made.fn, "tn": made.tn, "recall": made.recall,
                         "precision": made.precision, "f1": made.f1, "workload": made.workload})
    frame = pd.DataFrame(rows).astype(dict.fromkeys(("recall", "precision", "f1", "workload"), "float64"))
    run.save_table("operating", frame)
    means = []
    for (design, point), part in frame.groupby(["design", "point"], sort=True):
        for measure in ("recall", "precision", "f1", "workload"):
            estimate = mean_bootstrap(part[measure].dropna(), seed=run.parameters.seed,
                                      resamples=run.parameters.resamples)
            means.append({"design": design, "point": point, "measure": measure, "reviews": len(part),
                          **estimate_row(estimate)})
    summary = pd.DataFrame(means)
    run.save_table("operating_summary", summary)
    return summary


def calibration_tables(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return Brier score and calibration error as macro means over reviews; saves `calibration` and `reliability`.

    Beside the Brier score stands that of a screener which gives every candidate the mean share included in the reviews
    learned from. The bins of `reliability` pool all candidates of a design.
    """
    items, rows, bins = list(items), [], []
    for design in dict.fromkeys(item["design"] for item in items):
        own = [item for item in items if item["design"] == design and item["candidates"]]
        chances = np.concatenate([item["chances"] for item in own])
        labels = np.concatenate([item["labels"] for item in own])
        for part in reliability(chances, labels, EDGES):
            share = wilson_interval(round(part.share_relevant * part.count), part.count)
            bins.append({"design": design, "low_edge": part.low, "high_edge": part.high, "count": part.count,
                         "mean_probability": part.mean_probability, **estimate_row(share)})
        values = {"brier": [brier_score(item["chances"], item["labels"]) for item in own],
                  "brier_constant": [
                      brier_score([item["learned"]["share"]] * item["candidates"], item["labels"]) for item in own],
                  "calibration_error": [expected_calibration_error(item["chances"], item["labels"], EDGES)
                                        for item in own],
                  "mean_probability": [float(np.mean(item["chances"])) for item in own],
                  "share_relevant": [float(np.mean(item["labels"])) for item in own]}
        for measure, numbers in values.items():
            estimate = mean_bootstrap(numbers, seed=run.parameters.seed, resamples=run.parameters.resamples)
            rows.append({"design": design, "measure": measure, "reviews": len(own), **estimate_row(estimate)})
    run.save_table("reliability", pd.DataFrame(bins))
    frame = pd.DataFrame(rows)
    run.save_table("calibration", frame)
    return frame


def criteria_table(run: Run, items: Iterable[dict[str, Any]], model_items: list[dict[str, Any]]) -> pd.DataFrame:
    """Return wrong inclusions among candidates that fail one known criterion, by criterion; saved as `criteria`.

    Only annotated data have such candidates; elsewhere the table is empty. The trained screener is that of the split.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for item in items:
        if item["design"] == SPLIT:
            for point, rows in item["criteria"].items():
                for criterion, candidates, included in rows:
                    kept = counts.setdefault((point, criterion), [0, 0])
                    kept[0] += candidates
                    kept[1] += included
    made: list[dict[str, Any]] = [
        {"screener": TRAINED, "point": point, "criterion": criterion, "candidates": kept[0], "included": kept[1],
         "named": None} for (point, criterion), kept in sorted(counts.items())]
    made += model_criteria(model_items)
    frame = pd.DataFrame([{**row, **{name: value for name, value in estimate_row(
        wilson_interval(row["included"], row["candidates"])).items() if name != "clusters"}} for row in made],
        columns=["screener", "point", "criterion", "candidates", "included", "named",
                 *(name for name in COLUMNS if name != "clusters")]).astype({"named": "Int64"})
    run.save_table("criteria", frame)
    return frame


def weight_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return the weights of the split, largest first, with their range over all trainings; saved as `weights`."""
    learned = [(item["design"], item["learned"]) for item in items]
    split = next((own for design, own in learned if design == SPLIT), learned[0][1])
    rows = []
    for name, weight in split["weights"].items():
        every = [own["weights"][name] for _, own in learned]
        rows.append({"feature": name, "weight": weight, "least": min(every), "most": max(every)})
    frame = pd.DataFrame(rows)
    frame = frame.iloc[np.lexsort((frame["feature"], -frame["weight"].abs()))].reset_index(drop=True)
    run.save_table("weights", frame)
    return frame
