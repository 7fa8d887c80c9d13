"""Effects from abstracts: checked against the text, turned into variances, pooled by measure."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.systems.effects import StudyEffect, pool_by_measure, printed_numbers, study_effect


def test_a_ratio_becomes_a_logarithm_with_its_variance():
    # Cochrane Handbook 6.3.2: SE of a log ratio = (ln upper - ln lower) / 3.92 for a 95 % interval.
    effect = study_effect(1, "RR", 0.5, 0.25, 1.0, "RR 0.50 (95% CI 0.25 to 1.00)")
    assert effect.problem == ""
    assert effect.effect == pytest.approx(math.log(0.5))
    assert math.sqrt(effect.variance) == pytest.approx(math.log(4) / 3.92, rel=1e-4)


def test_a_difference_stays_as_it_is():
    # Handbook 6.5.2.2: SE = (upper - lower) / 3.92.
    effect = study_effect(1, "MD", -2.0, -3.0, -1.0, "mean difference −2.0 (−3.0 to −1.0)")
    assert effect.effect == -2.0
    assert math.sqrt(effect.variance) == pytest.approx(2 / 3.92, rel=1e-4)


@pytest.mark.parametrize(("measure", "numbers", "text", "problem"), [
    ("none", (None, None, None), "", "no measure"),
    ("RR", (0.5, None, 0.9), "0.5 0.9", "not reported"),
    ("RR", (0.5, 0.4, 0.6), "RR 0.5 (0.4 to 0.7)", "0.6 is not printed"),
    ("RR", (0.9, 0.4, 0.6), "0.9 0.4 0.6", "does not hold the value"),
    ("RR", (0.5, 0.6, 0.4), "0.5 0.6 0.4", "does not hold the value"),
    ("OR", (0.5, 0.0, 0.9), "0.5 0.0 0.9", "above 0"),
    ("RR", (0.59, 0.4, 0.6), "0.59 0.4 0.6", "middle"),
    ("MD", (float("inf"), 1.0, 2.0), "", "not finite"),
])
def test_what_cannot_be_pooled_says_why(measure, numbers, text, problem):
    effect = study_effect(1, measure, *numbers, text)
    assert problem in effect.problem
    assert effect.effect is None
    assert effect.variance is None


def test_numbers_are_found_however_they_are_typeset():
    assert {0.47, 0.3, 0.72} <= printed_numbers("RR 0·47 (95% CI 0∙30–0.72)")
    assert 0.41 in printed_numbers("ratio 0,41 (P=.02)")
    assert 0.02 in printed_numbers("P=.02")
    assert 1.2 in printed_numbers("１.２")


def test_measures_are_never_mixed_and_one_study_is_not_pooled():
    effects = [study_effect(i, "RR", 0.5, 0.25, 1.0, "0.5 0.25 1.0") for i in (1, 2)]
    effects += [study_effect(3, "OR", 0.5, 0.25, 1.0, "0.5 0.25 1.0"), StudyEffect(4, "RR", 1, 1, 1, problem="x")]
    pooled = pool_by_measure(effects)
    assert [(p.measure, p.pooled.studies) for p in pooled] == [("RR", 2)]
    assert pooled[0].value == pytest.approx(0.5)
    assert pool_by_measure([]) == []


def test_the_bcg_trials_come_out_as_metafor_prints_them():
    # metafor's dat.bcg, REML: log risk ratio -0.7145, tau^2 0.3132, I^2 92.22 % (Viechtbauer 2010, J Stat Softw 36(3)).
    counts = [(4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761),
              (180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232),
              (17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825)]
    effects = []
    for i, (a, b, c, d) in enumerate(counts):
        variance = 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
        log = math.log(a / (a + b)) - math.log(c / (c + d))
        effects.append(StudyEffect(i, "RR", None, None, None, log, variance))
    pooled = pool_by_measure(effects)[0]
    assert math.log(pooled.value) == pytest.approx(-0.7145, abs=5e-5)
    assert pooled.pooled.tau2 == pytest.approx(0.3132, abs=5e-5)
    assert pooled.pooled.i2 == pytest.approx(0.9222, abs=5e-5)


@settings(deadline=None)
@given(st.floats(0.05, 20), st.floats(1.05, 8))
def test_any_interval_about_its_ratio_gives_back_its_width(value, factor):
    low, high = value / factor, value * factor
    effect = study_effect(1, "HR", value, low, high, f"{value!r} {low!r} {high!r}")
    if not effect.problem:  # exponents such as 1e-05 are not how papers print numbers
        assert math.sqrt(effect.variance) * 2 * 1.959964 == pytest.approx(2 * math.log(factor), rel=1e-5)
