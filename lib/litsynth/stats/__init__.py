"""Estimates with intervals: bootstrap, proportions, agreement, correction for judge errors, pairs of papers."""

from litsynth.stats.agreement import (
    agreement_table,
    cohen_kappa,
    direction_of_disagreement,
    pabak,
    panel_accuracy,
    raw_agreement,
    specific_agreement,
)
from litsynth.stats.bootstrap import (
    bootstrap_distribution,
    cluster_bootstrap,
    mean_bootstrap,
    paired_bootstrap,
    ratio_bootstrap,
    ratio_difference_bootstrap,
)
from litsynth.stats.pairs import pair_bootstrap, pair_bootstrap_difference, pair_interval
from litsynth.stats.proportions import (
    difference_of_proportions,
    paired_difference_of_proportions,
    pooled_proportion,
    wilson_interval,
)

__all__ = [
    "agreement_table", "bootstrap_distribution", "cluster_bootstrap", "cohen_kappa", "difference_of_proportions",
    "direction_of_disagreement", "mean_bootstrap", "pabak", "pair_bootstrap", "pair_bootstrap_difference",
    "pair_interval", "paired_bootstrap", "paired_difference_of_proportions", "panel_accuracy", "pooled_proportion",
    "ratio_bootstrap", "ratio_difference_bootstrap", "raw_agreement", "specific_agreement", "wilson_interval",
]
