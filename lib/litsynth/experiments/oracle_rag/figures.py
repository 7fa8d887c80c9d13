"""The pictures of the oracle experiment, each saved with what it plots and a description in words."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.experiments.estimates import shown
from litsynth.experiments.oracle_rag.losses import PLACES
from litsynth.experiments.oracle_rag.released import released_funnel
from litsynth.experiments.oracle_rag.tables import funnel_shares
from litsynth.experiments.store import Run
from litsynth.plots import funnel as draw
from litsynth.plots.style import figure


def where_studies_are_lost(run: Run, counts: pd.DataFrame, released: pd.DataFrame) -> Any:
    """Draw the funnel of every system and mode beside that of the released configurations; returns the figure."""
    own, others = funnel_shares(counts), released_funnel(released)
    others = others.assign(label=[f"{number}. {label}" for number, label in enumerate(others["label"], start=1)])
    fig, axes = figure(2, 1, width=9, height=2.6 + 0.5 * len(own) + 0.28 * len(others),
                       height_ratios=[1.2 + 0.5 * len(own), 1.2 + 0.28 * len(others)])
    draw.funnel_bars(axes[0], own, scale=f"share of the reference set, mean over reviews of {_data(run)}")
    draw.funnel_bars(axes[1], others, hatched=list(others["label"]),
                     scale="share of the reference set, mean over reviews of MetaSyn (released configurations)")
    axes[1].get_legend().remove()
    words = "; ".join(f"{row.label}: {_share(row.kept)} kept, {_share(row.dropped)} retrieved and dropped, "
                      f"{_share(row.not_retrieved)} not retrieved, {_share(row.wrong)} wrongly added per reference "
                      f"study ({row.reviews} of {row.asked} reviews)" for row in own.itertuples())
    data = pd.concat([own.assign(data=_data(run)), others.assign(data="MetaSyn, released")], ignore_index=True)
    run.save_figure("funnel", fig, data, alt=(
        f"Stacked bars of where the reference studies went, for the systems of this run on {_data(run)}: {words}. "
        f"Below, the {len(others)} released configurations on MetaSyn, which are other data."))
    return fig


def _data(run: Run) -> str:
    return f"{run.dataset.name}{' (synthetic)' if run.dataset.synthetic else ''}"


def _share(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


def losses_by_review(run: Run, counts: pd.DataFrame) -> Any:
    """Draw the counts of every review, one panel a system and mode; returns the figure."""
    arms = list(counts.groupby(["system", "mode"], sort=True))
    height = 1.4 + 0.32 * max(len(part) for _, part in arms)
    fig, axes = figure(len(arms), 1, width=8, height=height * len(arms))
    for number, (ax, ((system, mode), part)) in enumerate(zip(axes, arms, strict=True)):
        bars = part.assign(label=[f"review {review}" for review in part["review"]],
                           wrong=part["wrongly_added"] + part["unmatched"])
        numbers = ["kept", "dropped", "not_retrieved", "wrong"]
        bars = bars.astype(dict.fromkeys(numbers, "float64"))  # a missing count is no number, which a picture asks for
        draw.funnel_bars(ax, bars, scale="number of studies")
        ax.set_title(f"{system}, {mode}", loc="right")
        if number:
            ax.get_legend().remove()
    words = "; ".join(f"{system}, {mode}: {_counted(part)}" for (system, mode), part in arms)
    run.save_figure("funnel_by_review", fig, counts, alt=(
        f"Bars for each review of kept, dropped, not retrieved and wrongly added studies. Over all reviews: {words}."))
    return fig


def _counted(part: pd.DataFrame) -> str:
    """Say what was kept and wrongly added in the reviews with a readable list, and how many those are."""
    read = part[part["kept"].notna()]
    words = f"{read['kept'].sum()} of {read['reference'].sum()} kept, {read['wrongly_added'].sum()} wrongly added"
    missing = len(part) - len(read)
    return words + (f" ({missing} of {len(part)} reviews without a readable list)" if missing else "")


def retention_against_recall(run: Run, summary: pd.DataFrame, released: pd.DataFrame) -> Any:
    """Draw conditional retention against retrieval recall with the released configurations; returns the figure."""
    own = _points(summary.assign(label=summary["system"] + ", " + summary["mode"]))
    others = _points(released.rename(columns={"configuration": "label"}))
    fig, axes = figure(1, 1, width=7, height=5)
    draw.retention_scatter(axes[0], own, others)
    words = "; ".join(f"{row.label}: recall {shown(row.x, row.x_low, row.x_high)}, retention "
                      f"{shown(row.y, row.y_low, row.y_high)}, {row.n} reviews" for row in own.itertuples())
    numbered = ", ".join(f"{number} {label}" for number, label in enumerate(others["label"], start=1))
    data = pd.concat([own.assign(data=_data(run)), others.assign(data="MetaSyn, released")], ignore_index=True)
    run.save_figure("retention_against_recall", fig, data, alt=(
        f"Conditional retention against retrieval recall on {_data(run)}: {words}. Grey, on MetaSyn: {numbered}. Thin "
        "lines join places of equal inclusion recall."))
    return fig


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    """Return label, x (retrieval recall) and y (conditional retention) with intervals, and the n of y."""
    x = rows[rows["metric"] == "retrieval_recall"].set_index("label")
    y = rows[rows["metric"] == "conditional_retention"].set_index("label").reindex(x.index)
    columns = {"x": x["value"], "x_low": x["low"], "x_high": x["high"], "y": y["value"], "y_low": y["low"],
               "y_high": y["high"]}
    return pd.DataFrame(columns).astype("float64").assign(n=y["n"]).rename_axis("label").reset_index()


def inclusion_by_place(run: Run, places: pd.DataFrame) -> Any:
    """Draw the share included by place in the list, a panel a mode; returns the figure, None without decisions."""
    if places.empty:
        return None
    modes = [mode for mode in run.parameters.modes if mode in set(places["mode"])]
    fig, axes = figure(1, len(modes), width=5 * len(modes), height=4, sharey=True)
    for number, (ax, mode) in enumerate(zip(axes, modes, strict=True)):
        draw.place_lines(ax, places[places["mode"] == mode], PLACES, legend=not number)
        ax.set_title(f"{mode} order")
    words = "; ".join(f"{row.system}, {row.mode}, {row.who} at {row.place}: {row.included} of {row.n}"
                      for row in places.itertuples())
    run.save_figure("inclusion_by_place", fig, places, alt=(
        f"Share of candidates included by their place in the list, reference and other articles apart. {words}."))
    return fig


def criterion_failures(run: Run, criteria: pd.DataFrame) -> Any:
    """Draw which kinds of hard negative are let in; returns the figure, None where the data set knows no kinds."""
    if criteria.empty:
        return None
    fig, axes = figure(1, 1, width=8, height=4)
    draw.criterion_bars(axes[0], criteria)
    words = "; ".join(f"{row.system}, {row.mode}, {row.fails}: {row.included} of {row.n}"
                      for row in criteria.itertuples())
    run.save_figure("criterion_failures", fig, criteria, alt=(
        f"Share of hard negatives that were wrongly included, by the one criterion that each fails. {words}."))
    return fig
