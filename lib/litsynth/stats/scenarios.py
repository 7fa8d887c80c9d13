"""Data sets with known truth, on which the intervals of this room are tried out.

Every scenario draws data as a benchmark run would give them and says what the true value is: the mean over new papers
and new questions of the same kind, not over those that happened to be drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from litsynth.records import Estimate
from litsynth.stats.agreement import cohen_kappa
from litsynth.stats.bootstrap import cluster_bootstrap, mean_bootstrap, paired_bootstrap, ratio_difference_bootstrap
from litsynth.stats.clusters import cluster_interval
from litsynth.stats.correction import prediction_powered_mean, rogan_gladen
from litsynth.stats.pairs import pair_bootstrap, pair_bootstrap_difference, pair_interval
from litsynth.stats.proportions import difference_of_proportions, wilson_interval

RESAMPLES = 1_000  # enough here: what the percentiles of 1,000 resamples add to an interval's error is below 0.2 points

Interval = Callable[[Any, int], Estimate]


@dataclass(frozen=True)
class Scenario:
    """One kind of data with its true value and the intervals to try.

    `draw` makes a data set from a generator; `intervals` maps a role and a method's name to a function of the data
    and a seed. Roles: `benchmark` (the published definition), `robust` (what stands beside it), `ours` (where the
    benchmark defines none) and `naive`.
    """

    name: str
    title: str
    truth: float
    draw: Callable[[np.random.Generator], Any]
    intervals: Mapping[tuple[str, str], Interval]


def scenarios() -> list[Scenario]:
    """Return all scenarios, in the order of the coverage page.

    A scenario's place decides its random stream, so new ones go to the end.
    """
    return [
        _clustered("clustered-moderate", "2,188 questions in 835 papers, moderate clustering", _sizes(835, 2188), 0.9),
        _clustered("clustered-strong", "2,188 questions in 835 papers, strong clustering", _sizes(835, 2188), 2.5),
        _clustered("clustered-30", "90 questions in 30 papers", _sizes(30, 90), 1.5),
        _clustered("clustered-12", "48 questions in 12 papers", _sizes(12, 48), 1.5),
        _paired(),
        _refusal(),
        _pairs("pairs-independent", "170 pairs of 95 papers with hubs, papers do not matter", -0.7, 0.0),
        _pairs("pairs-moderate", "170 pairs of 95 papers with hubs, papers matter", -0.7, 0.6),
        _pairs("pairs-strong", "170 pairs of 95 papers with hubs, papers matter much", -0.7, 1.5),
        _pairs("pairs-rare", "170 pairs of 95 papers with hubs, few correct", -2.6, 1.0),
        _pair_difference(),
        _macro_mean(),
        _wilson("wilson-18", "18 trials at 5 %", 18, 0.05),
        _wilson("wilson-50", "50 trials at 2 %", 50, 0.02),
        _wilson("wilson-605", "605 trials at 94.9 %", 605, 0.949),
        _kappa("kappa-154", "154 items, margins of the published table", 154),
        _kappa("kappa-40", "40 items, margins of the published table", 40),
        _correction("rogan-gladen", "judge errors, Rogan-Gladen, 154 of 2,188 cells rated by a human"),
        _correction("prediction-powered", "judge errors, prediction-powered, 154 of 2,188 cells rated by a human"),
        _few_reviews("mean-reviews-3", 3),
        _few_reviews("mean-reviews-8", 8),
        _few_reviews("mean-reviews-10", 10),
        _few_reviews_difference("difference-reviews-10", 10),
    ]


def expected_share(location: float, spread: float) -> float:
    """Return the mean of 1 / (1 + exp(−x)) over a normal x, by Gauss–Hermite quadrature with 120 nodes."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    return float(weights @ _logistic(location + spread * nodes) / weights.sum())


def student_interval(values: np.ndarray) -> Estimate:
    """Return the mean of two or more `values` with Student's 95 % interval, not cut off at the ends of the scale.

    Here only to be compared: the experiments show the percentile bootstrap.
    """
    from scipy.stats import t

    n = len(values)
    mean, half = values.mean(), t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)
    return Estimate(float(mean), float(mean - half), float(mean + half), n, n)


def hub_pairs() -> list[tuple[int, int]]:
    """Return 170 pairs of 95 papers shaped like the published bank: 164 hang together through hubs, 6 stand alone."""
    rng = np.random.default_rng(1)
    appeal = 1 / np.arange(1, 84) ** 0.8
    edges = {(int(rng.choice(paper, p=appeal[:paper] / appeal[:paper].sum())), paper) for paper in range(1, 83)}
    while len(edges) < 164:
        first, second = sorted(rng.choice(83, 2, replace=False, p=appeal / appeal.sum()).tolist())
        edges.add((first, second))
    return sorted(edges) + [(83 + 2 * i, 84 + 2 * i) for i in range(6)]


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _credits(rng: np.random.Generator, location: np.ndarray) -> np.ndarray:
    return (rng.random(location.shape) < _logistic(location)).astype(np.float64)


def _sizes(clusters: int, questions: int) -> np.ndarray:
    """Return cluster sizes of at least 1 that are as unequal as a bank's and add up to `questions`."""
    rng = np.random.default_rng(clusters)
    extra = rng.multinomial(questions - clusters, rng.dirichlet(np.full(clusters, 1.5)))
    return 1 + extra


def _clustered(name: str, title: str, sizes: np.ndarray, spread: float) -> Scenario:
    papers = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: np.random.Generator) -> np.ndarray:
        return _credits(rng, 0.9 + rng.normal(0, spread, len(sizes))[papers])

    return Scenario(name, title, expected_share(0.9, spread), draw, {
        ("benchmark", "bootstrap over papers"):
            lambda values, seed: cluster_bootstrap(values, papers, seed=seed, resamples=RESAMPLES),
        ("robust", "Wilson on the effective size"): lambda values, _: cluster_interval(values, papers),
        ("naive", "bootstrap over questions"):
            lambda values, seed: mean_bootstrap(values, seed=seed, resamples=RESAMPLES),
    })


def _paired() -> Scenario:
    sizes = _sizes(835, 2188)
    papers = np.repeat(np.arange(len(sizes)), sizes)
    own, shared, question = 0.8, 1.2, 1.0  # spreads: a system's luck with a paper, the paper's, the question's

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        common = rng.normal(0, shared, len(sizes))[papers] + rng.normal(0, question, len(papers))
        a, b = (_credits(rng, mean + common + rng.normal(0, own, len(sizes))[papers]) for mean in (1.0, 0.6))
        return a, b

    total = float(np.sqrt(own**2 + shared**2 + question**2))
    truth = expected_share(1.0, total) - expected_share(0.6, total)
    return Scenario("paired-clustered", "two systems on 2,188 questions in 835 papers, difference", truth, draw, {
        ("robust", "paired bootstrap over papers"):
            lambda data, seed: paired_bootstrap(*data, clusters=papers, seed=seed, resamples=RESAMPLES),
        ("benchmark", "paired bootstrap over questions"):
            lambda data, seed: paired_bootstrap(*data, seed=seed, resamples=RESAMPLES),
        ("naive", "independent proportions"): lambda data, _: difference_of_proportions(
            int(data[0].sum()), len(data[0]), int(data[1].sum()), len(data[1])),
    })


def _refusal() -> Scenario:
    sizes = _sizes(230, 605)
    papers = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        caution = rng.normal(0, 1.2, len(sizes))[papers]
        correct, over = _credits(rng, 2.2 + caution), _credits(rng, -1.8 + caution)
        ran, control_ran = (rng.random((2, len(papers))) < 0.95).astype(np.float64)
        return correct * ran, ran, over * control_ran, control_ran

    truth = expected_share(2.2, 1.2) - expected_share(-1.8, 1.2)
    return Scenario("refusal-difference", "605 refusals less controls, 230 papers, lost cells", truth, draw, {
        ("ours", "difference of pooled shares over papers"):
            lambda data, seed: ratio_difference_bootstrap(*data, papers, seed=seed, resamples=RESAMPLES),
        ("naive", "independent proportions"):
            lambda data, _: difference_of_proportions(*(int(column.sum()) for column in data)),
    })


def _pairs(name: str, title: str, location: float, spread: float) -> Scenario:
    pairs = hub_pairs()
    first, second = np.array(pairs).T

    def draw(rng: np.random.Generator) -> np.ndarray:
        luck = rng.normal(0, spread, 95)
        return _credits(rng, location + luck[first] + luck[second])

    return Scenario(name, title, expected_share(location, spread * np.sqrt(2)), draw, {
        ("robust", "variance components"): lambda values, _: pair_interval(values, pairs),
        ("benchmark", "bootstrap over papers, summed counts"):
            lambda values, seed: pair_bootstrap(values, pairs, seed=seed, resamples=RESAMPLES),
        ("naive", "bootstrap over questions"):
            lambda values, seed: mean_bootstrap(values, seed=seed, resamples=RESAMPLES),
    })


def _pair_difference() -> Scenario:
    pairs = hub_pairs()
    first, second = np.array(pairs).T

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        common, own_a, own_b = rng.normal(0, 1, (3, 95)) * np.array([[1.0], [0.6], [0.6]])
        a, b = (_credits(rng, mean + (common + own)[first] + (common + own)[second])
                for mean, own in ((-0.5, own_a), (-1.6, own_b)))
        return a, b

    spread = float(np.sqrt(2 * (1.0 + 0.36)))
    truth = expected_share(-0.5, spread) - expected_share(-1.6, spread)
    return Scenario("pairs-difference", "two systems on 170 pairs of 95 papers with hubs, difference", truth, draw, {
        ("robust", "variance components"): lambda data, _: pair_interval(data[0] - data[1], pairs, credits=False),
        ("benchmark", "paired bootstrap over papers, summed counts"):
            lambda data, seed: pair_bootstrap_difference(*data, pairs, seed=seed, resamples=RESAMPLES),
        ("naive", "paired bootstrap over questions"):
            lambda data, seed: paired_bootstrap(*data, seed=seed, resamples=RESAMPLES),
    })


def _macro_mean() -> Scenario:
    """86 reviews: a tenth find nothing, the others a skewed share with mean 0.5 / 2.0."""
    def draw(rng: np.random.Generator) -> np.ndarray:
        return rng.beta(0.5, 1.5, 86) * (rng.random(86) > 0.1)

    return Scenario("macro-mean", "mean of skewed shares over 86 reviews", 0.9 * 0.25, draw, {
        ("ours", "bootstrap over reviews"):
            lambda values, seed: mean_bootstrap(values, seed=seed, resamples=RESAMPLES),
        ("naive", "Student's t"): lambda values, _: student_interval(values),
    })


def _few_reviews(name: str, reviews: int) -> Scenario:
    """Shares of a Beta(0.8, 2.2): mean 0.27, standard deviation 0.22, skewness 0.8, like recall at some 100 papers."""
    return Scenario(name, f"mean of skewed shares over {reviews} reviews", 0.8 / 3.0,
                    lambda rng: rng.beta(0.8, 2.2, reviews), {
        ("ours", "bootstrap over reviews"):
            lambda values, seed: mean_bootstrap(values, seed=seed, resamples=RESAMPLES),
        ("naive", "Student's t"): lambda values, _: student_interval(values),
    })


def _few_reviews_difference(name: str, reviews: int) -> Scenario:
    """Two systems' shares, skewed, that have the difficulty of a review in common."""
    shared, own = 1.2, 0.6  # spreads: the review's difficulty, a system's luck with it

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        common = rng.normal(0, shared, reviews)
        a, b = (_logistic(mean + common + rng.normal(0, own, reviews)) for mean in (-0.8, -1.3))
        return a, b

    total = float(np.hypot(shared, own))
    truth = expected_share(-0.8, total) - expected_share(-1.3, total)
    return Scenario(name, f"two systems' skewed shares over {reviews} reviews, difference", truth, draw, {
        ("ours", "paired bootstrap over reviews"):
            lambda data, seed: paired_bootstrap(*data, seed=seed, resamples=RESAMPLES),
        ("naive", "Student's t of the differences"): lambda data, _: student_interval(data[0] - data[1]),
    })


def _wilson(name: str, title: str, n: int, share: float) -> Scenario:
    def wald(successes: int, _: int) -> Estimate:
        value = successes / n
        half = 1.959964 * np.sqrt(value * (1 - value) / n)
        return Estimate(value, value - half, value + half, n, n)

    return Scenario(name, title, share, lambda rng: int(rng.binomial(n, share)), {
        ("ours", "Wilson"): lambda successes, _: wilson_interval(successes, n),
        ("naive", "normal approximation"): wald,
    })


def _kappa(name: str, title: str, n: int) -> Scenario:
    cells = np.array([81, 12, 5, 56]) / 154
    expected = (cells[0] + cells[1]) * (cells[0] + cells[2]) + (cells[2] + cells[3]) * (cells[1] + cells[3])
    truth = float((cells[0] + cells[3] - expected) / (1 - expected))

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        counts = rng.multinomial(n, cells)
        return np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts)

    return Scenario(name, title, truth, draw, {("ours", "Fleiss-Cohen-Everitt"): lambda data, _: cohen_kappa(*data)})


def _correction(name: str, title: str) -> Scenario:
    """2,188 cells, 55 % truly correct, sensitivity 81/86 and specificity 56/68 as in the published concordance."""
    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.random(2188) < 0.55
        return np.where(truth, rng.random(2188) < 81 / 86, rng.random(2188) < 12 / 68), truth

    def gladen(data: tuple[np.ndarray, np.ndarray], _: int) -> Estimate:
        panel, human = data[0][:154], data[1][:154]
        return rogan_gladen(
            int(data[0].sum()), 2188, true_positives=int((panel & human).sum()), human_positives=int(human.sum()),
            true_negatives=int((~panel & ~human).sum()), human_negatives=int((~human).sum()))

    def powered(data: tuple[np.ndarray, np.ndarray], _: int) -> Estimate:
        return prediction_powered_mean(data[0][154:], data[0][:154], data[1][:154])

    return Scenario(name, title, 0.55, draw, {
        ("ours", "Rogan-Gladen, Lang-Reiczigel") if name == "rogan-gladen" else ("ours", "prediction-powered, tuned"):
            gladen if name == "rogan-gladen" else powered,
        ("naive", "panel's rate taken as the truth, Wilson"):
            lambda data, _: wilson_interval(int(data[0].sum()), 2188),
    })
