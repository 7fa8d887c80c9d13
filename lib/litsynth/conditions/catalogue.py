"""The LitBench conditions: what is searched, what is credited, and at which numbers of papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from litsynth.errors import ParameterError, unknown_name


@dataclass(frozen=True, slots=True)
class Condition:
    """One row of the table of conditions.

    `kind` is the question bank that the condition asks. `similar` and `unrelated` name the pools that
    competing papers come from. `grid` holds the swept N (candidate papers, answering ones included),
    `representative` the one N that stands for the condition. `control` names the matched
    answer-present control of a refusal condition and `control_of` is its inverse. `live` marks the
    two conditions over PubMed Central, which have no fixed candidate set.
    """

    name: str
    kind: Literal["single", "two_paper"]
    summary: str
    credited: str
    grid: tuple[int, ...]
    representative: int | None
    similar: bool = False
    unrelated: bool = False
    answer_present: bool = True
    control: str | None = None
    control_of: str | None = None
    live: bool = False
    published: bool = True

    @property
    def sources(self) -> int:
        """The number of papers that answer one question of the condition's bank."""
        return 1 if self.kind == "single" else 2

    @property
    def refusal_credited(self) -> bool:
        """Whether declining to answer is the only credited response."""
        return not self.answer_present

    @property
    def minimum_n(self) -> int:
        """The smallest N that holds every answering paper which has to be in the set."""
        return self.sources if self.answer_present else 1


# The published values of N are the paper's; of T6 and T7 it names 1, 10, 50 and 980 of six, and the
# two between are chosen here as T2 has them.
_REFUSAL_GRID = (1, 10, 50, 100, 500, 980)
# The paper gives T1 to T4 a representative N. T5 takes T4's, the refusal conditions the N at which
# the paper measured its strongest system.
_MIXED_N, _REFUSAL_N = 500, 50


def _refusal(name: str, kind: Literal["single", "two_paper"], *, similar: bool) -> tuple[Condition, Condition]:
    withheld = "the answering paper" if kind == "single" else "both answering papers"
    others = "similar papers" if similar else "unrelated papers"
    control = f"{name}-control"
    refused = "an explicit refusal" if kind == "single" else "an explicit refusal of both facts"
    facts = "the fact" if kind == "single" else "both facts, each judged alone"
    pools = {"similar": similar, "unrelated": not similar}
    grid = tuple(n for n in _REFUSAL_GRID if n >= (1 if kind == "single" else 2))
    return (
        Condition(name, kind, f"{withheld} withheld, {others} only", refused, _REFUSAL_GRID, _REFUSAL_N,
                  answer_present=False, control=control, published=not similar, **pools),
        Condition(control, kind, f"the candidate set of {name} with {withheld} in place of random members", facts,
                  grid, _REFUSAL_N, control_of=name, published=False, **pools),
    )


def _all_conditions() -> tuple[Condition, ...]:
    both = {"similar": True, "unrelated": True}
    fact, facts = "the fact", "both facts, each judged alone"
    return (
        Condition("T1", "single", "the answering paper alone", fact, (1,), 1),
        Condition("T2", "single", "+ unrelated papers", fact, (10, 50, 100, 200, 500, 980), 100, unrelated=True),
        Condition("T3", "single", "+ similar papers", fact, (10, 50, 100, 200, 500, 999), 200, similar=True),
        Condition("T4", "single", "+ both kinds", fact, (75, 100, 500, 1000, 2000), _MIXED_N, **both),
        Condition("T5", "two_paper", "both answering papers among both kinds", facts,
                  (10, 50, 100, 200, 500, 1000, 2000), _MIXED_N, **both),
        *_refusal("T6", "single", similar=False),
        *_refusal("T7", "two_paper", similar=False),
        *_refusal("T6s", "single", similar=True),
        *_refusal("T7s", "two_paper", similar=True),
        Condition("T4·∞", "single", "live PubMed Central", "the fact, if the original paper is named", (), None,
                  live=True),
        Condition("T5·∞", "two_paper", "live PubMed Central", "both facts, if the original papers are named", (), None,
                  live=True),
    )


CONDITIONS: Mapping[str, Condition] = MappingProxyType({rule.name: rule for rule in _all_conditions()})
"""All conditions by name, in the order of the table; each control follows its refusal condition."""

_SPELLINGS = {"T4-live": "T4·∞", "T5-live": "T5·∞"}


@dataclass(frozen=True, slots=True)
class PoolSizes:
    """How many similar and unrelated papers a question has to compete with, its answering papers not counted."""

    similar: int
    unrelated: int


def condition_named(name: str) -> Condition:
    """Return the condition called `name` (`T4-live` and `T5-live` spell `T4·∞` and `T5·∞`); raises `ParameterError`."""
    rule = CONDITIONS.get(_SPELLINGS.get(name, name)) if isinstance(name, str) else None
    if rule is None:
        raise unknown_name("condition", str(name), CONDITIONS)
    return rule


def largest_n(condition: str, sizes: PoolSizes) -> int:
    """Return the N at which the condition's pools are used up: requested N above it are capped."""
    rule = condition_named(condition)
    pool = sizes.similar * rule.similar + sizes.unrelated * rule.unrelated
    if rule.control_of:  # answering papers take the place of members
        return pool if pool >= rule.sources else 0
    return pool + (rule.sources if rule.answer_present else 0)


def default_grid(condition: str, sizes: PoolSizes) -> tuple[int, ...]:
    """Return the swept N that the pools can fill, ascending, ending in the whole pool where N had to be cut.

    Empty when the condition has no fixed set (`T4·∞`, `T5·∞`) or its pools are empty.
    """
    rule = condition_named(condition)
    largest = largest_n(condition, sizes)
    if rule.live or largest < rule.minimum_n:
        return ()
    return tuple(sorted({min(n, largest) for n in rule.grid}))


def representative_n(condition: str, sizes: PoolSizes | None = None) -> int:
    """Return the N that stands for a condition, capped at what `sizes` allow; `ParameterError` where none does."""
    rule = condition_named(condition)
    if rule.representative is None:
        raise ParameterError(
            f"condition {condition} has no representative N", expected="a condition with fixed candidate sets",
            remedy="leave N out: a live pool is as large as it is on the day",
        )
    return rule.representative if sizes is None else min(rule.representative, largest_n(condition, sizes))
