"""How the agent's actions on a review are put into messages: tool calls, or one JSON object a step."""

from __future__ import annotations

from typing import Any

from litsynth.records import Completion
from litsynth.systems import agent_prompts as prompts
from litsynth.systems.agent_tools import AgentCorpusTools
from litsynth.systems.dialogues import Action, JsonDialogue, ToolsDialogue
from litsynth.systems.prompts import action_schema

_WRITTEN = ("ok", "truncated")


class ReviewToolsDialogue(ToolsDialogue):
    """The tool calls of chat completions."""

    def __init__(self, prompt: str, *, can_switch: bool) -> None:
        self.prompt, self.can_switch, self.tools = prompt, can_switch, prompts.agent_tools()

    def begin(self) -> list[dict[str, Any]]:
        """Return the opening messages."""
        return _opening(self.prompt, prompts.TOOLS_RULE)

    def request(self, final: bool) -> tuple[dict[str, Any], str]:
        """Return the tools on offer, and words to close the messages with."""
        return ({"tools": (self.tools["finish"],)}, prompts.LAST_CALL) if final else super().request(final)

    def actions(self, completion: Completion, first: bool) -> list[Action]:
        """Return the actions in a reply; a call of a reply that broke off is none."""
        if completion.status == "truncated":
            return []
        return super().actions(completion, first)


class ReviewJsonDialogue(JsonDialogue):
    """One JSON object a step; to finish is announced first, and the report given in a step of its own.

    Only actions that `tools` still have a budget for are on offer. With `structured` the last step asks for a synthesis
    and the included ones of the articles shown; else for the report as text. `limit` bounds texts, in characters.
    """

    def __init__(self, prompt: str, rule: str, tools: AgentCorpusTools, limit: int | None, *, structured: bool) -> None:
        self.prompt, self.rule, self.tools, self.limit, self.structured = prompt, rule, tools, limit, structured
        self.finishing = False

    def begin(self) -> list[dict[str, Any]]:
        """Return the opening messages."""
        return _opening(self.prompt, self.rule)

    def request(self, final: bool) -> tuple[dict[str, Any], str]:
        """Return the schema of the next reply (none for a report as text), and words to close the messages with."""
        left, shown = self.tools.remaining, self.tools.shown_ids
        offered = [name for name, possible in (("search", left["searches"] != 0),
                                               ("fetch", bool(shown) and left["fetches"] != 0)) if possible]
        self.finishing = final or self.finishing or not offered
        if not self.finishing:
            return {"schema": action_schema((*offered, "finish"), self.limit)}, ""
        if self.structured:
            return {"schema": prompts.decision_schema(shown, self.limit)}, prompts.DECISION_RULE
        return {}, prompts.LAST_TEXT

    def actions(self, completion: Completion, first: bool) -> list[Action]:
        """Return the action in a reply; none when it cannot be read."""
        if self.finishing and not self.structured:
            written = completion.status in _WRITTEN and completion.text.strip()
            return [Action("finish", {"report": completion.text})] if written else []
        if completion.status != "ok":
            return []
        if self.finishing:
            return [Action("finish", completion.parsed)]
        name, argument = completion.parsed["action"], completion.parsed["argument"]
        if name == "finish":
            self.finishing = True
            return [Action("announce", {})]
        if name == "search":
            return [Action(name, {"query": argument})]
        digits = "".join(letter for letter in argument if letter.isascii() and letter.isdigit())
        return [Action(name, {"corpus_id": int(digits[:18]) if digits else argument})]


def _opening(prompt: str, rule: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": f"{prompts.SYSTEM} {rule}"}, {"role": "user", "content": prompt}]
