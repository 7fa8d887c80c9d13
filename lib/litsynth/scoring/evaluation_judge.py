"""The five judge-dependent metrics of one report, or the reason why a judge could not give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from litsynth.errors import ScoringError
from litsynth.records import Gold, LanguageModel, ModelRequest, Review, Usage
from litsynth.scoring import judge_prompts as prompts
from litsynth.scoring.text_metrics import SentenceEncoder, soft_f1, verbatim

JUDGE_METRICS = (
    "inclusion_consistency",
    "exclusion_consistency",
    "conclusion_direction_accuracy",
    "insights_consistency",
    "structure_quality",
)
SHORTEST_INSIGHT = 20  # a reference insight counts when it is longer than this many characters


class JudgeError(ScoringError):
    """A judge that gave no valid answer after all retries; never a low score."""


@dataclass
class JudgeSession:
    """The calls made for one report: answers are validated, usage is added up also when a call fails."""

    model: LanguageModel
    calls: int = 0
    usage: Usage = field(default_factory=Usage)

    def ask(self, what: str, request: ModelRequest) -> Mapping[str, Any]:
        """Return the judge's valid answer; raises `JudgeError` that says which question failed and how."""
        completion = self.model.complete(request)
        self.calls += 1
        self.usage = self.usage + completion.usage
        if completion.status != "ok":
            detail = completion.reason or completion.text[:200]
            raise JudgeError(
                f"judge {self.model.name}, question {what}: {completion.status}" + (f" ({detail})" if detail else ""),
                expected="an answer of the requested form",
                remedy="run again: finished reviews are not asked again",
            )
        _validate(what, completion.parsed, request.schema or {})
        return completion.parsed

    def as_dict(self) -> dict[str, Any]:
        """Return calls, tokens and cost as JSON-ready values."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "estimated": self.usage.estimated,
            "cost": self.usage.cost,
        }


def _validate(what: str, answer: Any, schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator

    errors = sorted(Draft202012Validator(schema).iter_errors(answer), key=lambda error: list(error.path))
    finite = not isinstance(answer, Mapping) or answer.get("score") == answer.get("score")  # NaN is not itself
    if errors or not finite:
        raise JudgeError(
            f"judge answer to {what} is invalid: {errors[0].message[:300] if errors else 'the score is NaN'}",
            expected="an answer that obeys the schema",
            remedy="use a judge that can follow a JSON schema",
        )


def judge_report(
    report: str,
    review: Review,
    gold: Gold,
    session: JudgeSession,
    encoder: SentenceEncoder,
) -> tuple[dict[str, float | None], dict[str, Any]]:
    """Return the judge metrics of one report and what was extracted for them; questions without a reference are not
    asked.

    inclusion_ and exclusion_consistency: soft F1 of the criteria in the report against the reference criteria (None
    without
    reference, 0 when none is extracted). Extracted criteria are scored as extracted; whether each one is verbatim is
    recorded beside it. conclusion_direction_accuracy: 1 or 0, None when the review's direction is not reported.
    insights_consistency: coverage 0 to 1 of the reference insights longer than 20 characters (None without any, 0 when
    the report has no insight). structure_quality: 1 to 5. Raises `JudgeError`.
    """
    metrics: dict[str, float | None] = dict.fromkeys(JUDGE_METRICS)
    extracted: dict[str, Any] = {}
    if review.inclusion_criteria or review.exclusion_criteria:
        answer = session.ask("criteria", prompts.criteria_request(report))
        for kind, reference in (("inclusion", review.inclusion_criteria), ("exclusion", review.exclusion_criteria)):
            items = [item.strip() for item in answer[f"{kind}_criteria"] if item.strip()]
            metrics[f"{kind}_consistency"] = soft_f1(reference, items, encoder)
            extracted[f"{kind}_criteria"] = items
            extracted[f"{kind}_criteria_verbatim"] = verbatim(items, report)
    if gold.effect_direction is not None:
        answer = session.ask("conclusion direction", prompts.direction_request(report, review.research_question))
        metrics["conclusion_direction_accuracy"] = float(answer["direction"] == gold.effect_direction)
        extracted["conclusion_direction"] = answer["direction"]
    reference_insights = [insight for insight in gold.key_insights if len(insight.strip()) > SHORTEST_INSIGHT]
    if reference_insights:
        answer = session.ask("key insights", prompts.insights_request(report))
        insights = [item.strip() for item in answer["insights"] if item.strip()]
        extracted["key_insights"] = insights
        metrics["insights_consistency"] = 0.0
        if insights:
            answer = session.ask("insight coverage", prompts.coverage_request(reference_insights, insights))
            metrics["insights_consistency"] = float(answer["score"])
            extracted["insights_reason"] = answer["reason"]
    answer = session.ask("structure", prompts.structure_request(report))
    metrics["structure_quality"], extracted["structure_reason"] = float(answer["score"]), answer["reason"]
    return metrics, extracted
