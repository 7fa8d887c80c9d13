"""From items to tables: measures before and after, paired differences, studies gained and lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.store import Run
from litsynth.experiments.train_retriever.searching import REFERENCE, labels, trained_label
from litsynth.stats import mean_bootstrap, paired_bootstrap

MEASURES = ("recall", "ndcg", "average_precision", "wss95_screened")


def guard_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return what the leakage guard saw and removed and what each training used, a row a training; saved as `guard`."""
    frame = pd.DataFrame([{"encoder": item["label"], **item["guard"], "pairs": item["pairs"],
                           "pairs_used": item["pairs_used"], "pairs_alone": item["pairs_alone"],
                           "steps": len(item["steps"])} for item in items])
    run.save_table("guard", frame)
    return frame


def step_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return loss, learning rate and pairs of every step of every training; saved as `steps`."""
    frame = pd.DataFrame([{"encoder": item["label"], **step} for item in items for step in item["steps"]])
    run.save_table("steps", frame)
    return frame


def measure_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return a row an encoder, review, measure and depth (0: the whole ranking), with status; saved as `measures`."""
    rows = []
    for item in items:
        made = dict(item["measures"])
        if item.get("screened"):
            made["wss95_screened"] = item["screened"]["wss95"]
        for name, value in made.items() or [("recall@0", None)]:
            kind, _, depth = name.partition("@")
            if kind in MEASURES:
                rows.append({"encoder": item["retriever"], "review": item["review"], "measure": kind,
                             "depth": int(depth) if depth else 0, "value": value, "relevant": item["relevant"],
                             "candidates": item["candidates"], "status": item["status"], "reason": item["reason"]})
    frame = pd.DataFrame(rows).astype({"value": "float64"})
    frame = frame.sort_values(["encoder", "measure", "depth", "review"], kind="stable", ignore_index=True)
    run.save_table("measures", frame)
    return frame


def summarise(run: Run, measures: pd.DataFrame) -> pd.DataFrame:
    """Return the macro means over the test reviews with intervals; saved as `summary`."""
    rows = []
    for (encoder, measure, depth), part in measures.groupby(["encoder", "measure", "depth"], sort=True):
        estimate = mean_bootstrap(part["value"].dropna(), seed=run.parameters.seed, resamples=run.parameters.resamples)
        rows.append({"encoder": encoder, "measure": measure, "depth": depth, "reviews": len(part),
                     **estimate_row(estimate)})
    frame = pd.DataFrame(rows)
    run.save_table("summary", frame)
    return frame


def differences(run: Run, measures: pd.DataFrame) -> pd.DataFrame:
    """Return each trained encoder minus the base and minus BM25, review by review; saved as `differences`.

    `higher`, `equal` and `lower` count reviews; `smallest_p` is the least two-sided p value that a sign-flip test over
    so many reviews can give (2 / 2^n): where it is not below 0.05, no difference can be called real on them.
    """
    rows = []
    for (measure, depth), part in measures.groupby(["measure", "depth"], sort=True):
        wide = part.pivot(index="review", columns="encoder", values="value")
        for number in run.parameters.hard_negatives:
            for other in (run.parameters.base_model, REFERENCE):
                after = trained_label(number)
                both = wide[[after, other]].dropna() if after != other else wide[[]]
                estimate = paired_bootstrap(both[after], both[other], seed=run.parameters.seed,
                                            resamples=run.parameters.resamples)
                change = both[after] - both[other]
                rows.append({"measure": measure, "depth": depth, "a": after, "b": other, **estimate_row(estimate),
                             "higher": int((change > 0).sum()), "equal": int((change == 0).sum()),
                             "lower": int((change < 0).sum()),
                             "smallest_p": min(1.0, 2.0 / 2 ** len(both)) if len(both) else None})
    frame = pd.DataFrame(rows, columns=["measure", "depth", "a", "b", *COLUMNS, "higher", "equal", "lower",
                                        "smallest_p"])
    run.save_table("differences", frame)
    return frame


def study_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return every included study's rank with every encoder (null: not retrieved); saved as `studies`."""
    rows = [{"review": item["review"], "article": row["article"], "encoder": item["retriever"], "rank": row["rank"],
             "found": row["found"]} for item in items for row in item["ranks"]]
    frame = pd.DataFrame(rows, columns=["review", "article", "encoder", "rank", "found"])
    frame["rank"] = frame["rank"].astype("Int64")
    frame = frame.sort_values(["encoder", "review", "article"], kind="stable", ignore_index=True)
    run.save_table("studies", frame)
    return frame


def change_table(run: Run, studies: pd.DataFrame) -> pd.DataFrame:
    """Return how many included studies come into and fall out of the largest depth by training; saved as `changes`."""
    wide = studies.pivot(index=["review", "article"], columns="encoder", values="found")
    base, rows = run.parameters.base_model, []
    for number in run.parameters.hard_negatives:
        after = trained_label(number)
        for review, part in wide.groupby("review"):
            before, now = part[base].astype(bool), part[after].astype(bool)
            rows.append({"encoder": after, "review": review, "studies": len(part), "before": int(before.sum()),
                         "after": int(now.sum()), "gained": int((now & ~before).sum()),
                         "lost": int((before & ~now).sum()), "depth": max(run.parameters.depths)})
    frame = pd.DataFrame(rows)
    run.save_table("changes", frame)
    return frame


def order_of(run: Run) -> list[str]:
    """Return the encoders as figures show them: BM25 for orientation, then before, then after."""
    return [REFERENCE, *(label for label in labels(run) if label != REFERENCE)]
