"""`agent`: the model searches and fetches by itself through task-scoped tools, and hands in a report."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litsynth.errors import DataError, ModelError, ParameterError, unknown_name
from litsynth.llm.fencing import one_line
from litsynth.llm.structured import violation
from litsynth.llm.tokens import message_text
from litsynth.records import Completion, LanguageModel, ModelRequest, Report, Review, Usage
from litsynth.records.results import Status
from litsynth.systems import agent_prompts as prompts
from litsynth.systems import report_text
from litsynth.systems.agent_dialogues import ReviewJsonDialogue, ReviewToolsDialogue
from litsynth.systems.agent_replies import budget_line
from litsynth.systems.agent_tools import AgentCorpusTools, CorpusPermissionError, ToolBudgetError
from litsynth.systems.dialogues import Action, Dialogue, NoTools
from litsynth.systems.session import KEPT_TEXT, WEAK_LIMIT, require_model
from litsynth.systems.tool_agent import MARGIN, PROTOCOLS, REMOVED

ANSWER_TOKENS, WEAK_ANSWER_TOKENS = 4096, 512
_NEVER_FITS = ("not sent:", "the prompt is too long")  # reasons of the model door that no retry changes
_PER_MESSAGE = 6  # tokens of a role and its turn


class _Ended(Exception):
    """The review cannot be carried on; says with which status and why."""

    def __init__(self, status: Status, reason: str, *, text: str = "", retry: bool = False) -> None:
        super().__init__(reason)
        self.status, self.reason, self.text, self.retry = status, reason, text, retry


@dataclass(frozen=True, kw_only=True)
class Agent:
    """Lets the model work on one review with search(query), fetch(corpus_id, section, chunk) and finish(report).

    `review` takes an `AgentCorpusTools` as its searcher: its limits are the budget, which every result ends with,
    beside at most `max_steps` replies of the model. Wrong arguments and forbidden records are answered with what was
    wrong. The last step offers only finish. Old results leave the prompt when the context window gets full.

    `protocol`: tools (chat completions' own), json (one JSON object a step, for models that know no tools), or
    auto: json for models marked weak, else tools, and json after all where the endpoint refuses tools or the first
    reply uses none. A weak model's last answer is a list of included articles and a synthesis, from which the report
    is written. No report within the steps is `unparsed`. `answer_tokens` of None are 4096, or 512 for a weak model.

    The report's candidates are the articles that the searches showed; `details["trace"]` has every step and call.
    """

    name: str = "agent"
    max_steps: int = 30
    answer_tokens: int | None = None
    protocol: str = "auto"
    temperature: float | None = 0.0
    seed: int | None = 0
    repeat: int = 0
    prompt_version: str = field(default=prompts.AGENT_VERSION, init=False)

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise unknown_name("protocol", self.protocol, PROTOCOLS)
        for option in ("max_steps", "answer_tokens"):
            value = getattr(self, option)
            if value is not None and value < 1:
                raise ParameterError(f"{option} = {value}", expected="at least 1", remedy=f"raise `{option}`")

    def review(self, task: Review, searcher: AgentCorpusTools, llm: LanguageModel | None) -> Report:
        """Search, read and write one review's report."""
        model = require_model(self.name, llm)
        if not isinstance(searcher, AgentCorpusTools):
            raise ParameterError(f"system {self.name!r} was given a {type(searcher).__name__} to search with",
                                 expected="AgentCorpusTools(retriever, review, corpus=…)",
                                 remedy="open the tools for each review anew: they hold the state of one task")
        if searcher.review.id != task.id:
            raise ParameterError(f"the tools are of review {searcher.review.id}, the task of review {task.id}",
                                 expected="tools of the same review")
        return _Run(self, task, searcher, model).report()


class _Run:
    """The loop over one review."""

    def __init__(self, options: Agent, task: Review, tools: AgentCorpusTools, llm: LanguageModel) -> None:
        self.options, self.task, self.tools, self.llm = options, task, tools, llm
        self.answer_tokens = options.answer_tokens or (WEAK_ANSWER_TOKENS if llm.weak else ANSWER_TOKENS)
        self.begin, self.usage, self.calls = time.perf_counter(), Usage(), 0
        self.steps: list[Mapping[str, Any]] = []

    def report(self) -> Report:
        """Work until there is a report, or a reason why there is none."""
        prompt = prompts.build_agent_prompt(self.task)
        json_way = ReviewJsonDialogue(prompt, prompts.action_rule(self.task), self.tools,
                                      WEAK_LIMIT if self.llm.weak else None, structured=self.llm.weak)
        uses_tools = self.options.protocol == "tools" or (self.options.protocol == "auto" and not self.llm.weak)
        try:
            if uses_tools:
                try:
                    return self._handed_in(self._loop(ReviewToolsDialogue(
                        prompt, can_switch=self.options.protocol == "auto")))
                except NoTools as refusal:
                    self.steps.append({"kind": "switch", "to": "json", "why": str(refusal)})
            return self._handed_in(self._loop(json_way))
        except _Ended as ended:
            return self._ended(ended.status, ended.text, ended.reason, retry=ended.retry)

    def _loop(self, dialogue: Dialogue) -> Mapping[str, Any]:
        """Return the arguments of the model's finish: a report, or a synthesis and the included IDs."""
        self.dialogue, self.messages, self.left = dialogue, dialogue.begin(), self.options.max_steps
        self.results: list[int] = []  # positions of results in `messages`, oldest first
        problem = "no step was taken"
        while self.left > 0:
            first, final = self.left == self.options.max_steps, self.left == 1
            completion = self._ask(final, first)
            self.left -= 1
            written = self._written_outright(completion, final)
            if written is not None:
                self._note(completion, action="report")
                return written
            actions = self.dialogue.actions(completion, first)
            self.messages.append(self.dialogue.said(completion))
            if not actions:
                problem = f"{completion.status}: {completion.reason or 'no tool was called'}"
                self._note(completion, problem=problem, text=completion.text[:KEPT_TEXT])
                self._tell(f"That was no action ({problem}). {self._budget()}")
            for number, action in enumerate(actions):
                # The steps of one reply: what it cost stands with its first action.
                asked = completion if number == 0 else None
                position = len(self.steps)
                text, problem = self._act(action)
                self._note(asked, position, action=action.name, arguments=_plain(action.arguments), problem=problem)
                if action.name == "finish" and not problem and action.arguments is not None:
                    return action.arguments
                self.results.append(len(self.messages))
                self.messages.append(self.dialogue.result(action, text))
        partial = completion.text if completion.status == "truncated" else ""
        raise _Ended("unparsed", f"no report within {self.options.max_steps} steps; last: {problem}", text=partial)

    def _written_outright(self, completion: Completion, final: bool) -> Mapping[str, Any] | None:
        """Return the report that a model wrote as plain text instead of calling finish with it."""
        if self.dialogue.name != "tools" or completion.status != "ok" or completion.tool_calls:
            return None
        whole = report_text.FINAL_HEADING.strip("# ").casefold() in completion.text.casefold()
        return {"report": completion.text} if whole or (final and completion.text.strip()) else None

    def _ask(self, final: bool, first: bool) -> Completion:
        """Send what was said so far; with `final`, only finish is left to the model."""
        form, closing = self.dialogue.request(final)
        messages = self._fit(_closed(self.messages, closing), json.dumps([form.get("schema"), form.get("tools")]))
        request = ModelRequest(messages=tuple(messages), prompt_version=self.options.prompt_version,
                               max_tokens=self.answer_tokens, temperature=self.options.temperature,
                               seed=self.options.seed, repeat=self.options.repeat, **form)
        try:
            completion = self.llm.complete(request)
        except ModelError as error:
            if first and self.dialogue.can_switch and re.search("tool|function", str(error), re.IGNORECASE):
                raise NoTools(f"the endpoint takes no tools: {error}") from error
            raise
        self.calls, self.usage = self.calls + 1, self.usage + completion.usage
        if completion.status in ("failed", "filtered"):
            self._note(completion, problem=completion.reason)
            failed = completion.status == "failed"
            # What a content filter withholds stays in the denominators: the filter is part of the system under test.
            raise _Ended("failed" if failed else "unparsed",
                         f"model call {completion.status}: {completion.reason}".rstrip(": "),
                         retry=failed and not completion.reason.startswith(_NEVER_FITS))
        return completion

    def _fit(self, messages: Sequence[dict[str, Any]], fixed: str) -> list[dict[str, Any]]:
        """Return the messages with the oldest results removed until they fit the context window."""
        fitted, window = list(messages), self.llm.context_window
        if window is None:
            return fitted
        room = window - self.answer_tokens - MARGIN - self.llm.count_tokens(fixed)
        sizes = [self.llm.count_tokens(message_text(message)) + _PER_MESSAGE for message in fitted]
        for position in self.results[:-1]:
            if sum(sizes) <= room:
                break
            fitted[position] = {**fitted[position], "content": REMOVED}
            sizes[position] = self.llm.count_tokens(REMOVED) + _PER_MESSAGE
        if sum(sizes) > room:
            raise _Ended("failed", f"the task and the latest result of about {sum(sizes)} tokens do not fit the "
                                   f"context window of {window} beside an answer of {self.answer_tokens}; a smaller k, "
                                   "search_abstract_characters or fetch_characters makes results shorter")
        return fitted

    def _act(self, action: Action) -> tuple[str, str]:
        """Do what the model asked for; return the result as text, and what was wrong (empty when nothing was)."""
        if action.name == "announce":
            return f"Give your final answer. {self._budget()}", ""
        tools, problem = prompts.agent_tools(), ""
        if action.name not in tools:
            problem = f"there is no tool {action.name!r}; the tools are {', '.join(tools)}"
        elif action.arguments is None:
            problem = "the arguments are no JSON object"
        elif action.name == "finish":
            if "report" in action.arguments or self.dialogue.name == "tools":
                problem = violation(action.arguments, tools["finish"]["function"]["parameters"])
                if not problem and not str(action.arguments["report"]).strip():
                    problem = "the report is empty"
        else:
            problem = violation(action.arguments, tools[action.name]["function"]["parameters"])
        if problem or action.name == "finish" or action.arguments is None:
            return f"error: {problem}\n{self._budget()}", problem
        return self._use(action.name, action.arguments)

    def _use(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
        call = self.tools.search if tool == "search" else self.tools.fetch
        before = len(self.tools.trace)
        try:
            text, problem = call(**arguments).as_text(steps=self.left), ""
        except (ParameterError, CorpusPermissionError, ToolBudgetError) as error:
            text, problem = f"error: {error}\n{self._budget()}", str(error)
        except (DataError, OSError) as error:
            raise _Ended("failed", f"{tool} failed: {error}") from error
        finally:
            self.steps += [{"kind": "tool", **step} for step in self.tools.trace[before:]]
        return text, problem

    def _tell(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def _budget(self) -> str:
        return budget_line(self.tools.remaining, steps=self.left)

    def _note(self, completion: Completion | None, position: int | None = None, **details: Any) -> None:
        """Put a step of the model into the trace, before the calls that it made (from `position` on)."""
        spent: dict[str, Any] = {} if completion is None else {
            "status": completion.status, "cached": completion.cached, "seconds": round(completion.seconds, 3),
            "prompt_tokens": completion.usage.prompt_tokens, "completion_tokens": completion.usage.completion_tokens}
        step = {"kind": "model", "step": self.options.max_steps - self.left, "protocol": self.dialogue.name, **spent,
                **details}
        self.steps.insert(len(self.steps) if position is None else position, step)

    def _handed_in(self, answer: Mapping[str, Any]) -> Report:
        if "report" in answer:
            if self.dialogue.name == "json" and self.steps[-1].get("status") == "truncated":
                return self._ended("unparsed", str(answer["report"]), "the report broke off at the answer's limit")
            return self._ended("scored", str(answer["report"]), "")
        chosen = set(answer.get("included", ()))
        included = [candidate for candidate in self.tools.candidates() if candidate.corpus_id in chosen]
        lines = [report_text.escape(line) for line in report_text.protocol_lines(self.task)]
        return self._ended("scored", "\n".join((
            "# Report", "", "## Protocol", "", *(f"- {line}" for line in lines), "", "## Synthesis", "",
            report_text.escape_title(one_line(answer["synthesis"])) or "Nothing was written.", "",
            report_text.final_list(included))), "")

    def _ended(self, status: Status, text: str, reason: str, *, retry: bool = False) -> Report:
        details = {"prompt_version": self.options.prompt_version, "retry": retry, "calls": self.calls,
                   "protocol": getattr(self, "dialogue", None) and self.dialogue.name, "tools": self.tools.describe(),
                   "fetched_ids": list(self.tools.fetched_ids), "max_steps": self.options.max_steps,
                   "trace": tuple(self.steps)}
        return Report(self.task.id, self.options.name, self.tools.mode, text, self.tools.candidates(),
                      query=self.tools.query, model=self.llm.name, usage=self.usage,
                      seconds=time.perf_counter() - self.begin, status=status, reason=reason, details=details)


def _closed(messages: Sequence[dict[str, Any]], closing: str) -> list[dict[str, Any]]:
    """Return the messages with closing words, joined to a last one of the user (templates want turns)."""
    if not closing:
        return list(messages)
    if messages[-1]["role"] == "user":
        return [*messages[:-1], {"role": "user", "content": f"{messages[-1]['content']}\n{closing}"}]
    return [*messages, {"role": "user", "content": closing}]


def _plain(arguments: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return arguments as the trace keeps them: a report is kept in the report, not twice."""
    if arguments is None or "report" not in arguments:
        return arguments
    return {"report": f"({len(str(arguments['report']))} characters)"}
