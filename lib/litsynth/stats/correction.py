"""Accuracy corrected for the judges' errors, from a sample that a human rated as well.

Two estimators whose intervals carry the uncertainty of the panel's rate and of the human sample: Rogan–Gladen, from the
panel's sensitivity and specificity, and the prediction-powered mean, which needs no assumption but a random sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from litsynth.errors import ParameterError
from litsynth.records import Estimate
from litsynth.stats.inputs import check_confidence, check_count, clean_values, same_length, z_value


def rogan_gladen(
    credited: int,
    n: int,
    *,
    true_positives: int,
    human_positives: int,
    true_negatives: int,
    human_negatives: int,
    design_effect: float = 1.0,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the true rate behind a panel's rate: (rate + specificity − 1) / (sensitivity + specificity − 1).

    The panel credited `credited` of `n` cells; in the human sample it credited `true_positives` of the
    `human_positives` cells that the human credited, and denied `true_negatives` of the `human_negatives`. Rogan &
    Gladen (1978); interval of Lang & Reiczigel (2014), which holds its coverage for small samples. `design_effect` is
    the variance of the panel's rate over that of independent cells (1 or more), for cells in clusters. The value is
    cut at 0 and 1 (`details["uncut"]` is not). No value where the human sample lacks a class or where the panel is no
    better than chance.
    """
    counts = [check_count(count, name) for count, name in (
        (credited, "credited"), (n, "n"), (true_positives, "true_positives"), (human_positives, "human_positives"),
        (true_negatives, "true_negatives"), (human_negatives, "human_negatives"))]
    parts = ("credited", "true_positives", "true_negatives")
    for part, whole, name in zip(counts[::2], counts[1::2], parts, strict=True):
        if part > whole:
            raise ParameterError(f"{name} is {part} of {whole}", expected="a part of its whole",
                                 remedy="check the counts")
    if design_effect < 1.0:
        raise ParameterError(f"design_effect is {design_effect!r}", expected="1 or more", remedy="leave it out")
    method = "Rogan-Gladen, Lang-Reiczigel interval"
    sample = human_positives + human_negatives
    missing = [name for name, count in zip(("panel cells", "cells the human credited", "cells the human denied"),
                                           counts[1::2], strict=True) if count == 0]
    if missing:
        reason = "there is nothing to estimate: no " + ", no ".join(missing)
        return Estimate(None, None, None, n, sample, method, check_confidence(confidence), reason)
    rate, sensitivity, specificity = (part / whole for part, whole in zip(counts[::2], counts[1::2], strict=True))
    details: dict[str, Any] = {"panel_rate": rate, "sensitivity": sensitivity, "specificity": specificity}
    if sensitivity + specificity <= 1:
        reason = "the panel is no better than chance on the human sample, so its rate says nothing"
        return Estimate(None, None, None, n, sample, method, check_confidence(confidence), reason, details)
    details["uncut"] = (rate + specificity - 1) / (sensitivity + specificity - 1)
    low, high = _lang_reiczigel(rate, n / design_effect, sensitivity, human_positives, specificity, human_negatives,
                                z_value(confidence))
    value = min(1.0, max(0.0, details["uncut"]))
    # The interval is centred on shrunken rates; near 0 and 1 the cut value may lie just outside of it.
    return Estimate(value, min(low, value), max(high, value), n, sample, method, confidence, "", details)


def _lang_reiczigel(
    rate: float, n: float, sensitivity: float, n_positive: int, specificity: float, n_negative: int, z: float
) -> tuple[float, float]:
    """Return the interval of Lang & Reiczigel (2014, Preventive Veterinary Medicine 113:13), cut at 0 and 1."""
    size, size_positive, size_negative = n + z * z, n_positive + 2, n_negative + 2
    rate = (n * rate + z * z / 2) / size
    sensitivity = (n_positive * sensitivity + 1) / size_positive
    specificity = (n_negative * specificity + 1) / size_negative
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return 0.0, 1.0
    truth = (rate + specificity - 1) / youden
    from_positive = sensitivity * (1 - sensitivity) / size_positive
    from_negative = specificity * (1 - specificity) / size_negative
    shift = 2 * z * z * (truth * from_positive - (1 - truth) * from_negative)
    variance = rate * (1 - rate) / size + truth**2 * from_positive + (1 - truth) ** 2 * from_negative
    half = z * math.sqrt(variance) / youden
    return min(1.0, max(0.0, truth + shift - half)), min(1.0, max(0.0, truth + shift + half))


def prediction_powered_mean(
    panel_all: Iterable[Any],
    panel_sample: Iterable[Any],
    human_sample: Iterable[Any],
    *,
    tuned: bool = True,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the mean of the human's ratings over all cells, using the panel's verdicts where the human rated none.

    `panel_all` holds the panel's verdicts on the cells outside the human sample, `panel_sample` and `human_sample`
    both ratings of the sampled cells in the same order; the sample is drawn at random. Value: human mean + λ (panel
    mean outside − panel mean in the sample); λ = 1 is Angelopoulos et al. (2023, Science 382:669), `tuned` takes the
    λ in [0, 1] with the least variance (Angelopoulos, Duchi & Zrnic 2023). Large-sample interval. `details`:
    `lambda`, `standard_error`, the classical estimate from the human sample alone (`classical`, `classical_interval`)
    and `panel_rate`.
    """
    outside = clean_values(panel_all, "panel_all")
    panel, human = clean_values(panel_sample, "panel_sample"), clean_values(human_sample, "human_sample")
    sample = same_length(panel_sample=panel, human_sample=human)
    z, method = z_value(confidence), "prediction-powered mean"
    n = len(outside) + sample
    if sample < 2 or len(outside) < 2:
        where = "human sample" if sample < 2 else "rest"
        return Estimate(None, None, None, n, sample, method, confidence, f"fewer than two cells in the {where}")
    weight = 1.0
    if tuned:
        spread = float(np.concatenate([outside, panel]).var(ddof=1))
        shared = float(np.cov(panel, human, ddof=1)[0, 1])
        weight = 0.0 if spread == 0 else min(1.0, max(0.0, shared / ((1 + sample / len(outside)) * spread)))
    value = math.fsum(human - weight * panel) / sample + weight * math.fsum(outside) / len(outside)
    variance = weight**2 * outside.var(ddof=1) / len(outside) + (human - weight * panel).var(ddof=1) / sample
    classical, classical_error = math.fsum(human) / sample, math.sqrt(human.var(ddof=1) / sample)
    details = {
        "lambda": weight, "classical": classical,
        "classical_interval": (classical - z * classical_error, classical + z * classical_error),
        "panel_rate": math.fsum([*outside, *panel]) / n, "standard_error": math.sqrt(variance),
    }
    if variance <= 1e-24:
        reason = "the human sample shows no variation, so there is no large-sample interval"
        return Estimate(value, None, None, n, sample, method, confidence, reason, details)
    half = z * math.sqrt(variance)
    return Estimate(value, value - half, value + half, n, sample, method, confidence, "", details)
