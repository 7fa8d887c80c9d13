"""Time and memory of the LitBench machinery without a model: `python tests/benchmarks/litbench_speed.py [BANK ...]`.

For the synthetic sample and every bank named on the command line (a folder in the LitBench format): building the
passage index, drawing candidate sets, 10,000 extractive answers, and scoring them (lexical judge, traceability).
Besides, search over a made-up bank of the size of the published one: 1,980 full papers.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import resource
import time
from itertools import cycle, islice

import numpy as np

from litsynth.conditions import candidate_set
from litsynth.conditions.pools import Pools
from litsynth.datasets import load
from litsynth.records import Dataset, Paper, Question, QuestionTask, Response, Section
from litsynth.retrieval.passages import PassageIndex
from litsynth.scoring.credit import judge_cases, score_response
from litsynth.scoring.judges import LexicalJudge, Panel
from litsynth.systems import open_system

ANSWERS = 10_000
CELLS = (("single", "T1", 1), ("single", "T2", 100), ("single", "T3", 50), ("single", "T4", 500),
         ("two_paper", "T5", 100), ("single", "T6", 50), ("single", "T6s", 50), ("two_paper", "T7", 50))


def peak_mib() -> float:
    """Return the peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def now() -> tuple[float, float]:
    """Return the wall clock and the processor time of this process, in seconds."""
    return time.perf_counter(), time.process_time()


def report(what: str, begin: tuple[float, float], count: int | None = None) -> None:
    """Print what passed since `begin`, processor time per item where a count is given, and the peak memory.

    The two times differ where other processes share the cores.
    """
    wall, processor = (end - start for start, end in zip(begin, now(), strict=True))
    each = f" ({processor / count * 1000:.2f} ms each)" if count else ""
    print(f"  {what}: {wall:.2f} s, processor {processor:.2f} s{each}; peak {peak_mib():.0f} MiB", flush=True)


def measure(dataset: Dataset, answers: int) -> None:
    """Answer `answers` questions of one bank, spread over the conditions, and score those with the evidence present."""
    print(f"{dataset.name}: {len(dataset.papers)} papers, {len(dataset.questions)} questions")
    begin = now()
    index = PassageIndex(dataset.papers)
    report(f"index of {len(index)} passages", begin)
    pools = Pools.of(dataset.papers)
    cells = [(question, condition, n) for kind, condition, n in CELLS for question in dataset.questions.values()
             if question.kind == kind]
    work = list(islice(cycle(cells), answers))
    begin = now()
    sets = [candidate_set(question, condition, n, pools, seed=number // len(cells))
            for number, (question, condition, n) in enumerate(work)]
    report(f"{answers} candidate sets", begin, answers)
    system = open_system("extractive")
    begin = now()
    given = []
    for (question, _, _), drawn in zip(work, sets, strict=True):
        task = QuestionTask(question.id, question.text, len(question.fact_ids))
        given.append(system.answer(task, index.searcher(drawn.paper_ids)))
    report(f"{answers} extractive answers", begin, answers)
    begin = now()
    scored = score(dataset, [(question, condition, response) for (question, condition, _), response
                             in zip(work, given, strict=True) if condition < "T6"])
    report(f"{scored} responses judged and traced", begin, scored)


def score(dataset: Dataset, responses: list[tuple[Question, str, Response]]) -> int:
    """Judge and trace responses; return how many."""
    panel = Panel([LexicalJudge()])
    for question, condition, response in responses:
        cases = judge_cases(question, dataset.facts, response)
        votes = dict(zip(cases, panel.vote_many(list(cases.values())), strict=True))
        score_response(question, condition, dataset.facts, dataset.papers, response, votes)
    return len(responses)


def published_size(papers: int, words: int) -> None:
    """Search a made-up bank of `papers` papers of `words` words, with a vocabulary distributed as in prose."""
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"word{i}" for i in range(40_000)])
    weights = 1 / np.arange(10, len(vocabulary) + 10)
    weights /= weights.sum()
    bank = []
    for number in range(papers):
        drawn = vocabulary[rng.choice(len(vocabulary), size=words, p=weights)]
        text = " ".join(f"In {' '.join(drawn[start:start + 20])} it rose." for start in range(0, words, 20))
        bank.append(Paper(f"P{number:04d}", "gold", "x", "", (Section("Results", text, "results"),)))
    print(f"made up: {papers} papers of {words} words")
    begin = now()
    index = PassageIndex(bank)
    report(f"index of {len(index)} passages", begin)
    ids = [paper.id for paper in bank]
    for n in sorted({n for n in (1, 10, 100, 500) if n < papers} | {papers}):
        queries = [" ".join(vocabulary[rng.choice(len(vocabulary), size=12, p=weights)]) for _ in range(100)]
        sets = [list(rng.choice(ids, size=n, replace=False)) for _ in queries]
        begin = now()
        for query, chosen in zip(queries, sets, strict=True):
            index.searcher(chosen).search(query, 8)
        report(f"{len(queries)} searchers made and asked, N = {n}", begin, len(queries))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("banks", nargs="*", help="folders in the LitBench format")
    parser.add_argument("--answers", type=int, default=ANSWERS)
    parser.add_argument("--papers", type=int, default=1980)
    parser.add_argument("--words", type=int, default=5000)
    options = parser.parse_args()
    for name in ("sample", *options.banks):
        measure(load(name), options.answers)
    if options.papers:
        published_size(options.papers, options.words)


if __name__ == "__main__":
    main()
