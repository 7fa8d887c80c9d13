"""Ask every system every question over every candidate set, and score each answer: one resumable item a cell."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from litsynth import paths
from litsynth.conditions import Condition, LivePool, Pools, candidate_set
from litsynth.datasets.pmc import BASE_URL, PmcClient
from litsynth.errors import DataError, RunError
from litsynth.experiments.litbench_conditions import design
from litsynth.experiments.litbench_conditions.design import LIVE_N, SystemUnderTest
from litsynth.experiments.store import Run
from litsynth.files import ItemLog
from litsynth.llm import Budget
from litsynth.records import Paper, Question, QuestionTask, Response, ScoreRow, Searcher, Usage
from litsynth.retrieval.passages import PassageIndex
from litsynth.scoring.credit import METRICS, accuracy_value, judge_cases, score_response
from litsynth.scoring.judges import Panel, PanelVote
from litsynth.scoring.refusal import refusal_row
from litsynth.scoring.traceability import trace_fact

RESPONSES = "responses.jsonl"
FACT_METRICS = ("credit", "source", "verbatim", "overlap", "traceable")
LONGEST_REASON = 160  # characters of a reason that an item keeps
# What a model call or a search service did not answer is asked for again; what cannot be answered is not.
_PASSING = ("model call failed", "search failed", "undecided")


@dataclass
class Bench:
    """Everything that the cells of one run share: systems, panel, questions, pools and passages."""

    run: Run
    cap: Budget | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def systems(self) -> list[SystemUnderTest]:
        """The systems under test, their models not yet started."""
        return design.systems_of(self.run.parameters, self.cap)

    @cached_property
    def panel(self) -> Panel:
        """The judges."""
        return design.panel_of(self.run.parameters, self.cap)

    @cached_property
    def pools(self) -> Pools:
        """The papers that candidate sets are drawn from."""
        return Pools.of(self.run.dataset.papers)

    @cached_property
    def index(self) -> PassageIndex:
        """The passages of the whole bank, split and indexed once."""
        return PassageIndex(self.run.dataset.papers)

    @cached_property
    def questions(self) -> dict[str, list[Question]]:
        """The questions to ask, by kind."""
        return design.chosen_questions(self.run.dataset, self.run.parameters.questions, self.run.parameters.seed)

    @cached_property
    def conditions(self) -> list[Condition]:
        """The conditions to run."""
        return design.conditions_of(self.run.parameters)

    @cached_property
    def grids(self) -> dict[str, tuple[int, ...]]:
        """The numbers of candidate papers by condition."""
        return design.grids(self.run.parameters, self.run.dataset, self.pools)

    @cached_property
    def texts(self) -> ItemLog:
        """The words of every response: kept beside the items and never promoted, since they may quote papers."""
        return ItemLog(self.run.directory / RESPONSES)

    def keep(self, key: str, texts: Mapping[str, Any]) -> None:
        """Write down a response's words unless they are there already."""
        with self.lock:
            if key not in self.texts:
                self.texts.append({**texts, "key": key})

    def workers(self) -> int:
        """Return how many cells may be asked at once: what the most careful of the models allows."""
        models = [s.llm for s in self.systems if s.llm] + [j.llm for j in self.panel.judges if hasattr(j, "llm")]
        return min((model.profile.concurrency for model in models if hasattr(model, "profile")), default=1)


def cell_key(spec: str, condition: str, n: int, question_id: str) -> str:
    """Return the key of one cell; cells of one condition stand together."""
    return f"cell/{spec}/{condition}/{n:05d}/{question_id}"


def ask_questions(run: Run) -> list[dict[str, Any]]:
    """Ask and score every cell (system, condition, N, question); returns one item a cell, ordered by key.

    Items hold identifiers, numbers and votes; the words of responses lie beside them in `responses.jsonl`. A cell that
    an endpoint or a search service left unanswered is asked again next time, unless `keep_failed` is set.
    """
    cap = Budget(tokens=run.parameters.token_cap) if run.parameters.token_cap else None
    bench = Bench(run, cap)
    models = [system.llm for system in bench.systems if system.llm]
    run.record(weak_model=any(model.weak for model in models), lexical_judges=bench.panel.lexical,
               judges=[{"name": j.name, "identity": j.identity} for j in bench.panel.judges])
    workers = bench.workers()
    if workers > 1:
        _ = bench.index, [system.system for system in bench.systems]  # made once, not by several threads at a time
    items = run.compute(_work(bench), stage="ask questions", workers=workers)
    judges = [judge.llm for judge in bench.panel.judges if hasattr(judge, "llm")]
    run.record(usage=_usage(items), models=[m.spent() for m in (*models, *judges) if hasattr(m, "spent")],
               seconds_a_question=_seconds(items))
    return items


def _work(bench: Bench) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    for system in bench.systems:
        for rule in bench.conditions:
            for n in bench.grids[rule.name]:
                for question in bench.questions[rule.kind]:
                    key = cell_key(system.spec, rule.name, n, question.id)
                    yield key, lambda k=key, s=system, r=rule, n=n, q=question: ask_cell(bench, k, s, r, n, q)


def ask_cell(bench: Bench, key: str, system: SystemUnderTest, rule: Condition, n: int,
             question: Question) -> dict[str, Any]:
    """Ask one question over one candidate set and score the response; returns the item."""
    base = {"system": system.label, "condition": rule.name, "n": n, "question": question.id}
    searcher, composition = _searcher(bench, rule, n, question)
    task = QuestionTask(question.id, question.text, len(question.fact_ids))
    try:
        response = system.system.answer(task, searcher, system.llm)
    except (DataError, OSError) as error:  # a live pool that cannot be reached
        if not rule.live:
            raise
        response = Response(question.id, system.spec, "", False, status="failed", reason=f"search failed: {error}")
    live = _live_record(searcher) if rule.live and response.status != "failed" else {}
    votes = _votes(bench.panel, rule, question, bench, response, system)
    rows = _rows(bench, rule, question, response, votes)
    item = {**base, "set": [composition.get(part, 0) for part in ("gold", "similar", "unrelated")],
            **_status(rule, rows, response), **_trace(response, question), **_metrics(rows),
            "facts": _facts(bench, rule, question, response, votes, rows), **({"live": live} if live else {})}
    if rule.live:
        _credit_named_only(item)
    if not item["retry"] or bench.run.parameters.keep_failed:
        del item["retry"]
        bench.keep(key, _words(response, searcher if rule.live else None))
    return item


def _searcher(bench: Bench, rule: Condition, n: int, question: Question) -> tuple[Searcher, dict[str, int]]:
    if not rule.live:
        drawn = candidate_set(question, rule.name, n, bench.pools, seed=bench.run.parameters.seed)
        return bench.index.searcher(drawn.paper_ids), dict(drawn.composition)
    chosen = bench.run.parameters
    client, folder = PmcClient(chosen.live_address or BASE_URL), paths.raw_dir() / "pmc"
    return LivePool(client, chosen.live_pool, _passages_of, folder, bank=bench.run.dataset.papers), {}


def _passages_of(papers: Mapping[str, Paper]) -> Searcher:
    return PassageIndex(papers).searcher(tuple(papers))


def _live_record(searcher: Any) -> dict[str, Any]:
    made = searcher.record()
    return {"pool": made["pool"], "records": made["records"], "date": made["date"], "searches": len(made["searches"])}


def _votes(panel: Panel, rule: Condition, question: Question, bench: Bench, response: Response,
           system: SystemUnderTest) -> dict[str, PanelVote]:
    """Let the panel decide every fact that was answered, where the evidence is present."""
    if not rule.answer_present:
        return {}
    answered_by = system.llm.identity if system.llm else None
    cases = judge_cases(question, bench.run.dataset.facts, response, answered_by)
    return dict(zip(cases, panel.vote_many(list(cases.values()), stage=""), strict=True)) if cases else {}


def _rows(bench: Bench, rule: Condition, question: Question, response: Response,
          votes: Mapping[str, PanelVote]) -> list[ScoreRow]:
    rows = [refusal_row(question, rule.name, response)]
    if rule.answer_present:
        data = bench.run.dataset
        rows += score_response(question, rule.name, data.facts, data.papers, response, votes)
    return rows


def _status(rule: Condition, rows: Sequence[ScoreRow], response: Response) -> dict[str, Any]:
    """Return the cell's one status, why, and whether to ask again.

    Where the evidence is present, what counts is the credit, so an undecided panel leaves the cell unparsed; in refusal
    conditions and their controls it is the explicit refusal, which needs no judge.
    """
    metric = "credit" if rule.answer_present and not rule.control_of else "refusal"
    row = next(row for row in rows if row.metric == metric)
    again = any(row.status == "failed" and row.reason.startswith(_PASSING) for row in rows)
    reason = "" if row.status in ("scored", "refused") else row.reason[:LONGEST_REASON]
    return {"status": row.status, "reason": reason, "retry": again, "unreadable": response.status == "unparsed"}


def _trace(response: Response, question: Question) -> dict[str, Any]:
    trace, usage = response.trace, response.trace.usage
    return {"named": list(response.paper_ids)[:len(question.fact_ids)], "declined": list(response.refusals),
            "passages": trace.passages_seen, "searches": len(trace.queries), "calls": trace.calls,
            "tokens": [usage.prompt_tokens, usage.completion_tokens], "estimated": usage.estimated, "cost": usage.cost,
            "seconds": round(trace.seconds, 4)}


def _metrics(rows: Sequence[ScoreRow]) -> dict[str, Any]:
    """Return what each metric adds to its mean: None where the cell leaves the denominator."""
    wanted = ("refusal", *METRICS, "quotations_verbatim")
    values = {row.metric: row.value if row.metric == "refusal" else accuracy_value(row) for row in rows
              if row.metric in wanted}
    return {name: _whole(values.get(name)) for name in wanted}


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _facts(bench: Bench, rule: Condition, question: Question, response: Response, votes: Mapping[str, PanelVote],
           rows: Sequence[ScoreRow]) -> list[dict[str, Any]]:
    """Return what became of each fact: seen, credited, traced, and every judge's vote."""
    facts, seen = bench.run.dataset.facts, set(response.trace.seen_paper_ids)
    made = []
    for fact_id in question.fact_ids:
        fact = facts[fact_id]
        row = {"fact": fact_id, "seen": fact.paper_id in seen}
        if rule.answer_present:
            prefix, item = ("fact_", f"{question.id}/{fact_id}") if len(question.fact_ids) > 1 else ("", question.id)
            own = {r.metric: r for r in rows if r.item == item}
            row |= {name: _whole(accuracy_value(own[f"{prefix}{name}"])) for name in FACT_METRICS}
            vote = votes.get(fact_id)
            if vote:
                check = trace_fact(response, fact, bench.run.dataset.papers, len(question.fact_ids)).check
                row |= {"span": check.status if check else "none", "votes": {
                    v.judge: v.verdict if v.status == "voted" else v.status for v in vote.votes}}
        made.append(row)
    return made


def _credit_named_only(item: dict[str, Any]) -> None:
    """Take credit away where the original paper is not named: a live pool holds restatements of the fact."""
    for row in (item, *item["facts"]):
        if row["source"] == 0 and row["credit"] is not None:
            row["credit"] = 0


def _words(response: Response, live: Any | None) -> dict[str, Any]:
    """Return the words of a response, for judges who decide again and for people who read."""
    return {"answer": response.answer, "reason": response.reason, "papers": list(response.paper_ids),
            "quotations": [[q.paper_id, q.text] for q in response.quotations], "queries": list(response.trace.queries),
            "refused": response.refused, "refusals": list(response.refusals), "status": response.status,
            **({"live_papers": list(live.paper_ids)} if live is not None else {})}


def _usage(items: Sequence[Mapping[str, Any]]) -> Usage | None:
    """Return the tokens of all systems' calls, also of those whose answers were kept from an earlier run."""
    if not any(item["calls"] for item in items):
        return None
    costs = [item["cost"] for item in items if item["cost"] is not None]
    return Usage(sum(item["tokens"][0] for item in items), sum(item["tokens"][1] for item in items),
                 any(item["estimated"] for item in items), sum(costs) if costs else None)


def _seconds(items: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean seconds a question by system."""
    by_system: dict[str, list[float]] = {}
    for item in items:
        by_system.setdefault(item["system"], []).append(item["seconds"])
    return {name: round(sum(values) / len(values), 4) for name, values in by_system.items()}


def responses(directory: Path) -> dict[str, dict[str, Any]]:
    """Return the words of every response of a run by cell key; raises `RunError` where they were not kept.

    A promoted result has none, because they may quote papers that must not be published.
    """
    path = Path(directory) / RESPONSES
    if not path.exists():
        raise RunError(f"{directory} has no {RESPONSES}", expected="a run directory on the machine that it ran on",
                       remedy="run the experiment again; stored answers of models are not asked for twice")
    return {item["key"]: item for item in ItemLog(path).items()}


__all__ = ["LIVE_N", "Bench", "ask_cell", "ask_questions", "cell_key", "responses"]
