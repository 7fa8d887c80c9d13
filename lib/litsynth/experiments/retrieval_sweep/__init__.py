"""The retrieval sweep: how many of a review's included studies each retriever finds, and how sure that is."""

from litsynth.experiments.retrieval_sweep.approximate import compare_hnsw
from litsynth.experiments.retrieval_sweep.figures import (
    hnsw_against_flat,
    paired_differences,
    recall_by_depth,
    recall_by_review,
    where_the_misses_are,
)
from litsynth.experiments.retrieval_sweep.ranking import identities, rank_reviews
from litsynth.experiments.retrieval_sweep.tables import (
    differences,
    left_out,
    miss_summary,
    misses,
    score_table,
    standing,
    summarise,
)
from litsynth.experiments.retrieval_sweep.words import at_depth, reading_table, verdict, verdict_of

__all__ = [
    "at_depth", "compare_hnsw", "differences", "hnsw_against_flat", "identities", "left_out", "miss_summary",
    "misses", "paired_differences", "rank_reviews", "reading_table", "recall_by_depth", "recall_by_review",
    "score_table", "standing", "summarise", "verdict", "verdict_of", "where_the_misses_are",
]
