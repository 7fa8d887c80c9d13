"""Judge concordance: a panel of judges against a human's blinded ratings, judge against judge, and what it changes."""

from litsynth.experiments.judge_concordance.comparing import agreement, by_group, direction, judge_table
from litsynth.experiments.judge_concordance.correction import corrected
from litsynth.experiments.judge_concordance.figures import (
    coefficient_forest,
    direction_by_condition,
    judge_forest,
    raw_and_corrected,
    two_by_two,
)
from litsynth.experiments.judge_concordance.published import published_rederived
from litsynth.experiments.judge_concordance.rated import account, draw, identities, overview, rate, read_verdicts, where
from litsynth.experiments.judge_concordance.rating_page import open_page
from litsynth.experiments.judge_concordance.reading import (
    among_judges,
    coefficients,
    corrected_shown,
    disagreements,
    groups_shown,
    judges_shown,
    rederived_shown,
    side_by_side,
    verdict,
)

__all__ = [
    "account", "agreement", "among_judges", "by_group", "coefficient_forest", "coefficients", "corrected",
    "corrected_shown", "direction", "direction_by_condition", "disagreements", "draw", "groups_shown", "identities",
    "judge_forest", "judge_table", "judges_shown", "open_page", "overview", "published_rederived", "rate",
    "raw_and_corrected", "read_verdicts", "rederived_shown", "side_by_side", "two_by_two", "verdict", "where",
]
