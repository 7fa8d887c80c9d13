"""Training a retriever's encoder on a data set's own train reviews, measured before and after on its test reviews."""

from litsynth.experiments.train_retriever.figures import before_and_after, losses
from litsynth.experiments.train_retriever.searching import identities, search, train
from litsynth.experiments.train_retriever.tables import (
    change_table,
    differences,
    guard_table,
    measure_table,
    step_table,
    study_table,
    summarise,
)
from litsynth.experiments.train_retriever.words import guard_reading, reading_table, verdict, verdict_of

__all__ = [
    "before_and_after", "change_table", "differences", "guard_reading", "guard_table", "identities",
    "losses", "measure_table", "reading_table", "search", "step_table", "study_table", "summarise", "train",
    "verdict", "verdict_of",
]
