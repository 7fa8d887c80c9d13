"""From items to tables: metrics, macro means, paired differences, and where studies were lost."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.store import Run
from litsynth.scoring.identifiers import ID_METRICS
from litsynth.stats import mean_bootstrap, paired_bootstrap

# An unreadable report leaves these means; beside them stands what they are when it counts as 0.
SELECTION_METRICS = tuple(name for name in ID_METRICS if not name.startswith("retrieval_"))
FUNNEL_COUNTS = ("reference", "shown", "not_retrieved", "dropped", "kept", "wrongly_added", "unmatched")


def score_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return a row a system, mode, review and metric with value, status and reason; saved as `metrics`.

    A metric is `scored` with value None where it is undefined (retention when no reference study was shown).
    """
    rows = []
    for item in items:
        base = {"system": item["system"], "mode": item["mode"], "review": item["review"],
                "reference": len(item["reference"]), "split": item["split"], "shown": len(item["shown"])}
        for name in ID_METRICS:
            value = item["metrics"][name]
            known = value is not None
            reason = item["reason"] if not known else ""
            if item["status"] == "scored" and not known:
                reason = "undefined: no reference study among the candidates"
            rows.append({**base, "metric": name, "value": value, "status": "scored" if known else item["status"],
                         "reason": reason})
    frame = pd.DataFrame(rows).astype({"value": "float64"})
    frame = frame.sort_values(["system", "mode", "metric", "review"], kind="stable", ignore_index=True)
    run.save_table("metrics", frame)
    return frame


def status_table(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return how many items of each system and mode were asked, scored, unparsed and failed; saved as `statuses`.

    `model` names the model as its door does, with a warning where it is a weak one.
    """
    frame = pd.DataFrame([{key: item[key] for key in ("system", "mode", "model", "status")} for item in items])
    named = frame.groupby("system")["model"].max().replace("", "none")  # a review without references asked no model
    frame["model"] = frame["system"].map(named)
    counts = frame.groupby(["system", "model", "mode"], sort=True)["status"].value_counts().unstack(fill_value=0)
    counts = counts.reindex(columns=["scored", "unparsed", "failed"], fill_value=0)
    counts.insert(0, "asked", counts.sum(axis="columns"))
    counts = counts.reset_index().rename_axis(columns=None)
    run.save_table("statuses", counts)
    return counts


def summarise(run: Run, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the macro mean over reviews of each system, mode and metric with its interval; saved as `summary`.

    `n` of `asked` reviews are in the mean; `undefined`, `unparsed` and `failed` say where the others went.
    `unparsed_as_zero` is the mean with each unreadable report counted as 0 (None for metrics of the pool alone).
    """
    rows = []
    for (system, mode, metric), part in scores.groupby(["system", "mode", "metric"], sort=True):
        valid = part["value"].dropna()
        estimate = mean_bootstrap(valid, seed=run.parameters.seed, resamples=run.parameters.resamples)
        missing = part[part["value"].isna()]["status"]
        unparsed = int((missing == "unparsed").sum())
        counted = len(valid) + unparsed
        zero = valid.sum() / counted if counted and metric in SELECTION_METRICS else None
        rows.append({"system": system, "mode": mode, "metric": metric, "asked": len(part), **estimate_row(estimate),
                     "undefined": int((missing == "scored").sum()), "unparsed": unparsed,
                     "failed": int((missing == "failed").sum()), "unparsed_as_zero": zero})
    frame = pd.DataFrame(rows).astype({"unparsed_as_zero": "float64"})
    run.save_table("summary", frame)
    return frame


def differences(run: Run, scores: pd.DataFrame) -> pd.DataFrame:
    """Return paired differences over reviews where both sides have a value; saved as `differences`.

    kind `mode`: oracle minus actual of one system; kind `system`: two systems in one mode.
    """
    scores = scores.assign(arm=scores["system"] + " / " + scores["mode"])
    systems, modes = sorted(scores["system"].unique()), list(run.parameters.modes)
    pairs = [("mode", f"{s} / oracle", f"{s} / actual") for s in systems] if len(modes) == 2 else []
    pairs += [("system", f"{a} / {mode}", f"{b} / {mode}") for mode in modes for a, b in combinations(systems, 2)]
    rows = []
    for metric, part in scores.groupby("metric", sort=True):
        wide = part.pivot(index="review", columns="arm", values="value")
        for kind, a, b in pairs:
            both = wide[[a, b]].dropna()
            estimate = paired_bootstrap(both[a], both[b], seed=run.parameters.seed, resamples=run.parameters.resamples)
            rows.append({"metric": metric, "kind": kind, "a": a, "b": b, "asked": len(wide), **estimate_row(estimate)})
    frame = pd.DataFrame(rows, columns=["metric", "kind", "a", "b", "asked", *COLUMNS])
    run.save_table("differences", frame)
    return frame


def funnel(run: Run, items: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return the counts of each system, mode and review from reference set to final list; saved as `funnel`.

    reference = not_retrieved + dropped + kept, for reports with a readable list; `shown` counts the candidates,
    wrongly_added the included ones outside of the reference set, unmatched the entries that are no candidate's.
    """
    rows = []
    for item in items:
        reference, shown = set(item["reference"]), set(item["shown"])
        row: dict[str, Any] = {"system": item["system"], "mode": item["mode"], "review": item["review"],
                               "status": item["status"], "reference": len(reference), "shown": len(shown)}
        if item["status"] != "failed":
            row["not_retrieved"] = len(reference - shown)
        if item["included"] is not None:
            included = set(item["included"])
            row |= {"dropped": len((reference & shown) - included), "kept": len(reference & included),
                    "wrongly_added": len(included - reference), "unmatched": item["unmatched"]}
        rows.append(row)
    columns = ["system", "mode", "review", "status", *FUNNEL_COUNTS]
    frame = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(FUNNEL_COUNTS, "Int64"))
    frame = frame.sort_values(["system", "mode", "review"], kind="stable", ignore_index=True)
    run.save_table("funnel", frame)
    return frame


def funnel_shares(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the mean shares of the reference set for each system and mode, every review counting the same.

    `reviews` of `asked` are in the means: those with a readable list.
    """
    rows = []
    for (system, mode), part in counts.groupby(["system", "mode"], sort=True):
        read = part[part["kept"].notna()]
        row: dict[str, Any] = {"system": system, "mode": mode, "label": f"{system}, {mode}", "asked": len(part),
                               "reviews": len(read)}
        wrong = read["wrongly_added"] + read["unmatched"]
        for name, values in (("not_retrieved", read["not_retrieved"]), ("dropped", read["dropped"]),
                             ("kept", read["kept"]), ("wrong", wrong)):
            row[name] = float((values / read["reference"]).astype("float64").mean()) if len(read) else None
        rows.append(row)
    return pd.DataFrame(rows)
