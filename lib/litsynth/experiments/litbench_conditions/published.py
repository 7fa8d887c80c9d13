"""The values that the benchmark's authors published, in the form of one's own tables and always marked as published."""

from __future__ import annotations

import pandas as pd

from litsynth import paths
from litsynth.errors import DataError
from litsynth.experiments.litbench_conditions.cells import in_order

MARK = " (published)"
# The sweep's ends, which the paper names without the number: 1 and 980 papers.
_ENDS = {"smallest": 1, "largest": 980}


def _read(name: str) -> pd.DataFrame:
    path = paths.project_root() / "data" / "published" / name
    if not path.exists():
        raise DataError(f"{path} does not exist", expected="the published figures in the workspace's data/published",
                        remedy="restore the file from the repository")
    return pd.read_csv(path)


def published_accuracy(metric: str = "semantic") -> pd.DataFrame:
    """Return published accuracies in columns of `accuracy`: system, condition, metric, value, low, high, n, note."""
    frame = _read("litbench_accuracy.csv")
    frame = frame[frame["metric"] == metric]
    made = pd.DataFrame({
        "system": frame["system"] + MARK, "condition": frame["condition"], "metric": metric,
        "value": frame["percent"] / 100, "low": frame["ci_low"] / 100, "high": frame["ci_high"] / 100,
        "n": frame["questions"], "note": frame["note"].fillna("")})
    return in_order(made, "system")


def published_contrasts(metric: str = "semantic") -> pd.DataFrame:
    """Return published differences in the columns of `contrasts`: condition, metric, a, b, value, low, high."""
    frame = _read("litbench_contrasts.csv")
    frame = frame[frame["metric"] == metric]
    made = pd.DataFrame({
        "condition": frame["condition"], "metric": metric, "a": frame["system_a"] + MARK,
        "b": frame["system_b"] + MARK, "value": frame["difference_pp"] / 100, "low": frame["ci_low"] / 100,
        "high": frame["ci_high"] / 100})
    return in_order(made, "a", "b")


def published_refusals() -> pd.DataFrame:
    """Return published refusals with the answer withheld: system, condition, n_papers (null: all), refused, of, rate.

    Wilson's interval stands where the counts were published. The one published control, the over-refusals of
    DeepSeek-V4-Flash, names no condition and is left to `published_over_refusal`.
    """
    from litsynth.stats import wilson_interval

    frame = _read("litbench_refusal.csv")
    frame = frame[frame["condition"].isin(["T6", "T7"])]
    rows = []
    for line in frame.itertuples():
        counts = (int(line.refused), int(line.scored)) if line.scored == line.scored else (None, None)
        made = wilson_interval(*counts) if counts[1] else None
        papers = _ENDS.get(line.n_papers, None if line.n_papers == "all" else line.n_papers)
        rows.append({"system": line.system + MARK, "condition": line.condition,
                     "n_papers": None if papers is None else int(papers), "refused": counts[0], "of": counts[1],
                     "rate": made.value if made else line.percent / 100, "low": made.low if made else None,
                     "high": made.high if made else None})
    whole = dict.fromkeys(("n_papers", "refused", "of"), "Int64")
    return in_order(pd.DataFrame(rows).astype({**whole, "low": float, "high": float}), "system", "n_papers")


def published_over_refusal() -> tuple[str, float]:
    """Return the system whose refusals of matched answer-present controls were published, and their share."""
    frame = _read("litbench_refusal.csv")
    line = frame[frame["condition"] == "matched answer-present controls"].iloc[0]
    return line["system"] + MARK, float(line["percent"]) / 100
