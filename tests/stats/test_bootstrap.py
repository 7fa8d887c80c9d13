"""Cluster, paired and mean bootstrap: against plain loops, derivations, and promises that hold for all inputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import DataError, ParameterError
from litsynth.stats import (
    bootstrap_distribution,
    cluster_bootstrap,
    mean_bootstrap,
    paired_bootstrap,
    ratio_bootstrap,
    ratio_difference_bootstrap,
)
from litsynth.stats.resampling import resampled_sums

CREDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6)), min_size=2, max_size=40)


def clustered(n=600, clusters=120, seed=1, strength=1.5):
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, clusters, n)
    skill = rng.normal(0, strength, clusters)
    return (rng.random(n) < 1 / (1 + np.exp(-skill[cluster]))).astype(float), cluster


def plain_loop(values, clusters, resamples, seed):
    """Resample whole clusters the slow way, by laying their rows side by side."""
    groups = [values[clusters == name] for name in np.unique(clusters)]
    rng = np.random.default_rng(seed)
    means = [np.concatenate([groups[i] for i in rng.integers(0, len(groups), len(groups))]).mean()
             for _ in range(resamples)]
    return np.percentile(means, [2.5, 97.5])


def test_cluster_bootstrap_agrees_with_a_plain_loop():
    values, clusters = clustered()
    estimate = cluster_bootstrap(values, clusters, seed=3)
    low, high = plain_loop(values, clusters, 3000, seed=8)
    # Monte Carlo error of a 2.5 % percentile with 3,000 and 5,000 resamples is about 0.06 standard errors, here 0.002.
    assert estimate.value == pytest.approx(values.mean(), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=0.006)
    assert (estimate.n, estimate.clusters) == (600, len(np.unique(clusters)))


def test_planted_clusters_widen_the_interval():
    values, clusters = clustered(strength=2.5)
    by_cluster = cluster_bootstrap(values, clusters, seed=3)
    naive = mean_bootstrap(values, seed=3)
    assert by_cluster.high - by_cluster.low > 1.2 * (naive.high - naive.low)


def test_mean_bootstrap_has_the_standard_error_of_the_mean():
    # The variance of a resampled mean is the population variance over n exactly (Efron 1979).
    values = np.random.default_rng(5).gamma(1.0, 1.0, 86)
    estimate = mean_bootstrap(values, seed=1, resamples=20_000)
    assert estimate.details["standard_error"] == pytest.approx(values.std() / np.sqrt(86), rel=0.02)


def test_both_ways_of_drawing_have_the_same_distribution():
    # 1,000 units of two kinds are drawn by kind; the same units with a distinct third column one by one.
    sums = np.column_stack([np.repeat([0.0, 1.0], 500), np.ones(1000)])
    by_kind = resampled_sums(sums, seed=1, resamples=4000)[:, 0]
    distinct = np.column_stack([sums, np.arange(1000.0)])
    by_unit = resampled_sums(distinct, seed=1, resamples=4000)[:, 0]
    # Both are binomial(1000, 1/2): mean 500, standard deviation 15.8.
    for drawn in (by_kind, by_unit):
        assert drawn.mean() == pytest.approx(500, abs=1.5)
        assert drawn.std() == pytest.approx(15.81, abs=0.6)


@pytest.mark.parametrize("cells", [1, 777, 1 << 14, 1 << 22])
@pytest.mark.parametrize("kinds", [True, False])
def test_memory_bound_changes_no_byte(cells, kinds):
    rng = np.random.default_rng(2)
    first = rng.integers(0, 2, 301).astype(float) if kinds else rng.random(301)
    sums = np.column_stack([first, np.ones(301), 1 - first])
    reference = resampled_sums(sums, seed=9, resamples=400)
    again = resampled_sums(sums, seed=9, resamples=400, cells_in_memory=cells)
    assert again.tobytes() == reference.tobytes()


@given(rows=CREDITS, data=st.data())
@settings(max_examples=60, deadline=None)
def test_order_of_rows_and_names_of_clusters_do_not_matter(rows, data):
    values, clusters = zip(*rows, strict=True)
    order = data.draw(st.permutations(range(len(rows))))
    estimate = cluster_bootstrap(values, clusters, seed=4, resamples=50)
    shuffled = cluster_bootstrap([values[i] for i in order], [f"paper {9 - clusters[i]}" for i in order], seed=4,
                                 resamples=50)
    assert estimate == shuffled


@given(rows=CREDITS)
@settings(max_examples=60, deadline=None)
def test_bounds_stay_inside_the_range_of_the_values(rows):
    values, clusters = zip(*rows, strict=True)
    estimate = cluster_bootstrap(values, clusters, seed=4, resamples=60)
    assert min(values) - 1e-12 <= estimate.value <= max(values) + 1e-12
    if estimate.low is None:
        assert estimate.reason
    else:
        assert -1e-12 <= estimate.low <= estimate.high <= 1 + 1e-12


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=30))
@settings(max_examples=60, deadline=None)
def test_paired_difference_is_antisymmetric_in_value(rows):
    a, b = zip(*rows, strict=True)
    forth, back = (paired_bootstrap(x, y, seed=1, resamples=40) for x, y in ((a, b), (b, a)))
    assert forth.value == pytest.approx(-back.value, abs=1e-12)
    assert forth.details.get("mean_a") == back.details.get("mean_b")


def test_paired_bootstrap_half_width_is_that_of_the_differences():
    rng = np.random.default_rng(3)
    a, b = (rng.random(900) < 0.7).astype(float), (rng.random(900) < 0.6).astype(float)
    estimate = paired_bootstrap(a, b, seed=2)
    half = 1.96 * (a - b).std(ddof=1) / 30  # normal theory; √900 = 30
    assert (estimate.high - estimate.low) / 2 == pytest.approx(half, rel=0.04)
    assert paired_bootstrap(a, b, clusters=range(900), seed=2).low == estimate.low


def test_weights_and_pooled_cells_are_sums_over_sums():
    # 3 of 4 and 1 of 6 pool to 4 of 10, not to the mean of 75 % and 17 %.
    pooled = ratio_bootstrap([3, 1], [4, 6], ["a", "b"], seed=1)
    weighted = cluster_bootstrap([3 / 4, 1 / 6], ["a", "b"], weights=[4, 6], seed=1)
    assert pooled.value == weighted.value == pytest.approx(0.4)
    # Two clusters: a quarter of the resamples is a twice, a quarter b twice, so the percentiles are these.
    assert (pooled.low, pooled.high) == pytest.approx((1 / 6, 3 / 4))


def test_difference_of_pooled_shares_keeps_both_denominators():
    # Refusal 2 of 3, over-refusal 1 of 2: a question whose control failed counts in the first arm alone.
    estimate = ratio_difference_bootstrap([1, 0, 1], [1, 1, 1], [1, 0, 0], [1, 1, 0], ["p", "q", "r"], seed=1)
    assert estimate.value == pytest.approx(2 / 3 - 1 / 2)
    assert (estimate.n, estimate.clusters) == (3, 3)
    # All three draws are r in 1 of 27 resamples (3.7 %), which leaves the second share undefined.
    assert estimate.details["undefined_resamples"] == pytest.approx(5000 / 27, abs=45)


def test_distribution_is_the_one_behind_the_interval():
    values, clusters = clustered(200, 40)
    estimate = cluster_bootstrap(values, clusters, seed=6)
    drawn = bootstrap_distribution(values, np.ones(200), clusters, seed=6)
    assert tuple(np.quantile(drawn, [0.025, 0.975])) == pytest.approx((estimate.low, estimate.high), abs=1e-14)


def test_same_seed_same_bytes_and_another_seed_differs():
    values, clusters = clustered(200, 40)
    first, again, other = (cluster_bootstrap(values, clusters, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


@pytest.mark.parametrize(("call", "value", "bounds", "word"), [
    (lambda: cluster_bootstrap([], [], seed=1), None, None, "no rows"),
    (lambda: mean_bootstrap([], seed=1), None, None, "no rows"),
    (lambda: paired_bootstrap([], [], seed=1), None, None, "no rows"),
    (lambda: cluster_bootstrap([1, 0, 1], ["p"] * 3, seed=1), 2 / 3, None, "one cluster"),
    (lambda: mean_bootstrap([0.4], seed=1), 0.4, None, "one cluster"),
    (lambda: mean_bootstrap([0.4, 0.4, 0.4], seed=1), 0.4, None, "no variation"),
    (lambda: paired_bootstrap([1, 0], [1, 0], seed=1), 0.0, None, "no variation"),
    (lambda: cluster_bootstrap([1, 0, 1, 0], list("aabb"), seed=1), 0.5, None, "no variation"),
    (lambda: cluster_bootstrap([1, 0], ["a", "b"], weights=[0, 0], seed=1), None, None, "weights add up to 0"),
    (lambda: cluster_bootstrap([1, 0], ["a", "b"], weights=[1, 0], seed=1), 1.0, None, "one cluster"),
    (lambda: ratio_difference_bootstrap([1], [1], [0], [0], ["a"], seed=1), None, None, "denominator"),
    (lambda: ratio_difference_bootstrap([1, 1], [1, 1], [0, 1], [1, 1], ["a", "a"], seed=1), 0.5, None, "one cluster"),
    # Wilson on 18 clusters, 0 of 18: upper bound z² / (18 + z²) = 3.8415 / 21.8415 = 0.1759.
    (lambda: cluster_bootstrap([0] * 36, list(range(18)) * 2, seed=1), 0.0, (0.0, 0.17588), "none correct"),
    (lambda: cluster_bootstrap([True] * 36, list(range(18)) * 2, seed=1), 1.0, (0.82412, 1.0), "all correct"),
])
def test_degenerate_input_has_a_stated_answer(call, value, bounds, word):
    estimate = call()
    assert estimate.value == (None if value is None else pytest.approx(value))
    assert (estimate.low, estimate.high) == ((None, None) if bounds is None else pytest.approx(bounds, abs=1e-4))
    assert word in estimate.reason


def test_resamples_of_weight_zero_are_left_out_or_take_the_interval():
    # One weighted cluster of three is missed by (2/3)³ = 30 % of the resamples; two of ten by 0.8¹⁰ = 11 %.
    few = ratio_bootstrap([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], range(10), seed=1)
    assert few.value == 0.5
    assert few.low is None
    assert "weight 0" in few.reason
    # Five of ten by 0.1 %: left out and counted.
    many = ratio_bootstrap([1, 0, 1, 0, 1, 0, 0, 0, 0, 0], [1] * 5 + [0] * 5, range(10), seed=1)
    assert many.low is not None
    assert 0 < many.details["undefined_resamples"] < 30


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), "1", [1]])
def test_a_value_that_is_no_number_is_refused_with_its_row(bad):
    with pytest.raises(DataError, match=r"values, row 1 "):
        cluster_bootstrap([1, bad, 0], ["a", "b", "c"], seed=1)


def test_other_bad_input_names_what_is_wrong():
    with pytest.raises(DataError, match=r"values has 2.*clusters has 3"):
        cluster_bootstrap([1, 0], ["a", "b", "c"], seed=1)
    with pytest.raises(DataError, match="a has 2, b has 1"):
        paired_bootstrap([1, 0], [1], seed=1)
    with pytest.raises(DataError, match="clusters, row 1 "):
        cluster_bootstrap([1, 0], ["a", None], seed=1)
    with pytest.raises(DataError, match="clusters, row 0 "):
        cluster_bootstrap([1, 0], [["a"], "b"], seed=1)
    with pytest.raises(DataError, match=r"row 1 .* no share"):
        cluster_bootstrap([1, 2], ["a", "b"], seed=1)
    with pytest.raises(ParameterError, match="confidence is 95"):
        mean_bootstrap([1, 0], seed=1, confidence=95)
    with pytest.raises(ParameterError, match="resamples is 0"):
        mean_bootstrap([1, 0], seed=1, resamples=0)
    with pytest.raises(ParameterError, match="seed is None"):
        mean_bootstrap([1, 0], seed=None)
    with pytest.raises(DataError, match="no rows to resample"):
        bootstrap_distribution([], [], [], seed=1)


def test_columns_of_pandas_are_read_by_position():
    import pandas as pd

    frame = pd.DataFrame({"value": [1.0, 0.0, 1.0], "paper": ["a", "b", "b"]}, index=[7, 8, 9])
    from_frame = cluster_bootstrap(frame["value"], frame["paper"], seed=1)
    assert from_frame == cluster_bootstrap([1, 0, 1], ["a", "b", "b"], seed=1)
    with pytest.raises(DataError, match="row 1 "):
        mean_bootstrap(pd.Series([1, pd.NA, 0], dtype="Int64"), seed=1)


def test_values_whose_sums_leave_the_range_of_a_float_are_refused():
    with pytest.raises(DataError, match=r"row 1 .*none beyond 1e"):
        mean_bootstrap([0.0, 1e308, 1e308], seed=1)
