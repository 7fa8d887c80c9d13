"""`extractive_review`: the MetaSyn baseline without a model."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from litsynth.errors import ParameterError, unknown_name
from litsynth.records import Candidate, LanguageModel, Report, Review
from litsynth.retrieval.passages import terms
from litsynth.retrieval.query import reported
from litsynth.systems import report_text
from litsynth.systems.candidates import ReviewSearcher

FIELDS = ("population", "acted", "comparison", "outcome")
FEATURES = ("score", *FIELDS, "design_wanted", "design_unwanted", "outside_dates", "no_abstract")

# Kinds of study as criteria and abstracts name them; whole words, case folded.
DESIGNS = {
    "randomised trial": r"randomi[sz]\w*|rcts?|double[- ]blind\w*|placebo[- ]controlled",
    "controlled trial": r"controlled (?:clinical )?(?:trial|study)|clinical trial|trials?\b",
    "cohort": r"cohorts?|prospective\w*|follow[- ]up|longitudinal",
    "case-control": r"case[- ]control\w*|matched controls?",
    "cross-sectional": r"cross[- ]sectional|surveys?|prevalence study",
    "observational": r"observational|retrospective\w*|registry|historical(?:ly)? control\w*",
    "case report": r"case (?:reports?|series)",
    "review": r"(?:narrative|systematic|literature) reviews?|meta-analys[ei]s|we reviewed|this review",
    "opinion": r"editorials?|letters?|comment\w*|opinion",
    "notice": r"conference abstracts?|abstract only|corrections?|errat\w+|corrigend\w+|meeting abstracts?",
    "laboratory": r"animal|in vitro|rats?|mice|pharmacokinetic\w*|healthy volunteers?",
}
_PATTERNS = {name: re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE) for name, pattern in DESIGNS.items()}
_YEAR = re.compile(r"(\d{4})")


@lru_cache(maxsize=65536)
def _article_terms(title: str, abstract: str) -> frozenset[str]:
    return frozenset(terms(f"{title} {abstract}"))


@lru_cache(maxsize=65536)
def _designs(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(text))


def features(task: Review, candidates: Sequence[Candidate]) -> list[tuple[float, ...]]:
    """Return the values of `FEATURES` for every candidate, each from 0 to 1.

    * score: the retriever's score over the best one in the list (negative scores count 0).
    * population, acted (intervention, else exposure), comparison, outcome: the share of the field's distinct search
      terms in title and abstract, over the highest share in the list; a field that is not reported gets the mean of
      the article's others.
    * design_wanted, design_unwanted: 1 when the text names a kind of study that the inclusion or, only, the exclusion
      criteria name.
    * outside_dates: 1 when the article's year lies outside of the search dates.
    * no_abstract: 1 when there is no abstract.

    Ranks are not used: in oracle order they would give the reference away.
    """
    best = max((candidate.score for candidate in candidates), default=0.0)
    words = [_article_terms(candidate.title, candidate.abstract) for candidate in candidates]
    columns = {"score": [max(candidate.score, 0.0) / best if best > 0 else 0.0 for candidate in candidates]}
    columns |= _coverage(task, words)
    wanted = frozenset().union(*map(_designs, task.inclusion_criteria))
    unwanted = frozenset().union(*map(_designs, task.exclusion_criteria)) - wanted
    named = [_designs(f"{candidate.title}. {candidate.abstract}") for candidate in candidates]
    columns["design_wanted"] = [float(bool(kinds & wanted)) for kinds in named]
    columns["design_unwanted"] = [float(bool(kinds & unwanted)) for kinds in named]
    first, last = _year_of(task.search_start_date), _year_of(task.search_end_date)
    columns["outside_dates"] = [float(_outside(candidate.year, first, last)) for candidate in candidates]
    columns["no_abstract"] = [float(not candidate.abstract.strip()) for candidate in candidates]
    return list(zip(*(columns[name] for name in FEATURES), strict=True))


def _coverage(task: Review, words: Sequence[frozenset[str]]) -> dict[str, list[float]]:
    acted = task.intervention if reported(task.intervention) else task.exposure
    texts = dict(zip(FIELDS, (task.population, acted, task.comparison, task.outcome), strict=True))
    asked = {name: frozenset(terms(reported(text))) for name, text in texts.items()}
    shares = {}
    for name, wanted in asked.items():
        if wanted:
            held = [len(wanted & own) / len(wanted) for own in words]
            most = max(held, default=0.0)
            shares[name] = [share / most if most else 0.0 for share in held]
    mean = [sum(values) / len(values) for values in zip(*shares.values(), strict=True)] or [0.0] * len(words)
    return {name: shares.get(name, mean) for name in FIELDS}


def _year_of(date: str | None) -> int | None:
    match = _YEAR.search(reported(date))
    return int(match.group(1)) if match else None


def _outside(year: int | None, first: int | None, last: int | None) -> bool:
    return year is not None and ((first is not None and year < first) or (last is not None and year > last))


# Chosen on the train split of the synthetic sample with BM25 and 200 candidates by the experiment `oracle_rag`, which
# chooses them anew for the data set and retriever that it is given.
DEFAULT_INTERCEPT, DEFAULT_THRESHOLD = -5.559, 0.27
DEFAULT_WEIGHTS: Mapping[str, float] = MappingProxyType({
    "score": 0.801, "population": 1.070, "acted": 1.117, "comparison": 0.906, "outcome": 0.647, "design_wanted": 1.964,
    "design_unwanted": -1.883, "outside_dates": -2.843, "no_abstract": 1.538,
})


@dataclass(frozen=True, kw_only=True)
class ExtractiveReview:
    """Includes candidates whose weighted features pass a threshold, and fills in a report; uses no model.

    The probability of inclusion is the logistic function of `intercept` plus the sum of `weights` times `features`;
    candidates at or above `threshold` are included. The numbers are chosen beforehand on train reviews; the system
    itself sees no labels.
    """

    name: str = "extractive_review"
    top_k: int = 200
    intercept: float = DEFAULT_INTERCEPT
    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    threshold: float = DEFAULT_THRESHOLD

    def __post_init__(self) -> None:
        for name in self.weights:
            if name not in FEATURES:
                raise unknown_name("feature", str(name), FEATURES)
        numbers = {"intercept": self.intercept, **self.weights}
        wrong = [name for name, value in numbers.items() if not math.isfinite(value)]
        if wrong or not 0.0 <= self.threshold <= 1.0:
            raise ParameterError(f"threshold = {self.threshold}" if not wrong else f"{wrong[0]} = {numbers[wrong[0]]}",
                                 expected="finite weights and a threshold from 0 to 1", remedy="correct the option")

    def probabilities(self, task: Review, candidates: Sequence[Candidate]) -> list[float]:
        """Return the probability of inclusion of every candidate."""
        weights = [self.weights.get(name, 0.0) for name in FEATURES]
        return [_logistic(self.intercept + math.fsum(w * value for w, value in zip(weights, row, strict=True)))
                for row in features(task, candidates)]

    def review(self, task: Review, searcher: ReviewSearcher, llm: LanguageModel | None = None) -> Report:
        """Choose among one review's candidates and report; `llm` is not used."""
        begin = time.perf_counter()
        candidates = searcher.candidates(self.top_k)
        chances = self.probabilities(task, candidates)
        included = [candidate for candidate, chance in zip(candidates, chances, strict=True)
                    if chance >= self.threshold]
        return Report(
            task.id, self.name, searcher.mode, self._text(task, candidates, included), candidates, query=searcher.query,
            included_ids=tuple(candidate.corpus_id for candidate in included), seconds=time.perf_counter() - begin,
            details={"intercept": self.intercept, "weights": dict(self.weights), "threshold": self.threshold})

    def _text(self, task: Review, candidates: Sequence[Candidate], included: Sequence[Candidate]) -> str:
        """Return the templated report."""
        protocol = [f"- {report_text.escape(line)}" for line in report_text.protocol_lines(task)]
        criteria = [f"- {report_text.escape(line.removeprefix('- '))}" for line in report_text.criteria_lines(task)]
        weights = ", ".join(f"{report_text.escape(name)} {value:+.2f}" for name, value in self.weights.items())
        without = sum(not candidate.abstract.strip() for candidate in included)
        return "\n".join((
            "# Candidate selection without a language model", "", "## Protocol", "", *protocol, "",
            "## Criteria of the protocol", "", *(criteria or ["- None reported."]), "", "## How it was chosen", "",
            f"{len(candidates)} candidates were weighed by fixed numbers and those with a probability of at least "
            f"{self.threshold:.2f} were taken: {len(included)}, of which {without} have no abstract. "
            f"Weights: intercept {self.intercept:+.2f}, {weights}.", "", "## Limitations", "",
            "The criteria were not read as sentences: words of the protocol were counted. No effect was extracted or "
            "pooled, and no direction is concluded.", "", report_text.final_list(included)))


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else math.exp(value) / (1.0 + math.exp(value))
