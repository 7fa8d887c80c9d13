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
        "data": frame["title"], "interval": frame["role"], "method": frame["method"],
        "coverage %": (100 * frame["coverage"]).round(1), "± %": (100 * frame["monte_carlo_error"]).round(1),
        "truth above %": (100 * frame["too_low"]).round(1), "truth below %": (100 * frame["too_high"]).round(1),
        "mean width": frame["mean_width"].round(3), "truth": frame["truth"].round(3),
        # Rounded, so that 930 of 1,000 is in the band however the share was computed.
        "holds": frame["coverage"].round(9).between(LOWEST, HIGHEST).map({True: "yes", False: "no"}),
    })


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
