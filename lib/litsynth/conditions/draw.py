"""Candidate sets: pure, seeded, the same for every system.

A set is drawn once for each (question, condition, N, seed) by a generator seeded with the SHA-256 of
those four, so sets of different N are independent draws and *not* nested: a larger set need not
contain a smaller one. Nothing else enters, least of all the system, the order of the papers or the
process. Only raw 64-bit outputs of PCG64 are used, whose stream numpy promises never to change.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from litsynth.conditions.catalogue import Condition, PoolSizes, condition_named, default_grid, largest_n
from litsynth.conditions.pools import Pools, positions
from litsynth.errors import DataError, ParameterError
from litsynth.records import CandidateSet, Paper, Question

_Keys = Callable[[int], np.ndarray]
_Pool = tuple[np.ndarray, list[int]]
_NOTHING: _Pool = (np.array([], dtype=object), [])
_LOCAL = threading.local()
_HALF = (1 << 128) - 1


def candidate_set(
    question: Question, condition: str, n: int, papers: Mapping[str, Paper] | Pools, *, seed: int = 0
) -> CandidateSet:
    """Draw the papers that every system searches for `question` under `condition` with `n` candidates.

    `n` counts all candidates, answering papers included, and is capped at the pool; the realised
    composition says how many gold (answering), similar and unrelated papers the set holds. In T4 and
    T5 a third of the competing papers, to the nearest whole, are similar, and when a pool runs out
    the other fills up. A control (`T6-control`, …) is its refusal condition's set of the same N with
    the answering papers put in the places of random members. The order is shuffled, so an answer's
    position says nothing. Raises `ParameterError` for an unknown condition, an impossible N or a question of
    the other bank, and `DataError` for answering papers or pools that are missing.
    """
    rule = condition_named(condition)
    pools = Pools.of(papers)
    _check(question, rule, n, pools)
    if rule.control_of:
        return _control(question, rule, n, pools, seed)
    keys = _keys(question.id, rule.name, n, seed)
    near = _without(pools.similar(question.paper_ids), question.paper_ids) if rule.similar else _NOTHING
    far = _without(pools.unrelated, question.paper_ids) if rule.unrelated else _NOTHING
    similar, unrelated = _counts(rule, n, PoolSizes(_size(near), _size(far)))
    answers = question.paper_ids if rule.answer_present else ()
    members = np.concatenate([np.array(sorted(answers), dtype=object), _draw(keys, near, similar),
                              _draw(keys, far, unrelated)])
    if not len(members):
        raise _empty(question, rule)
    order = keys(len(members)).argsort(kind="stable")
    return _result(question, rule, n, members[order].tolist(), len(answers), similar)


def grid(condition: str, questions: Iterable[Question], papers: Mapping[str, Paper] | Pools) -> tuple[int, ...]:
    """Return the N to sweep for the condition's own bank among `questions` (a mapping's values are taken).

    Where specialties differ in size the largest decides, and smaller ones are capped; empty without a
    question of the bank, or for a live condition.
    """
    rule, pools = condition_named(condition), Pools.of(papers)
    asked = questions.values() if isinstance(questions, Mapping) else questions
    sizes = {pools.sizes(_known(question, pools)) for question in asked if question.kind == rule.kind}
    if not sizes:
        return ()
    return default_grid(rule.name, max(sizes, key=lambda size: (largest_n(rule.name, size), size.similar)))


def _control(question: Question, rule: Condition, n: int, pools: Pools, seed: int) -> CandidateSet:
    withheld = candidate_set(question, rule.control_of or "", n, pools, seed=seed)
    if len(withheld.paper_ids) < rule.sources:
        raise _empty(question, rule)
    members = list(withheld.paper_ids)
    places = _keys(question.id, rule.name, n, seed)(len(members)).argsort(kind="stable")[: rule.sources]
    for place, answer in zip(places.tolist(), sorted(question.paper_ids), strict=True):
        members[place] = answer
    similar = len(members) - rule.sources if rule.similar else 0
    return _result(question, rule, n, members, rule.sources, similar)


def _result(question: Question, rule: Condition, n: int, members: list[str], gold: int, similar: int) -> CandidateSet:
    composition = {"gold": gold, "similar": similar, "unrelated": len(members) - gold - similar, "total": len(members)}
    return CandidateSet(question.id, rule.name, n, tuple(members), composition)


def _counts(rule: Condition, n: int, sizes: PoolSizes) -> tuple[int, int]:
    """Return how many similar and unrelated papers to draw for a requested `n`."""
    others = n - (rule.sources if rule.answer_present else 0)
    similar, unrelated = sizes.similar, sizes.unrelated
    if not (rule.similar and rule.unrelated):
        return min(others, similar), min(others, unrelated)
    wanted = (others + 1) // 3  # others / 3 to the nearest whole number: thirds have no ties
    similar_count, unrelated_count = min(wanted, similar), min(others - wanted, unrelated)
    similar_count = min(similar, others - unrelated_count)
    return similar_count, min(unrelated, others - similar_count)


def _keys(question_id: str, condition: str, n: int, seed: int) -> _Keys:
    """Return a source of random 64-bit keys that (question, condition, N, seed) decide alone."""
    name = json.dumps([question_id, condition, int(n), int(seed)], ensure_ascii=True, separators=(",", ":"))
    digest = int.from_bytes(hashlib.sha256(name.encode("ascii")).digest(), "big")
    if not hasattr(_LOCAL, "generator"):
        _LOCAL.generator = np.random.PCG64(0)
    # The digest is the generator's whole state (128 bits, and an odd increment of 128): a twelfth of the
    # time that making a generator takes. One a thread, so that threads do not disturb each other.
    _LOCAL.generator.state = {"bit_generator": "PCG64", "has_uint32": 0, "uinteger": 0,
                              "state": {"state": digest >> 128, "inc": (digest & _HALF) | 1}}
    return _LOCAL.generator.random_raw


def _chosen(keys: _Keys, size: int, count: int) -> np.ndarray:
    """Return `count` of the positions below `size`, ascending: those with the smallest of `size` random keys."""
    if count >= size:
        return np.arange(size)
    chosen = keys(size).argpartition(count - 1)[:count]
    chosen.sort()
    return chosen


def _without(pool: np.ndarray, excluded: Iterable[str]) -> _Pool:
    """Return a sorted pool with the places in it that no draw may take."""
    return pool, positions(pool, excluded)


def _size(pool: _Pool) -> int:
    return len(pool[0]) - len(pool[1])


def _draw(keys: _Keys, pool: _Pool, count: int) -> np.ndarray:
    """Draw `count` ids from a pool without replacement, its barred places having left it beforehand."""
    ids, barred = pool
    if not count:
        return ids[:0]
    chosen = _chosen(keys, _size(pool), count)
    for place in barred:
        chosen[chosen >= place] += 1
    return ids[chosen]


def _known(question: Question, pools: Pools) -> Question:
    for paper_id in question.paper_ids:
        if paper_id not in pools.strata:
            raise DataError(f"question {question.id}: its answering paper {paper_id!r} is not among the papers",
                            expected="the papers of the bank that the question belongs to",
                            remedy="pass all papers of the data set; `litsynth bank validate FOLDER` names such rows")
    return question


def _check(question: Question, rule: Condition, n: int, pools: Pools) -> None:
    if rule.live:
        raise ParameterError(f"condition {rule.name} has no fixed candidate set", expected="a condition with a given N",
                             remedy="search it through litsynth.conditions.LivePool")
    if question.kind != rule.kind or len(set(question.paper_ids)) != rule.sources:
        raise ParameterError(
            f"question {question.id} is a {question.kind} question with {len(set(question.paper_ids))} paper(s) "
            f"and {rule.name} asks {rule.kind} questions",
            expected=f"a {rule.kind} question with {rule.sources} answering paper(s)",
            remedy="choose questions by their kind (`Condition.kind`)",
        )
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < rule.minimum_n:
        raise ParameterError(f"{n!r} candidate papers cannot hold condition {rule.name}",
                             expected=f"a whole number N of at least {rule.minimum_n}", remedy="choose a larger N")
    _known(question, pools)


def _empty(question: Question, rule: Condition) -> DataError:
    kind = "similar" if rule.similar else "unrelated"
    return DataError(f"question {question.id}: too few {kind} papers for condition {rule.name}",
                     expected=f"at least {rule.sources if rule.control_of else 1} {kind} paper(s) in the bank",
                     remedy="add papers or leave the condition out")
