"""Wilson, pooled cells and Newcombe's differences against printed tables, R and statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from litsynth.errors import DataError, ParameterError
from litsynth.stats import (
    difference_of_proportions,
    paired_difference_of_proportions,
    pooled_proportion,
    wilson_interval,
)

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("successes", "n", "low", "high"), [
    # Newcombe 1998, Statistics in Medicine 17:857, table I, method 3.
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
    # Published refusals, 94.9 % and 100 %. 390 of 390: n / (n + z²) = 390 / 393.8415.
    (574, 605, 0.9282, 0.9637),
    (390, 390, 0.9902, 1.0),
])
def test_wilson_has_the_printed_bounds(successes, n, low, high):
    estimate = wilson_interval(successes, n)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5.1e-5)
    assert estimate.value == successes / n


def test_published_refusal_rates():
    assert round(100 * wilson_interval(574, 605).value, 1) == 94.9
    assert wilson_interval(390, 390).value == 1.0


@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_is_that_of_statsmodels_inside_its_range_and_symmetric(counts, confidence):
    successes, n = counts
    estimate = wilson_interval(successes, n, confidence)
    reference = proportion_confint(successes, n, alpha=1 - confidence, method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx(reference, abs=1e-9)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    mirrored = wilson_interval(n - successes, n, confidence)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((estimate.low, estimate.high), abs=1e-12)


def test_no_trials_and_impossible_counts():
    empty = wilson_interval(0, 0)
    assert (empty.value, empty.low, empty.high, empty.n) == (None, None, None, 0)
    assert "no trials" in empty.reason
    with pytest.raises(ParameterError, match="successes is 3 and n is 2"):
        wilson_interval(3, 2)
    for bad in (-1, 1.5, None, "2", True):
        with pytest.raises(ParameterError, match="successes is"):
            wilson_interval(bad, 9)


def test_pooled_cells_add_numerators_and_denominators():
    pooled = pooled_proportion([574, 0, 16], [605, 0, 20])
    assert (pooled.value, pooled.n, pooled.clusters) == (590 / 625, 625, 2)
    assert (pooled.low, pooled.high) == pytest.approx(proportion_confint(590, 625, method="wilson"))
    assert pooled_proportion([], []).value is None
    with pytest.raises(DataError, match=r"cell 1 .* 3 of 2"):
        pooled_proportion([1, 3], [2, 2])
    with pytest.raises(DataError, match="numerators has 1, denominators has 2"):
        pooled_proportion([1], [2, 2])


@pytest.mark.parametrize(("counts", "low", "high"), [
    # Newcombe 1998, Statistics in Medicine 17:873, table II, method 10.
    ((56, 70, 48, 80), 0.0524, 0.3339),
    ((9, 10, 3, 10), 0.1705, 0.8090),
    ((6, 7, 2, 7), 0.0582, 0.8062),
    ((5, 56, 0, 29), -0.0381, 0.1926),
    ((0, 10, 0, 20), -0.1611, 0.2775),
    ((10, 10, 0, 20), 0.6791, 1.0000),
])
def test_difference_of_independent_proportions(counts, low, high):
    estimate = difference_of_proportions(*counts)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5.1e-5)


@given(COUNTS, COUNTS)
def test_independent_difference_is_that_of_statsmodels_and_antisymmetric(first, second):
    estimate = difference_of_proportions(*first, *second)
    reference = confint_proportions_2indep(*first, *second, method="newcomb", compare="diff")
    assert (estimate.low, estimate.high) == pytest.approx(reference, abs=1e-9)
    back = difference_of_proportions(*second, *first)
    assert (-back.high, -back.low) == pytest.approx((estimate.low, estimate.high), abs=1e-12)
    assert -1 - 1e-12 <= estimate.low <= estimate.high <= 1 + 1e-12


def test_difference_without_trials_is_undefined():
    assert difference_of_proportions(1, 2, 0, 0).value is None


def ratings(both, only_a, only_b, neither):
    """Lay out paired zeros and ones with the given counts."""
    return ([1] * both + [1] * only_a + [0] * only_b + [0] * neither,
            [1] * both + [0] * only_a + [1] * only_b + [0] * neither)


@pytest.mark.parametrize(("counts", "value", "low", "high"), [
    # R contingencytables 3.1.0, Newcombe_square_and_add_CI_paired_2x2 on Cavo et al. (2012): as in its test suite.
    ((59, 6, 16, 80), -0.0621, -0.1186, -0.0046),
    # Newcombe 1998, Statistics in Medicine 17:2635, table II, method 10, and by the algebra there:
    ((36, 12, 2, 0), 0.2000, 0.0569, 0.3404),
    # Altman et al. 2000, Statistics with Confidence, p. 52: 14, 5, 0, 22 gives 0.12 (0.01 to 0.23).
    ((14, 5, 0, 22), 0.1220, 0.0115, 0.2265),
])
def test_difference_of_paired_proportions(counts, value, low, high):
    estimate = paired_difference_of_proportions(*ratings(*counts))
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((value, low, high), abs=5.1e-5)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_paired_difference_is_antisymmetric_and_bounded(rows):
    a, b = zip(*rows, strict=True)
    forth, back = paired_difference_of_proportions(a, b), paired_difference_of_proportions(b, a)
    assert (forth.value, forth.low, forth.high) == pytest.approx((-back.value, -back.high, -back.low), abs=1e-12)
    assert -1 <= forth.low <= forth.value <= forth.high <= 1


def test_paired_difference_refuses_what_is_no_verdict():
    with pytest.raises(DataError, match=r"b, row 1 .* neither 0 nor 1"):
        paired_difference_of_proportions([1, 0], [1, 0.5])
    assert paired_difference_of_proportions([], []).value is None
    assert paired_difference_of_proportions(np.array([True]), np.array([True])).value == 0.0


@pytest.mark.parametrize("n", [10**400, float("inf"), -float("inf"), [5]])
def test_counts_beyond_every_range_are_refused(n):
    with pytest.raises(ParameterError, match="n is"):
        wilson_interval(1, n)
