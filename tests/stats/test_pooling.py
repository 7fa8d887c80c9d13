"""Pooling of study effects, against metafor's published output, scipy's weighted least squares and derivations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from litsynth.errors import DataError, ParameterError
from litsynth.stats import pooling
from litsynth.stats.pooling import between_study_variance, pool_effects

# Thirteen trials of the BCG vaccine (Colditz et al. 1994, JAMA 271:698; `dat.bcg` of metafor):
# tuberculosis yes/no in the vaccinated, yes/no in the controls.
BCG = [(4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761),
       (180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232),
       (17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825)]


def log_risk_ratios() -> tuple[np.ndarray, np.ndarray]:
    a, b, c, d = np.array(BCG, dtype=float).T
    return np.log(a / (a + b)) - np.log(c / (c + d)), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


# The output that metafor's documentation (Viechtbauer 2010, J Stat Softw 36(3), and its web pages) prints for dat.bcg.
@pytest.mark.parametrize(("method", "effect", "low", "high", "tau2"), [
    ("common", -0.4303, -0.5097, -0.3509, None),
    ("DL", -0.7141, -1.0644, -0.3638, 0.3088),
    ("REML", -0.7145, -1.0669, -0.3622, 0.3132),
])
def test_bcg_trials_as_metafor_prints_them(method, effect, low, high, tau2):
    pooled = pool_effects(*log_risk_ratios(), method=method, knapp_hartung=False)
    assert pooled.effect.value == pytest.approx(effect, abs=5e-5)
    assert pooled.effect.low == pytest.approx(low, abs=1e-4)
    assert pooled.effect.high == pytest.approx(high, abs=1e-4)
    assert pooled.q == pytest.approx(152.2330, abs=5e-5)
    if tau2 is None:
        assert pooled.tau2 is None
    else:
        assert pooled.tau2 == pytest.approx(tau2, abs=5e-5)


def test_bcg_heterogeneity_as_metafor_prints_it():
    pooled = pool_effects(*log_risk_ratios())
    # rma(): I^2 92.22 %; confint(): tau^2 0.3132, 0.1197 to 1.1115.
    assert pooled.i2 == pytest.approx(0.9222, abs=5e-5)
    assert pooled.tau2_low == pytest.approx(0.1197, abs=5e-5)
    assert pooled.tau2_high == pytest.approx(1.1115, abs=5e-5)


@pytest.mark.parametrize("method", ["common", "DL", "PM", "REML"])
def test_effect_and_both_errors_are_those_of_weighted_least_squares(method):
    # The pooled effect is the constant fitted with weights 1 / (variance + tau2). Its error with the weights taken as
    # they are is the plain one; with their scale estimated from the residuals it is Knapp & Hartung's.
    y, v = log_risk_ratios()
    plain = pool_effects(y, v, method=method, knapp_hartung=False)
    sigma = np.sqrt(v + (plain.tau2 or 0.0))
    fits = [curve_fit(lambda x, constant: np.full_like(x, constant), np.arange(13.0), y, p0=[0.0], sigma=sigma,
                      absolute_sigma=absolute, ftol=1e-15, xtol=1e-15) for absolute in (True, False)]
    value, error, widened = fits[0][0][0], *(math.sqrt(fit[1][0, 0]) for fit in fits)
    assert plain.effect.value == pytest.approx(value, rel=1e-6)
    assert plain.effect.details["standard_error"] == pytest.approx(error, rel=1e-6)
    if method != "common":
        estimated = pool_effects(y, v, method=method)
        assert estimated.effect.details["standard_error"] == pytest.approx(widened, rel=1e-6)
        # t quantile on 12 degrees of freedom, 0.975: 2.178813 (any table of Student's t).
        assert (estimated.effect.high - estimated.effect.low) / 2 == pytest.approx(2.178813 * widened, rel=1e-6)


@pytest.mark.parametrize(("method", "tau2"), [("DL", 11 / 8), ("PM", 11 / 8), ("REML", 11 / 8)])
def test_between_study_variance_of_equally_precise_studies(method, tau2):
    # With equal sampling variances v every estimator is the sample variance less v:
    # effects 0, 1, 3, 2 about 3/2 have 5/3; 5/3 - 7/24 = 33/24 = 11/8.
    assert between_study_variance(np.array([0.0, 1, 3, 2]), np.full(4, 7 / 24), method) == pytest.approx(tau2, rel=1e-9)


def test_dersimonian_laird_of_unequal_studies():
    # Effects 0, 2, 1 with variances 1, 1/2, 1/2: weights 1, 2, 2, mean 6/5, Q = 36/25 + 2 * 16/25 + 2 * 1/25 = 14/5;
    # tau2 = (14/5 - 2) / (5 - 9/5) = 1/4.
    y, v = np.array([0.0, 2, 1]), np.array([1, 0.5, 0.5])
    assert between_study_variance(y, v, "DL") == pytest.approx(1 / 4, rel=1e-12)


@pytest.mark.parametrize("method", ["DL", "PM", "REML"])
def test_effects_far_from_zero_keep_the_digits_of_their_spread(method):
    y, v = log_risk_ratios()
    near, far = pool_effects(y, v, method=method), pool_effects(y + 2.0**20, v, method=method)
    assert far.tau2 == pytest.approx(near.tau2, rel=1e-6)
    assert far.q == pytest.approx(near.q, rel=1e-6)
    assert far.effect.details["standard_error"] == pytest.approx(near.effect.details["standard_error"], rel=1e-6)


def test_equal_studies_have_no_heterogeneity():
    pooled = pool_effects([0.2, 0.2, 0.2], [0.1, 0.1, 0.1], method="DL", knapp_hartung=False)
    # Three equal effects with variance 0.1: mean 0.2, standard error sqrt(0.1 / 3).
    assert pooled.tau2 == 0.0
    assert pooled.i2 == 0.0
    assert pooled.effect.high == pytest.approx(0.2 + 1.959963984540054 * math.sqrt(0.1 / 3))


def test_degenerate_input_has_a_stated_answer():
    assert pool_effects([], []).effect.value is None
    alone = pool_effects([0.5], [0.04])
    assert alone.effect.value == 0.5
    assert alone.effect.low == pytest.approx(0.5 - 1.959963984540054 * 0.2)
    assert alone.tau2 is None
    assert "one study" in alone.effect.reason


@pytest.mark.parametrize(("effects", "variances", "error", "words"), [
    ([1, 2], [0.1], DataError, "2"),
    ([1, 2], [0.1, 0], DataError, "row 1"),
    ([1, math.nan], [0.1, 0.1], DataError, "row 1"),
])
def test_impossible_input_is_refused(effects, variances, error, words):
    with pytest.raises(error) as caught:
        pool_effects(effects, variances)
    assert words in str(caught.value)


def test_an_unknown_method_is_refused():
    with pytest.raises(ParameterError, match="REML"):
        pool_effects([1, 2], [1, 1], method="RELM")


studies = st.lists(st.tuples(st.floats(-3, 3), st.floats(0.01, 2)), min_size=2, max_size=12)


@given(studies, st.sampled_from(["common", "DL", "PM", "REML"]), st.randoms(use_true_random=False))
def test_order_of_studies_does_not_matter_and_the_mean_lies_among_them(rows, method, random):
    effects, variances = zip(*rows, strict=True)
    pooled = pool_effects(effects, variances, method=method)
    shuffled = list(rows)
    random.shuffle(shuffled)
    again = pool_effects(*zip(*shuffled, strict=True), method=method)
    assert again.effect.value == pytest.approx(pooled.effect.value, rel=1e-6, abs=1e-9)
    assert min(effects) - 1e-9 <= pooled.effect.value <= max(effects) + 1e-9
    assert pooled.tau2 is None or pooled.tau2 >= 0


def test_restricted_likelihood_is_at_its_maximum_also_for_variances_of_very_different_size():
    # The maximum is looked for here on a fine grid of its own, not by scoring.
    rng = np.random.default_rng(11)
    for _ in range(400):
        k = int(rng.integers(2, 12))
        v = 10 ** rng.uniform(-4, 0, k)
        y = rng.normal(0, np.sqrt(v + rng.choice([0.0, 0.02, 0.5])))
        found = pooling.between_study_variance(y, v, "REML")
        at = pooling._restricted_likelihood(y, v, found)
        grid = np.concatenate([[0.0], np.geomspace(max(found, 1e-6) / 1.3, max(found, 1e-6) * 1.3, 200)])
        near = grid[1:] if found > 0 else grid
        assert max(pooling._restricted_likelihood(y, v, value) for value in near) <= at + 1e-9
