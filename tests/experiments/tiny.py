"""A tiny experiment for tests of the runner: sums of squares, slow and breakable on request."""

from __future__ import annotations

import os
import time
from pathlib import Path

from pydantic import Field

from litsynth.experiments import EXPERIMENTS, Experiment, Parameters, Run, register


class TinyParameters(Parameters):
    """Sums of squares."""

    numbers: list[int] = Field([1, 2, 3], description="Numbers to square.")
    label: str = Field("squares", description="Name of the sum.")
    exact: bool = Field(True, description="No rounding.")
    scale: float = Field(1.0, gt=0, description="Factor.")
    pause: float = Field(0.0, description="Seconds a number takes.", json_schema_extra={"decides_result": False})
    break_at: int = Field(-1, description="Number that fails.", json_schema_extra={"decides_result": False})


EXPERIMENT = Experiment("tiny", "Sum squares.", TinyParameters, tables=("squares",), module="tiny")
if "tiny" not in EXPERIMENTS:
    register(EXPERIMENT)


def identities(parameters: TinyParameters, dataset: None) -> dict[str, str]:
    """Name the model that a real experiment would use."""
    return {"encoder": os.environ.get("TINY_ENCODER", "none")}


def square(number: int, parameters: TinyParameters) -> dict[str, float]:
    """Square one number, leaving a mark for each call so that tests can count the calls."""
    time.sleep(parameters.pause)
    if number == parameters.break_at:
        raise ValueError(f"the number {number} cannot be squared today")
    marks = os.environ.get("TINY_MARKS")
    if marks:
        with Path(marks).open("a", encoding="utf-8") as handle:
            handle.write(f"{number}\n")
    return {"number": number, "square": number * number * parameters.scale}


def squares(run: Run, workers: int = 1) -> list[dict[str, float]]:
    """Square all numbers of the run and keep them as its table."""
    import pandas as pd

    work = [(f"number-{number:04d}", lambda number=number: square(number, run.parameters))
            for number in run.parameters.numbers]
    items = run.compute(work, stage="squares", workers=workers)
    run.save_table("squares", pd.DataFrame(items)[["number", "square"]])
    return items
