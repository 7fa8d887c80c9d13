"""Correction for judge errors: printed values, derivations, and coverage where the truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litsynth.errors import DataError, ParameterError
from litsynth.stats import prediction_powered_mean, rogan_gladen

SAMPLE = {"true_positives": 81, "human_positives": 86, "true_negatives": 56, "human_negatives": 68}


def test_rogan_gladen_is_its_formula():
    # 27 of 650 positive, sensitivity 50 %, specificity 99.5 %: (27/650 + 0.995 − 1) / 0.495.
    estimate = rogan_gladen(27, 650, true_positives=50, human_positives=100, true_negatives=199, human_negatives=200)
    assert estimate.value == pytest.approx((27 / 650 - 0.005) / 0.495)
    # Lang & Reiczigel 2014 worked by hand: rate' = 28.9207 / 653.8415, Se' = 51/102, Sp' = 200/202, Youden' 0.490099,
    # truth' 0.070050, shift 0.000972, standard error 0.022226: 0.071022 ± 1.959964 · 0.022226.
    assert (estimate.low, estimate.high) == pytest.approx((0.02746, 0.11458), abs=1e-5)


def test_perfect_judges_change_nothing():
    estimate = rogan_gladen(600, 1000, true_positives=500, human_positives=500, true_negatives=500, human_negatives=500)
    assert estimate.value == pytest.approx(0.6)
    assert estimate.low < 0.6 < estimate.high


def test_uncertainty_of_the_human_sample_widens_the_interval():
    few = rogan_gladen(1313, 2188, **SAMPLE)
    many = rogan_gladen(1313, 2188, **{name: 100 * count for name, count in SAMPLE.items()})
    clustered = rogan_gladen(1313, 2188, **SAMPLE, design_effect=3)
    assert few.high - few.low > 2 * (many.high - many.low)
    assert clustered.high - clustered.low > few.high - few.low
    assert few.value == pytest.approx(many.value)


@given(st.integers(0, 200), st.integers(0, 60), st.integers(0, 40))
def test_rogan_gladen_stays_in_range(credited, true_positives, true_negatives):
    estimate = rogan_gladen(credited, 200, true_positives=true_positives, human_positives=60,
                            true_negatives=true_negatives, human_negatives=40)
    if estimate.value is None:
        assert true_positives / 60 + true_negatives / 40 <= 1
        assert "no better than chance" in estimate.reason
    else:
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_rogan_gladen_without_a_class_or_with_bad_counts():
    estimate = rogan_gladen(5, 10, true_positives=3, human_positives=3, true_negatives=0, human_negatives=0)
    assert estimate.value is None
    assert "no cells the human denied" in estimate.reason
    with pytest.raises(ParameterError, match="true_positives is 9 of 3"):
        rogan_gladen(5, 10, true_positives=9, human_positives=3, true_negatives=1, human_negatives=2)
    with pytest.raises(ParameterError, match=r"design_effect is 0.5"):
        rogan_gladen(5, 10, **SAMPLE, design_effect=0.5)


def simulate(seed):
    """Draw a truth with 55 % credit, a panel with sensitivity 0.94 and specificity 0.82, and 154 human ratings."""
    rng = np.random.default_rng(seed)
    truth = rng.random(1154) < 0.55
    panel = np.where(truth, rng.random(1154) < 0.94, rng.random(1154) < 0.18)
    return panel[154:], panel[:154], truth[:154]


@pytest.mark.parametrize("kind", ["rogan_gladen", "tuned", "plain"])
def test_both_corrections_cover_the_truth(kind):
    # 400 data sets: the Monte Carlo error of a coverage of 95 % is 1.1 %, so 91.7 to 98.3 % is three of them.
    covered = biased = 0
    for seed in range(400):
        outside, panel, human = simulate(seed)
        if kind == "rogan_gladen":
            estimate = rogan_gladen(
                int(outside.sum()), len(outside), true_positives=int((panel & human).sum()),
                human_positives=int(human.sum()), true_negatives=int((~panel & ~human).sum()),
                human_negatives=int((~human).sum()))
        else:
            estimate = prediction_powered_mean(outside, panel, human, tuned=kind == "tuned")
        covered += estimate.low <= 0.55 <= estimate.high
        biased += abs(outside.mean() - 0.55) > 1.96 * outside.std() / np.sqrt(len(outside))
    assert 0.917 <= covered / 400 <= 0.983
    assert biased / 400 > 0.5  # the panel's own rate would have missed the truth (expected 59.8 %) most of the time


def test_prediction_powered_mean_is_its_formula():
    outside, panel, human = [1, 1, 0, 1], [1, 0, 1], [1, 0, 0]
    plain = prediction_powered_mean(outside, panel, human, tuned=False)
    # λ = 1: 1/3 + 3/4 − 2/3; variance 0.25/4 + var(0, 0, −1)/3 = 0.0625 + (1/3)/3.
    assert plain.value == pytest.approx(1 / 3 + 3 / 4 - 2 / 3)
    assert plain.details["standard_error"] ** 2 == pytest.approx(0.0625 + 1 / 9)
    assert plain.details["classical"] == pytest.approx(1 / 3)


def test_tuning_never_does_worse_than_the_human_sample_alone():
    rng = np.random.default_rng(4)
    useless = prediction_powered_mean(rng.random(500) < 0.5, rng.random(80) < 0.5, rng.random(80) < 0.6)
    low, high = useless.details["classical_interval"]
    assert 0 <= useless.details["lambda"] < 0.25
    assert useless.high - useless.low <= (high - low) * 1.01
    outside, panel, human = simulate(1)
    good = prediction_powered_mean(outside, panel, human)
    low, high = good.details["classical_interval"]
    assert good.high - good.low < 0.8 * (high - low)


def test_prediction_powered_mean_says_why_it_has_no_interval():
    assert "human sample" in prediction_powered_mean([1, 0], [1], [1]).reason
    assert "rest" in prediction_powered_mean([1], [1, 0], [1, 0]).reason
    flat = prediction_powered_mean([1, 1], [1, 1], [1, 1])
    assert (flat.value, flat.low) == (1.0, None)
    with pytest.raises(DataError, match="panel_sample has 2, human_sample has 1"):
        prediction_powered_mean([1, 0], [1, 0], [1])
    with pytest.raises(DataError, match="human_sample, row 1 "):
        prediction_powered_mean([1, 0], [1, 0], [1, None])
