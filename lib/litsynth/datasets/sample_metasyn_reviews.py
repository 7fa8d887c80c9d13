"""The synthetic reviews: protocols, their rows with reference answers, and their own records in the corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from litsynth.datasets.sample_metasyn_world import TOPICS, Topic

if TYPE_CHECKING:
    from litsynth.datasets.sample_metasyn import Study

UPDATED_TOPICS = (0, 12)  # one intervention and one exposure review have a later update, in the other split
TEST_REVIEWS = 8


@dataclass(frozen=True)
class Protocol:
    """One review's protocol: the topic it asks about and the years that its search covers."""

    review_id: int
    topic: int
    split: str
    years: tuple[int, int]
    is_update: bool
    source_records: int

    @property
    def world(self) -> Topic:
        """The topic's wordings."""
        return TOPICS[self.topic]


def protocols(seed: int) -> list[Protocol]:
    """Return the 24 protocols by review ID: one a topic, and two updates that share studies with the other split."""
    rng = np.random.default_rng([seed, 0])
    order = [int(i) for i in rng.permutation(len(TOPICS))]
    test = {topic for topic in order if topic not in UPDATED_TOPICS}
    test = set(sorted(test, key=order.index)[: TEST_REVIEWS - 1]) | {UPDATED_TOPICS[0]}
    made = []
    for review_id, topic in enumerate(order, start=1):
        sources = (0, 1, 0, 1, 2)[review_id % 5]
        made.append(
            Protocol(review_id, topic, "test" if topic in test else "train", TOPICS[topic].years, False, sources)
        )
    for review_id, topic in enumerate(UPDATED_TOPICS, start=len(order) + 1):
        first, last = TOPICS[topic].years
        made.append(Protocol(review_id, topic, "train", (first + 8, last + 3), True, 1))
    # The second updated topic's first review is in train like its update: only one pair leaks between the splits.
    return made


def review_row(
    protocol: Protocol, included: Sequence[int], studies: Mapping[int, Study], source_ids: Sequence[int]
) -> dict[str, Any]:
    """Return the review as a row of the table: question, criteria, reference set, pooled answer, insights."""
    world = protocol.world
    forms = {name: getattr(world, name).split("|")[0] for name in ("population", "agent", "comparison", "outcome")}
    effects = _pooled([studies[i].wording.interval for i in included])
    direction = _direction(world.kind, effects)
    is_reported = protocol.review_id % 9 != 0
    exposure = world.kind == "E"
    return {
        "ID": protocol.review_id,
        "Title": _title(protocol),
        "Research_Question": _question(world, forms),
        "Population": _capital(forms["population"]),
        "Intervention": "NR" if exposure else _capital(forms["agent"]),
        "Exposure": _capital(forms["agent"]) if exposure else "NR",
        "Comparison": _capital(forms["comparison"]) if protocol.review_id % 8 else "NR",
        "Outcome": _capital(forms["outcome"]),
        "search_start_date": f"{protocol.years[0]}-01-01",
        "search_end_date": f"{protocol.years[1]}-12-31",
        "inclusion_criteria": _inclusion(protocol, forms),
        "exclusion_criteria": _exclusion(world),
        "source_review_corpus_ids": list(source_ids),
        "matched_corpus_ids": list(included),
        "Effect_Direction": direction if is_reported else "NR",
        "Key_Insights": "\n".join(_insights(forms, effects, direction)) if is_reported else "NR",
        "Effect_Size_Type": "RR",
        "Effect_Size_Value": effects["ratio"],
        "CI_Lower": effects["low"],
        "CI_Upper": effects["high"],
        "I2_Value": effects["i2"],
        "study_count": len(included),
        "split": protocol.split,
    }


def source_article(protocol: Protocol, number: int) -> dict[str, Any]:
    """Return the review's own article (0) or its published protocol (1): the best match for the query by far."""
    world = protocol.world
    forms = {name: getattr(world, name).split("|")[0] for name in ("population", "agent", "comparison", "outcome")}
    what = "systematic review and meta-analysis" if number == 0 else "protocol of a systematic review"
    text = (
        f"{_question(world, forms)} We searched five databases for studies of {forms['population']} "
        f"in which {forms['agent']} was compared with {forms['comparison']}. The main outcome was {forms['outcome']}. "
        "Two reviewers screened records, extracted data and judged the risk of bias. Results were pooled."
    )
    title = _title(protocol) if number == 0 else f"{_title(protocol).split(':')[0]}: {what}"
    return {"title": title, "abstract": text, "year": min(2025, protocol.years[1] + (1 if number == 0 else 0))}


def _title(protocol: Protocol) -> str:
    article = "an updated" if protocol.is_update else "a"
    return f"{protocol.world.short}: {article} systematic review and meta-analysis"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _question(world: Topic, forms: Mapping[str, str]) -> str:
    if world.kind == "E":
        return (
            f"Among {forms['population']}, is {forms['agent']} associated with the risk of {forms['outcome']} "
            f"when compared with {forms['comparison']}?"
        )
    return (
        f"In {forms['population']}, can {forms['agent']} reduce {forms['outcome']} compared with {forms['comparison']}?"
    )


def _inclusion(protocol: Protocol, forms: Mapping[str, str]) -> str:
    world = protocol.world
    design = "Randomised controlled trial" if world.kind == "PI" else "Cohort or case-control study"
    return "; ".join(
        (
            f"Participants are {forms['population']}",
            f"{_capital(forms['agent'])}, whatever the brand or dose",
            f"Compared with {forms['comparison']}",
            f"Reports {forms['outcome']}",
            design,
            f"Published from {protocol.years[0]} to {protocol.years[1]}",
        )
    )


def _exclusion(world: Topic) -> str:
    near = [part.split("|")[0] for part in (*world.near_population.split(";;"), *world.near_agent.split(";;"))]
    outcome = " or ".join(part.split("|")[0].lstrip("~") for part in world.near_outcome.split(";;"))
    design = (
        "Observational or historically controlled study"
        if world.kind == "PI"
        else "Cross-sectional, ecological or uncontrolled study"
    )
    return "; ".join(
        (
            f"Other populations, such as {near[0]} or {near[1]}",
            f"Other interventions or exposures, such as {near[2]} or {near[3]}",
            f"Only {outcome} reported",
            design,
            "Conference abstract or correction of a study that is reported elsewhere",
        )
    )


def _pooled(intervals: Sequence[tuple[float, float, float]]) -> dict[str, float]:
    """Return the inverse-variance pooled ratio with its 95 % limits, and I² in per cent (Higgins and Thompson 2002)."""
    logs = [math.log(ratio) for ratio, _, _ in intervals]
    weights = [(2 * 1.96 / (math.log(high) - math.log(low))) ** 2 for _, low, high in intervals]
    mean = sum(w * x for w, x in zip(weights, logs, strict=True)) / sum(weights)
    q = sum(w * (x - mean) ** 2 for w, x in zip(weights, logs, strict=True))
    half = 1.96 / math.sqrt(sum(weights))
    i2 = max(0.0, (q - (len(logs) - 1)) / q) * 100 if q > 0 else 0.0
    return {
        "ratio": round(math.exp(mean), 3),
        "low": round(math.exp(mean - half), 3),
        "high": round(math.exp(mean + half), 3),
        "i2": round(i2, 1),
    }


def _direction(kind: str, effects: Mapping[str, float]) -> str:
    """Return Positive when an intervention prevents the outcome or an exposure goes with more of it."""
    if effects["low"] <= 1 <= effects["high"]:
        return "Mixed"
    return "Positive" if (effects["high"] < 1) == (kind == "PI") else "Negative"


def _insights(forms: Mapping[str, str], effects: Mapping[str, float], direction: str) -> list[str]:
    ratio, low, high = effects["ratio"], effects["low"], effects["high"]
    summary = "no clear difference" if direction == "Mixed" else "fewer events" if ratio < 1 else "more events"
    spread = "little" if effects["i2"] < 30 else "moderate" if effects["i2"] < 60 else "considerable"
    return [
        f"Pooled over all studies, {forms['agent']} went with {summary} of {forms['outcome']} "
        f"(RR {ratio}, 95 % CI {low} to {high}).",
        f"Heterogeneity between studies was {spread} (I2 {effects['i2']} %).",
        f"The evidence concerns {forms['population']} and a comparison with {forms['comparison']} only.",
    ]
