"""The front page says what promoted results say, real data first, and says so where there is none."""

from __future__ import annotations

import html
from types import SimpleNamespace

import pandas as pd
import pytest

from litsynth import files
from litsynth.experiments import front_page, showing

MANIFEST = {"id": "0123456789ab", "ended": "2026-01-02T03:04:05Z", "items": 3, "uses_gold": False, "packages": {},
            "facts": {}, "code": {"commit": None, "dirty": None}}


def _promote(workspace, experiment, name, tables, *, synthetic=False, **parameters):
    folder = workspace / "data" / "results" / name
    files.write_json(folder / "manifest.json", {
        **MANIFEST, "experiment": experiment, "synthetic": synthetic, "parameters": parameters, "promoted_as": name,
        "dataset": {"name": "<b>bank</b>" if not synthetic else "sample", "checksum": "f" * 64}})
    for table, rows in tables.items():
        files.write_parquet(folder / "tables" / f"{table}.parquet", pd.DataFrame(rows))


def _retrieval(value):
    summary = [{"retriever": name, "measure": "recall", "depth": 10, "value": value - lost, "low": 0.2, "high": 0.9,
                "n": 7} for name, lost in (("bm25", 0.1), ("hybrid", 0.0))]
    differences = [{"measure": "recall", "depth": 10, "a": "bm25", "b": "hybrid", "value": -0.1, "low": -0.3,
                    "high": 0.05}]
    return {"summary": summary, "differences": differences}


def test_absent_results_are_said_to_be_absent(workspace):
    made = front_page.findings()
    assert [finding.result for finding in made] == [None, None, None]
    assert all("There is no result yet" in finding.text for finding in made)
    assert "not been simulated" in front_page.coverage_words()
    assert "no LitBench result" in front_page.show_compact_card().text + front_page.show_condition_card().text


def test_real_data_go_before_synthetic_ones_and_the_difference_is_turned(workspace):
    _promote(workspace, "retrieval_sweep", "a-sample", _retrieval(0.9), synthetic=True, depths=[5, 10])
    finding = front_page.findings()[0]
    assert "90 % (20 to 90)" in finding.text
    assert "synthetic data" in front_page.show_findings().text
    _promote(workspace, "retrieval_sweep", "z-real", _retrieval(0.6), depths=[5, 10])
    finding = front_page.findings()[0]
    assert "The best of 2 retrievers on these reviews, hybrid, puts 60 % (20 to 90)" in finding.text
    assert "(mean of 7 reviews)" in finding.text
    # bm25 minus hybrid was -0.1 (-0.3 to +0.05), so hybrid leads by the same turned round
    assert "+10 points (-5 to +30) over bm25" in finding.text
    shown = front_page.show_findings().text
    assert "&lt;b&gt;bank&lt;/b&gt;: real data" in shown
    assert "retrieval_sweep/0123456789ab" in shown


def test_keeping_tells_denominators_and_systems_without_a_list(workspace):
    row = {"system": "reader", "asked": 10, "low": 0.3, "high": 0.5, "metric": "conditional_retention"}
    summary = [{**row, "mode": "actual", "value": 0.4, "n": 9}, {**row, "mode": "oracle", "value": 0.3, "n": 10},
               {**row, "metric": "inclusion_precision", "mode": "actual", "value": 0.1, "low": 0.05, "n": 9},
               {**row, "system": "silent", "mode": "actual", "value": None, "n": 0}]
    differences = [{"metric": "inclusion_recall", "kind": "mode", "a": "reader / oracle", "b": "reader / actual",
                    "asked": 10, "n": 9, "value": 0.05, "low": -0.1, "high": 0.2}]
    _promote(workspace, "oracle_rag", "real", {"summary": summary, "differences": differences})
    text = front_page.findings()[1].text
    assert "reader keeps 40 % (30 to 50) of the reference studies that it was shown (9 of 10 reviews)" in text
    assert "of what it includes 10 % (5 to 50) belongs there (9 of 10 reviews)" in text, "keeping alone flatters"
    assert "changes by +5 points (-10 to +20) (9 of 10 reviews)" in text
    assert "silent gave no readable list" in text


def test_declining_compares_unrelated_with_similar_papers_and_controls(workspace):
    row = {"system": "reader", "n_papers": 0, "low": None, "high": None, "control_low": 0.01, "control_high": 0.2}
    refusal = [{**row, "condition": "T6", "rate": 0.9, "of": 50, "control_rate": 0.1, "control_of": 50},
               {**row, "condition": "T6s", "rate": 0.7, "of": 40, "control_rate": 0.05, "control_of": 40},
               {**row, "condition": "T6", "n_papers": 10, "rate": 0.2, "of": 10, "control_rate": 0.5, "control_of": 9}]
    _promote(workspace, "litbench_conditions", "real", {"refusal": refusal})
    text = front_page.findings()[2].text
    assert "declines 90 % (no interval) of 50 responses when only unrelated papers are left" in text
    assert "70 % (no interval) of 40 responses when only similar papers are left" in text
    assert "10 % (1 to 20) of 50 (T6) and 5 % (1 to 20) of 40 (T6s)" in text


def test_coverage_is_counted_from_the_table(workspace):
    rows = [{"role": "benchmark", "coverage": value, "simulations": 1000} for value in (0.9299999999999999, 0.67)]
    rows += [{"role": "naive", "coverage": None, "simulations": 1000}]
    target = workspace / "data" / "results" / "coverage" / "coverage.json"
    files.write_json(target, {"band": [0.93, 0.97], "rows": rows})
    words = front_page.coverage_words()
    assert "benchmarks define 1 of 2 do (worst 67 %)" in words
    assert "independent" not in words


def test_cards_tell_bands_by_symbol_and_words_and_mark_published_values(workspace):
    accuracy = [{"system": "reader", "condition": condition, "metric": metric, "value": value, "low": low, "high": None,
                 "n": 1200} for condition, metric, value, low in (
                     ("T1", "semantic", 0.9, 0.8), ("T2", "semantic", 0.7, 0.6), ("T6", "refusal", 0.1, 0.0))]
    compact = [{"card": "compact", "system": "reader", "condition": "T1–T4", "domain": "stated", "state": "value",
                "questions": 139.0, "value": 0.446, "low": 0.36, "high": 0.53},
               {"card": "compact", "system": "reader", "condition": "T1–T4", "domain": "interpretation",
                "state": "no question", "questions": 0.0, "value": None, "low": None, "high": None}]
    _promote(workspace, "litbench_conditions", "real", {"accuracy": accuracy, "domains": compact})
    card = front_page.show_condition_card().text
    assert "<b>90</b>" in card
    assert "n 1,200" in card
    assert card.index("reader · ") < card.index("Sonnet-5 (published)")
    assert "&lt;b&gt;bank" in card
    assert all(f"({words})" in card for words in ("above 80 %", "60 to 80 %", "below 60 %", "not evaluated"))
    small = front_page.show_compact_card().text
    assert "<small>36–53</small>" in small
    assert "(no question exists)" in small


@pytest.mark.parametrize(("value", "shown"), [((None,), "–"), ((0.5,), "50 % (no interval)"),
                                              ((0.5, 0.41, 0.59), "50 % (41 to 59)")])
def test_percentages(value, shown):
    assert front_page._percent(*value) == shown


def test_a_demonstration_model_is_not_on_the_front_page_where_there_is_anything_else(workspace):
    def result(weak):
        return SimpleNamespace(manifest={"facts": {"weak_model": weak}})

    weak, whole = result(True), result(None)
    assert showing.without_demonstrations([weak, whole]) == [whole]
    assert showing.without_demonstrations([weak]) == [weak]


@pytest.mark.parametrize(("words", "caption", "rest"), [
    ("Bars by <b>. Values: a 1; b 2.", "Bars by &lt;b&gt;.", "Values: a 1; b 2."),
    ("Recall of each: bm25 0.51, hybrid 0.6.", "Recall of each.", "bm25 0.51, hybrid 0.6."),
    ("One sentence with 0.5 in it.", "One sentence with 0.5 in it.", ""),
])
def test_a_caption_is_one_sentence_and_the_numbers_unfold(tmp_path, words, caption, rest):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "f.svg").write_text("<svg/>")
    (tmp_path / "figures" / "f.alt.txt").write_text(words)
    text = showing.show_figure(SimpleNamespace(folder=tmp_path, name="r", label="<data>"), "f").text
    assert f"<figcaption>&lt;data&gt;. {caption}" in text
    assert (f"<summary>In words</summary>{rest}</details>" in text) == bool(rest)
    assert f'alt="{html.escape(words)}"' in text


def test_findings_name_their_data_and_run_and_are_escaped():
    result = SimpleNamespace(label="<data> (synthetic)", manifest={"experiment": "e", "id": "1a"})
    text = showing.show_words(result, "First <b>.\n\nSecond.").text
    assert text == ("<p><strong>&lt;data&gt; (synthetic)</strong>, run <code>e/1a</code></p><p>First &lt;b&gt;.</p>"
                    "<p>Second.</p>")
