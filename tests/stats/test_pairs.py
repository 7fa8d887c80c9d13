"""Two-paper questions: bootstrap over papers, variance components, graph, decomposition, and ranks."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import DataError
from litsynth.stats import (
    mean_bootstrap,
    pair_bootstrap,
    pair_bootstrap_difference,
    pair_graph,
    pair_interval,
    rank_bootstrap,
    two_paper_decomposition,
    without_hubs,
)
from litsynth.stats.pairs import pair_codes, pair_components

HUBS = [("hub", f"p{i % 60}") if i % 3 else (f"p{i % 60}", f"q{i % 31}") for i in range(170)]
ROWS = st.lists(
    st.tuples(st.booleans(), st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1])),
    min_size=2, max_size=25)


def credits(seed=1, share=0.35):
    return (np.random.default_rng(seed).random(170) < share).astype(float)


def test_pair_bootstrap_agrees_with_a_plain_loop():
    values = credits()
    papers = sorted({paper for pair in HUBS for paper in pair})
    index = {paper: i for i, paper in enumerate(papers)}
    first, second = (np.array([index[pair[k]] for pair in HUBS]) for k in (0, 1))
    rng, means = np.random.default_rng(5), []
    for _ in range(4000):
        counts = np.bincount(rng.integers(0, len(papers), len(papers)), minlength=len(papers))
        weight = counts[first] + counts[second]
        means.append((weight * values).sum() / weight.sum())
    estimate = pair_bootstrap(values, HUBS, seed=3)
    assert estimate.value == pytest.approx(values.mean(), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(np.percentile(means, [2.5, 97.5]), abs=0.005)
    assert (estimate.n, estimate.clusters) == (170, len(papers))


def test_every_resample_of_two_pairs_by_enumeration():
    # Papers a, b, c; pairs ab (1) and bc (0). With counts (i, j, k) the mean is (i + j) / (i + 2j + k).
    draws = np.array(list(itertools.product(range(3), repeat=3)))
    counts = np.stack([(draws == paper).sum(axis=1) for paper in range(3)])
    means = (counts[0] + counts[1]) / (counts[0] + 2 * counts[1] + counts[2])
    estimate = pair_bootstrap([1, 0], [("a", "b"), ("b", "c")], seed=1, resamples=20_000)
    assert estimate.details["standard_error"] == pytest.approx(means.std(), rel=0.02)


def test_disjoint_pairs_show_the_factor_of_the_definition():
    # 400 pairs that share nothing are independent, so a question bootstrap is right; the benchmark's weights average
    # two independent counts, which halves the variance. The variance components find no covariance to speak of.
    values = np.concatenate([credits(2, 0.4), credits(3, 0.4), credits(4, 0.4)])[:400]
    pairs = [(2 * i, 2 * i + 1) for i in range(400)]
    right = mean_bootstrap(values, seed=1).details["standard_error"]
    halved = pair_bootstrap(values, pairs, seed=1).details["standard_error"]
    assert halved == pytest.approx(right / np.sqrt(2), rel=0.04)
    assert pair_interval(values, pairs).details["standard_error"] == pytest.approx(right, rel=0.03)


def test_components_are_those_of_the_matrix_equations():
    values = credits(7)
    deviations = values - values.mean()
    first, second, papers = pair_codes(HUBS)
    incidence = np.zeros((170, len(papers)))
    incidence[np.arange(170), first] = incidence[np.arange(170), second] = 1
    shared = incidence @ incidence.T - 2 * np.eye(170)
    centre = np.eye(170) - 1 / 170
    forms = [np.eye(170), shared]
    equations = [[np.trace(form @ centre @ other @ centre) for other in forms] for form in forms]
    v, c = np.linalg.solve(equations, [deviations @ form @ deviations for form in forms])
    if c < 0:
        v, c = deviations @ deviations / 169, 0.0
    expected = (v / 170 + c * shared.sum() / 170**2, v, c)
    assert pair_components(deviations, first, second, len(papers)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_components_are_unbiased_where_papers_add_up():
    # Values u_i + u_j + e with variances 1, 1 and 0.5: pairs that share a paper have covariance 1, a pair variance 2.5.
    rng = np.random.default_rng(3)
    first, second, papers = pair_codes(HUBS)
    found = []
    for _ in range(600):
        luck = rng.normal(size=len(papers))
        values = luck[first] + luck[second] + rng.normal(0, np.sqrt(0.5), 170)
        found.append(pair_components(values - values.mean(), first, second, len(papers)))
    # Setting negative covariances to 0 adds a little; Monte Carlo error is about 0.03.
    _, v, c = np.mean(found, axis=0)
    assert v == pytest.approx(2.5, abs=0.15)
    assert c == pytest.approx(1.0, abs=0.12)


@given(ROWS, st.data())
@settings(max_examples=50, deadline=None)
def test_order_and_direction_of_pairs_do_not_matter(rows, data):
    order = data.draw(st.permutations(range(len(rows))))
    values, pairs = zip(*rows, strict=True)
    estimate = pair_bootstrap(values, pairs, seed=2, resamples=40)
    turned = pair_bootstrap([values[i] for i in order], [pairs[i][::-1] for i in order], seed=2, resamples=40)
    assert (turned.value, turned.low, turned.high) == (estimate.value, estimate.low, estimate.high)
    assert 0 <= estimate.value <= 1
    for bounds in ((estimate.low, estimate.high), estimate.details["pair_interval"]):
        if bounds[0] is not None:
            assert -1e-12 <= bounds[0] <= bounds[1] <= 1 + 1e-12


def test_difference_is_the_bootstrap_of_differences():
    a, b = credits(1, 0.5), credits(2, 0.3)
    estimate = pair_bootstrap_difference(a, b, HUBS, seed=4)
    assert estimate.value == pytest.approx((a - b).mean(), abs=1e-12)
    back = pair_bootstrap_difference(b, a, HUBS, seed=4)
    assert back.value == pytest.approx(-estimate.value, abs=1e-12)
    same = pair_bootstrap_difference(a, a, HUBS, seed=4)
    assert (same.value, same.low) == (0.0, None)
    assert "no variation" in same.reason


def test_degenerate_pairs_have_stated_answers():
    assert pair_bootstrap([], [], seed=1).value is None
    assert pair_interval([], []).value is None
    one = pair_bootstrap([1], [("a", "b")], seed=1)
    assert (one.value, one.low, one.reason) == (1.0, None, "one pair gives no interval")
    # All refused, 170 disjoint pairs: Wilson's 170 / (170 + 3.8415).
    disjoint = [(2 * i, 2 * i + 1) for i in range(170)]
    full = pair_bootstrap([True] * 170, disjoint, seed=1)
    assert (full.low, full.high) == pytest.approx((170 / 173.8415, 1.0), abs=1e-4)
    assert "all correct" in full.reason
    # With hubs the same answers carry less: effective pairs (Σd)² / 2Σd².
    assert pair_bootstrap([True] * 170, HUBS, seed=1).low < full.low
    # A star cannot tell the hub's luck from the mean.
    star = pair_interval([1, 0, 1], [("hub", "a"), ("hub", "b"), ("hub", "c")])
    assert (star.value, star.low) == (pytest.approx(2 / 3), None)
    assert "shares a paper" in star.reason
    for bad in [("a", "a"), ("a",), ("a", "b", "c")]:
        with pytest.raises(DataError, match="pairs, row 1 "):
            pair_bootstrap([1, 0], [("a", "b"), bad], seed=1)
    with pytest.raises(DataError, match="values has 1, pairs has 2"):
        pair_bootstrap([1], [("a", "b"), ("b", "c")], seed=1)
    with pytest.raises(DataError, match=r"row 1 .*label is missing"):
        pair_bootstrap([1], [("a", None)], seed=1)


def test_graph_counts():
    # b has degree 3 (twice with a, once with c); d and e stand apart.
    graph = pair_graph([("a", "b"), ("b", "c"), ("d", "e"), ("b", "a")], hub_degree=3)
    assert (graph.papers, graph.pairs, graph.hubs, graph.hub_share) == (5, 4, ("b",), 0.75)
    assert graph.components == ((3, 3), (2, 1))
    assert graph.largest_component_pairs == 3
    assert list(graph.degrees.items()) == [("b", 3), ("a", 2), ("c", 1), ("d", 1), ("e", 1)]
    assert graph.degree_counts == {1: 3, 2: 1, 3: 1}
    assert graph.effective == pytest.approx(8**2 / (2 * (9 + 4 + 1 + 1 + 1)))
    empty = pair_graph([])
    assert (empty.papers, empty.hub_share, empty.largest_component_pairs) == (0, None, 0)


def test_without_hubs_leaves_out_what_touches_one():
    values = credits()
    estimate = without_hubs(pair_bootstrap, values, HUBS, seed=1)
    kept = [value for value, pair in zip(values, HUBS, strict=True) if "hub" not in pair]
    assert estimate.value == pytest.approx(np.mean(kept))
    assert (estimate.n, estimate.details["left_out"], estimate.details["hubs"]) == (57, 113, 1)


def test_decomposition_adds_up():
    pairs = [("a", "b"), ("b", "c"), ("d", "e"), ("f", "g")]
    result = two_paper_decomposition([1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, None], pairs, seed=1)
    values = {name: estimate.value for name, estimate in result.items()}
    # Joint: both, one, neither, neither. Separately both in 2 of the 3 questions asked; jointly in 1 of these.
    assert values == pytest.approx({"neither": 0.5, "one": 0.25, "both": 0.25, "at_least_one": 0.5,
                                    "both_separately": 2 / 3, "synthesis_penalty": 1 / 3})
    assert result["synthesis_penalty"].n == 3


def test_decomposition_counts_a_question_once_over_its_candidate_numbers():
    # Question 1: both at one of two N; question 2: both at its only N. Mean of 1/2 and 1, not 2 of 3 cells.
    result = two_paper_decomposition([[1, 1], [1, None]], [[1, 0], [1, None]], [[1, 1], [1, 1]], [[1, 1], [1, 1]],
                                     [("a", "b"), ("c", "d")], seed=1)
    assert result["both"].value == pytest.approx(0.75)
    assert result["synthesis_penalty"].value == pytest.approx(0.25)
    with pytest.raises(DataError, match=r"row 1 .* no cell"):
        two_paper_decomposition([1, None], [1, 1], [1, 1], [1, 1], [("a", "b"), ("c", "d")], seed=1)
    with pytest.raises(DataError, match=r"fact_a, row 0 .* no credit"):
        two_paper_decomposition([0.5], [1], [1], [1], [("a", "b")], seed=1)
    with pytest.raises(DataError, match="shapes"):
        two_paper_decomposition([[1, 1]], [[1]], [1], [1], [("a", "b")], seed=1)


def test_ranks_share_ties_and_say_how_sure_they_are():
    rng = np.random.default_rng(1)
    base = rng.random(86)
    matrix = [base, base + 0.5, base, base - 0.5 + rng.normal(0, 0.01, 86)]
    ranks = rank_bootstrap(matrix, seed=1, names=["low", "best", "low too", "worst"])
    assert [rank.value for rank in ranks] == [2.5, 1.0, 2.5, 4.0]
    assert [(rank.low, rank.high) for rank in ranks] == [(2.5, 2.5), (1.0, 1.0), (2.5, 2.5), (4.0, 4.0)]
    assert [rank.details["first"] for rank in ranks] == [0.0, 1.0, 0.0, 0.0]
    upside_down = rank_bootstrap(matrix, seed=1, higher_is_better=False)
    assert [rank.value for rank in upside_down] == [2.5, 4.0, 2.5, 1.0]


def test_ranks_of_near_equals_overlap_and_ignore_the_order_of_items():
    rng = np.random.default_rng(2)
    matrix = rng.random((3, 40))
    ranks = rank_bootstrap(matrix, seed=5)
    assert all(rank.high > rank.low for rank in ranks)
    assert sum(rank.value for rank in ranks) == 6
    assert rank_bootstrap(matrix[:, rng.permutation(40)], seed=5) == ranks
    assert [rank.clusters for rank in rank_bootstrap(matrix, clusters=np.arange(40) % 4, seed=5)] == [4, 4, 4]


def test_degenerate_ranks():
    assert rank_bootstrap([[1], [0]], seed=1)[0].reason == "one unit gives no interval"
    assert [rank.value for rank in rank_bootstrap([[], []], seed=1)] == [None, None]
    assert rank_bootstrap([], seed=1) == []
    with pytest.raises(DataError, match="system b has 1 scores, system a has 2"):
        rank_bootstrap([[1, 0], [1]], seed=1, names=["a", "b"])
    with pytest.raises(DataError, match="row 1 of the matrix, row 0 "):
        rank_bootstrap([[1, 0], [None, 1]], seed=1)
