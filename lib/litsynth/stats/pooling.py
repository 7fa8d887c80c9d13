"""Pooling of study effects: a common effect, or random effects with between-study variance and heterogeneity.

Stated answers for degenerate input: no study gives no value; one study gives its own effect and interval, and no
between-study variance (None); a variance that is not above 0 is a `DataError` naming the row.

The pooled effect, its standard errors and DerSimonian & Laird's variance are those of statsmodels. Ours remain where it
has no public estimator (restricted maximum likelihood, Q-profile, prediction interval), for Paule & Mandel, whose
iteration there may stop unconverged without a word, and for Cochran's Q, which it takes as a difference of squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from litsynth.errors import DataError, unknown_name
from litsynth.records import Estimate
from litsynth.stats.inputs import check_confidence, clean_values, same_length

Method = Literal["common", "DL", "PM", "REML"]
METHODS = ("common", "DL", "PM", "REML")
_PRECISE, _MOST_STEPS = 1e-12, 500


@dataclass(frozen=True, slots=True)
class Pooled:
    """A pooled effect with what is known of heterogeneity.

    `effect` is on the scale of the input (log ratios stay logs). `tau2` is the between-study variance, with its
    Q-profile interval `tau2_low` to `tau2_high`; `i2` in [0, 1] is the share of total variation that it makes up; `q`
    is Cochran's Q on `studies` − 1 degrees of freedom, `q_p` its p value. `prediction_low` and `prediction_high` bound
    the effect of a new study. None where undefined.
    """

    effect: Estimate
    tau2: float | None
    tau2_low: float | None
    tau2_high: float | None
    i2: float | None
    q: float | None
    q_p: float | None
    prediction_low: float | None
    prediction_high: float | None
    studies: int


def pool_effects(
    effects: Iterable[Any],
    variances: Iterable[Any],
    *,
    method: Method = "REML",
    knapp_hartung: bool = True,
    confidence: float = 0.95,
) -> Pooled:
    """Pool study effects by inverse variance.

    `effects` and their sampling `variances` have shape (k,). `method`: `common` (one true effect), or random effects
    with the between-study variance of DerSimonian & Laird (1986, `DL`), Paule & Mandel (1982, `PM`) or restricted
    maximum likelihood (Viechtbauer 2005, `REML`, the least biased). `knapp_hartung` allows for that variance being
    estimated (Hartung & Knapp 2001, t quantiles; the factor may be below 1, as in metafor and statsmodels).
    Raises `DataError` for unequal lengths or a variance not above 0.
    """
    y, v = clean_values(effects, "effects"), clean_values(variances, "variances")
    same_length(effects=y, variances=v)
    check_confidence(confidence)
    if method not in METHODS:
        raise unknown_name("pooling method", method, METHODS)
    bad = np.flatnonzero(v <= 0)
    if len(bad):
        row = int(bad[0])
        raise DataError(f"row {row} (counted from 0): the variance is {v[row]:g}", expected="a variance above 0",
                        remedy="leave studies without a standard error out, and say how many")
    k = len(y)
    name = f"inverse variance, {method}" + (", Knapp-Hartung" if knapp_hartung and method != "common" and k > 1 else "")
    if k == 0:
        none = Estimate(None, None, None, 0, 0, name, confidence, "there is nothing to estimate: no studies")
        return Pooled(none, None, None, None, None, None, None, None, None, 0)
    if k == 1:
        low, high = _bounds(float(y[0]), math.sqrt(v[0]), _normal(confidence))
        alone = Estimate(float(y[0]), low, high, 1, 1, name, confidence, "one study: nothing is pooled")
        return Pooled(alone, None, None, None, None, None, None, None, None, 1)
    tau2 = 0.0 if method == "common" else between_study_variance(y, v, method)
    return _pooled(y, v, tau2, method, knapp_hartung and method != "common", confidence, name)


def _pooled(y: np.ndarray, v: np.ndarray, tau2: float, method: str, knapp_hartung: bool, confidence: float,
            name: str) -> Pooled:
    from scipy.stats import chi2, t

    k = len(y)
    # With the between-study variance in each study's own, the pooling of a common effect is that of random effects.
    pooled = _combined(y, v + tau2)
    mean = float(pooled.mean_effect_fe)
    error = float(pooled.sd_eff_w_fe_hksj if knapp_hartung else pooled.sd_eff_w_fe)
    quantile = float(t.ppf((1 + confidence) / 2, k - 1)) if knapp_hartung else _normal(confidence)
    low, high = _bounds(mean, error, quantile)
    q = generalised_q(y, v, 0.0)
    effect = Estimate(mean, low, high, k, k, name, confidence, "", {"standard_error": error})
    if method == "common":
        return Pooled(effect, None, None, None, max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0, q,
                      float(chi2.sf(q, k - 1)), None, None, k)
    typical = _typical_variance(v)
    tau_low, tau_high = q_profile(y, v, confidence)
    prediction: tuple[float | None, float | None] = (None, None)
    if k > 2:  # Higgins, Thompson & Spiegelhalter (2009): t on k - 2 degrees of freedom
        spread = float(t.ppf((1 + confidence) / 2, k - 2)) * math.sqrt(tau2 + error**2)
        prediction = (mean - spread, mean + spread)
    return Pooled(effect, tau2, tau_low, tau_high, tau2 / (tau2 + typical), q, float(chi2.sf(q, k - 1)), *prediction, k)


def _combined(y: np.ndarray, variances: np.ndarray) -> Any:
    """Return statsmodels' combination of effects, whose own random effects are not defined at a variance below 0."""
    from statsmodels.stats.meta_analysis import combine_effects

    with np.errstate(divide="ignore", invalid="ignore"):
        return combine_effects(y, variances, method_re="dl")


def _normal(confidence: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf((1 + confidence) / 2))


def _bounds(value: float, error: float, quantile: float) -> tuple[float, float]:
    return value - quantile * error, value + quantile * error


def _typical_variance(v: np.ndarray) -> float:
    """Return Higgins & Thompson's (2002) typical sampling variance, their equation 9."""
    w = 1.0 / v
    return float((len(v) - 1) * np.sum(w) / (np.sum(w) ** 2 - np.sum(w**2)))


def generalised_q(y: np.ndarray, v: np.ndarray, tau2: float) -> float:
    """Return the weighted sum of squares about the weighted mean, with weights 1 / (variance + `tau2`)."""
    weights = 1.0 / (v + tau2)
    mean = np.sum(weights * y) / np.sum(weights)
    return float(np.sum(weights * (y - mean) ** 2))


def between_study_variance(y: np.ndarray, v: np.ndarray, method: str) -> float:
    """Return the between-study variance, 0 or more; `y` and `v` have shape (k,), k at least 2."""
    return {"DL": _dersimonian_laird, "PM": _paule_mandel, "REML": _reml}[method](y, v)


def _dersimonian_laird(y: np.ndarray, v: np.ndarray) -> float:
    # Around their mean, so that effects far from 0 lose no digits in statsmodels' difference of squares.
    return max(0.0, float(_combined(y - np.average(y, weights=1.0 / v), v).tau2))


def _solve_q(y: np.ndarray, v: np.ndarray, target: float) -> float:
    """Return the variance at which the generalised Q, which falls with it, equals `target`; 0 when it starts below."""
    from scipy.optimize import brentq

    if generalised_q(y, v, 0.0) <= target:
        return 0.0
    high = max(float(np.var(y)), float(v.max()))
    while generalised_q(y, v, high) > target:
        high *= 2.0
    return float(brentq(lambda tau2: generalised_q(y, v, tau2) - target, 0.0, high, xtol=_PRECISE, rtol=1e-14))


def _paule_mandel(y: np.ndarray, v: np.ndarray) -> float:
    return _solve_q(y, v, len(y) - 1)


def _reml(y: np.ndarray, v: np.ndarray) -> float:
    """Maximise the restricted likelihood by Fisher scoring (Viechtbauer 2005), started at DerSimonian & Laird.

    A step that would lower the likelihood is halved until it does not: with variances of very different size whole
    steps can go to and fro over the maximum for ever.
    """
    tau2 = _dersimonian_laird(y, v)
    for _ in range(_MOST_STEPS):
        w = 1.0 / (v + tau2)
        total = np.sum(w)
        mean = np.sum(w * y) / total
        information = np.sum(w**2) - 2 * np.sum(w**3) / total + (np.sum(w**2) / total) ** 2
        score = np.sum(w**2 * (y - mean) ** 2) - np.sum(w) + np.sum(w**2) / total
        step, near = float(score / information), _PRECISE * max(1.0, tau2)
        here = _restricted_likelihood(y, v, tau2)
        while abs(step) > near and _restricted_likelihood(y, v, max(0.0, tau2 + step)) < here:
            step /= 2
        new = max(0.0, tau2 + step)
        if abs(new - tau2) <= near:
            return new
        tau2 = new
    raise DataError("the restricted likelihood has no maximum that scoring reaches",
                    expected="effects on a common scale", remedy="use method PM, which always has a solution")


def _restricted_likelihood(y: np.ndarray, v: np.ndarray, tau2: float) -> float:
    """Return the logarithm of the restricted likelihood, without its constant (Viechtbauer 2005, equation 8)."""
    total = v + tau2
    return -0.5 * float(np.sum(np.log(total)) + np.log(np.sum(1.0 / total)) + generalised_q(y, v, tau2))


def q_profile(y: np.ndarray, v: np.ndarray, confidence: float) -> tuple[float, float]:
    """Return the Q-profile interval of the between-study variance (Viechtbauer 2007), bounds 0 or more."""
    from scipy.stats import chi2

    tail, freedom = (1 - confidence) / 2, len(y) - 1
    return (_solve_q(y, v, float(chi2.ppf(1 - tail, freedom))), _solve_q(y, v, float(chi2.ppf(tail, freedom))))
