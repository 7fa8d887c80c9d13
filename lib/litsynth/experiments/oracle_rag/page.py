"""What the book's page of MetaSyn results shows from promoted results: findings in words and the released table."""

from __future__ import annotations

import html
from collections.abc import Sequence

import pandas as pd

from litsynth.experiments.estimates import shown
from litsynth.experiments.oracle_rag.released import IMPORTED, published_file, release_folder
from litsynth.experiments.oracle_rag.words import METRIC_WORDS, verdict
from litsynth.experiments.showing import Html, Result, show_table, without_demonstrations
from litsynth.scoring.release_tables import read_published

_SHOWN = ("retrieval_recall", "conditional_retention", "inclusion_recall", "inclusion_precision", "inclusion_f1",
          "screening_accuracy")


def setting(result: Result) -> str:
    """Return what tells the results of one data set apart: data set with its labels, retriever, candidates."""
    given = result.manifest["parameters"]
    return f"{result.label}, {given['retriever']}, {given['top_k']} candidates"


def findings(results: Sequence[Result]) -> Html:
    """Show one paragraph a result and system: data set with its labels, run, means with intervals and denominators."""
    if not results:
        return Html("<p>No result of <code>oracle_rag</code> has been promoted yet: <code>litsynth run oracle_rag "
                    "--promote</code> makes one.</p>")
    said = []
    for result in without_demonstrations(results):
        words = verdict(result.table("summary"), result.table("differences"))
        run = html.escape(result.manifest["id"])
        said += [f"<p><strong>{html.escape(setting(result))}</strong>, run <code>{run}</code>: {html.escape(line)}</p>"
                 for line in words.splitlines()]
    return Html("".join(said))


def released() -> Html:
    """Show the released configurations: imported means with intervals and ranks, or else the published means alone."""
    folder = release_folder(None)
    if folder is None:
        note = (f"<p>The release has not been imported here (there is no <code>data/results/{IMPORTED}</code>), so "
                "only the published means are shown: they have no intervals.</p>")
        return Html(note + show_table(_published(), "Published macro means of the released configurations").text)
    table = pd.read_parquet(folder / "configurations.parquet")
    return show_table(_imported(table), "The released configurations on MetaSyn: macro means with 95 % intervals, "
                                        "ranks, and the published means")


def _published() -> pd.DataFrame:
    frame = read_published(published_file())
    frame = frame[frame["metric"].isin(_SHOWN)]
    frame = frame.assign(metric=frame["metric"].map(METRIC_WORDS))
    names = {"system": "system", "model": "model", "retriever": "retriever", "metric": "metric",
             "published_mean": "published mean", "published_n": "reviews"}
    return frame[list(names)].rename(columns=names)


def _imported(table: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for row in table[table["metric"].isin(_SHOWN)].itertuples():
        published = getattr(row, "published_mean", None)
        rank = "–" if row.rank is None or row.rank != row.rank else (
            f"{row.rank:.0f} ({row.rank_low:.0f} to {row.rank_high:.0f})")
        rows.append({"configuration": f"{row.system} {row.model} {row.retriever}".strip(),
                     "metric": METRIC_WORDS[row.metric], "mean (95 % interval)": shown(row.mean, row.low, row.high),
                     "reviews": row.n, "rank (95 % interval)": rank,
                     "published mean": None if published is None else float(published),
                     "published reviews": _whole(getattr(row, "published_n", None))})
    return pd.DataFrame(rows)


def _whole(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.0f}"

