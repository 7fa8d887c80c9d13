"""Effects of studies as abstracts print them: checked, put on the scale on which they are pooled, and pooled.

Ratios (RR, OR, HR) are pooled as logarithms, differences (MD, SMD, RD) as they are; the standard error comes from the
interval, as in the Cochrane Handbook 6.5.2.2 and 6.3.1. Different measures are never pooled with each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from litsynth.stats.pooling import Pooled, pool_effects
from litsynth.text import fold

RATIOS, DIFFERENCES = ("RR", "OR", "HR"), ("MD", "SMD", "RD")
MEASURES = (*RATIOS, *DIFFERENCES)
MOST_OFF_CENTRE = 0.5  # of half the interval's width; more than rounding makes, so one of the numbers is another's
_NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_MIDDLE_DOT = re.compile(r"(?<=\d)[\u00b7\u2219\u22c5](?=\d)")  # decimal points as some journals print them
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))")


@dataclass(frozen=True, slots=True)
class StudyEffect:
    """An effect as printed, and on the scale of pooling with its variance.

    `problem` says why it cannot be pooled; `effect` and `variance` are then None.
    """

    corpus_id: int
    measure: str
    value: float | None
    low: float | None
    high: float | None
    effect: float | None = None
    variance: float | None = None
    problem: str = ""


def study_effect(corpus_id: int, measure: str, value: float | None, low: float | None, high: float | None, text: str,
                 *, confidence: float = 0.95) -> StudyEffect:
    """Check an effect that was extracted from `text` and return it with its variance, or with what is wrong.

    All three numbers must be printed in `text`: what is not there was made up. They must make an interval that holds
    the value about its middle on the scale of pooling. Nothing is corrected.
    """
    made = StudyEffect(corpus_id, measure, value, low, high)
    problem = _problem(measure, (value, low, high), text)
    if problem or value is None or low is None or high is None:
        return StudyEffect(corpus_id, measure, value, low, high, problem=problem or "value or interval not reported")
    scale = math.log if measure in RATIOS else float
    effect, bottom, top = scale(value), scale(low), scale(high)
    half = (top - bottom) / 2
    if abs(effect - (top + bottom) / 2) > MOST_OFF_CENTRE * half:
        return StudyEffect(corpus_id, measure, value, low, high, problem="the value is not about the interval's middle")
    error = half / NormalDist().inv_cdf(0.5 + confidence / 2)
    return StudyEffect(made.corpus_id, measure, value, low, high, effect, error**2)


def _problem(measure: str, numbers: Sequence[float | None], text: str) -> str:
    if measure not in MEASURES:
        return "no measure of effect that can be pooled"
    if any(number is None for number in numbers):
        return "value or interval not reported"
    value, low, high = (float(number) for number in numbers if number is not None)
    if not all(map(math.isfinite, (value, low, high))):
        return "a number is not finite"
    printed = printed_numbers(text)
    missing = [number for number in (value, low, high) if abs(number) not in printed]
    if missing:
        return f"{missing[0]:g} is not printed in the article's text"
    if not low < high or not low <= value <= high:
        return "the interval does not hold the value"
    return "a ratio has to be above 0" if measure in RATIOS and low <= 0 else ""


def printed_numbers(text: str) -> frozenset[float]:
    """Return the numbers printed in a text without their signs, however decimal points and dashes are typeset."""
    plain = _DECIMAL_COMMA.sub(".", _MIDDLE_DOT.sub(".", fold(_MIDDLE_DOT.sub(".", text))))
    return frozenset(float(number) for number in _NUMBER.findall(plain))


@dataclass(frozen=True, slots=True)
class PooledMeasure:
    """The pooled effect of one measure; `value`, `low`, `high` and the prediction bounds are as printed, not logs."""

    measure: str
    pooled: Pooled
    value: float
    low: float
    high: float
    prediction_low: float | None
    prediction_high: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {"measure": self.measure, "studies": self.pooled.studies, "value": self.value, "low": self.low,
                "high": self.high, "prediction_low": self.prediction_low, "prediction_high": self.prediction_high,
                "i2": self.pooled.i2, "tau2": self.pooled.tau2, "q": self.pooled.q, "q_p": self.pooled.q_p,
                "method": self.pooled.effect.method}


def pool_by_measure(effects: Iterable[StudyEffect]) -> list[PooledMeasure]:
    """Pool the usable effects of each measure that two or more studies report, most studies first.

    Random effects with the variance by restricted maximum likelihood and the Knapp-Hartung interval (`stats.pooling`).
    """
    groups: dict[str, list[StudyEffect]] = {}
    for effect in effects:
        if not effect.problem:
            groups.setdefault(effect.measure, []).append(effect)
    order = sorted(groups, key=lambda measure: (-len(groups[measure]), MEASURES.index(measure)))
    return [_pooled(measure, groups[measure]) for measure in order if len(groups[measure]) > 1]


def _pooled(measure: str, own: Sequence[StudyEffect]) -> PooledMeasure:
    pooled = pool_effects([effect.effect for effect in own], [effect.variance for effect in own])
    back = math.exp if measure in RATIOS else float
    estimate = pooled.effect
    bounds = (pooled.prediction_low, pooled.prediction_high)
    return PooledMeasure(measure, pooled, back(estimate.value or 0.0), back(estimate.low or 0.0),
                         back(estimate.high or 0.0), *(None if bound is None else back(bound) for bound in bounds))
