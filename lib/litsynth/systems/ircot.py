"""`ircot`: retrieval interleaved with reasoning, the benchmark's reference harness for any model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from litsynth.errors import ParameterError
from litsynth.llm.fencing import fence_for, fenced, one_line, shorten
from litsynth.records import LanguageModel, ModelRequest, Passage, QuestionTask, Response, Searcher
from litsynth.systems import prompts
from litsynth.systems.session import KEPT_TEXT, Ended, Session, require_model, text_limit

LONGEST_QUERY = 300  # characters
MARGIN = 48  # tokens left free for what a chat template adds
ONE_PAPER_NOTE = "Both entries named one paper. Take the second fact from a different paper, or refuse it."


@dataclass(frozen=True, kw_only=True)
class Ircot:
    """Retrieves, reasons, searches again, and finishes with one verbatim quotation for each fact.

    The `passages` best passages for the question are retrieved; then at most `iterations` times the model says what is
    missing and what to search for, and gets the passages of that query too. It stops when it has enough (for
    two papers: only once its ledger names two different papers that it was shown), asks nothing new, or the
    bound is reached, and gives its final answer. When both facts of a two-paper answer cite one paper, the answer is
    asked for once more.

    At most `context_passages` passages are shown, best of the latest query first, each at most
    `passage_characters` long; what does not fit the model's context window beside an answer of `answer_tokens`
    is dropped from the end, and every step of the trace says how many were. `text_characters` bounds each text
    in the answers (None: no bound, or 240 for models marked weak). A reasoning step that cannot be read ends
    the search; a final answer that cannot be read ends in `unparsed`.
    """

    name: str = "ircot"
    passages: int = 8
    iterations: int = 4
    context_passages: int = 24
    passage_characters: int | None = 1200
    answer_tokens: int = 700
    text_characters: int | None = None
    temperature: float | None = 0.0
    seed: int | None = 0
    repeat: int = 0

    def __post_init__(self) -> None:
        for option, least in (("passages", 1), ("iterations", 0), ("context_passages", 1), ("answer_tokens", 1)):
            if getattr(self, option) < least:
                raise ParameterError(f"{option} = {getattr(self, option)}", expected=f"at least {least}",
                                     remedy=f"raise `{option}`")

    def answer(self, task: QuestionTask, searcher: Searcher, llm: LanguageModel | None) -> Response:
        """Answer one question over its candidate papers."""
        session = Session(task, self.name, searcher, require_model(self.name, llm))
        try:
            return _Run(self, session).answer()
        except Ended as ended:
            return ended.response


class _Run:
    """The loop over one question."""

    def __init__(self, options: Ircot, session: Session) -> None:
        self.options, self.session, self.task = options, session, session.task
        self.limit = text_limit(options.text_characters, session.llm)
        self.rounds: list[list[Passage]] = []
        self.ledger: dict[str, None] = {}

    def answer(self) -> Response:
        self.search(self.task.text)
        for _ in range(self.options.iterations):
            query = self.reason()
            if not query:
                break
            self.search(query)
        response = self.finish("")
        given = len(response.quotations)
        if self.task.sources == 2 and given == 2 and len(response.paper_ids) < 2 and response.status == "scored":
            response = self.finish(ONE_PAPER_NOTE)
        return response

    def search(self, query: str) -> None:
        self.rounds.append(self.session.search(query, self.options.passages))

    def reason(self) -> str:
        """Let the model say what is missing; return the next query, or nothing when the search is over."""
        completion, step = self.ask("reason", prompts.STEP_RULE[self.task.sources], prompts.step_schema(self.limit), "")
        if completion.status != "ok":
            self.session.steps.append({**step, "ended": "the step could not be read"})
            return ""
        said = completion.parsed
        named = map(one_line, said["papers"])
        self.ledger.update(dict.fromkeys(paper_id for paper_id in named if paper_id in self.session.shown_papers))
        query = shorten(one_line(said["query"]), LONGEST_QUERY)
        step |= {"reason": said["reason"], "enough": said["enough"], "papers": list(said["papers"]), "query": query,
                 "ledger": list(self.ledger)}
        ended = ""
        if said["enough"] and len(self.ledger) >= self.task.sources:
            ended = "enough"
        elif not query:
            ended = "no query"
        elif query.casefold() in (asked.casefold() for asked in self.session.queries):
            ended = "nothing new asked"
        self.session.steps.append({**step, "ended": ended})
        return "" if ended else query

    def finish(self, note: str) -> Response:
        """Ask for the final answer and turn it into a response."""
        sources = self.task.sources
        completion, step = self.ask("finish", prompts.FINDINGS_RULE[sources],
                                    prompts.findings_schema(sources, self.limit), note)
        self.session.steps.append({**step, "note": note})
        if completion.status != "ok":
            return self.session.end("unparsed", f"final answer {completion.status}: {completion.reason}".rstrip(": "))
        return self.session.respond(completion.parsed)

    def ask(self, name: str, rule: str, schema: dict[str, Any], note: str) -> tuple[Any, dict[str, Any]]:
        """Send one request with as many passages as fit, and return the completion and its line of the trace."""
        candidates = self.in_order()
        lines = [f"{p.paper_id} ({one_line(p.heading)}): "
                 f"{shorten(one_line(p.text), self.options.passage_characters)}" for p in candidates]
        fence = fence_for([*lines, self.task.text])
        system = " ".join((prompts.TASKS[self.task.sources], prompts.DATA_RULE.format(fence=fence)))
        tail = [f"Question: {one_line(self.task.text)}"]
        if len(self.session.queries) > 1:
            tail.append("Searched so far: " + " | ".join(map(one_line, self.session.queries[1:])))
        if self.task.sources == 2:
            tail.append(f"Papers found so far: {', '.join(self.ledger) or 'none'}")
        tail += [note, rule] if note else [rule]
        # Some endpoints are told the schema in the prompt, so its room is kept free for all.
        kept = self.fit(lines, [system, *tail, fenced([], fence), json.dumps(schema)])
        user = "\n".join((fenced(kept or ["(no passage was found)"], fence), *tail))
        self.session.shown_papers.update(dict.fromkeys(p.paper_id for p in candidates[:len(kept)]))
        completion = self.session.ask(ModelRequest(
            messages=({"role": "system", "content": system}, {"role": "user", "content": user}),
            prompt_version=prompts.IRCOT_VERSION, schema=schema, max_tokens=self.options.answer_tokens,
            temperature=self.options.temperature, seed=self.options.seed, repeat=self.options.repeat,
        ))
        step = {"step": name, "status": completion.status, "shown": len(kept), "dropped": len(lines) - len(kept),
                "cut": sum(a != b for a, b in zip(kept, lines, strict=False)), "fence": fence}
        if completion.status != "ok":
            step |= {"problem": completion.reason, "text": completion.text[:KEPT_TEXT]}
        return completion, step

    def in_order(self) -> list[Passage]:
        """Return the passages found, without repeats: by rank in their search, the latest search first."""
        ranked = [(rank, -number, passage) for number, found in enumerate(self.rounds)
                  for rank, passage in enumerate(found)]
        distinct = {(p.paper_id, p.section, p.start): p for _, _, p in sorted(ranked, key=lambda item: item[:2])}
        return list(distinct.values())[:self.options.context_passages]

    def fit(self, lines: Sequence[str], fixed: Sequence[str]) -> list[str]:
        """Return the first lines that fit the context window, the very first cut short if even it does not.

        A window that cannot hold the question with an answer stops the question as `failed`.
        """
        llm = self.session.llm
        if llm.context_window is None:
            return list(lines)
        room = llm.context_window - self.options.answer_tokens - MARGIN - sum(map(llm.count_tokens, fixed))
        if room < 0:
            raise Ended(self.session.end(
                "failed", f"the question does not fit the context window of {llm.context_window} tokens beside an "
                f"answer of {self.options.answer_tokens}"))
        kept: list[str] = []
        for line in lines:
            needed = llm.count_tokens(line) + 1
            if needed > room:
                if not kept and room > 0:
                    kept.append(shorten(line, max(1, len(line) * room // (needed + 1))))
                break
            kept.append(line)
            room -= needed
        return kept
