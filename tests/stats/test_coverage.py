"""The coverage simulation: its truths, its reproducibility, and the findings that the coverage page reports."""

import json
from dataclasses import replace

import numpy as np
import pytest

from litsynth.errors import DataError, ParameterError
from litsynth.stats import cluster_bootstrap, cluster_interval, pair_graph
from litsynth.stats.coverage import FEW_REVIEWS, coverage_table, few_reviews_words, simulate_coverage, write_coverage
from litsynth.stats.scenarios import expected_share, hub_pairs, scenarios, student_interval


def test_expected_share_is_that_of_a_large_sample():
    draws = np.random.default_rng(1).normal(0.9, 2.5, 400_000)
    assert expected_share(0.9, 2.5) == pytest.approx((1 / (1 + np.exp(-draws))).mean(), abs=0.002)
    assert expected_share(0.0, 3.0) == pytest.approx(0.5, abs=1e-12)  # by symmetry
    assert expected_share(1.0, 0.0) == pytest.approx(1 / (1 + np.exp(-1)))


def test_hub_graph_has_the_published_shape():
    graph = pair_graph(hub_pairs())
    assert (graph.pairs, graph.papers, graph.largest_component_pairs) == (170, 95, 164)
    assert len(graph.hubs) >= 3


def test_scenarios_are_named_once_and_their_estimators_have_no_bias():
    known = scenarios()
    assert len({scenario.name for scenario in known}) == len(known) >= 6
    rows = simulate_coverage(simulations=60, seed=5, only=["clustered-30", "pairs-strong", "macro-mean", *FEW_REVIEWS])
    for row in rows:
        # The mean of 60 estimates is within 4 of its standard errors, each about a quarter of the mean width / √60.
        assert abs(row.mean_value - row.truth) < 4 * 2 * row.mean_width / 4 / np.sqrt(60)


def test_same_seed_same_rows_whatever_else_runs(tmp_path):
    alone = simulate_coverage(simulations=20, seed=3, only=["wilson-18"])
    among = simulate_coverage(simulations=20, seed=3, only=["wilson-18", "kappa-40"])
    assert among[: len(alone)] == alone
    target = write_coverage(among, tmp_path, seed=3)
    written = json.loads(target.read_text())
    assert (written["seed"], len(written["rows"])) == (3, len(among))
    assert next(iter(coverage_table(tmp_path)["data"])) == among[0].title


def test_table_says_early_whether_an_interval_holds(tmp_path):
    row = simulate_coverage(simulations=1, only=["wilson-18"])[0]
    rows = [replace(row, coverage=share, monte_carlo_error=0.0081) for share in (0.9299999999999999, 0.929)]
    write_coverage(rows, tmp_path)
    table = coverage_table(tmp_path)
    assert list(table.columns[:3]) == ["data", "interval", "holds"]
    assert list(table["holds"]) == ["yes", "no"]
    assert list(table["standard error, points"]) == [0.8, 0.8]


def test_a_scenario_without_any_interval_is_null_in_the_file(tmp_path):
    row = replace(simulate_coverage(simulations=1, only=["wilson-18"])[0], coverage=None, mean_width=None)
    assert json.loads(write_coverage([row], tmp_path).read_text())["rows"][0]["coverage"] is None


def test_unknown_scenario_is_named_with_the_nearest():
    with pytest.raises(ParameterError, match=r"'wilson-81'.*did you mean 'wilson-18'"):
        simulate_coverage(only=["wilson-81"])


def test_findings_of_the_coverage_page():
    # 150 data sets: Monte Carlo error 1.8 points at 95 %, 4 points at 60 %.
    rows = simulate_coverage(simulations=150, seed=1, only=["pairs-strong", "clustered-12"])
    coverage = {(row.scenario, row.role): row.coverage for row in rows}
    assert coverage["pairs-strong", "robust"] > 0.88
    assert coverage["pairs-strong", "benchmark"] < 0.80
    assert coverage["clustered-12", "robust"] > coverage["clustered-12", "benchmark"]


def test_few_reviews_need_student_instead_of_the_bootstrap():
    rows = simulate_coverage(simulations=200, seed=2, only=list(FEW_REVIEWS))
    coverage = {(row.scenario, row.role): row.coverage for row in rows}
    # Computed apart from 400,000 data sets each: how often the lowest and the highest of three values of the Beta
    # enclose its mean (the percentile bootstrap of three), and how often Student's interval holds it.
    expected = {("mean-reviews-3", "ours"): 0.731, ("mean-reviews-3", "naive"): 0.905,
                ("mean-reviews-8", "naive"): 0.926, ("mean-reviews-10", "naive"): 0.931,
                ("difference-reviews-10", "naive"): 0.949}
    for key, share in expected.items():
        assert abs(coverage[key] - share) < 4 * np.sqrt(share * (1 - share) / 200), key
    # Both intervals see the same data, so even 200 sets tell them apart.
    assert all(coverage[name, "naive"] > coverage[name, "ours"] for name in FEW_REVIEWS)


def test_student_interval_is_the_textbooks():
    # Mean 2, standard deviation 1, n = 3; the quantile of two degrees of freedom at 97.5 % is 4.30265 in any table.
    estimate = student_interval(np.array([1.0, 2.0, 3.0]))
    assert (estimate.low, estimate.high) == pytest.approx((2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-5)


def test_words_on_few_reviews_come_from_the_table(tmp_path):
    row = simulate_coverage(simulations=1, only=["wilson-18"])[0]
    write_coverage([row], tmp_path)
    assert "not been simulated" in few_reviews_words(tmp_path)
    shares = {"mean-reviews-3": (0.7, 0.92), "mean-reviews-8": (0.94, 0.91)}
    write_coverage([replace(row, scenario=name, role=role, coverage=share) for name, pair in shares.items()
                    for role, share in zip(("ours", "naive"), pair, strict=True)], tmp_path)
    words = few_reviews_words(tmp_path)
    assert "70.0 % for a mean over 3 reviews; 94.0 % for a mean over 8; it holds in 1 of these 2" in words
    assert "closer to what is promised in 1 of 2" in words


def test_cluster_interval_is_wilson_where_clusters_say_nothing():
    # One response a cluster: variance p (1 − p) / (n − 1), so the effective size is n − 1; Student's quantile with 199.
    values = np.repeat([1.0, 0.0], [120, 80])
    estimate = cluster_interval(values, range(200))
    assert estimate.details["effective_responses"] == pytest.approx(199)
    assert estimate.details["degrees_of_freedom"] == pytest.approx(199)
    assert (estimate.low, estimate.high) == pytest.approx((0.5307, 0.6655), abs=2e-3)  # Wilson, 120 of 200


def test_cluster_interval_agrees_with_the_bootstrap_for_many_clusters():
    rng = np.random.default_rng(4)
    clusters = rng.integers(0, 400, 1200)
    values = (rng.random(1200) < 1 / (1 + np.exp(-rng.normal(0, 1.5, 400)[clusters]))).astype(float)
    direct, drawn = cluster_interval(values, clusters), cluster_bootstrap(values, clusters, seed=1)
    assert direct.value == drawn.value
    assert (direct.low, direct.high) == pytest.approx((drawn.low, drawn.high), abs=0.004)


def test_cluster_interval_answers_degenerate_input():
    assert cluster_interval([], []).value is None
    assert cluster_interval([1, 0], ["a", "a"]).reason == "one cluster gives no interval"
    assert "no variation" in cluster_interval([1, 0, 1, 0], list("aabb")).reason
    full = cluster_interval([1] * 36, list(range(18)) * 2)
    assert (full.low, full.high) == pytest.approx((0.82412, 1.0), abs=1e-4)  # Wilson, 18 of 18
    with pytest.raises(DataError, match=r"row 1 .* is no credit"):
        cluster_interval([1, 2], ["a", "b"])


def test_few_clusters_carry_a_caution():
    values = np.arange(29) % 2
    assert "fewer than 30" in cluster_bootstrap(values, range(29), seed=1).details["caution"]
    assert "caution" not in cluster_bootstrap(np.arange(30) % 2, range(30), seed=1).details
