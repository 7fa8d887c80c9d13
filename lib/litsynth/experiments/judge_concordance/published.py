"""The published concordance beside one's own, and published numbers computed again from their public inputs."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth import paths
from litsynth.experiments.estimates import estimate_row
from litsynth.experiments.store import Run
from litsynth.records import Estimate
from litsynth.stats import (
    cohen_kappa,
    direction_of_disagreement,
    gwet_ac1,
    pabak,
    panel_accuracy,
    pooled_proportion,
    raw_agreement,
    specific_agreement,
    wilson_interval,
)

PUBLISHED, DERIVED = "published", "derived from the published table"
COMPARISON = "panel against clinician"


def published_table() -> pd.DataFrame:
    """Return the published concordance: quantity, value, low, high, n, note."""
    return pd.read_csv(paths.project_root() / "data" / "published" / "litbench_concordance.csv").set_index("quantity")


def published_ratings() -> tuple[list[int], list[int]]:
    """Return panel and human ratings of the published table of counts, a pair a cell."""
    counts = published_table()["value"].astype(int)
    both, panel, human, neither = (counts[name] for name in ("panel_and_human", "panel_only", "human_only", "neither"))
    return [1] * (both + panel) + [0] * (human + neither), [1] * both + [0] * panel + [1] * human + [0] * neither


def derived() -> dict[str, Estimate]:
    """Return the coefficients that follow from the published table of counts."""
    panel, human = published_ratings()
    specific = specific_agreement(panel, human)
    return {"agreement": raw_agreement(panel, human), "cohen_kappa": cohen_kappa(panel, human),
            "pabak": pabak(panel, human), "gwet_ac1": gwet_ac1(zip(panel, human, strict=True)),
            "positive_agreement": specific["positive"], "negative_agreement": specific["negative"],
            **panel_accuracy(panel, human)}


def published_agreement() -> list[dict[str, Any]]:
    """Return the published coefficients and those that follow from the published counts, as rows of `agreement`."""
    table, rows = published_table(), []
    for measure in ("agreement", "cohen_kappa"):
        said = table.loc[measure].astype(object).where(table.loc[measure].notna(), None)
        rows.append({"comparison": COMPARISON, "source": PUBLISHED, "measure": measure, "value": said["value"],
                     "low": said["low"], "high": said["high"], "n": int(said["n"]), "clusters": int(said["n"]),
                     "method": "as published", "reason": "" if said["low"] is not None else "none published"})
    return rows + [{"comparison": COMPARISON, "source": DERIVED, "measure": measure, **estimate_row(made)}
                   for measure, made in derived().items()]


def published_rederived(run: Run) -> pd.DataFrame:
    """Return published numbers next to what their public inputs give, saved as `published_rederived`.

    `agrees` says whether the two are equal at the digits that were published (`decimals`, of the share or of κ).
    """
    refusal = pd.read_csv(paths.project_root() / "data" / "published" / "litbench_refusal.csv")
    sonnet = refusal[(refusal["system"] == "Sonnet-5") & refusal["scored"].notna()]
    single, pairs = (sonnet[sonnet["condition"] == name] for name in ("T6", "T7"))
    table, made = published_table(), derived()
    kappa = table.loc["cohen_kappa"]
    rows = [
        _row("correct refusals, single paper, N = 50", "574 of 605 cells", 0.949, None, None, 3, wilson_interval(
            int(single["refused"].sum()), int(single["scored"].sum()))),
        _row("correct refusals, two papers, N = 1, 10 and 50", "53 + 167 + 170 of 390 cells", 1.0, None, None, 3,
             pooled_proportion(pairs["refused"], pairs["scored"])),
        _row("agreement of panel and clinician", "81 + 56 of 154 cells", table.loc["agreement", "value"], None, None, 3,
             made["agreement"]),
        _row("Cohen's κ of panel and clinician", "counts 81, 12, 5, 56", kappa["value"], kappa["low"], kappa["high"], 3,
             made["cohen_kappa"]),
        _row("share credited by the panel less the clinician's", "counts 81, 12, 5, 56", None, None, None, 3,
             direction_of_disagreement(*published_ratings())),
    ]
    frame = pd.DataFrame(rows)
    run.save_table("published_rederived", frame)
    return frame


def _row(quantity: str, inputs: str, value: float | None, low: float | None, high: float | None, decimals: int,
         made: Estimate) -> dict[str, Any]:
    pairs = ((value, made.value, decimals), (low, made.low, 2), (high, made.high, 2))  # bounds have two decimals
    checks = [round(own, digits) == round(said, digits) for said, own, digits in pairs if said is not None]
    return {"quantity": quantity, "inputs": inputs, "published": value, "published_low": low, "published_high": high,
            "decimals": decimals, **estimate_row(made), "agrees": all(checks) if checks else None}
