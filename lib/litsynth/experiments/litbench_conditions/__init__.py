"""LitBench: the fact, its paper and its passage among competing papers, and declining where the evidence is absent."""

from litsynth.experiments.litbench_conditions.accuracy import accuracy, by_n, contrasts, fact_types
from litsynth.experiments.litbench_conditions.asking import ask_questions, responses
from litsynth.experiments.litbench_conditions.cells import (
    cell_table,
    composition,
    costs,
    design_table,
    fact_table,
    tally,
    verdict_table,
)
from litsynth.experiments.litbench_conditions.design import identities
from litsynth.experiments.litbench_conditions.domains import domains
from litsynth.experiments.litbench_conditions.failures import failures, traceability
from litsynth.experiments.litbench_conditions.figures import (
    compact_card,
    condition_card,
    degradation,
    pair_graph,
    refusal_curves,
    report_card,
    where_credit_is_lost,
)
from litsynth.experiments.litbench_conditions.figures import decomposition as decomposition_bars
from litsynth.experiments.litbench_conditions.refusal import refusal
from litsynth.experiments.litbench_conditions.repeats import ask_judges_again
from litsynth.experiments.litbench_conditions.two_papers import decomposition, pair_graph_table, without_hub_papers
from litsynth.experiments.litbench_conditions.words import (
    accuracy_shown,
    contrasts_shown,
    fact_types_shown,
    findings,
    findings_of,
    parts_shown,
    reading_table,
    refusal_shown,
)

__all__ = [
    "accuracy", "accuracy_shown", "ask_judges_again", "ask_questions", "by_n", "cell_table", "compact_card",
    "composition", "condition_card", "contrasts", "contrasts_shown", "costs", "decomposition", "decomposition_bars",
    "degradation", "design_table", "domains", "fact_table", "fact_types", "fact_types_shown", "failures",
    "findings", "findings_of", "identities", "pair_graph", "pair_graph_table", "parts_shown", "reading_table",
    "refusal", "refusal_curves", "refusal_shown", "report_card", "responses", "tally", "traceability",
    "verdict_table", "where_credit_is_lost", "without_hub_papers",
]
