"""`screening`: explicit screening by a model, article by article, with the published limits as defaults.

Three to five queries from the model are merged and deduplicated to 200 candidates; batches of 25, with the first 500
characters of each abstract, get a decision, a reason and the criterion that fails; effects are extracted from at most
3,000 characters of each included article and pooled with random effects. The benchmark's criteria are not given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from litsynth.errors import ParameterError
from litsynth.llm.fencing import one_line
from litsynth.records import Candidate, LanguageModel, ModelRequest, Report, Review
from litsynth.systems import screening_prompts as prompts
from litsynth.systems.effects import StudyEffect, pool_by_measure, study_effect
from litsynth.systems.screening_report import flow_of, report_of
from litsynth.systems.screening_steps import Account, Decision, QuerySearcher, merge, read_decisions, without_answer
from litsynth.systems.session import WEAK_LIMIT, require_model

WEAK_REASON = 100  # characters of a reason by a model marked weak, which rambles to the end of its budget otherwise
TOKENS_A_DECISION, WEAK_TOKENS_A_DECISION = 120, 70
MARGIN = 64  # tokens left free for what a chat template adds


@dataclass(frozen=True, kw_only=True)
class Screening:
    """Screens candidates explicitly; every one gets a decision with a reason, or a status that says why not.

    A batch that would not fit the model's context window is made smaller. Candidates that an answer leaves out, or that
    stand in an answer that cannot be read, are asked about once more in batches of half the size. Where the searcher
    takes no queries (a fixed list, as in oracle mode), its first `top_k` candidates are screened and the report says
    so. More than `include_limit` inclusions are cut by the order of candidates.
    """

    name: str = "screening"
    top_k: int = 200
    least_queries: int = 3
    most_queries: int = 5
    batch_size: int = 25
    abstract_characters: int = 500
    include_limit: int = 100
    extract_characters: int = 3000
    temperature: float | None = 0.0
    seed: int | None = 0
    repeat: int = 0
    prompt_version: str = f"{prompts.QUERIES_VERSION}, {prompts.DECIDE_VERSION}, {prompts.EXTRACT_VERSION}"

    def __post_init__(self) -> None:
        for option in ("top_k", "least_queries", "batch_size", "include_limit", "extract_characters"):
            if getattr(self, option) < 1:
                raise ParameterError(f"{option} = {getattr(self, option)}", expected="at least 1",
                                     remedy=f"raise `{option}`")
        if self.most_queries < self.least_queries or self.abstract_characters < 0:
            raise ParameterError(f"{self.least_queries} to {self.most_queries} queries, "
                                 f"{self.abstract_characters} characters of an abstract",
                                 expected="most_queries at least least_queries, and no negative number",
                                 remedy="correct the options")

    def review(self, task: Review, searcher: QuerySearcher, llm: LanguageModel | None) -> Report:
        """Screen one review's candidates and report."""
        begin, model, account = time.perf_counter(), require_model(self.name, llm), Account()
        queries, source = self._queries(task, searcher, model, account)
        report = Report(task.id, self.name, searcher.mode, "", (), query=searcher.query, model=model.name)
        if queries is None:
            return self._ended(report, account, begin, "failed", account.failures[-1])
        lists = [searcher.search(query, self.top_k) for query in queries] if queries else [
            searcher.candidates(self.top_k)]
        candidates, distinct = merge(lists, self.top_k)
        decisions = self._decide(task, candidates, model, account)
        chosen = {decision.corpus_id for decision in decisions if decision.include}
        included = [candidate for candidate in candidates if candidate.corpus_id in chosen][:self.include_limit]
        effects, findings = self._extract(task, included, model, account)
        pooled = pool_by_measure(effects)
        flow = flow_of(lists, distinct, candidates, decisions, included, effects)
        text = report_of(task, queries=queries, source=source, flow=flow, decisions=decisions, included=included,
                         findings=findings, effects=effects, pooled=pooled)
        details = {"queries": list(queries), "flow": flow, "decisions": decisions,
                   "effects": [asdict(effect) for effect in effects], "pooled": [part.as_dict() for part in pooled]}
        whole = Report(task.id, self.name, searcher.mode, text, candidates, query=searcher.query, model=model.name,
                       details=details)
        if candidates and not any(decision.status == "decided" for decision in decisions):
            # A list made of no decision at all would read as one that nothing was included.
            if any(decision.status == "failed" for decision in decisions):
                return self._ended(whole, account, begin, "failed", account.failures[-1])
            return self._ended(whole, account, begin, "unparsed", f"no usable decision on any of {len(candidates)} "
                               f"candidates; last: {account.unread[-1] if account.unread else 'all were left out'}")
        return self._ended(whole, account, begin, "scored", "")

    def _ended(self, report: Report, account: Account, begin: float, status: Any, reason: str) -> Report:
        details = {**report.details, "prompt_version": self.prompt_version, "calls": account.calls,
                   "unknown_ids": account.unknown_ids, "contradicted_ids": account.contradicted_ids,
                   "failures": account.failures, "unread": account.unread, "retry": bool(account.failures)}
        return Report(report.review_id, report.system, report.mode, report.text, report.candidates, query=report.query,
                      model=report.model, usage=account.usage, seconds=time.perf_counter() - begin, status=status,
                      reason=reason, details=details)

    def _queries(self, task: Review, searcher: QuerySearcher, llm: LanguageModel,
                 account: Account) -> tuple[tuple[str, ...] | None, str]:
        """Return the model's distinct queries and a sentence on where candidates came from; None when the call failed.

        No query means: take the searcher's own list.
        """
        if not hasattr(searcher, "search"):
            return (), f"The candidates were a fixed list ({searcher.mode} order); no queries were made."
        schema = prompts.queries_schema(self.least_queries, self.most_queries, strict=llm.weak)
        messages = prompts.queries_messages(task, self.least_queries, self.most_queries)
        for repeat in (self.repeat, self.repeat + 1):
            request = self._request(messages, prompts.QUERIES_VERSION, schema, 600, repeat)
            answer = account.ask(llm, [request], "write queries")[0]
            if answer.status == "failed":
                return None, ""
            if answer.status == "ok":
                made = tuple(dict.fromkeys(text for query in answer.parsed["queries"] if (text := one_line(query))))
                if made:
                    return made, "Queries written by the model, their results merged by reciprocal rank:"
        return (searcher.query,), "The model wrote no usable queries in two attempts; the protocol itself was searched:"

    def _request(self, messages: Sequence[dict[str, str]], version: str, schema: dict[str, Any], tokens: int,
                 repeat: int) -> ModelRequest:
        return ModelRequest(messages=messages, prompt_version=version, schema=schema, max_tokens=tokens,
                            temperature=self.temperature, seed=self.seed, repeat=repeat)

    def _decide(self, task: Review, candidates: Sequence[Candidate], llm: LanguageModel,
                account: Account) -> list[Decision]:
        """Return one decision for every candidate, in their order."""
        made: dict[int, Decision] = {}
        failures: dict[int, tuple[str, int]] = {}
        for asked, size in ((1, self.batch_size), (2, max(1, self.batch_size // 2))):
            left = [c for c in candidates if c.corpus_id not in made and c.corpus_id not in failures]
            batches = self._batches(task, left, size, llm, again=asked > 1)
            requests = [self._decide_request(task, batch, llm, again=asked > 1) for batch in batches]
            answers = account.ask(llm, requests, "screen candidates" if asked == 1 else "ask again")
            for batch, answer in zip(batches, answers, strict=True):
                if answer.status == "ok":
                    made |= read_decisions(answer.parsed, batch, account, asked)
                elif answer.status == "failed":
                    failures |= dict.fromkeys((c.corpus_id for c in batch), (answer.reason or "no answer", asked))
        return [made.get(c.corpus_id) or without_answer(c, *failures.get(c.corpus_id, ("", 2))) for c in candidates]

    def _decide_request(self, task: Review, batch: Sequence[Candidate], llm: LanguageModel, *,
                        again: bool) -> ModelRequest:
        messages = prompts.decide_messages(task, batch, self.abstract_characters, again=again)
        schema = prompts.decide_schema(batch, WEAK_REASON if llm.weak else None)
        return self._request(messages, prompts.DECIDE_VERSION, schema, self._answer_tokens(len(batch), llm),
                             self.repeat + again)

    def _answer_tokens(self, candidates: int, llm: LanguageModel) -> int:
        return 60 + candidates * (WEAK_TOKENS_A_DECISION if llm.weak else TOKENS_A_DECISION)

    def _batches(self, task: Review, candidates: Sequence[Candidate], size: int, llm: LanguageModel, *,
                 again: bool) -> list[Sequence[Candidate]]:
        """Return batches of at most `size` that fit the context window beside their answer; one alone always goes."""
        def fits(batch: Sequence[Candidate]) -> bool:
            if llm.context_window is None or len(batch) == 1:
                return True
            messages = prompts.decide_messages(task, batch, self.abstract_characters, again=again)
            needed = sum(llm.count_tokens(message["content"]) for message in messages)
            return needed + self._answer_tokens(len(batch), llm) + 2 * MARGIN <= llm.context_window

        batches, start = [], 0
        while start < len(candidates):
            count = _largest(min(size, len(candidates) - start), lambda n, at=start: fits(candidates[at:at + n]))
            batches.append(candidates[start:start + count])
            start += count
        return batches

    def _extract(self, task: Review, included: Sequence[Candidate], llm: LanguageModel,
                 account: Account) -> tuple[list[StudyEffect], dict[int, str]]:
        """Return a checked effect and a sentence for every included article that the model answered on."""
        schema = prompts.extract_schema(WEAK_LIMIT if llm.weak else None)
        requests = [self._request(prompts.extract_messages(task, candidate, self.extract_characters),
                                  prompts.EXTRACT_VERSION, schema, 400, self.repeat) for candidate in included]
        effects, findings = [], {}
        for candidate, answer in zip(included, account.ask(llm, requests, "extract effects"), strict=True):
            number = candidate.corpus_id
            if answer.status != "ok":
                effects.append(StudyEffect(number, prompts.NO_CRITERION, None, None, None,
                                           problem=f"extraction {answer.status}"))
                continue
            got = answer.parsed
            findings[number] = one_line(got["finding"])
            effects.append(study_effect(number, got["measure"], got["value"], got["low"], got["high"],
                                        prompts.article_text(candidate, self.extract_characters)))
        return effects, findings


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 to `most` that fits; 1 when none does."""
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
