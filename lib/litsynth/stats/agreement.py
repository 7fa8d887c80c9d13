"""Agreement of two raters on the same items: raw, chance-corrected, and its direction.

Where a coefficient is undefined (both raters use one and the same label, no items) its value is None with the
reason, and `details` still holds the raw agreement.

Cohen's κ with its variance and McNemar's test are those of statsmodels. Wilson's interval is ours (see
`litsynth.stats.proportions`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from litsynth.records import Estimate
from litsynth.stats.inputs import check_confidence, clean_binary, label_codes, same_length, z_value
from litsynth.stats.proportions import paired_difference_of_proportions, wilson_bounds, wilson_interval

Labels = Iterable[Hashable]
_EMPTY = "there is nothing to estimate: no items"


def agreement_table(a: Labels, b: Labels) -> tuple[np.ndarray, list[Hashable]]:
    """Return the counts of label pairs, shape (k, k) with `a` in rows, and the labels, sorted by their text.

    Raises `DataError` that names a missing label's row or both lengths when they differ.
    """
    left, right = list(a), list(b)
    same_length(a=left, b=right)
    codes_a, names_a = label_codes(left, "a")
    codes_b, names_b = label_codes(right, "b")
    labels = sorted({*names_a, *names_b}, key=lambda label: (str(label), str(type(label))))
    position = {label: i for i, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    rows = np.array([position[name] for name in names_a], dtype=np.int64)[codes_a] if left else codes_a
    columns = np.array([position[name] for name in names_b], dtype=np.int64)[codes_b] if left else codes_b
    np.add.at(table, (rows, columns), 1)
    return table, labels


def raw_agreement(a: Labels, b: Labels, confidence: float = 0.95) -> Estimate:
    """Estimate the share of items on which two raters give the same label, with Wilson's interval."""
    table, _ = agreement_table(a, b)
    same = wilson_interval(int(np.trace(table)), int(table.sum()), confidence)
    return Estimate(same.value, same.low, same.high, same.n, same.clusters, "raw agreement, Wilson", confidence,
                    same.reason and _EMPTY)


def cohen_kappa(a: Labels, b: Labels, confidence: float = 0.95) -> Estimate:
    """Estimate Cohen's (1960) κ of two raters with the large-sample interval of Fleiss, Cohen & Everitt (1969).

    `details` holds raw agreement with its interval, expected agreement, the labels and their table. κ is undefined
    when both raters use one and the same label only. Perfect agreement has a value and no interval, because its
    standard error is 0. Bounds are cut at −1 and 1.
    """
    from statsmodels.stats.inter_rater import cohens_kappa

    table, labels = agreement_table(a, b)
    n, method = int(table.sum()), "Cohen's kappa, large-sample interval"
    check_confidence(confidence)
    if n == 0:
        return Estimate(None, None, None, 0, 0, method, confidence, _EMPTY)
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(table)) / n, float(rows @ columns)
    details = {"agreement": observed, "agreement_interval": wilson_bounds(int(np.trace(table)), n, confidence),
               "expected_agreement": expected, "labels": tuple(labels), "table": tuple(map(tuple, table.tolist()))}
    if len(labels) == 1:
        reason = f"both raters use one label only ({labels[0]!r}), so chance explains all agreement"
        return Estimate(None, None, None, n, n, method, confidence, reason, details)
    with np.errstate(divide="ignore", invalid="ignore"):  # without variation its test against 0 is undefined
        kappa = cohens_kappa(table)
    error = math.sqrt(max(0.0, float(kappa.var_kappa)))  # where the variance is 0, rounding may leave it below
    return _symmetric(float(kappa.kappa), error, z_value(confidence), n, method, confidence, details)


def _symmetric(
    value: float, error: float, quantile: float, n: int, method: str, confidence: float, details: dict[str, Any]
) -> Estimate:
    if error < 1e-6:  # a variance of 0 comes out as rounding of about 1e-16, whose root is 1e-8
        reason = "the raters agree without exception" if value > 1 - 1e-9 else "the standard error is 0"
        reason += ", so there is no large-sample interval; see the interval of the raw agreement"
        return Estimate(value, None, None, n, n, method, confidence, reason, details)
    low, high = max(-1.0, value - quantile * error), min(1.0, value + quantile * error)
    return Estimate(value, low, high, n, n, method, confidence, "", {**details, "standard_error": error})


def pabak(a: Labels, b: Labels, confidence: float = 0.95) -> Estimate:
    """Estimate the prevalence- and bias-adjusted κ of two raters: (k · agreement − 1) / (k − 1).

    After Byrt, Bishop & Carlin (1993). k counts the labels in use, at least 2 (for two labels: twice the agreement
    less one); the interval is Wilson's on the agreement, carried over.
    """
    table, labels = agreement_table(a, b)
    n, k = int(table.sum()), max(2, len(labels))
    same = wilson_interval(int(np.trace(table)), n, confidence)
    method = "prevalence- and bias-adjusted kappa, Wilson on the agreement"
    if same.value is None:
        return Estimate(None, None, None, 0, 0, method, confidence, _EMPTY)
    value, low, high = ((k * share - 1) / (k - 1) for share in (same.value, same.low, same.high))
    return Estimate(value, low, high, n, n, method, confidence, "", {"agreement": same.value, "categories": k})


def specific_agreement(a: Iterable[Any], b: Iterable[Any], confidence: float = 0.95) -> dict[str, Estimate]:
    """Estimate positive and negative agreement of two raters' zeros and ones (Cicchetti & Feinstein 1990).

    Positive agreement 2·both / (2·both + disagreements) is 2q / (1 + q) with q = both / (both + disagreements), so
    Wilson's bounds of q are carried over. Undefined when no item has that label from either rater.
    """
    first, second = clean_binary(a, "a"), clean_binary(b, "b")
    n = same_length(a=first, b=second)
    disagree = int((first != second).sum())
    result = {}
    for name, label in (("positive", 1.0), ("negative", 0.0)):
        both = int(((first == label) & (second == label)).sum())
        share = wilson_interval(both, both + disagree, confidence)
        method = f"{name} agreement, Wilson"
        if share.value is None:
            reason = _EMPTY if n == 0 else f"no item was rated {label:.0f} by either rater"
            result[name] = Estimate(None, None, None, n, n, method, confidence, reason)
            continue
        value, low, high = (2 * q / (1 + q) for q in (share.value, share.low, share.high))
        counts = {"both": both, "disagreements": disagree}
        result[name] = Estimate(value, low, high, n, n, method, confidence, "", counts)
    return result


def panel_accuracy(panel: Iterable[Any], human: Iterable[Any], confidence: float = 0.95) -> dict[str, Estimate]:
    """Estimate sensitivity, specificity and predictive values of a panel's verdicts against a human's.

    Wilson's intervals. Both are zeros and ones in the same order. A share without a denominator (the human credited
    nothing) has value None.
    """
    verdicts, truth = clean_binary(panel, "panel"), clean_binary(human, "human")
    same_length(panel=verdicts, human=truth)
    cells = {
        "sensitivity": (verdicts[truth == 1] == 1),
        "specificity": (verdicts[truth == 0] == 0),
        "positive_predictive_value": (truth[verdicts == 1] == 1),
        "negative_predictive_value": (truth[verdicts == 0] == 0),
    }
    return {name: wilson_interval(int(hits.sum()), len(hits), confidence) for name, hits in cells.items()}


def direction_of_disagreement(a: Iterable[Any], b: Iterable[Any], confidence: float = 0.95) -> Estimate:
    """Estimate how much more often `a` gives credit than `b` (paired difference), with McNemar's exact test.

    Value: share credited by `a` less share credited by `b`, Newcombe's paired interval. `details`: the four counts,
    `p_value` of the exact two-sided McNemar test (1 without disagreement) and `share_only_a`, the share of
    disagreements in which it was `a` that gave credit, with `share_only_a_interval` (Wilson; both None without
    disagreement).
    """
    from statsmodels.stats.contingency_tables import mcnemar

    difference = paired_difference_of_proportions(a, b, confidence)
    only_a, only_b = difference.details["only_a"], difference.details["only_b"]
    share = wilson_interval(only_a, only_a + only_b, confidence)
    p_value = float(mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue)
    details = {**difference.details, "p_value": p_value, "share_only_a": share.value,
               "share_only_a_interval": None if share.value is None else (share.low, share.high)}
    return Estimate(difference.value, difference.low, difference.high, difference.n, difference.clusters,
                    difference.method, confidence, difference.reason, details)
