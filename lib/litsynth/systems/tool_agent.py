"""`tool_agent`: the model searches and reads by itself, through tools with visible budgets."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from litsynth.errors import DataError, ModelError, ParameterError, unknown_name
from litsynth.llm.fencing import fence_for, fenced, one_line, shorten
from litsynth.llm.structured import violation
from litsynth.llm.tokens import message_text
from litsynth.records import Completion, LanguageModel, ModelRequest, Passage, QuestionTask, Response, Searcher
from litsynth.retrieval.passages import merge_passages
from litsynth.systems import prompts
from litsynth.systems.dialogues import Action, Dialogue, JsonDialogue, NoTools, ToolsDialogue
from litsynth.systems.session import KEPT_TEXT, Ended, Session, require_model, text_limit

PROTOCOLS = ("auto", "tools", "json")
MARGIN = 96  # tokens left free for what a chat template adds
REMOVED = "(an earlier result, removed to make room)"


@dataclass(frozen=True, kw_only=True)
class ToolAgent:
    """Lets the model work with three tools: search(query), read(paper_id, section) and finish(findings).

    At most `max_steps` replies of the model, `max_searches` searches of `passages` passages (each at most
    `passage_characters` long) and `max_reads` reads (each at most `read_characters`). Every result ends with what
    is left; the last step offers only finish. Wrong arguments are answered with what was wrong, papers
    outside the candidate set with an error. Old results are removed when the context window gets full.

    `protocol`: tools (chat completions' own), json (one JSON object a step, for models that know no tools), or
    auto: json for models marked weak, else tools, and json after all where the endpoint refuses tools or the first
    reply uses none. No final answer within the steps is `unparsed`.
    """

    name: str = "tool_agent"
    max_steps: int = 10
    max_searches: int = 6
    max_reads: int = 4
    passages: int = 5
    passage_characters: int | None = 600
    read_characters: int = 4000
    answer_tokens: int = 900
    text_characters: int | None = None
    protocol: str = "auto"
    temperature: float | None = 0.0
    seed: int | None = 0
    repeat: int = 0

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise unknown_name("protocol", self.protocol, PROTOCOLS)
        for option, least in (("max_steps", 1), ("max_searches", 0), ("max_reads", 0), ("passages", 1),
                              ("read_characters", 1), ("answer_tokens", 1)):
            if getattr(self, option) < least:
                raise ParameterError(f"{option} = {getattr(self, option)}", expected=f"at least {least}",
                                     remedy=f"raise `{option}`")

    def answer(self, task: QuestionTask, searcher: Searcher, llm: LanguageModel | None) -> Response:
        """Answer one question over its candidate papers."""
        session = Session(task, self.name, searcher, require_model(self.name, llm))
        limit = text_limit(self.text_characters, session.llm)
        uses_tools = self.protocol == "tools" or (self.protocol == "auto" and not session.llm.weak)
        try:
            if uses_tools:
                try:
                    return _Run(self, session, ToolsDialogue(task, can_switch=self.protocol == "auto")).answer()
                except NoTools as refusal:
                    session.steps.append({"step": "switch", "to": "json", "why": str(refusal)})
            return _Run(self, session, JsonDialogue(task, limit)).answer()
        except Ended as ended:
            return ended.response


class _Run:
    """The loop over one question."""

    def __init__(self, options: ToolAgent, session: Session, dialogue: Dialogue) -> None:
        self.options, self.session, self.dialogue = options, session, dialogue
        self.sources = session.task.sources
        self.messages = dialogue.begin()
        self.results: list[int] = []  # positions of results in `messages`, oldest first
        self.left = {"steps": options.max_steps, "searches": options.max_searches, "reads": options.max_reads}

    def answer(self) -> Response:
        problem = "no step was taken"
        while self.left["steps"] > 0:
            first = self.left["steps"] == self.options.max_steps
            completion = self.ask(self.left["steps"] == 1, first)
            self.left["steps"] -= 1
            actions = self.dialogue.actions(completion, first)
            self.messages.append(self.dialogue.said(completion))
            if not actions:
                problem = f"{completion.status}: {completion.reason or 'no tool was called'}"
                self.note(completion, problem=problem, text=completion.text[:KEPT_TEXT])
                self.messages.append({"role": "user", "content": f"That was no action ({problem}). {self.budget()}"})
                continue
            for action in actions:
                text, problem = self.act(action)
                self.note(completion, action=action.name, arguments=action.arguments, problem=problem)
                if action.name == "finish" and not problem:
                    return self.session.respond(action.arguments or {})
                self.results.append(len(self.messages))
                self.messages.append(self.dialogue.result(action, f"{text}\n{self.budget()}"))
        return self.session.end("unparsed", f"no final answer within {self.options.max_steps} steps; last: {problem}")

    def ask(self, final: bool, first: bool) -> Completion:
        """Send what was said so far; with `final`, only finish is left to the model."""
        form, closing = self.dialogue.request(final)
        messages = [*self.messages, {"role": "user", "content": closing}] if closing else self.messages
        messages = self.fit(messages, json.dumps([form.get("schema"), form.get("tools")]))
        request = ModelRequest(
            messages=tuple(_merged(messages)), prompt_version=prompts.TOOL_AGENT_VERSION,
            max_tokens=self.options.answer_tokens, temperature=self.options.temperature, seed=self.options.seed,
            repeat=self.options.repeat, **form)
        try:
            return self.session.ask(request)
        except ModelError as error:
            if first and self.dialogue.can_switch and re.search("tool|function", str(error), re.IGNORECASE):
                raise NoTools(f"the endpoint takes no tools: {error}") from error
            raise

    def fit(self, messages: Sequence[dict[str, Any]], fixed: str) -> list[dict[str, Any]]:
        """Return the messages with the oldest results removed until they fit the context window."""
        llm, fitted = self.session.llm, list(messages)
        if llm.context_window is None:
            return fitted
        room = llm.context_window - self.options.answer_tokens - MARGIN - llm.count_tokens(fixed)
        sizes = [llm.count_tokens(message_text(message)) + 6 for message in fitted]
        for position in self.results:
            if sum(sizes) <= room:
                break
            fitted[position] = {**fitted[position], "content": REMOVED}
            sizes[position] = llm.count_tokens(REMOVED) + 6
        if sum(sizes) > room:
            raise Ended(self.session.end(
                "failed", f"the question does not fit the context window of {llm.context_window} tokens beside an "
                f"answer of {self.options.answer_tokens}"))
        return fitted

    def act(self, action: Action) -> tuple[str, str]:
        """Do what the model asked for; return the result as text, and what was wrong (empty when nothing was)."""
        if action.name == "announce":
            return "Give your final answer.", ""
        tools = prompts.agent_tools(self.sources)
        if action.name not in tools:
            problem = f"there is no tool {action.name!r}; the tools are {', '.join(tools)}"
        elif action.arguments is None:
            problem = "the arguments are no JSON object"
        else:
            problem = violation(action.arguments, tools[action.name]["function"]["parameters"])
        if problem or action.name == "finish" or action.arguments is None:
            return f"error: {problem}", problem
        return self.search(**action.arguments) if action.name == "search" else self.read(**action.arguments)

    def search(self, query: str) -> tuple[str, str]:
        query = one_line(query)
        if not query or not self.left["searches"]:
            problem = "no searches left" if query else "the query is empty"
            return f"error: {problem}", problem
        self.left["searches"] -= 1
        return self.show(self.session.search(query, self.options.passages), self.options.passage_characters), ""

    def read(self, paper_id: str, section: str = "") -> tuple[str, str]:
        paper_id = one_line(paper_id)
        try:
            if not self.left["reads"]:
                return "error: no reads left", "no reads left"
            passages = self.session.searcher.read(paper_id)
        except KeyError:
            problem = f"paper {shorten(paper_id, 80)!r} is not among the candidate papers"
            return f"error: {problem}; search to see which papers there are", problem
        except (DataError, OSError) as error:
            raise Ended(self.session.end("failed", f"reading failed: {error}")) from error
        self.left["reads"] -= 1
        sections = merge_passages(passages)
        wanted = one_line(section).casefold()
        chosen = [s for s in sections if wanted in ("", str(s.section), one_line(s.heading).casefold())]
        if not chosen:
            problem = f"paper {paper_id} has no " + (f"section {section[:80]!r}" if sections else "text")
            listed = "; ".join(f"{s.section} ({one_line(s.heading)})" for s in sections)
            return f"error: {problem}" + (f"; its sections are {listed}" if listed else ""), problem
        read_sections = {s.section for s in chosen}
        self.session.note_seen([p for p in passages if p.section in read_sections])
        return self.show(chosen, None, self.options.read_characters), ""

    def show(self, passages: Sequence[Passage], each: int | None, total: int | None = None) -> str:
        """Return passages as fenced lines, each at most `each` characters long and all together `total`."""
        lines, rest = [], total
        for passage in passages:
            text = shorten(shorten(one_line(passage.text), each), rest)
            if text:
                heading = one_line(passage.heading)
                lines.append(f"{passage.paper_id}, section {passage.section} ({heading}): {text}")
                self.session.shown_papers[passage.paper_id] = None
            rest = None if rest is None else max(rest - len(text), 0)
        if not lines:
            return "No passage matches."
        shortened = "\n(shortened: read one section to see more)" if rest == 0 else ""
        return fenced(lines, fence_for(lines)) + shortened

    def budget(self) -> str:
        return "Left: " + ", ".join(f"{count} {name}" for name, count in self.left.items()) + "."

    def note(self, completion: Completion, **details: Any) -> None:
        self.session.steps.append({"step": self.options.max_steps - self.left["steps"], "protocol": self.dialogue.name,
                                   "status": completion.status, **details, "left": dict(self.left)})


def _merged(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with successive ones of the user joined: some chat templates want turns to alternate."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        if merged and message["role"] == merged[-1]["role"] == "user":
            merged[-1] = {"role": "user", "content": f"{merged[-1]['content']}\n{message['content']}"}
        else:
            merged.append(message)
    return merged
