"""Parameterised, resumable experiments: papermill's only caller, and what a notebook opens first."""

from litsynth.experiments.parameters import EXPERIMENTS, Experiment, Parameters, register
from litsynth.experiments.store import Run, open_run

__all__ = ["EXPERIMENTS", "Experiment", "Parameters", "Run", "open_run", "register"]
