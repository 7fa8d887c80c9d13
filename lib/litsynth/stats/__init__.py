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
from litsynth.stats.clusters import cluster_interval
from litsynth.stats.correction import prediction_powered_mean, rogan_gladen
from litsynth.stats.decomposition import two_paper_decomposition
from litsynth.stats.graph import PairGraph, pair_graph, without_hubs
from litsynth.stats.pairs import pair_bootstrap, pair_bootstrap_difference, pair_interval
from litsynth.stats.panel import (
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    leave_one_judge_out,
    pairwise_kappa,
    strict_majority,
)
from litsynth.stats.proportions import (
    difference_of_proportions,
    paired_difference_of_proportions,
    pooled_proportion,
    wilson_interval,
)
from litsynth.stats.ranks import rank_bootstrap

__all__ = [
    "PairGraph", "agreement_table", "bootstrap_distribution", "cluster_bootstrap",
    "cluster_interval", "cohen_kappa",
    "difference_of_proportions", "direction_of_disagreement", "fleiss_kappa", "gwet_ac1", "krippendorff_alpha",
    "leave_one_judge_out", "mean_bootstrap", "pabak", "pair_bootstrap", "pair_bootstrap_difference", "pair_graph",
    "pair_interval", "paired_bootstrap", "paired_difference_of_proportions", "pairwise_kappa", "panel_accuracy",
    "pooled_proportion", "prediction_powered_mean", "rank_bootstrap", "ratio_bootstrap", "ratio_difference_bootstrap",
    "raw_agreement", "rogan_gladen", "specific_agreement", "strict_majority", "two_paper_decomposition",
    "wilson_interval", "without_hubs",
]
