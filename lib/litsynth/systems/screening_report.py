"""The report of an explicit screening: queries, flow of articles, reasons, findings, pooled effects, final list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from litsynth.records import Candidate, Review
from litsynth.systems import report_text
from litsynth.systems.effects import RATIOS, PooledMeasure, StudyEffect
from litsynth.systems.screening_prompts import CRITERIA, NO_CRITERION
from litsynth.systems.screening_steps import Decision

FLOW = {
    "queries": "search queries", "found": "records found by all queries together", "duplicates": "duplicates removed",
    "beyond_limit": "distinct records beyond the limit, not screened", "screened": "candidates screened",
    "excluded": "excluded", "unparsed": "without a usable answer after two questions",
    "failed": "without an answer from the endpoint",
    "over_include_limit": "wanted, but beyond the limit of inclusions", "included": "included",
    "with_effect": "included with a usable effect",
}

UNKNOWN = "The model gave no usable answer on any candidate, so the selection is unknown.\n"


def report_of(task: Review, *, queries: Sequence[str], source: str, flow: Mapping[str, int],
              decisions: Sequence[Decision], included: Sequence[Candidate], findings: Mapping[int, str],
              effects: Sequence[StudyEffect], pooled: Sequence[PooledMeasure]) -> str:
    """Return the report in Markdown; texts of models and papers are escaped."""
    protocol = [f"- {report_text.escape(line)}" for line in report_text.protocol_lines(task)]
    searched = [f"- {report_text.escape(query)}" for query in queries]
    return "\n".join((
        "# Explicit screening", "", "## Protocol", "", *protocol, "", "## Search", "", source, "", *searched, "",
        "## Flow of articles", "", "| step | articles |", "| --- | --- |",
        *(f"| {FLOW[name]} | {count} |" for name, count in flow.items()), "",
        "## Criteria applied", "", "No criteria were given. Asked of every candidate, from the protocol's fields:", "",
        *_criteria(task), "", "## Reasons of exclusion", "", *_reasons(decisions), "",
        "## Findings", "", *_findings(included, findings), "", "## Pooled effects", "", *_pooled(effects, pooled), "",
        report_text.final_list(included) if included or not _undecided(decisions) else UNKNOWN))


def _undecided(decisions: Sequence[Decision]) -> bool:
    return bool(decisions) and not any(decision.status == "decided" for decision in decisions)


def _criteria(task: Review) -> list[str]:
    return [f"- {report_text.escape(line)}" for line in report_text.protocol_lines(task)[1:]] + [
        "- an original study"]


def _reasons(decisions: Sequence[Decision]) -> list[str]:
    counts = Counter(decision.criterion for decision in decisions if decision.include is False)
    lines = [f"- {name}: {counts[name]}" for name in CRITERIA if counts[name]]
    lines += [f"- no criterion was named: {counts[NO_CRITERION]}"] if counts[NO_CRITERION] else []
    return lines or ["- No candidate was excluded."]


def _findings(included: Sequence[Candidate], findings: Mapping[int, str]) -> list[str]:
    told = [findings[candidate.corpus_id] for candidate in included if findings.get(candidate.corpus_id)]
    return [f"- {report_text.escape_title(text)}" for text in told] or ["- None was extracted."]


def _pooled(effects: Sequence[StudyEffect], pooled: Sequence[PooledMeasure]) -> list[str]:
    usable = [effect for effect in effects if not effect.problem]
    problems = Counter(effect.problem for effect in effects if effect.problem)
    lines = [f"- {_in_words(result)}" for result in pooled]
    if not pooled:
        lines = ["- Nothing was pooled: " + ("no included study gave a usable effect with its interval." if not usable
                                             else "no two included studies gave a usable effect of one measure.")]
    alone = len(usable) - sum(result.pooled.studies for result in pooled)
    lines += [f"- Usable effects that no other study shares the measure of: {alone}"] if pooled and alone else []
    return lines + [f"- Not used ({count}): {report_text.escape(why)}" for why, count in sorted(problems.items())]


def _in_words(result: PooledMeasure) -> str:
    part = result.pooled
    no_effect = 1.0 if result.measure in RATIOS else 0.0
    clear = result.low > no_effect or result.high < no_effect
    words = (f"{result.measure} {result.value:.3g} (95 % CI {result.low:.3g} to {result.high:.3g}; {part.studies} "
             f"studies; {part.effect.method}); I² {100 * (part.i2 or 0.0):.0f} %, τ² {part.tau2 or 0.0:.3g}")
    if result.prediction_low is not None and result.prediction_high is not None:
        words += f"; 95 % prediction interval {result.prediction_low:.3g} to {result.prediction_high:.3g}"
    return words + ("." if clear else "; the interval holds no difference.")


def flow_of(lists: Sequence[Sequence[Candidate]], distinct: int, candidates: Sequence[Candidate],
            decisions: Sequence[Decision], included: Sequence[Candidate],
            effects: Sequence[StudyEffect]) -> dict[str, Any]:
    """Return the counts of `FLOW`; every candidate screened is in exactly one of the five that follow."""
    wanted = sum(decision.include is True for decision in decisions)
    return {"queries": len(lists), "found": sum(map(len, lists)), "duplicates": sum(map(len, lists)) - distinct,
            "beyond_limit": distinct - len(candidates), "screened": len(candidates),
            "excluded": sum(decision.include is False for decision in decisions),
            "unparsed": sum(decision.status == "unparsed" for decision in decisions),
            "failed": sum(decision.status == "failed" for decision in decisions),
            "over_include_limit": wanted - len(included), "included": len(included),
            "with_effect": sum(not effect.problem for effect in effects)}
