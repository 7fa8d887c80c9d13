"""How far panel, judges and human agree: coefficients, pairs, panels without one judge, groups of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from litsynth.errors import DataError
from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.judge_concordance.published import published_agreement
from litsynth.experiments.judge_concordance.rated import human_name
from litsynth.experiments.judge_concordance.verdicts import Verdicts
from litsynth.experiments.store import Run
from litsynth.records import Estimate
from litsynth.stats import (
    cohen_kappa,
    direction_of_disagreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    leave_one_judge_out,
    pabak,
    pairwise_kappa,
    panel_accuracy,
    raw_agreement,
    specific_agreement,
)

THIS_RUN = "this run"


def usable(rated: pd.DataFrame) -> pd.DataFrame:
    """Return the sampled cells that both panel and human decided."""
    return rated[rated["panel"].notna() & rated["human"].notna()].reset_index(drop=True)


def objects(votes: pd.DataFrame) -> dict[str, list[Any]]:
    """Return votes as lists by judge, None where missing."""
    return {name: [None if pd.isna(vote) else int(vote) for vote in votes[name]] for name in votes.columns}


def clusters_of(cells: pd.DataFrame) -> list[str]:
    """Return what belongs together: the source paper, or the item itself where no paper is known."""
    return cells["paper"].where(cells["paper"].notna(), cells["item"]).astype(str).tolist()


def two_raters(a: Sequence[int], b: Sequence[int], *, clusters: Sequence[str], seed: int,
               resamples: int) -> dict[str, Estimate]:
    """Return every coefficient of two raters of the same cells, by name; `b` is the one that accuracy is against."""
    specific, accuracy = specific_agreement(a, b), panel_accuracy(a, b)
    alpha = krippendorff_alpha(zip(a, b, strict=True), seed=seed, resamples=resamples, clusters=clusters)
    return {"agreement": raw_agreement(a, b), "cohen_kappa": cohen_kappa(a, b), "pabak": pabak(a, b),
            "gwet_ac1": gwet_ac1(zip(a, b, strict=True)), "krippendorff_alpha": alpha,
            "positive_agreement": specific["positive"], "negative_agreement": specific["negative"], **accuracy}


def several_raters(votes: Mapping[str, Sequence[Any]], clusters: Sequence[str], *, seed: int,
                   resamples: int) -> dict[str, Estimate]:
    """Return the coefficients of a group of raters; Fleiss' κ on the cells that all of them rated, the others on all.

    A group of one has no agreement, which the reason says.
    """
    method = "several raters"
    if len(votes) < 2:
        alone = Estimate(None, None, None, 0, 0, method, reason="one judge alone agrees with nobody")
        return {"fleiss_kappa": alone, "krippendorff_alpha": alone, "gwet_ac1": alone}
    rows = list(zip(*votes.values(), strict=True))
    complete = [i for i, row in enumerate(rows) if None not in row]
    options = {"seed": seed, "resamples": resamples}
    fleiss = fleiss_kappa([rows[i] for i in complete], clusters=[clusters[i] for i in complete], **options)
    return {"fleiss_kappa": fleiss, "krippendorff_alpha": krippendorff_alpha(rows, clusters=clusters, **options),
            "gwet_ac1": gwet_ac1(rows)}


def agreement(run: Run, verdicts: Verdicts, rated: pd.DataFrame) -> pd.DataFrame:
    """Return all coefficients with the published ones beside them, saved as `agreement`.

    `comparison`: panel against the human (sampled cells), the judges among themselves (all cells), judges and human
    (sampled cells). `source` is this run, published, or derived from the published table.
    """
    both = usable(rated)
    if both.empty:
        raise DataError("no sampled cell was decided by both panel and human", expected="at least one rating",
                        remedy="rate some of the sample first")
    options = {"seed": run.parameters.seed, "resamples": run.parameters.resamples}
    human, own = human_name(run), _votes_of(verdicts, rated)
    made = [(f"panel against {human}", two_raters(_panel(both), _human(both), clusters=clusters_of(both), **options)),
            ("judges among themselves", several_raters(objects(verdicts.votes), clusters_of(verdicts.cells),
                                                       **options)),
            (f"judges and {human}", several_raters({**own, human: _human(rated)}, clusters_of(rated), **options))]
    rows = [{"comparison": name, "source": THIS_RUN, "measure": measure, **estimate_row(estimate)}
            for name, estimates in made for measure, estimate in estimates.items()]
    frame = pd.DataFrame([*rows, *published_agreement()])
    run.save_table("agreement", frame)
    return frame


def _votes_of(verdicts: Verdicts, rated: pd.DataFrame) -> dict[str, list[Any]]:
    return objects(verdicts.votes.set_index(verdicts.cells["item"]).loc[rated["item"]])


def _human(rated: pd.DataFrame) -> list[Any]:
    return [None if pd.isna(value) else int(value) for value in rated["human"]]


def _panel(cells: pd.DataFrame) -> list[Any]:
    return [None if pd.isna(value) else int(value) for value in cells["panel"]]


def judge_table(run: Run, verdicts: Verdicts, rated: pd.DataFrame) -> pd.DataFrame:
    """Return κ of every two raters and of panels without one judge, saved as `judges`.

    `kind`: judge and panel, two judges (all cells), judge and human, panel and human (sampled cells), judge and the
    others, the others and human (each judge left out once). The panel contains the judge it is compared with, so the
    kind judge and others is the fairer one. `agreement` is raw; cells without both labels are `left_out`.
    """
    human, sampled = human_name(run), _votes_of(verdicts, rated)
    everywhere = objects(verdicts.votes)
    rows = [_pair("two judges", "all cells", a, b, made) for (a, b), made in pairwise_kappa(everywhere).items()]
    panel = _panel(verdicts.cells)
    for name, votes in everywhere.items():
        rows.append(_pair("judge and panel", "all cells", name, "panel",
                          pairwise_kappa({name: votes, "panel": panel})[name, "panel"]))
    for name, votes in {**sampled, "panel": _panel(rated)}.items():
        kind = "panel and human" if name == "panel" else "judge and human"
        rows.append(_pair(kind, "sampled cells", name, human, pairwise_kappa({name: votes, human: _human(rated)})[
            name, human]))
    rows += list(_left_out(everywhere, sampled, rated, human))
    frame = pd.DataFrame(rows)
    run.save_table("judges", frame)
    return frame


def _left_out(everywhere: Mapping[str, Sequence[Any]], sampled: Mapping[str, Sequence[Any]], rated: pd.DataFrame,
              human: str) -> Iterator[dict[str, Any]]:
    if len(everywhere) < 2:
        reason = "a panel of one judge has no others"
        alone = Estimate(None, None, None, 0, 0, "leave one judge out", reason=reason)
        for name in everywhere:
            yield _pair("judge and the others", "all cells", name, "the others", alone)
        return
    for name, made in leave_one_judge_out(everywhere).items():
        yield _pair("judge and the others", "all cells", name, f"panel without {name}", made["judge_against_rest"])
    for name, made in leave_one_judge_out(sampled, _human(rated)).items():
        yield _pair("the others and human", "sampled cells", f"panel without {name}", human, made["rest_against_human"])


def _pair(kind: str, cells: str, a: str, b: str, made: Estimate) -> dict[str, Any]:
    return {"kind": kind, "cells": cells, "a": a, "b": b, **estimate_row(made),
            "agreement": made.details.get("agreement"), "left_out": made.details.get("left_out")}


def groups(rated: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield kind and name of a group with its cells that both decided: all, each condition, domain and system."""
    both = usable(rated)
    yield "all", "all", both
    for kind in ("condition", "domain", "system"):
        for name, part in both.groupby(kind, sort=True):
            yield kind, str(name), part


def by_group(run: Run, rated: pd.DataFrame) -> pd.DataFrame:
    """Return agreement, κ and AC1 of panel and human by condition, domain and system, saved as `by_group`."""
    rows = []
    for kind, name, part in groups(rated):
        a, b = _panel(part), _human(part)
        for measure, made in (("agreement", raw_agreement(a, b)), ("cohen_kappa", cohen_kappa(a, b)),
                              ("gwet_ac1", gwet_ac1(zip(a, b, strict=True)))):
            rows.append({"group_kind": kind, "group": name, "measure": measure, **estimate_row(made)})
    frame = pd.DataFrame(rows, columns=["group_kind", "group", "measure", *COLUMNS])
    run.save_table("by_group", frame)
    return frame


def direction(run: Run, rated: pd.DataFrame) -> pd.DataFrame:
    """Return who credits more, panel or human, by group, saved as `direction`.

    `value` is the share credited by the panel less that credited by the human, with Newcombe's paired interval and the
    exact McNemar p-value; the four counts beside it. `cluster_low` and `cluster_high` resample source papers.
    """
    from litsynth.stats import paired_bootstrap

    rows = []
    for kind, name, part in groups(rated):
        a, b = _panel(part), _human(part)
        made = direction_of_disagreement(a, b)
        clustered = paired_bootstrap(a, b, seed=run.parameters.seed, resamples=run.parameters.resamples,
                                     clusters=clusters_of(part))
        counts = {"both": made.details["both"], "panel_only": made.details["only_a"],
                  "human_only": made.details["only_b"], "neither": made.details["neither"]}
        rows.append({"group_kind": kind, "group": name, **counts, **estimate_row(made),
                     "p_value": made.details["p_value"], "cluster_low": clustered.low, "cluster_high": clustered.high})
    frame = pd.DataFrame(rows)
    run.save_table("direction", frame)
    return frame
