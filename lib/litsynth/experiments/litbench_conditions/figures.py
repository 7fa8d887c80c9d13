"""The pictures of the conditions experiment, each saved with what it plots and a description in words."""

from __future__ import annotations

from typing import Any

import pandas as pd

from litsynth.conditions import CONDITIONS, condition_named
from litsynth.experiments.estimates import shown
from litsynth.experiments.litbench_conditions.accuracy import measures_of
from litsynth.experiments.litbench_conditions.domains import DOMAINS, FACT_TYPES, GROUPS, card_conditions, shown_cells
from litsynth.experiments.litbench_conditions.published import published_accuracy, published_refusals
from litsynth.experiments.litbench_conditions.two_papers import graph_of
from litsynth.experiments.store import Run
from litsynth.plots import decomposition as bars
from litsynth.plots import report_card as cards
from litsynth.plots.degradation import degradation_panel
from litsynth.plots.pair_graph import draw_pair_graph
from litsynth.plots.refusal import refusal_panel
from litsynth.plots.style import figure

LOST = {"credited": "credited", "not_found": "source not among the passages", "misread": "source seen, wrong answer",
        "declined": "source seen, declined"}


def percent(value: float | None) -> str:
    """Return a share in percent with one decimal; a dash where there is none."""
    return "–" if value is None or value != value else f"{100 * value:.1f} %"


def _in_percent(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(percent=100 * frame["value"].astype(float))


def report_card(run: Run, table: pd.DataFrame) -> Any:
    """Draw the report card, one heat map a system: fact domains by conditions; returns the figure."""
    conditions = [name for name in CONDITIONS if name in set(table.loc[table["card"] == "full", "condition"])]
    systems = list(shown_cells(_in_percent(table), "full"))
    fig, axes = figure(len(systems), 1, width=2.2 + 0.72 * len(conditions), height=1.1 + 5.2 * len(systems))
    for ax, (system, part) in zip(axes, systems, strict=True):
        cards.card(ax, part, rows=DOMAINS, columns=conditions, row="domain", column="condition", title=system)
    cards.legend(axes[-1])
    data = table[table["card"] == "full"]
    run.save_figure("report_card", fig, data, alt=(
        f"Heat map of credited responses by fact domain and condition. {_bands_in_words(data)} Each cell shows percent "
        "and the number of questions; hatching repeats the colour."))
    return fig


def _bands_in_words(data: pd.DataFrame) -> str:
    said = []
    for system, part in data.groupby("system", sort=True):
        kinds = [cards.band(100 * row.value if row.value == row.value and row.value is not None else None, row.state)
                 for row in part.itertuples()]
        counts = ", ".join(f"{kinds.count(kind)} {words}" for kind, words in cards.WORDS.items() if kinds.count(kind))
        said.append(f"{system}: {counts}.")
    return " ".join(said)


def compact_card(run: Run, table: pd.DataFrame) -> Any:
    """Draw the compact card: stated and interpretation by groups of conditions, a row a system and type."""
    part = _in_percent(table[table["card"] == "compact"])
    part = part.assign(label=part["system"] + ", " + part["domain"])
    rows = [f"{system}, {kind}" for system in dict.fromkeys(part["system"]) for kind in FACT_TYPES]
    columns = [name for name in GROUPS if name in set(part["condition"])]
    fig, axes = figure(1, 1, width=3.2 + 0.95 * len(columns), height=1.2 + 0.62 * len(rows))
    cards.card(axes[0], part, rows=rows, columns=columns, row="label", column="condition")
    cards.legend(axes[0], ncols=3)
    words = "; ".join(f"{row.label}, {row.condition}: {percent(row.value)} of {row.counted} responses to "
                      f"{row.questions} questions" for row in part.itertuples() if row.state == "value")
    run.save_figure("compact_card", fig, part.drop(columns="percent"), alt=f"Compact report card. {words}.")
    return fig


def condition_card(run: Run, accuracy: pd.DataFrame) -> Any:
    """Draw accuracy and refusal by condition for the run's systems and the published ones, which are marked."""
    frame = card_rows(accuracy)
    systems = list(dict.fromkeys(frame["system"]))
    columns = card_conditions(accuracy)
    fig, axes = figure(1, 1, width=3.4 + 0.72 * len(columns), height=1.2 + 0.5 * len(systems))
    cards.card(axes[0], _in_percent(frame), rows=systems, columns=columns, row="system", column="condition")
    cards.legend(axes[0], ncols=3)
    words = "; ".join(f"{row.system}, {row.condition}: {percent(row.value)}" for row in frame.itertuples())
    run.save_figure("condition_card", fig, frame, alt=(
        f"Heat map of accuracy in T1 to T5 and refusal in T6 and T7 by system. {words}. Own values pool all "
        f"numbers of papers, published refusals are at one: {_published_at(frame)}. Published values are from another "
        "question bank and other papers and are no measure of the data set used here."))
    return fig


def _published_at(frame: pd.DataFrame) -> str:
    known = frame[frame["papers"].notna()]
    return "; ".join(f"{row.system} {row.condition} at {int(row.papers)}" for row in known.itertuples())


def card_rows(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return one row a system and condition: accuracy, or refusal where the evidence is withheld; published ones too.

    Published refusals stand at the largest number of papers that was published, in the column `papers`; the other
    values pool the numbers of papers.
    """
    own = accuracy[[measures_of(row.condition)[0] == row.metric and condition_named(row.condition).control_of is None
                    for row in accuracy.itertuples()]]
    refusals = published_refusals()
    last = refusals.sort_values("n_papers", kind="stable").groupby(["system", "condition"], sort=False).tail(1)
    last = last.rename(columns={"rate": "value", "of": "n", "n_papers": "papers"}).assign(metric="refusal")
    columns = ["system", "condition", "metric", "value", "low", "high", "n", "papers"]
    parts = [own.assign(papers=None), published_accuracy().assign(papers=None), last]
    made = pd.concat([part[columns].astype({"papers": "float64"}) for part in parts], ignore_index=True)
    return made.assign(questions=made["n"].astype(float), state="value")


def degradation(run: Run, table: pd.DataFrame) -> Any:
    """Draw accuracy, and refusal where the evidence is withheld, against N: a panel a condition; returns the figure."""
    names = [name for name in CONDITIONS if name in set(table.loc[table["n_papers"] > 0, "condition"])
             and not condition_named(name).control_of]
    columns = min(3, max(1, len(names)))
    lines = -(-max(1, len(names)) // columns)
    fig, axes = figure(lines, columns, width=10, height=0.6 + 2.3 * lines, sharex=True, sharey=True)
    systems = sorted(set(table["system"]))
    for ax, name in zip(axes, names, strict=False):
        metric = measures_of(name)[0]
        degradation_panel(ax, table, name, metric=metric, systems=systems)
        ax.set_title(f"{name} {'refusal' if metric == 'refusal' else 'accuracy'}")
    for ax in axes[len(names):]:
        ax.set_visible(False)
    _name_axes(axes, len(names), columns)
    data = table[[measures_of(row.condition)[0] == row.metric and row.condition in names for row in table.itertuples()]]
    run.save_figure("degradation", fig, data, alt=(
        "Credited responses against the number of candidate papers, a panel a condition with Wilson bands. "
        + " ".join(_ends(data))))
    return fig


def _name_axes(axes: list[Any], panels: int, columns: int) -> None:
    for place, ax in enumerate(axes[:panels]):
        if place % columns == 0:
            ax.set_ylabel("Credited (%)")
        if place + columns >= panels:
            ax.set_xlabel("Candidate papers, N")
            ax.tick_params(labelbottom=True)
    if panels and axes[0].get_legend_handles_labels()[0]:
        axes[0].legend(frameon=False, fontsize=7, loc="lower left")


def _ends(data: pd.DataFrame) -> list[str]:
    said = []
    for (condition, system), line in data.dropna(subset=["value"]).groupby(["condition", "system"], sort=True):
        line = line[line["n_papers"] > 0].sort_values("n_papers")
        points = [line.iloc[0]] if len(line) == 1 else [line.iloc[0], line.iloc[-1]]
        said.append(f"{condition}, {system}: " + " to ".join(
            f"{percent(point['value'])} at N = {int(point['n_papers'])}" for point in points) + ".")
    return said


def refusal_curves(run: Run, table: pd.DataFrame) -> Any:
    """Draw refusals with the answer withheld and in matched controls against N, published ones beside; the figure."""
    names = [name for name in ("T6", "T7", "T6s", "T7s") if name in set(table["condition"])]
    if not names:
        return None
    published = published_refusals()
    systems = [*sorted(set(table["system"])), *sorted(set(published.dropna(subset=["n_papers"])["system"]))]
    lines = -(-len(names) // 2)
    fig, axes = figure(lines, 2, width=10, height=0.9 + 2.9 * lines, sharex=True, sharey=True)
    whole = pd.concat([table, published.astype({"n_papers": float})], ignore_index=True)
    for ax, name in zip(axes, names, strict=False):
        refusal_panel(ax, whole, name, systems=systems, apart=set(published["system"]))
    for ax in axes[len(names):]:
        ax.set_visible(False)
    handles = dict(pair[::-1] for ax in axes[:len(names)] for pair in zip(*ax.get_legend_handles_labels(), strict=True))
    fig.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2, frameon=False, fontsize=7)
    for place, ax in enumerate(axes[:len(names)]):
        ax.set_xlabel("Candidate papers, N" if place + 2 >= len(names) else "")
        ax.set_ylabel("Refused (%)" if place % 2 == 0 else "")
    own = table[table["n_papers"] == 0]
    words = "; ".join(
        f"{row.system}, {row.condition}: refused {percent(row.rate)} with the answer withheld, "
        f"{percent(row.control_rate)} of controls" for row in own.itertuples())
    run.save_figure("refusal", fig, whole[whole["condition"].isin(names)], alt=(
        f"Refusals against the number of candidate papers. Over all N: {words}."))
    return fig


def decomposition(run: Run, table: pd.DataFrame) -> Any:
    """Draw neither, one and both facts with the mark of asking separately; None without two-paper results."""
    if table.empty or "both" not in set(table["part"]):
        return None
    fig, axes = figure(1, 1, width=8, height=1.2 + 0.6 * table["system"].nunique())
    bars.decomposition_bars(axes[0], table)
    words = "; ".join(f"{row.system}, {row.part.replace('_', ' ')}: "
                      f"{shown(row.value, row.low, row.high, signed=row.part == 'synthesis_penalty')}"
                      for row in table.itertuples())
    run.save_figure("decomposition", fig, table, alt=f"What becomes of the two facts of a question. {words}.")
    return fig


def where_credit_is_lost(run: Run, table: pd.DataFrame) -> Any:
    """Draw credited and lost responses by condition, the lost ones by what went wrong; returns the figure."""
    part = table[table["n_papers"] == 0]
    several = part["system"].nunique() > 1
    label = part["condition"] + (", " + part["system"] if several else "")
    fig, axes = figure(1, 1, width=8, height=1.2 + 0.32 * len(part))
    bars.stacked_shares(axes[0], part.assign(label=label), LOST)
    words = "; ".join(
        f"{row.system}, {row.condition}: of {row.counted} responses {row.credited} credited, {row.not_found} lost "
        f"because the source was not found, {row.misread} misread, {row.declined} declined"
        for row in part.itertuples())
    run.save_figure("where_credit_is_lost", fig, part, alt=f"Where credit was lost. {words}.")
    return fig


def pair_graph(run: Run, cells: pd.DataFrame) -> Any:
    """Draw the graph of papers that share two-paper questions; None without such questions."""
    asked = cells[cells["kind"] == "two_paper"].drop_duplicates("question").sort_values("question")
    if asked.empty:
        return None
    fig, axes = figure(1, 1, width=7, height=5)
    data = asked[["question", "paper_a", "paper_b"]].reset_index(drop=True)
    draw_pair_graph(axes[0], list(zip(data["paper_a"], data["paper_b"], strict=True)), seed=run.parameters.seed)
    graph = graph_of(run, cells)
    run.save_figure("pair_graph", fig, data, alt=(
        f"Graph of {graph.papers} papers joined by {graph.pairs} two-paper questions: {len(graph.components)} "
        f"components, {graph.largest_component_pairs} questions in the largest, {len(graph.hubs)} hubs with "
        f"{graph.hub_degree} or more questions."))
    return fig
