"""A sample of cases that every judge decides a second time: does a judge agree with itself?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from litsynth.errors import RunError
from litsynth.experiments.estimates import COLUMNS, estimate_row
from litsynth.experiments.litbench_conditions.asking import Bench
from litsynth.experiments.store import Run
from litsynth.llm import Budget
from litsynth.scoring.judges import JudgeCase
from litsynth.stats import cohen_kappa, wilson_interval


def ask_judges_again(run: Run, items: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Let every judge decide `repeats` sampled cases once more; its agreement with itself is saved as `self_agreement`.

    One row a judge: `agreed` of the `cases` in which it voted both times, the share with Wilson's interval, and Cohen's
    kappa. A judge without a model always agrees with itself; a model may not, even at temperature 0.
    """
    cap = Budget(tokens=run.parameters.token_cap) if run.parameters.token_cap else None
    again = run.compute(_work(Bench(run, cap), _sample(run, items)), stage="ask judges again")
    votes: dict[str, list[tuple[bool, bool]]] = {}
    for item in again:
        for judge, (first, second) in item["votes"].items():
            votes.setdefault(judge, [])
            if isinstance(first, bool) and isinstance(second, bool):
                votes[judge].append((first, second))
    rows = []
    for judge, pairs in sorted(votes.items()):
        agreed = sum(first == second for first, second in pairs)
        kappa = cohen_kappa([int(first) for first, _ in pairs], [int(second) for _, second in pairs])
        rows.append({"judge": judge, "cases": len(pairs), "agreed": agreed,
                     **estimate_row(wilson_interval(agreed, len(pairs))), "kappa": kappa.value})
    frame = pd.DataFrame(rows, columns=["judge", "cases", "agreed", *COLUMNS, "kappa"])
    run.save_table("self_agreement", frame)
    return frame


def _sample(run: Run, items: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return the sampled cases, each a cell's item and one of its facts that was voted on."""
    cases = [(item, fact) for item in items for fact in item["facts"] if fact.get("votes")]
    number = min(run.parameters.repeats, len(cases))
    chosen = np.random.default_rng(run.parameters.seed).choice(len(cases), size=number, replace=False)
    return [cases[place] for place in sorted(chosen.tolist())]


def _work(bench: Bench, cases: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
          ) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    for item, fact in cases:
        key = f"again/{item['key'].removeprefix('cell/')}/{fact['fact']}"
        yield key, lambda i=item, f=fact: _again(bench, i, f)


def _again(bench: Bench, item: Mapping[str, Any], fact: Mapping[str, Any]) -> dict[str, Any]:
    words = bench.texts.get(item["key"])
    if words is None:
        raise RunError(f"the words of {item['key']} are not in {bench.texts.path}",
                       expected="the responses that were kept when the cell was asked",
                       remedy="run the experiment again with --force; stored answers of models are not asked for twice")
    system = next(system for system in bench.systems if system.label == item["system"])
    data = bench.run.dataset
    case = JudgeCase(data.questions[item["question"]].text, data.facts[fact["fact"]], words["answer"],
                     tuple(text for _, text in words["quotations"]), system.llm.identity if system.llm else None)
    vote = bench.panel.vote(case, repeat=1)
    failed = any(v.status == "failed" for v in vote.votes) and not bench.run.parameters.keep_failed
    second = {v.judge: v.verdict if v.status == "voted" else v.status for v in vote.votes}
    made = {"case": item["key"], "fact": fact["fact"],
            "votes": {judge: [first, second.get(judge)] for judge, first in fact["votes"].items()}}
    return {**made, "retry": True} if failed else made
