"""Pooling of study effects, against metafor's published output and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects

from litsynth.errors import DataError, ParameterError
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


@pytest.mark.parametrize(("ours", "theirs"), [("DL", "chi2"), ("PM", "iterated")])
def test_between_study_variance_equals_statsmodels(ours, theirs):
    y, v = log_risk_ratios()
    peer = combine_effects(y, v, method_re=theirs, atol=1e-12)
    assert between_study_variance(y, v, ours) == pytest.approx(peer.tau2, rel=1e-6)
    pooled = pool_effects(y, v, method=ours, knapp_hartung=False)
    assert pooled.effect.value == pytest.approx(peer.mean_effect_re, rel=1e-6)
    assert pooled.effect.details["standard_error"] == pytest.approx(peer.sd_eff_w_re, rel=1e-6)
    widened = pool_effects(y, v, method=ours)
    assert widened.effect.details["standard_error"] == pytest.approx(peer.sd_eff_w_re_hksj, rel=1e-6)
    # t quantile on 12 degrees of freedom, 0.975: 2.178813 (any table of Student's t).
    half = (widened.effect.high - widened.effect.low) / 2
    assert half == pytest.approx(2.178813 * peer.sd_eff_w_re_hksj, rel=1e-6)


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
