"""Agreement of two raters and of panels against R (irrCAC), scikit-learn, krippendorff and derivations."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from litsynth.errors import DataError
from litsynth.stats import (
    agreement_table,
    cohen_kappa,
    direction_of_disagreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    leave_one_judge_out,
    pabak,
    pairwise_kappa,
    panel_accuracy,
    raw_agreement,
    specific_agreement,
    strict_majority,
)

# The table with the margins of the published concordance: 81 both yes, 12 panel only, 5 human only, 56 both no.
PANEL = [1] * 93 + [0] * 61
HUMAN = [1] * 81 + [0] * 12 + [1] * 5 + [0] * 56

# R irrCAC 1.0, data sets cont3x3abstractors, cac.raw4raters and distrib.6raters, as printed in its vignette "overview".
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
FOUR_RATERS = [[1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4],
               [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1], [None, None, 3, None]]
SIX_RATERS = [[0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0], [2, 0, 4, 0, 0],
              [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6], [1, 0, 0, 5, 0], [1, 1, 0, 4, 0],
              [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1]]

TWO = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=60)


def spread(table):
    """Lay out a table of counts as two lists of labels."""
    cells = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    return [i for i, _ in cells], [j for _, j in cells]


def votes_of(counts):
    """Lay out counts of labels by item as votes."""
    return [[label for label, count in enumerate(row) for _ in range(count)] for row in counts]


def test_published_concordance():
    kappa = cohen_kappa(PANEL, HUMAN)
    assert kappa.value == pytest.approx(0.7737, abs=5e-5)  # published 0.774
    assert kappa.details["agreement"] == pytest.approx(0.890, abs=5e-4)  # published 89.0 %
    assert (kappa.low, kappa.high) == pytest.approx((0.67, 0.87), abs=0.006)  # published 0.67 to 0.87
    assert kappa.details["table"] == ((56, 5), (12, 81))


def test_kappa_of_irrcac():
    # kappa2.table(cont3x3abstractors): 0.7964094, standard error 0.05891072.
    kappa = cohen_kappa(*spread(ABSTRACTORS))
    assert kappa.value == pytest.approx(0.7964094, abs=5e-8)
    assert kappa.details["standard_error"] == pytest.approx(0.05891072, abs=5e-9)
    # bp2.table: Brennan-Prediger 0.835, which is the adjusted kappa for three labels.
    assert pabak(*spread(ABSTRACTORS)).value == pytest.approx(0.835)


def kappa_of(counts):
    """Return κ of a table of (fractional) counts."""
    shares = counts / counts.sum()
    expected = shares.sum(axis=0) @ shares.sum(axis=1)
    return (np.trace(shares) - expected) / (1 - expected)


def delta_method_error(table):
    """Return the standard error of κ under multinomial sampling from its numerical slopes.

    κ does not change when all counts are scaled, so its slopes have mean 0 over the items (Euler) and the variance is
    the sum of count · slope².
    """
    variance = 0.0
    for cell in zip(*np.nonzero(table), strict=True):
        step = np.zeros(table.shape)
        step[cell] = 1e-5
        variance += table[cell] * ((kappa_of(table + step) - kappa_of(table - step)) / 2e-5) ** 2
    return math.sqrt(variance)


@given(TWO)
@settings(max_examples=40, deadline=None)
def test_kappa_is_that_of_scikit_learn_with_the_error_of_the_delta_method(rows):
    from sklearn.metrics import cohen_kappa_score

    a, b = map(list, zip(*rows, strict=True))
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    kappa, swapped = cohen_kappa(a, b), cohen_kappa(b, a)
    assert kappa.value == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
    assert swapped.value == pytest.approx(kappa.value, abs=1e-12)
    error = delta_method_error(agreement_table(a, b)[0])
    if kappa.low is None:
        assert error == pytest.approx(0, abs=1e-6)
    else:
        assert kappa.details["standard_error"] == pytest.approx(error, abs=1e-6)
        assert -1 <= kappa.low <= kappa.value <= kappa.high <= 1


def test_undefined_and_perfect_kappa_are_told_apart():
    one_label = cohen_kappa(["yes"] * 9, ["yes"] * 9)
    assert one_label.value is None
    assert "one label only ('yes')" in one_label.reason
    assert one_label.details["agreement"] == 1.0
    perfect = cohen_kappa([1, 0, 1], [1, 0, 1])
    assert (perfect.value, perfect.low) == (1.0, None)
    assert "without exception" in perfect.reason
    # One rater says yes only: chance explains all agreement, κ is exactly 0.
    assert cohen_kappa([1, 1, 1], [1, 0, 1]).value == pytest.approx(0, abs=1e-15)
    empty = cohen_kappa([], [])
    assert (empty.value, empty.n) == (None, 0)


def test_bad_labels_are_named():
    with pytest.raises(DataError, match="a has 2, b has 1"):
        cohen_kappa([1, 0], [1])
    with pytest.raises(DataError, match="b, row 1 "):
        cohen_kappa([1, 0], [1, None])


def test_raw_pabak_and_specific_agreement():
    # 137 of 154 agree; Byrt, Bishop & Carlin 1993: 2 · 137 / 154 − 1; Cicchetti & Feinstein 1990: 2a / (2a + b + c).
    assert raw_agreement(PANEL, HUMAN).value == pytest.approx(137 / 154)
    assert pabak(PANEL, HUMAN).value == pytest.approx(2 * 137 / 154 - 1)
    assert pabak([1, 1], [1, 1]).value == 1.0
    shares = specific_agreement(PANEL, HUMAN)
    assert shares["positive"].value == pytest.approx(162 / 179)
    assert shares["negative"].value == pytest.approx(112 / 129)
    assert shares["negative"].low < 112 / 129 < shares["negative"].high
    assert "rated 0" in specific_agreement([1, 1], [1, 1])["negative"].reason
    assert pabak([], []).value is raw_agreement([], []).value is None


def test_panel_accuracy_and_direction():
    shares = panel_accuracy(PANEL, HUMAN)
    assert {name: share.value for name, share in shares.items()} == pytest.approx({
        "sensitivity": 81 / 86, "specificity": 56 / 68, "positive_predictive_value": 81 / 93,
        "negative_predictive_value": 56 / 61})
    assert panel_accuracy([1], [1])["specificity"].value is None
    direction = direction_of_disagreement(PANEL, HUMAN)
    assert direction.value == pytest.approx(7 / 154)
    # Exact McNemar, 12 against 5: 2 · Σ(k ≤ 5) C(17, k) / 2¹⁷ = 2 · 9402 / 131072.
    assert direction.details["p_value"] == pytest.approx(2 * 9402 / 131072)
    assert direction.details["share_only_a"] == pytest.approx(12 / 17)
    same = direction_of_disagreement([1, 0], [1, 0])
    assert (same.details["p_value"], same.details["share_only_a"]) == (1.0, None)


def test_panel_coefficients_of_irrcac():
    ac1 = gwet_ac1(FOUR_RATERS)
    assert ac1.value == pytest.approx(0.77544, abs=5e-6)
    assert ac1.details["standard_error"] == pytest.approx(0.14295, abs=5e-6)
    assert (ac1.low, ac1.high) == pytest.approx((0.461, 1.0), abs=5e-4)
    assert krippendorff_alpha(FOUR_RATERS, seed=1).value == pytest.approx(0.74342, abs=5e-6)
    six = votes_of(SIX_RATERS)
    ac1 = gwet_ac1(six)
    assert (ac1.value, ac1.details["standard_error"]) == pytest.approx((0.4448007, 0.08418757), abs=5e-8)
    assert fleiss_kappa(six, seed=1).value == pytest.approx(0.4139265, abs=5e-8)
    assert krippendorff_alpha(six, seed=1).value == pytest.approx(0.4204384, abs=5e-8)
    # gwet.ac1.table(cont3x3abstractors): 0.8493305 with 0.04321747, whose variance is over n, not n − 1: √(99/100).
    ac1 = gwet_ac1(zip(*spread(ABSTRACTORS), strict=True))
    assert ac1.value == pytest.approx(0.8493305, abs=5e-8)
    assert ac1.details["standard_error"] * math.sqrt(0.99) == pytest.approx(0.04321747, abs=5e-9)


def test_bootstrap_errors_are_near_the_analytic_ones():
    # irrCAC: standard errors 0.08119291 (Fleiss) and 0.08243228 (Krippendorff), of 15 items, so a fifth apart at most.
    six = votes_of(SIX_RATERS)
    assert fleiss_kappa(six, seed=1).details["standard_error"] == pytest.approx(0.0812, rel=0.2)
    assert krippendorff_alpha(six, seed=1).details["standard_error"] == pytest.approx(0.0824, rel=0.2)


def test_fleiss_example_of_the_textbooks():
    # Ten items, fourteen raters, five labels: κ = 0.210 (statsmodels' own test has it from Wikipedia's worked example).
    table = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1], [7, 7, 0, 0, 0],
             [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]
    assert fleiss_kappa(votes_of(table), seed=1).value == pytest.approx(0.210, abs=5e-4)


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, None]), min_size=3, max_size=3), min_size=2, max_size=30))
@settings(max_examples=40, deadline=None)
def test_alpha_is_that_of_the_krippendorff_package(votes):
    import krippendorff

    paired = [vote for row in votes if sum(v is not None for v in row) > 1 for vote in row if vote is not None]
    assume(len(set(paired)) > 1)
    matrix = np.array([[np.nan if vote is None else vote for vote in row] for row in votes]).T
    mine = krippendorff_alpha(votes, seed=1, resamples=20)
    reference = krippendorff.alpha(matrix, level_of_measurement="nominal", value_domain=[0, 1, 2])
    assert mine.value == pytest.approx(reference, abs=1e-9)
    shuffled = krippendorff_alpha([row[::-1] for row in votes[::-1]], seed=1, resamples=20)
    assert (shuffled.value, shuffled.low) == (mine.value, mine.low)


def test_degenerate_panels():
    assert fleiss_kappa([], seed=1).value is None
    for estimate in (fleiss_kappa([[1, 1]] * 5, seed=1), krippendorff_alpha([[1, 1, None]] * 5, seed=1)):
        assert estimate.value is None
        assert "one label only" in estimate.reason
        assert estimate.details["agreement"] == 1.0
    one = gwet_ac1([[1, 1]] * 5)
    assert (one.value, one.low) == (1.0, None)
    assert gwet_ac1([[1, None], [None, 0]]).value is None
    assert krippendorff_alpha([[1, None], [None, 0]], seed=1).value is None
    single = krippendorff_alpha([[1, 0, 1]], seed=1)
    assert single.value is not None
    assert single.low is None
    clustered = krippendorff_alpha([[1, 0], [1, 1], [0, 0]], clusters=["p", "p", "p"], seed=1)
    assert "one of the clusters" in clustered.reason
    with pytest.raises(DataError, match=r"row 1 .* has 2 votes, row 0 has 3.*krippendorff_alpha"):
        fleiss_kappa([[1, 0, 1], [1, None, 1]], seed=1)
    with pytest.raises(DataError, match=r"row 1 .* has 1 columns, row 0 has 2"):
        gwet_ac1([[1, 0], [1]])


def test_strict_majority_never_shrinks_the_panel():
    votes = [[1, 1, 0], [1, None, 0], [1, 1, None], [0, 0, None], [1, None, None], [1, 0, 0], [None] * 3]
    assert strict_majority(votes) == [1, None, 1, 0, None, 0, None]
    assert strict_majority([row[::-1] for row in votes]) == strict_majority(votes)
    assert strict_majority([[1, 0], [1, 1], [1, None], [0, None]]) == [0, 1, None, 0]
    with pytest.raises(DataError, match="row 1 "):
        strict_majority([[1, 1], [2, 1]])


def test_pairwise_and_leave_one_out_count_what_they_leave_out():
    votes = {"x": [1, 1, 0, 0, 1, None], "y": [1, 0, 0, 0, 1, 1], "z": [1, 1, 0, 1, 1, 1]}
    pairs = pairwise_kappa({**votes, "human": [1, 1, 0, 0, 0, 1]})
    assert len(pairs) == 6
    # x and y on the five items that both rated: 4 agree, margins 3/5 and 2/5: (0.8 − 0.48) / 0.52.
    assert pairs["x", "y"].value == pytest.approx(0.32 / 0.52)
    assert (pairs["x", "y"].n, pairs["x", "y"].details["left_out"]) == (5, 1)
    left = leave_one_judge_out(votes, [1, 1, 0, 0, 0, 1])
    # Without z the others credit items 1 and 5; item 6 is undecided, because x has no vote there.
    assert left["z"]["judge_against_rest"].n == 5
    assert left["z"]["rest_against_human"].details["left_out"] == 1
    # The rest 1, 0, 0, 0, 1 against the human 1, 1, 0, 0, 0: 3 agree, both credit 2 of 5: (0.6 − 0.52) / 0.48.
    assert left["z"]["rest_against_human"].value == pytest.approx(0.08 / 0.48)
    with pytest.raises(DataError, match="x has 1, y has 2"):
        pairwise_kappa({"x": [1], "y": [1, 0]})


@pytest.mark.parametrize("n", range(4, 15))
def test_a_rater_who_never_varies_gives_kappa_0_without_an_interval(n):
    # One rater gives 0 throughout: observed and expected agreement are equal, so kappa and its variance are 0.
    estimate = cohen_kappa([0] * n, [0] * (n - 1) + [1])
    assert estimate.value == pytest.approx(0.0, abs=1e-12)
    assert (estimate.low, estimate.high) == (None, None)
    assert "standard error is 0" in estimate.reason
