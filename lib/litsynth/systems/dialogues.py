"""How a tool-using model's actions and their results are put into messages: tool calls, or one JSON object a step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from litsynth.llm.fencing import one_line
from litsynth.records import Completion, QuestionTask
from litsynth.systems import prompts

_READABLE = ("ok", "unparsed")  # a reply of a tool call alone may have no readable text


class NoTools(Exception):
    """The model or its endpoint does not work with tools."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that the model wants done; `arguments` is None when they were unreadable.

    `announce` is the wish to finish of a model that gives its answer in the next step.
    """

    name: str
    arguments: Mapping[str, Any] | None
    id: str = ""


class Dialogue(Protocol):
    """One way of talking about actions."""

    name: str
    can_switch: bool  # whether another way may be tried when the model cannot follow this one

    def begin(self) -> list[dict[str, Any]]:
        """Return the opening messages."""
        ...

    def request(self, final: bool) -> tuple[dict[str, Any], str]:
        """Return the request's schema or tools, and words to close the messages with (may be empty)."""
        ...

    def actions(self, completion: Completion, first: bool) -> list[Action]:
        """Return the actions in a reply; none when it cannot be read."""
        ...

    def said(self, completion: Completion) -> dict[str, Any]:
        """Return the model's reply as a message."""
        ...

    def result(self, action: Action, text: str) -> dict[str, Any]:
        """Return the result of an action as a message."""
        ...


class ToolsDialogue:
    """The tool calls of chat completions."""

    name = "tools"

    def __init__(self, task: QuestionTask, *, can_switch: bool) -> None:
        self.task, self.can_switch = task, can_switch
        self.tools = prompts.agent_tools(task.sources)

    def begin(self) -> list[dict[str, Any]]:
        return _opening(self.task, "Call a tool at every step; end with finish.")

    def request(self, final: bool) -> tuple[dict[str, Any], str]:
        if final:
            return {"tools": (self.tools["finish"],)}, "This is the last step: call finish."
        return {"tools": tuple(self.tools.values())}, ""

    def actions(self, completion: Completion, first: bool) -> list[Action]:
        if first and self.can_switch and completion.status in _READABLE and not completion.tool_calls:
            raise NoTools("the first reply used no tool")
        if completion.status not in _READABLE:
            return []
        return [Action(call.name, call.arguments, call.id) for call in completion.tool_calls]

    def said(self, completion: Completion) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": completion.text}
        if completion.tool_calls and completion.status in _READABLE:
            # Servers read the arguments of earlier calls again, and some stop at what is no JSON.
            message["tool_calls"] = [
                {"id": call.id, "type": "function",
                 "function": {"name": call.name, "arguments": json.dumps(call.arguments or {}, ensure_ascii=False)}}
                for call in completion.tool_calls]
        return message

    def result(self, action: Action, text: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": action.id, "content": text}


class JsonDialogue:
    """One JSON object a step; to finish is announced first, and the answer given in a step of its own."""

    name = "json"
    can_switch = False

    def __init__(self, task: QuestionTask, limit: int | None) -> None:
        self.task, self.limit, self.finishing = task, limit, False

    def begin(self) -> list[dict[str, Any]]:
        return _opening(self.task, prompts.ACTION_RULE)

    def request(self, final: bool) -> tuple[dict[str, Any], str]:
        self.finishing = final or self.finishing
        if self.finishing:
            form = {"schema": prompts.findings_schema(self.task.sources, self.limit)}
            return form, f"This is the last step. {prompts.FINDINGS_RULE[self.task.sources]}"
        return {"schema": prompts.action_schema(("search", "read", "finish"), self.limit)}, ""

    def actions(self, completion: Completion, first: bool) -> list[Action]:
        if completion.status != "ok":
            return []
        if self.finishing:
            return [Action("finish", completion.parsed)]
        name, argument = completion.parsed["action"], completion.parsed["argument"]
        if name == "finish":
            self.finishing = True
            return [Action("announce", {})]
        return [Action(name, {"query": argument} if name == "search" else {"paper_id": argument})]

    def said(self, completion: Completion) -> dict[str, Any]:
        return {"role": "assistant", "content": completion.text or "(nothing)"}

    def result(self, action: Action, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}


def _opening(task: QuestionTask, rule: str) -> list[dict[str, Any]]:
    system = " ".join((prompts.TASKS[task.sources], prompts.AGENT_BUDGET_RULE, prompts.AGENT_DATA_RULE, rule))
    return [{"role": "system", "content": system},
            {"role": "user", "content": f"Question: {one_line(task.text)}"}]
