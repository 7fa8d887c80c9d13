"""How often the intervals hold the truth: simulations with known truth, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litsynth.errors import unknown_name
from litsynth.files import read_json, write_json
from litsynth.paths import results_dir
from litsynth.progress import progress
from litsynth.stats.inputs import check_count
from litsynth.stats.scenarios import RESAMPLES, Scenario, scenarios

SIMULATIONS = 1_000
SEED = 20260714
LOWEST, HIGHEST = 0.93, 0.97  # the band in which a nominal 95 % interval counts as holding
FEW_REVIEWS = {
    "mean-reviews-3": "a mean over 3 reviews", "mean-reviews-8": "a mean over 8",
    "mean-reviews-10": "a mean over 10", "difference-reviews-10": "a paired difference over 10",
}


@dataclass(frozen=True)
class CoverageRow:
    """What one interval did in one scenario.

    `coverage` is the share of the intervals given that hold the truth, None if none was given; `monte_carlo_error` its
    standard error; `too_low` and `too_high` the shares that lie wholly below or above the truth; `without_interval`
    counts the data sets that gave none.
    """

    scenario: str
    title: str
    role: str
    method: str
    truth: float
    simulations: int
    without_interval: int
    coverage: float | None
    monte_carlo_error: float | None
    too_low: float | None
    too_high: float | None
    mean_width: float | None
    mean_value: float | None


def simulate_coverage(
    *, simulations: int = SIMULATIONS, seed: int = SEED, only: Sequence[str] | None = None
) -> list[CoverageRow]:
    """Draw `simulations` data sets of each scenario and count how often each interval holds the truth.

    `only` names the scenarios to run, all by default. Every scenario has a random stream of its own, so its rows do not
    depend on which others run.
    """
    simulations = check_count(simulations, "simulations", least=1)
    seed = check_count(seed, "seed")
    known = scenarios()
    for name in only or ():
        if name not in {scenario.name for scenario in known}:
            raise unknown_name("scenario", name, [scenario.name for scenario in known])
    chosen = [(number, scenario) for number, scenario in enumerate(known) if not only or scenario.name in only]
    rows: list[CoverageRow] = []
    for number, scenario in progress(chosen, total=len(chosen), stage="coverage"):
        rows.extend(_simulate(scenario, simulations, np.random.default_rng([seed, number])))
    return rows


def write_coverage(rows: Sequence[CoverageRow], folder: Path | None = None, *, seed: int = SEED) -> Path:
    """Write the rows to `coverage.json` in `folder` (the book's results by default) and return its path."""
    target = (folder or results_dir() / "coverage") / "coverage.json"
    about = {"seed": seed, "resamples": RESAMPLES, "nominal": 0.95, "band": [LOWEST, HIGHEST]}
    write_json(target, {**about, "rows": [asdict(row) for row in rows]})
    return target


def coverage_table(folder: Path | None = None) -> Any:
    """Return the written coverage table as a pandas data frame, a row for each scenario and interval, for reading."""
    import pandas as pd

    frame = pd.DataFrame(read_json((folder or results_dir() / "coverage") / "coverage.json")["rows"])
    return pd.DataFrame({
        "data": frame["title"], "interval": frame["role"],
        # Rounded, so that 930 of 1,000 is in the band however the share was computed.
        "holds": frame["coverage"].round(9).between(LOWEST, HIGHEST).map({True: "yes", False: "no"}),
        "method": frame["method"], "coverage %": (100 * frame["coverage"]).round(1),
        "standard error, points": (100 * frame["monte_carlo_error"]).round(1),
        "truth above %": (100 * frame["too_low"]).round(1), "truth below %": (100 * frame["too_high"]).round(1),
        "mean width": frame["mean_width"].round(3), "truth": frame["truth"].round(3),
    })


def few_reviews_words(folder: Path | None = None) -> str:
    """Say what the bootstrap over few reviews covers and whether Student's t comes nearer; from the written table."""
    report = read_json((folder or results_dir() / "coverage") / "coverage.json")
    shares = {(row["scenario"], row["role"]): row["coverage"] for row in report["rows"]}
    known = [(title, shares[name, "ours"], shares[name, "naive"]) for name, title in FEW_REVIEWS.items()
             if shares.get((name, "ours")) is not None and shares.get((name, "naive")) is not None]
    if not known:
        return "The intervals over few reviews have not been simulated yet; “litsynth coverage” does it."
    nominal = report["nominal"]
    drawn, student = ("; ".join(f"{100 * row[place]:.1f} % for {row[0]}" for row in known) for place in (1, 2))
    held = sum(report["band"][0] <= round(row[1], 9) <= report["band"][1] for row in known)
    closer = sum(abs(row[2] - nominal) < abs(row[1] - nominal) for row in known)
    below = sum(row[1] < nominal for row in known)
    return (f"In these simulations the percentile bootstrap over reviews, which the pages about reviews show, held the "
            f"truth in {drawn}; it holds in {held} of these {len(known)} cases and is below the promised "
            f"{100 * nominal:.0f} % in {below}, so read an interval over so few reviews with its share in mind. "
            f"Student's t contained the truth in {student}, and is closer to what is promised in {closer} of "
            f"{len(known)}.")


def _simulate(scenario: Scenario, simulations: int, rng: np.random.Generator) -> list[CoverageRow]:
    bounds: dict[tuple[str, str], list[tuple[float, float, float]]] = {key: [] for key in scenario.intervals}
    for simulation in range(simulations):
        data = scenario.draw(rng)
        for key, interval in scenario.intervals.items():
            estimate = interval(data, simulation)
            if estimate.low is not None and estimate.high is not None:
                bounds[key].append((estimate.low, estimate.high, estimate.value or 0.0))
    return [_row(scenario, role, method, simulations, bounds[role, method]) for role, method in scenario.intervals]


def _row(
    scenario: Scenario, role: str, method: str, simulations: int, bounds: list[tuple[float, float, float]]
) -> CoverageRow:
    about = (scenario.name, scenario.title, role, method, scenario.truth, simulations, simulations - len(bounds))
    if not bounds:
        return CoverageRow(*about, None, None, None, None, None, None)
    low, high, value = np.array(bounds).T
    below, above = float((high < scenario.truth).mean()), float((low > scenario.truth).mean())
    coverage = 1 - below - above
    error = math.sqrt(coverage * (1 - coverage) / len(bounds))
    return CoverageRow(*about, coverage, error, below, above, float((high - low).mean()), float(value.mean()))
