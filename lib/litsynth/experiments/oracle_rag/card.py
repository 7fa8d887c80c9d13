"""MetaSyn's card: the run's systems above the twelve released configurations, by the metrics of every stage."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from litsynth.experiments.oracle_rag.released import all_stages
from litsynth.experiments.showing import Html, Result
from litsynth.experiments.store import Run
from litsynth.plots.metasyn_card import STAGE_METRICS, card_size, description, metasyn_card
from litsynth.plots.style import figure
from litsynth.scoring.identifiers import ID_METRICS

COLUMNS = ["configuration", "metric", "value", "low", "high", "n", "asked", "source"]
_WRITTEN = tuple(name for name in STAGE_METRICS if name not in ID_METRICS)


def own_rows(summary: pd.DataFrame, given: Mapping[str, Any], data: str) -> pd.DataFrame:
    """Return the macro means of a run in the order as retrieved, as rows of the card; label-informed ones stay out."""
    rows = summary[summary["mode"] == "actual"]
    setting = f"{given['retriever']} {given['top_k']}"  # results that differ in candidates alone are rows of their own
    return rows.assign(configuration=rows["system"] + f" {setting} · {data}", source="this run")[COLUMNS]


def stage_card(run: Run, summary: pd.DataFrame) -> Any:
    """Draw and save the card; returns the figure. A run without the actual order shows the released rows alone.

    Above: the identifier metrics of the run's systems and of the released configurations. Below: what a judge said of
    the released reports, which is not asked here. They are of different data, so rows of the two are not compared.
    """
    data = f"{run.dataset.name}{' (synthetic)' if run.dataset.synthetic else ''}"
    released = all_stages(run.parameters.release)
    own = own_rows(summary, {"retriever": run.parameters.retriever, "top_k": run.parameters.top_k}, data)
    found = pd.concat([own, released[released["metric"].isin(ID_METRICS)]], ignore_index=True)
    written = released[released["metric"].isin(_WRITTEN)]
    heights = [card_size(frame["configuration"].nunique(), 1)[1] for frame in (found, written)]
    fig, axes = figure(2, 1, width=card_size(1, len(ID_METRICS))[0] + 1.2, height=sum(heights) + 0.6,
                       height_ratios=heights)
    metasyn_card(axes[0], found, own=list(dict.fromkeys(own["configuration"])), apart=True)
    metasyn_card(axes[1], written)
    frame = pd.concat([found, written], ignore_index=True)
    asked = own["asked"].max() if len(own) else 0
    systems = own["configuration"].nunique()
    run.save_figure("stage_card", fig, frame, alt=(
        f"Card of stage metrics. {systems} of this run on {data} ({asked} reviews asked), marked, above the released "
        f"configurations on MetaSyn, which are other data. {description(found)} Below, what a judge "
        f"said of the released reports: {description(written, ('inclusion_consistency', 'structure_quality'))}"))
    return fig


def show_card(results: Sequence[Result]) -> Html:
    """Show the identifier metrics of every promoted result's systems and of the released configurations as a table."""
    parts = [own_rows(_marked(result), result.manifest["parameters"], _data_of(result))
             for result in results]
    released = all_stages(None)
    frame = pd.concat([*parts, released], ignore_index=True)
    return Html(_table(frame, tuple(ID_METRICS), "What was found and kept: macro means with 95 % intervals and reviews")
                + _table(released, _WRITTEN, "What a judge said of the released reports"))


def _data_of(result: Result) -> str:
    return result.manifest["dataset"]["name"] + (" (synthetic)" if result.manifest["synthetic"] else "")


def _marked(result: Result) -> pd.DataFrame:
    """Return a result's summary with the systems of a demonstration model marked as such."""
    models = result.manifest["facts"].get("models", {})
    summary = result.table("summary")
    return summary.assign(system=[f"{name} (weak)" if models.get(name, {}).get("weak") else name
                                  for name in summary["system"]])


def _table(frame: pd.DataFrame, metrics: Sequence[str], caption: str) -> str:
    cells = {(line.configuration, line.metric): line for line in frame.itertuples()}
    there = [name for name in metrics if name in set(frame["metric"])]
    head = "".join(f'<th scope="col">{html.escape(_heading(name))}</th>' for name in there)
    body = "".join(f'<tr><th scope="row">{html.escape(row)}</th>'
                   + "".join(_cell(cells.get((row, name)), name) for name in there) + "</tr>"
                   for row in dict.fromkeys(frame["configuration"]))
    return (f'<div class="card-holder" tabindex="0" role="region" aria-label="{html.escape(caption)}">'
            f'<table class="report-card"><caption>{html.escape(caption)}</caption>'
            f'<thead><tr><th scope="col">configuration</th>{head}</tr></thead><tbody>{body}</tbody></table></div>')


def _heading(name: str) -> str:
    words, sense = STAGE_METRICS[name]
    return words.replace("\n", " ") + ("" if sense > 0 else " (less is better)")


def _cell(line: Any, name: str) -> str:
    if line is None or line.value is None or line.value != line.value:
        return '<td class="band-white">–</td>'
    share = (line.value - 1) / 4 if name == "structure_quality" else line.value
    known = line.low == line.low and line.low is not None
    interval = f"<small>{line.low:.2f}–{line.high:.2f}</small>" if known else "<small>no interval</small>"
    return (f'<td style="background: rgba(0, 114, 178, {0.08 + 0.4 * min(1.0, max(0.0, share)):.2f})">'
            f"<b>{line.value:.2f}</b>{interval}<small>n {int(line.n)}</small></td>")
