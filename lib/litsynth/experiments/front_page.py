"""The front page: a compact report card and the findings that matter, computed from promoted results alone.

Real data come first. Where a result is absent the page says so, and no number stands in this module.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from litsynth import files, paths
from litsynth.experiments.showing import Html, Result, older_code, results_of, without_demonstrations
from litsynth.stats.coverage import FEW_REVIEWS

SYMBOLS: Mapping[str, str] = {"green": "▲", "yellow": "◆", "red": "▽", "white": "", "grey": ""}
_PAGES = {"retrieval_sweep": "results_retrieval", "oracle_rag": "results_metasyn",
          "litbench_conditions": "results_litbench", "coverage": "coverage"}


@dataclass(frozen=True)
class Finding:
    """One sentence or two with interval and denominator, the result it is from (None: there is none), and its page."""

    heading: str
    text: str
    result: Result | None
    page: str = ""


def findings() -> list[Finding]:
    """Return the three findings in the order of the work: finding the studies, keeping them, declining."""
    made = []
    for experiment, heading, words in (
            ("retrieval_sweep", "Finding the included studies", _retrieval_words),
            ("oracle_rag", "Keeping what was found", _keeping_words),
            ("litbench_conditions", "Declining where the evidence is absent", _declining_words)):
        result = next(iter(results_of(experiment)), None)
        if result is None:
            text = (f"There is no result yet. “litsynth run {experiment}” makes a run and “litsynth promote” a result "
                    "of it.")
            made.append(Finding(heading, text, None))
        else:
            made.append(Finding(heading, words(result), result, _page(experiment, result)))
    return made


def _page(experiment: str, result: Result | None = None) -> str:
    """Return the page that shows an experiment, or the executed notebook; an empty text where there is neither."""
    book = paths.project_root() / "book"
    if (book / f"{_PAGES[experiment]}.md").exists():
        return f"{_PAGES[experiment]}.html"
    return f"runs/{result.name}.html" if result and (result.folder / "notebook.ipynb").exists() else ""


def _percent(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return shares as percent, such as `58 % (43 to 74)`."""
    if value is None or value != value:
        return "–"
    if low is None or high is None or low != low or high != high:
        return f"{100 * value:.0f} % (no interval)"
    return f"{100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _points(value: float, low: float | None, high: float | None) -> str:
    """Return a difference of shares in percentage points, such as `+25 points (+12 to +37)`."""
    if low is None or high is None or low != low or high != high:
        return f"{100 * value:+.0f} points (no interval)"
    return f"{100 * value:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f})"


def _retrieval_words(result: Result) -> str:
    """Say how much the best retriever finds at the largest depth, how sure its lead is, and what is missed."""
    depth = max(result.manifest["parameters"]["depths"])
    recall = result.table("summary").query("measure == 'recall' and depth == @depth").sort_values(
        ["value", "retriever"], ascending=[False, True], kind="stable")
    best = recall.iloc[0]
    text = (f"The best of {len(recall)} retrievers on these reviews, {best['retriever']}, puts "
            f"{_percent(best['value'], best['low'], best['high'])} of a review's included studies among its first "
            f"{depth} articles (mean of {int(best['n'])} reviews); what is not among them is lost to every "
            "step that follows.")
    table = result.table("differences").query("measure == 'recall' and depth == @depth")
    leads = []
    for row in table[(table["a"] == best["retriever"]) | (table["b"] == best["retriever"])].itertuples():
        flip = row.a != best["retriever"]
        value, low, high = (-row.value, -row.high, -row.low) if flip else (row.value, row.low, row.high)
        leads.append(f"{_points(value, low, high)} over {row.a if flip else row.b}")
    return text + (f" Its lead in recall: {'; '.join(leads)}." if leads else "")


def _keeping_words(result: Result) -> str:
    """Say how many of the shown reference studies each system keeps, and what perfect retrieval changes."""
    summary, differences = result.table("summary"), result.table("differences")
    said = []
    for system in dict.fromkeys(summary["system"]):
        cells = {(row.mode, row.metric): row for row in summary[summary["system"] == system].itertuples()}
        kept = cells.get(("actual", "conditional_retention")) or cells.get(("oracle", "conditional_retention"))
        if kept is None or kept.value is None or kept.value != kept.value:
            said.append(f"{system} gave no readable list of studies.")
            continue
        text = (f"{system} keeps {_percent(kept.value, kept.low, kept.high)} of the reference studies that it was "
                f"shown ({int(kept.n)} of {int(kept.asked)} reviews)")
        right = cells.get(("actual" if ("actual", "conditional_retention") in cells else "oracle",
                           "inclusion_precision"))
        if right is not None and right.value == right.value:
            text += (f"; of what it includes {_percent(right.value, right.low, right.high)} belongs there "
                     f"({int(right.n)} of {int(right.asked)} reviews)")
        change = differences[(differences["kind"] == "mode") & (differences["metric"] == "inclusion_recall")
                             & (differences["a"] == f"{system} / oracle")]
        for row in change[change["value"].notna()].itertuples():
            text += (". With every reference study put among its candidates, the share of them that it includes "
                     f"changes by {_points(row.value, row.low, row.high)} ({int(row.n)} of {int(row.asked)} reviews)")
        said.append(text + ".")
    return " ".join(said)


def _declining_words(result: Result) -> str:
    """Say how often each system declines among unrelated and among similar papers, and on controls."""
    table = result.table("refusal")
    table = table[(table["n_papers"] == 0) & table["rate"].notna()]
    said = []
    for system in dict.fromkeys(table["system"]):
        rows = {row.condition: row for row in table[table["system"] == system].itertuples()}
        parts = [f"{_percent(row.rate, row.low, row.high)} of {int(row.of)} responses when only {kind} papers are left"
                 for name, kind in (("T6", "unrelated"), ("T6s", "similar")) if (row := rows.get(name))]
        controls = [f"{_percent(row.control_rate, row.control_low, row.control_high)} of {int(row.control_of)} "
                    f"({name})" for name in ("T6", "T6s") if (row := rows.get(name)) and row.control_of]
        if parts:
            said.append(f"With the answering paper taken away, {system} declines {' and '.join(parts)}"
                        + (f"; with the paper at hand it declines {' and '.join(controls)}." if controls else "."))
    return " ".join(said) or "The result holds no condition in which the evidence is absent."


def coverage_words() -> str:
    """Say what share of the simulated intervals hold the truth, by kind of interval; from the coverage table."""
    path = paths.results_dir() / "coverage" / "coverage.json"
    if not path.exists():
        return "The intervals' coverage has not been simulated yet; “litsynth coverage” does it."
    report = files.read_json(path)
    low, high = report["band"]
    said = []
    for role, words in (("benchmark", "of those that the benchmarks define"), ("robust", "of those that stand beside "
                        "them"), ("ours", "of those used where the benchmarks define none"),
                        ("naive", "of those that take all answers as independent, or of textbook formulas,")):
        shares = [round(row["coverage"], 6) for row in report["rows"]
                  if row["role"] == role and row["coverage"] is not None]
        if shares:
            held = sum(low <= share <= high for share in shares)
            said.append(f"{words} {held} of {len(shares)} do (worst {100 * min(shares):.0f} %)")
    simulations = min(row["simulations"] for row in report["rows"])
    return (f"A 95 % interval holds when {100 * low:.0f} to {100 * high:.0f} % of repetitions contain the truth. In "
            f"{simulations:,} simulations each, {'; '.join(said)}.{_few_reviews(report)}")


def _few_reviews(report: Mapping[str, Any]) -> str:
    """Say what the intervals over a handful of reviews are worth, on which the first two findings rest."""
    shares = {row["scenario"]: row["coverage"] for row in report["rows"] if row["role"] == "ours"}
    known = [f"{100 * shares[name]:.0f} % for {title}" for name, title in FEW_REVIEWS.items() if shares.get(name)]
    return f" Over few reviews they are too narrow: they held the truth in {', '.join(known)}." if known else ""


def show_findings() -> Html:
    """Show the findings as a numbered list, each with its origin and a link, and what the intervals are worth."""
    items = []
    for finding in findings():
        link = f' <a href="{html.escape(finding.page)}">Read more</a>.' if finding.page else ""
        items.append(f"<li><strong>{html.escape(finding.heading)}.</strong> {html.escape(finding.text)}"
                     f"{_origin(finding.result)}{link}</li>")
    link = f' <a href="{_page("coverage")}">Read more</a>.' if _page("coverage") else ""
    return Html(f'<ol class="findings">{"".join(items)}</ol><p><strong>How far to trust these intervals.</strong> '
                f"{html.escape(coverage_words())}{link}</p>")


def _origin(result: Result | None) -> str:
    if result is None:
        return ""
    kind = "synthetic data" if result.manifest["synthetic"] else "real data"
    kind += "; made with older code" if older_code(result.manifest) else ""
    return (f' <span class="origin">[{html.escape(result.label)}: {kind}; run '
            f"<code>{html.escape(result.manifest['experiment'])}/{html.escape(result.manifest['id'])}</code>]</span>")


def show_compact_card() -> Html:
    """Show the compact card of every promoted LitBench result: a row a system and fact type, pooled conditions."""
    results = without_demonstrations(results_of("litbench_conditions"))
    if not results:
        return Html("<p>There is no LitBench result yet.</p>")
    frame = pd.concat([_labelled(result, result.table("domains").query("card == 'compact'"), "domain")
                       for result in results], ignore_index=True)
    return Html(card_html(frame, "Compact report card: percent of responses credited, and the number of questions; "
                                 "T6–T7 and T6s–T7s credit declining."))


def show_condition_card() -> Html:
    """Show accuracy, or refusal where the evidence is withheld, by condition: own systems, then published ones."""
    from litsynth.experiments.litbench_conditions.figures import card_rows

    parts = []
    for place, result in enumerate(without_demonstrations(results_of("litbench_conditions"))):
        rows = card_rows(result.table("accuracy"))
        published = rows["system"].str.endswith("(published)")
        parts.append(_labelled(result, rows[~published]))
        if not place:
            parts.append(rows[published].assign(row=rows[published]["system"], published=True))
    if not parts:
        return Html("<p>There is no LitBench result yet.</p>")
    frame = pd.concat(parts, ignore_index=True)
    frame = pd.concat([frame[frame["published"] != True], frame[frame["published"] == True]])  # noqa: E712 - holds null
    return Html(card_html(frame, "By condition: percent credited (T1–T5) or declined (T6–T7s) with the 95 % interval, "
                                 "and the number of questions. Own values pool the numbers of candidate papers, N; a "
                                 "published refusal is at the N in its cell. Published values are from other data and "
                                 "other judges."))


def _labelled(result: Result, frame: pd.DataFrame, detail: str = "") -> pd.DataFrame:
    names = frame["system"] + (", " + frame[detail] if detail else "")
    return frame.assign(row=names + " · " + result.label, published=False)


def card_html(frame: pd.DataFrame, caption: str) -> str:
    """Return a card as an HTML table; `frame` has row, condition, state, value, questions and may have low and high.

    Bands are told by colour, by a symbol and by words for screen readers. Rows and columns come as they do in `frame`.
    """
    columns, rows = list(dict.fromkeys(frame["condition"])), list(dict.fromkeys(frame["row"]))
    cells = {(line.row, line.condition): line for line in frame.itertuples()}
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in columns)
    body = "".join(f'<tr><th scope="row">{html.escape(row)}</th>'
                   + "".join(_cell(cells.get((row, column))) for column in columns) + "</tr>" for row in rows)
    return (f'<div class="card-holder" tabindex="0" role="region" aria-label="{html.escape(caption)}">'
            f'<table class="report-card"><caption>{html.escape(caption)}</caption>'
            f'<thead><tr><th scope="col">system</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
            f'<p class="card-legend">{"".join(_legend())}</p>')


def _cell(line: Any) -> str:
    from litsynth.plots.report_card import WORDS, band, shown_percent

    percent = None if line is None or line.value is None or line.value != line.value else 100 * line.value
    kind = band(percent, "not evaluated" if line is None else line.state)
    if kind in ("white", "grey"):
        mark = "–" if kind == "white" else "×"
        return f'<td class="band-{kind}"><span aria-hidden="true">{mark}</span>{_heard(WORDS[kind])}</td>'
    bounds = [getattr(line, name, None) for name in ("low", "high")]
    known = all(bound is not None and bound == bound for bound in bounds)
    interval = f"<small>{100 * bounds[0]:.0f}–{100 * bounds[1]:.0f}</small>" if known else ""
    count = "not given" if line.questions != line.questions else f"{int(line.questions):,}"
    papers = getattr(line, "papers", None)
    at = f"<small>N {int(papers):,}</small>" if papers is not None and papers == papers else ""
    return (f'<td class="band-{kind}"><b>{shown_percent(percent)}</b> <span aria-hidden="true">{SYMBOLS[kind]}</span>'
            f"{_heard(WORDS[kind])}{interval}<small>n {count}</small>{at}</td>")


def _heard(words: str) -> str:
    return f'<span class="visually-hidden"> ({html.escape(words)})</span>'


def _legend() -> Iterator[str]:
    from litsynth.plots.report_card import WORDS

    for kind, words in WORDS.items():
        mark = SYMBOLS[kind] or {"white": "–", "grey": "×"}[kind]
        yield f'<span class="band-{kind}">{mark} {html.escape(words)}</span> '
