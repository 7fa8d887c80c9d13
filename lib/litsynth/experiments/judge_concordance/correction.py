"""Credit corrected for the judges' errors, from the cells that the human rated, beside the raw figure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.judge_concordance.comparing import clusters_of, usable
from litsynth.experiments.judge_concordance.verdicts import Verdicts
from litsynth.experiments.store import Run
from litsynth.records import Estimate
from litsynth.stats import cluster_bootstrap, cluster_interval, prediction_powered_mean, rogan_gladen
from litsynth.stats.inputs import z_value

RAW, ROGAN_GLADEN, POWERED = "panel (raw)", "Rogan–Gladen", "prediction-powered"
_POWERED = "prediction-powered mean, stratified"


def corrected(run: Run, verdicts: Verdicts, rated: pd.DataFrame) -> pd.DataFrame:
    """Return the share of answered facts that deserve credit, raw and corrected, by group; saved as `corrected`.

    Over the cells that the panel decided; refusals are no part of it. The raw interval resamples source papers.
    Rogan–Gladen takes sensitivity and specificity from the whole human sample, so it assumes that the panel errs alike
    everywhere; its interval widens the panel's part by the design effect of cells that share a paper. The
    prediction-powered mean works inside each stratum of the sample and weights strata by their cells.
    """
    decided = verdicts.cells[verdicts.cells["panel"].notna()]
    both = usable(rated)
    rows = []
    for kind, name, part in _groups(decided):
        own = both[both["item"].isin(part["item"])]
        estimates = {RAW: cluster_bootstrap(part["panel"].astype(float), clusters_of(part), seed=run.parameters.seed,
                                            resamples=run.parameters.resamples),
                     ROGAN_GLADEN: from_errors(part, both), POWERED: powered(part, own, run.parameters.strata)}
        rows += [{"group_kind": kind, "group": name, "method_name": method, "cells": len(part), "rated": len(own),
                  **estimate_row(made)} for method, made in estimates.items()]
    frame = pd.DataFrame(rows, columns=["group_kind", "group", "method_name", "cells", "rated", *COLUMNS])
    run.save_table("corrected", frame)
    return frame


def _groups(decided: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    yield "all", "all", decided
    for kind in ("condition", "system"):
        for name, part in decided.groupby(kind, sort=True):
            yield kind, str(name), part


def from_errors(part: pd.DataFrame, both: pd.DataFrame) -> Estimate:
    """Correct the panel's rate on `part` by its sensitivity and specificity on the rated cells `both`."""
    panel, human = both["panel"].astype(int), both["human"].astype(int)
    effect = cluster_interval(part["panel"].astype(float), clusters_of(part)).details.get("effective_responses")
    return rogan_gladen(
        int(part["panel"].sum()), len(part), true_positives=int(((panel == 1) & (human == 1)).sum()),
        human_positives=int((human == 1).sum()), true_negatives=int(((panel == 0) & (human == 0)).sum()),
        human_negatives=int((human == 0).sum()), design_effect=max(1.0, len(part) / effect) if effect else 1.0)


def powered(part: pd.DataFrame, own: pd.DataFrame, strata: list[str]) -> Estimate:
    """Estimate the human's mean over `part` from the rated cells `own` in it, stratum by stratum.

    Strata are weighted by their cells; a stratum that is rated whole has its mean and no uncertainty. A stratum with
    one rated cell, or none, leaves no estimate, and the reason names it. Value and bounds are cut at 0 and 1.
    """
    value, variance, weights = 0.0, 0.0, []
    for name, cells in part.groupby(list(strata), sort=True, dropna=False) if strata else [(("all",), part)]:
        rated = own[own["item"].isin(cells["item"])]
        rest = cells.loc[~cells["item"].isin(own["item"]), "panel"].astype(float)
        share = len(cells) / len(part)
        if rest.empty:
            value += share * float(rated["human"].astype(float).mean())
            continue
        made = prediction_powered_mean(rest, rated["panel"].astype(float), rated["human"].astype(float))
        if made.value is None:
            named = ", ".join(map(str, name if isinstance(name, tuple) else (name,)))
            return Estimate(None, None, None, len(part), len(own), _POWERED, reason=f"stratum {named}: {made.reason}")
        value, variance = value + share * made.value, variance + (share * made.details["standard_error"]) ** 2
        weights.append(made.details["lambda"])
    details: dict[str, Any] = {"lambdas": tuple(weights), "standard_error": math.sqrt(variance)}
    if variance <= 1e-24:
        reason = "the human sample shows no variation, so there is no large-sample interval"
        value = min(1.0, max(0.0, value))
        return Estimate(value, None, None, len(part), len(own), _POWERED, reason=reason, details=details)
    half = z_value(0.95) * math.sqrt(variance)
    # The truth is a share, so what lies outside of 0 to 1 says nothing.
    value, low, high = (min(1.0, max(0.0, bound)) for bound in (value, value - half, value + half))
    return Estimate(value, low, high, len(part), len(own), _POWERED, details=details)
