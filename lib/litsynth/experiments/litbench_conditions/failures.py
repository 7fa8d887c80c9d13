"""Why credit was lost, and whether credited answers can be traced to their source."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.conditions import condition_named
from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.litbench_conditions.accuracy import pooled_share
from litsynth.experiments.litbench_conditions.cells import in_order
from litsynth.experiments.store import Run

KINDS = ("not_found", "misread", "declined")


def failures(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return where credit was lost, a row a system, condition and N (0: over all), saved as `failures`.

    Of the `lost` responses (judged wrong, or declined although the evidence was there): `not_found`, an answering
    paper was not among the passages that the system got (retrieval); `misread`, all were, and the answer is
    wrong (reading); `declined`, all were, and it refused. `found` of `counted` responses had every answering paper
    among their passages. `credited_unseen` were credited although one was not, so the fact stands in another paper too.
    Value and interval are those of the share of `not_found` among the lost, resampling source papers.
    """
    rows = []
    for (system, condition), own in cells.groupby(["system", "condition"], sort=True):
        if not condition_named(condition).answer_present:
            continue
        counted = own.dropna(subset=["credit"])
        for n_papers in sorted({*counted["n"], 0}):
            part = counted if n_papers == 0 else counted[counted["n"] == n_papers]
            rows.append({"system": system, "condition": condition, "n_papers": n_papers, **_lost(run, part)})
    columns = ["system", "condition", "n_papers", "counted", "found", "credited", "credited_unseen", "lost", *KINDS,
               *COLUMNS]
    frame = in_order(pd.DataFrame(rows, columns=columns), "system", "n_papers")
    run.save_table("failures", frame)
    return frame


def _lost(run: Run, part: pd.DataFrame) -> dict[str, Any]:
    sources = 1 + part["paper_b"].notna().astype(int)
    found = part["seen"] == sources
    lost = part["credit"] == 0
    kinds = {"not_found": lost & ~found, "misread": lost & found & (part["status"] != "refused"),
             "declined": lost & found & (part["status"] == "refused")}
    made = pooled_share(run, kinds["not_found"][lost], part[lost])
    return {"counted": len(part), "found": int(found.sum()), "credited": int((~lost).sum()),
            "credited_unseen": int((~lost & ~found).sum()), "lost": int(lost.sum()),
            **{name: int(rows.sum()) for name, rows in kinds.items()}, **estimate_row(made)}


def traceability(run: Run, cells: pd.DataFrame) -> pd.DataFrame:
    """Return semantic credit against traceability, a row a system and condition, saved as `traceability`.

    The four counts of responses with both decided: credited and traceable, credited alone (often a paraphrase or
    another passage), traceable alone (the right passage, not what was asked), neither. `source` named the right paper,
    `verbatim` quoted it word for word. Value and interval are those of the share in which the two agree.
    """
    rows = []
    for (system, condition), own in cells.groupby(["system", "condition"], sort=True):
        if not condition_named(condition).answer_present:
            continue
        part = own.dropna(subset=["credit", "traceable"])
        credited, traceable = part["credit"] == 1, part["traceable"] == 1
        made = pooled_share(run, credited == traceable, part)
        rows.append({
            "system": system, "condition": condition, "counted": len(part),
            "credited_and_traceable": int((credited & traceable).sum()),
            "credited_alone": int((credited & ~traceable).sum()),
            "traceable_alone": int((~credited & traceable).sum()), "neither": int((~credited & ~traceable).sum()),
            "source": int((part["source"] == 1).sum()), "verbatim": int((part["verbatim"] == 1).sum()),
            **estimate_row(made)})
    columns = ["system", "condition", "counted", "credited_and_traceable", "credited_alone", "traceable_alone",
               "neither", "source", "verbatim", *COLUMNS]
    frame = in_order(pd.DataFrame(rows, columns=columns), "system")
    run.save_table("traceability", frame)
    return frame
