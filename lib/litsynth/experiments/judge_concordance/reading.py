"""The findings to read: coefficients in words, and the disagreements themselves side by side."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown
from litsynth.experiments.judge_concordance.comparing import THIS_RUN, usable
from litsynth.experiments.judge_concordance.rated import SIMULATED, human_name
from litsynth.experiments.judge_concordance.verdicts import Verdicts
from litsynth.experiments.store import Run
from litsynth.files import write_text

MEASURES = {
    "agreement": "raw agreement", "cohen_kappa": "Cohen's κ", "pabak": "PABAK", "gwet_ac1": "Gwet's AC1",
    "fleiss_kappa": "Fleiss' κ", "krippendorff_alpha": "Krippendorff's α", "positive_agreement": "positive agreement",
    "negative_agreement": "negative agreement", "sensitivity": "sensitivity", "specificity": "specificity",
    "positive_predictive_value": "positive predictive value", "negative_predictive_value": "negative predictive value"}
SHOWN_CASES = 12


def rater_of(source: Run | Mapping[str, Any]) -> str:
    """Return what the rater is called in a run or in the result that a manifest describes."""
    return str(source["facts"]["human"]) if isinstance(source, Mapping) else human_name(source)


def said(value: float | None, low: float | None, high: float | None, reason: str = "", *, signed: bool = False) -> str:
    """Return an estimate for reading; where it has no value or no interval, why."""
    missing = value is None or value != value
    if missing:
        return f"undefined: {reason}" if reason else "undefined"
    words = shown(value, low, high, signed=signed)
    return f"{words}: {reason}" if reason and "no interval" in words else words


def _cell(row: Any) -> str:
    return f"{said(row.value, row.low, row.high, row.reason)}, n = {row.n:,}"


def coefficients(table: pd.DataFrame) -> pd.DataFrame:
    """Return the coefficients for reading: a row a measure, this run and the published concordance side by side."""
    pair = table[table["comparison"].str.startswith("panel against")]
    rows: dict[str, dict[str, str]] = {}
    for row in pair.itertuples():
        name = row.comparison if row.source == THIS_RUN else f"clinician ({row.source})"
        rows.setdefault(MEASURES[row.measure], {})[name] = _cell(row)
    return pd.DataFrame.from_dict(rows, orient="index").fillna("–").rename_axis("measure")


def among_judges(table: pd.DataFrame) -> pd.DataFrame:
    """Return the coefficients of several raters for reading."""
    part = table[~table["comparison"].str.startswith("panel against")]
    rows = [{"raters": row.comparison, "measure": MEASURES[row.measure], "value": _cell(row)}
            for row in part.itertuples()]
    return pd.DataFrame(rows).pivot(index="raters", columns="measure", values="value")


def judges_shown(source: Run | Mapping[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    """Return κ of every pair of raters for reading; `source` is the run or a promoted result's manifest."""
    human = rater_of(source)
    rows = [{"what": row.kind.replace("human", human), "rater": row.a, "against": row.b, "cells": row.cells,
             "Cohen's κ": _cell(row), "raw agreement": shown(row.agreement).replace(" (no interval)", "")}
            for row in table.itertuples()]
    return pd.DataFrame(rows).set_index("what")


def groups_shown(source: Run | Mapping[str, Any], by_group: pd.DataFrame, direction: pd.DataFrame,
                 kind: str) -> pd.DataFrame:
    """Return agreement and direction by condition, domain or system for reading; `source` as in `judges_shown`."""
    human = rater_of(source)
    rows: dict[str, dict[str, str]] = {}
    for row in by_group[by_group["group_kind"].isin(["all", kind])].itertuples():
        rows.setdefault(row.group, {"rated cells": f"{row.n:,}"})[MEASURES[row.measure]] = said(
            row.value, row.low, row.high, row.reason)
    for row in direction[direction["group_kind"].isin(["all", kind])].itertuples():
        rows[row.group] |= {"panel alone credits": str(row.panel_only), f"{human} alone credits": str(row.human_only),
                            f"panel less {human}": said(row.value, row.low, row.high, row.reason, signed=True)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(kind)


def corrected_shown(table: pd.DataFrame, kind: str = "condition") -> pd.DataFrame:
    """Return raw and corrected credit for reading."""
    rows: dict[str, dict[str, str]] = {}
    for row in table[table["group_kind"].isin(["all", kind])].itertuples():
        rows.setdefault(row.group, {"cells": f"{row.cells:,}", "rated": f"{row.rated:,}"})[row.method_name] = said(
            row.value, row.low, row.high, row.reason)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(kind)


def rederived_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return published numbers and what their inputs give, for reading."""
    rows = [{"quantity": row.quantity, "from": row.inputs,
             "published": "–" if pd.isna(row.published) else shown(row.published, row.published_low, row.published_high)
             .replace(" (no interval)", ""),
             "computed here": said(row.value, row.low, row.high, row.reason),
             "agrees as published": "nothing to compare" if row.agrees is None else "yes" if row.agrees else "no"}
            for row in table.itertuples()]
    return pd.DataFrame(rows).set_index("quantity")


def verdict(source: Run | Mapping[str, Any], table: pd.DataFrame, directions: pd.DataFrame) -> str:
    """Say how far panel and human agree, who credits more, and how that compares with the published concordance.

    `source` is the run or a promoted result's manifest.
    """
    human = rater_of(source)
    pair = table[table["comparison"].str.startswith("panel against")]
    own = pair[pair["source"] == THIS_RUN].set_index("measure")
    there = table[table["source"] == "published"].set_index("measure")
    same, kappa = own.loc["agreement"], own.loc["cohen_kappa"]
    one = directions[directions["group_kind"] == "all"].iloc[0]
    open_ = one["low"] is None or one["low"] != one["low"] or one["low"] <= 0 <= one["high"]
    more = ("neither is shown to credit more" if open_ else
            f"the {'panel' if one['value'] > 0 else human} credits more")
    label = " These ratings are simulated: no human took part." if human == SIMULATED else ""
    published = there.loc["cohen_kappa"]
    return (f"Panel and {human} agree on {same['value']:.1%} of {int(same['n'])} cells; Cohen's κ is "
            f"{said(kappa['value'], kappa['low'], kappa['high'], kappa['reason'])}. The panel alone credits "
            f"{one['panel_only']}, the {human} alone {one['human_only']}: {more}; "
            f"difference {said(one['value'], one['low'], one['high'], one['reason'], signed=True)}. Published: "
            f"{there.loc['agreement', 'value']:.1%} of {int(published['n'])} cells, κ "
            f"{shown(published['value'], published['low'], published['high'])}, with more credit from the "
            f"panel.{label}")


def disagreements(run: Run, verdicts: Verdicts, rated: pd.DataFrame) -> pd.DataFrame:
    """Return the cells on which panel and human differ with every vote, saved as `disagreements` (without any text)."""
    both = usable(rated)
    differ = both[both["panel"] != both["human"]].reset_index(drop=True)
    votes = verdicts.votes.set_index(verdicts.cells["item"]).loc[differ["item"]].reset_index(drop=True)
    ids = differ[["blinded_id", "item", "condition", "domain", "system", "panel", "human", "comment"]]
    frame = pd.concat([ids, votes.add_prefix("judge ")], axis="columns")
    run.save_table("disagreements", frame.drop(columns="comment"))
    return frame


def side_by_side(run: Run, verdicts: Verdicts, table: pd.DataFrame, most: int = SHOWN_CASES) -> Any:
    """Show the disagreements to read: reference fact and answer side by side, every text escaped.

    All of them lie in the run directory as `disagreements.html`, which is never promoted. In the notebook the first
    `most` are shown for synthetic data, for real data only with `show_texts`, since a promoted notebook would publish
    them. Without words or without disagreements a sentence says so.
    """
    from IPython.display import HTML

    if table.empty:
        return HTML("<p>Panel and human agree on every rated cell.</p>")
    if not verdicts.has_words:
        return HTML(f"<p>{len(table)} disagreements; their answers are not kept with this verdict table.</p>")
    words = verdicts.cells.set_index("item")
    cases = [_case(row, words.loc[row["item"]], human_name(run)) for row in table.to_dict("records")]
    head = "<!doctype html><html lang='en'><meta charset='utf-8'><title>Disagreements</title>"
    title = f"<h1>{len(cases)} disagreements</h1>"
    write_text(run.directory / "disagreements.html", f"{head}{title}{''.join(cases)}</html>\n")
    synthetic = run.dataset is not None and run.dataset.synthetic
    if not (synthetic or run.parameters.show_texts):
        return HTML(f"<p>{len(cases)} disagreements are in <code>disagreements.html</code> of the run directory; "
                    "<code>show_texts = True</code> shows them here.</p>")
    rest = f"<p>{len(cases) - most} more are in the table.</p>" if len(cases) > most else ""
    return HTML("".join(cases[:most]) + rest)


def _case(row: dict[str, Any], words: pd.Series, human: str) -> str:
    votes = ", ".join(f"{html.escape(name.removeprefix('judge '))} {_yes(value)}" for name, value in row.items()
                      if name.startswith("judge "))
    about = " · ".join(html.escape(str(row[name])) for name in ("condition", "domain", "system") if row[name])
    comment = f"<p>Comment: {html.escape(row['comment'])}</p>" if row["comment"] else ""
    left = (f"<p><strong>Question.</strong> {_text(words['question'])}</p><p><strong>Reference fact.</strong> "
            f"{_text(words['reference_fact'])}</p><p><strong>Quote.</strong> {_text(words['quote'])}</p>")
    return (f"<table style='width:100%'><caption style='text-align:left'>{html.escape(row['blinded_id'])}: panel "
            f"{_yes(row['panel'])}, {html.escape(human)} {_yes(row['human'])} · {about} · votes: {votes}</caption>"
            f"<tr><th style='text-align:left'>Reference</th><th style='text-align:left'>Answer</th></tr>"
            f"<tr><td style='vertical-align:top;width:50%;white-space:normal;text-align:left'>{left}</td>"
            f"<td style='vertical-align:top;width:50%;white-space:pre-wrap;text-align:left'>{_text(words['response'])}"
            f"{comment}</td></tr></table>")


def _text(value: Any) -> str:
    return html.escape(str(value)) if isinstance(value, str) and value.strip() else "<em>(nothing)</em>"


def _yes(value: Any) -> str:
    return "no vote" if pd.isna(value) else "credit" if value else "no credit"
