"""Screening: what a screener that learned from other reviews' decisions saves, and a model that screens beside it."""

from litsynth.experiments.screening.figures import (
    calibration,
    errors_by_criterion,
    paired_differences,
    recall_by_workload,
)
from litsynth.experiments.screening.models import model_tables, screen_by_model
from litsynth.experiments.screening.screening import Bench, identities, screen
from litsynth.experiments.screening.tables import (
    calibration_tables,
    criteria_table,
    differences,
    measure_table,
    operating_table,
    summarise,
    weight_table,
)
from litsynth.experiments.screening.words import calibration_reading, operating_reading, reading_table, verdict

__all__ = [
    "Bench", "calibration", "calibration_reading", "calibration_tables", "criteria_table", "differences",
    "errors_by_criterion", "identities", "measure_table", "model_tables", "operating_reading", "operating_table",
    "paired_differences", "reading_table", "recall_by_workload", "screen", "screen_by_model", "summarise", "verdict",
    "weight_table",
]
