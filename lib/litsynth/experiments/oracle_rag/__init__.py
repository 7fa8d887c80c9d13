"""The oracle experiment: what a review writer loses by itself, once retrieval has lost nothing."""

from litsynth.experiments.oracle_rag.asking import ask_reviews, identities
from litsynth.experiments.oracle_rag.card import show_card, stage_card
from litsynth.experiments.oracle_rag.figures import (
    criterion_failures,
    inclusion_by_place,
    losses_by_review,
    retention_against_recall,
    where_studies_are_lost,
)
from litsynth.experiments.oracle_rag.losses import by_abstract, by_criterion, by_place, decisions
from litsynth.experiments.oracle_rag.released import released_table
from litsynth.experiments.oracle_rag.tables import differences, funnel, score_table, status_table, summarise
from litsynth.experiments.oracle_rag.words import (
    calibration_of,
    difference_table,
    one_report,
    rate_table,
    reading_table,
    verdict,
)

__all__ = [
    "ask_reviews", "by_abstract", "by_criterion", "by_place", "calibration_of", "criterion_failures", "decisions",
    "difference_table", "differences", "funnel", "identities", "inclusion_by_place", "losses_by_review", "one_report",
    "rate_table", "reading_table", "released_table", "retention_against_recall", "score_table", "show_card",
    "stage_card", "status_table", "summarise", "verdict", "where_studies_are_lost",
]
