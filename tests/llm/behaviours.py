"""The behaviours of endpoints: what a server does, what the client does about it, and what is recorded.

Each row is a test (`test_endpoint_behaviours.py`) and a line of the table in `book/endpoints.md`, which a test
compares with this one. Run as a script, it prints that table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stub_server import CANARY, Reply, answer, ask, error

from litsynth.records import Completion, ModelRequest

SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["verdict"],
    "properties": {"verdict": {"type": "string"}, "grade": {"type": "number"}},
}
GOOD = '{"verdict": "yes"}'
LONG_PROMPT = "word " * 2000
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}


@dataclass(frozen=True)
class Behaviour:
    """One row: `server` and `client` are the table's words, the other fields what the test holds them to.

    `status` is a completion's, or `refused` for an error that stops the run; `reason` stands in its reason or message.
    """

    name: str
    server: str
    client: str
    replies: Sequence[Reply] | Callable[[dict[str, Any], int], Reply]
    calls: int
    status: str = "ok"
    reason: str = ""
    request: ModelRequest = field(default_factory=ask)
    profile: dict[str, Any] = field(default_factory=dict)
    check: Callable[[Completion], object] = bool


def structured(**fields: Any) -> ModelRequest:
    """Return a request with a schema."""
    return ask(schema=SCHEMA, **fields)


def unless(present: Callable[[dict[str, Any]], bool], refusal: Reply, then: Reply) -> Callable[..., Reply]:
    """Return a behaviour that refuses bodies of which `present` is true."""
    return lambda body, number: refusal if present(body) else then


def _call(arguments: Any) -> list[dict[str, Any]]:
    return [{"id": "t1", "type": "function", "function": {"name": "search", "arguments": arguments}}]


def _format_refused(body: dict[str, Any], number: int) -> Reply:
    kind = body.get("response_format", {}).get("type")
    if kind == "json_schema":
        return error(400, "'response_format' of type 'json_schema' is not supported with this model.")
    if kind == "json_object":
        return error(400, "'response_format.type' must be 'json_schema' or 'text'")
    return answer(GOOD)


FAILURES = [
    Behaviour("plain", "answers", "keeps the answer", [answer("fine")], 1,
              check=lambda c: c.text == "fine" and c.usage.cost == (1000 * 1 + 7 * 2) / 1e6),
    Behaviour("rate_limit", "429 with Retry-After, then answers", "waits as long as asked, sends again",
              [error(429, "slow down", headers={"Retry-After": "0.1"}), answer()], 2),
    Behaviour("rate_limit_long", "429 that asks for an hour, then answers", "waits at most `max_wait`, sends again",
              [error(429, "slow down", headers={"Retry-After": "3600"}), answer()], 2),
    Behaviour("quota", "429: quota used up", "stops the run at once and says to add credit",
              [error(429, "You exceeded your current quota", code="insufficient_quota")], 1, "refused", "quota"),
    Behaviour("payment", "402: payment required", "stops the run at once and says to add credit",
              [error(402, "add funds")], 1, "refused", "quota"),
    Behaviour("bad_key", "401: wrong key", "stops the run at once and names the key's variable as the place to look",
              [error(401, f"Incorrect API key provided: {CANARY}")], 1, "refused", "[key hidden]"),
    Behaviour("forbidden", "403", "stops the run at once", [error(403, "no access")], 1, "refused", "key was refused"),
    Behaviour("errors_pass", "500, then 503, then answers", "sends again after growing waits with jitter",
              [error(500, "oops"), error(503, "overloaded"), answer()], 3),
    Behaviour("errors_stay", "500 for ever", "gives up after `max_retries` more tries; a rerun asks again",
              [error(500, "oops")], 4, "failed", "HTTP 500"),
    Behaviour("timeout", "silence beyond the time limit, then answers", "drops the connection, sends again",
              [Reply(delay=1.0), answer()], 2, profile={"timeout": 0.3}),
    Behaviour("reset", "resets the connection, then answers", "sends again", [Reply(reset=True), answer()], 2),
    Behaviour("body_cut", "an answer whose body breaks off, then answers", "sends again",
              [Reply(answer("x" * 500).body, cut=True), answer()], 2),
    Behaviour("half_json", "a whole body that is half a JSON text, then answers", "sends again",
              [Reply(answer().content()[:60]), answer()], 2),
    Behaviour("web_page", "a web page with status 200", "tries again, then gives up and doubts the base URL",
              [Reply("<html><body>Sign in</body></html>", content_type="text/html")], 4, "failed", "a web page"),
    Behaviour("error_page", "502 with a web page, then answers", "sends again; the page's text would be the reason",
              [Reply("<html><h1>Bad gateway</h1></html>", 502, content_type="text/html"), answer()], 2),
    Behaviour("content_type", "a right answer called text/plain", "reads it as JSON",
              [Reply(answer("fine").body, content_type="text/plain")], 1, check=lambda c: c.text == "fine"),
    Behaviour("error_in_200", "status 200 with an error object, then answers", "treats it as the error it is",
              [Reply({"error": {"code": 429, "message": "busy"}}), answer()], 2),
    Behaviour("no_choice", "no choices, then answers", "sends again", [Reply({"choices": []}), answer()], 2),
    Behaviour("no_model", "404: no such model", "stops the run at once and says what to correct",
              [error(404, "model 'x' not found")], 1, "refused", "knows no model"),
    Behaviour("bad_request", "400 for another reason", "stops the run at once and repeats what the server said",
              [error(400, "messages[0] is odd")], 1, "refused", "messages[0] is odd"),
    Behaviour("too_long", "400: context length exceeded", "records it for this request alone; the run goes on",
              [error(400, "maximum context length is 8192 tokens", code="context_length_exceeded")], 1, "failed",
              "the prompt is too long"),
    Behaviour("window", "(a prompt that cannot fit the profile's context window)", "sends nothing", [answer()], 0,
              "failed", "does not fit", ask(LONG_PROMPT), {"context_window": 1000}),
    Behaviour("cut_prompt", "answers, but has read far fewer tokens than the prompt has",
              "does not use the answer: it is one to another question", [answer()], 1, "failed", "cut the prompt",
              ask(LONG_PROMPT)),
]

PARAMETERS = [
    Behaviour("temperature", "400: only the default temperature", "drops `temperature`, remembers it for this model",
              unless(lambda body: "temperature" in body, error(
                  400, "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) "
                  "value is supported.", param="temperature", code="unsupported_value"), answer()), 2,
              check=lambda c: "temperature" not in c.sent and c.sent["seed"] == 0),
    Behaviour("max_tokens", "400: use max_completion_tokens", "renames `max_tokens`, remembers it",
              unless(lambda body: "max_tokens" in body, error(
                  400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                  "'max_completion_tokens' instead."), answer()), 2,
              check=lambda c: c.sent["max_completion_tokens"] == 100 and "max_tokens" not in c.sent),
    Behaviour("seed", "422: extra field `seed`", "drops `seed`, remembers it",
              unless(lambda body: "seed" in body, Reply(
                  {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, 422), answer()), 2,
              check=lambda c: "seed" not in c.sent),
    Behaviour("all_parameters", "refuses `seed`, `temperature` and `max_tokens`, one after the other",
              "drops or renames each",
              unless(lambda body: bool({"seed", "temperature", "max_tokens"} & set(body)),
                     error(400, "unknown arguments among seed, temperature, max_tokens"), answer()), 4,
              check=lambda c: set(c.sent) == {"model", "messages", "max_completion_tokens"}),
    Behaviour("limit_too_large", "400: max_tokens is larger than the model can write",
              "does not drop the limit behind the user's back: stops and says what to change",
              [error(400, "max_tokens is too large: 100. This model supports at most 50 completion tokens.")], 1,
              "refused", "max_tokens is too large"),
    Behaviour("never_sent", "(a profile that names parameters to leave out)", "never sends them", [answer()], 1,
              profile={"rejects": ("temperature", "seed")},
              check=lambda c: not {"temperature", "seed"} & set(c.sent)),
    Behaviour("system_role", "400: the chat template knows no system role",
              "puts system text before the first question",
              unless(lambda body: body["messages"][0]["role"] == "system", error(400, "System role not supported"),
                     answer()), 2,
              request=ask(messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]),
              check=lambda c: c.sent["messages"] == [{"role": "user", "content": "Be brief.\n\nWhy?"}]),
    Behaviour("no_schema", "refuses `json_schema`, takes `json_object`", "asks by `json_object`, schema in the prompt",
              unless(lambda body: body.get("response_format", {}).get("type") == "json_schema",
                     error(400, "response_format json_schema is not supported"), answer(GOOD)), 2, request=structured(),
              check=lambda c: c.sent["response_format"] == {"type": "json_object"} and c.parsed == {"verdict": "yes"}),
    Behaviour("no_format", "refuses `json_schema` and `json_object`", "asks by the prompt alone", _format_refused, 3,
              request=structured(),
              check=lambda c: "response_format" not in c.sent and "verdict" in c.sent["messages"][0]["content"]),
    Behaviour("format_ignored", "ignores the schema: prose around a fenced object", "finds the object, validates it",
              [answer(f"Certainly!\n```json\n{GOOD}\n```\nAnything else?")], 1, request=structured(),
              check=lambda c: c.parsed == {"verdict": "yes"}),
]

THINKING = [
    Behaviour("think_tags", "thinks between tags before the answer", "keeps the thinking apart",
              [answer(f"<think>Is {{}} it?</think>\n{GOOD}")], 1, request=structured(),
              check=lambda c: c.reasoning == "Is {} it?" and c.parsed == {"verdict": "yes"} and c.text == GOOD),
    Behaviour("think_unopened", "a closing tag without an opening one", "takes what stands before it as thinking",
              [answer("Let me see.</think>Yes.")], 1, check=lambda c: (c.reasoning, c.text) == ("Let me see.", "Yes.")),
    Behaviour("reasoning_field", "thinking in `reasoning_content`", "keeps it apart",
              [answer("Yes.", reasoning_content="Let me see.")], 1,
              check=lambda c: (c.reasoning, c.text) == ("Let me see.", "Yes.")),
    Behaviour("reasoning_alone", "empty content, thinking only, finish reason stop", "passes nothing off as an answer",
              [answer("", reasoning_content="The verdict is yes")], 1, "unparsed", "empty after the thinking",
              check=lambda c: c.text == "" and c.reasoning == "The verdict is yes"),
    Behaviour("thinking_used_up", "thinking uses the whole budget, a larger one suffices",
              "raises the budget once, fourfold; both calls are charged",
              lambda body, number: answer("", finish="length", reasoning_content="Hmm") if body["max_tokens"] == 100
              else answer("Yes."), 2, reason="raised once",
              check=lambda c: c.sent["max_tokens"] == 400 and c.usage.prompt_tokens == 2000),
    Behaviour("thinking_endless", "thinking uses the raised budget too", "tries no third time",
              [answer("<think>Hmm and hmm", finish="length")], 2, "truncated", "before the answer",
              check=lambda c: c.text == "" and c.reasoning == "Hmm and hmm"),
    Behaviour("content_parts", "content as a list of thinking and text parts",
              "takes the text, keeps the thinking apart",
              [answer([{"type": "thinking", "thinking": [{"type": "text", "text": "Hmm"}]},  # type: ignore[arg-type]
                       {"type": "text", "text": "Yes."}])], 1,
              check=lambda c: (c.reasoning, c.text) == ("Hmm", "Yes.")),
]

ANSWERS = [
    Behaviour("cut_answer", "finish reason length within the object", "never completes it",
              [answer('{"verdict": "y', finish="length")], 1, "truncated", "within the answer", structured(),
              check=lambda c: c.parsed is None),
    Behaviour("cut_silently", "an object that breaks off with finish reason stop", "never completes it",
              [answer('{"inner": {"verdict": "yes"}, "ver')], 1, "unparsed", "cut off", structured(),
              check=lambda c: c.parsed is None),
    Behaviour("backticks", "code fences within a string of the object", "reads the object by its own grammar",
              [answer("```json\n" + json.dumps({"verdict": "use ```x``` {here}"}) + "\n```")], 1, request=structured(),
              check=lambda c: c.parsed == {"verdict": "use ```x``` {here}"}),
    Behaviour("violation", "an object that breaks the schema", "says where", [answer('{"verdict": 3}')], 1, "unparsed",
              "verdict: 3 is not of type 'string'", structured()),
    Behaviour("doubled_key", "an object with the same key twice", "does not choose one",
              [answer('{"verdict": "yes", "verdict": "no"}')], 1, "unparsed", "stands twice", structured()),
    Behaviour("not_a_number", "NaN in the object", "takes it for no JSON",
              [answer('{"verdict": "yes", "grade": NaN}')], 1, "unparsed", "NaN is not JSON", structured()),
    Behaviour("two_objects", "two different valid objects", "does not choose one",
              [answer('First {"verdict": "yes"}, no: {"verdict": "no"}')], 1, "unparsed", "two different",
              structured()),
    Behaviour("same_twice", "the same valid object twice", "takes it", [answer(f"{GOOD}\n{GOOD}")], 1,
              request=structured(), check=lambda c: c.parsed == {"verdict": "yes"}),
    Behaviour("deep", "brackets nested a hundred thousand deep", "does not break", [answer("[" * 100_000)], 1,
              "unparsed", "", structured()),
    Behaviour("byte_order_mark", "a byte order mark before reply and object", "passes it over",
              [Reply(b"\xef\xbb\xbf" + answer("\ufeff" + GOOD).content())], 1, request=structured(),
              check=lambda c: c.parsed == {"verdict": "yes"}),
    Behaviour("half_character", "half of a surrogate pair", "replaces it, since no file can take it",
              [answer("caf\u00e9 \ud83d \u4e2d")], 1,
              check=lambda c: c.text.startswith("caf\u00e9 ") and "\ud83d" not in c.text),
    Behaviour("very_long", "a megabyte of answer", "keeps it whole", [answer("a" * 1_000_000)], 1,
              check=lambda c: len(c.text) == 1_000_000),
    Behaviour("null_content", "content null, finish reason stop", "does not take it for a refusal",
              [answer(None)], 1, "unparsed", "the answer is empty"),
    Behaviour("filtered", "finish reason content_filter", "records that it was withheld",
              [answer("", finish="content_filter")], 1, "filtered", "content filter"),
    Behaviour("filtered_request", "400: content policy", "records that it was withheld; the run goes on",
              [error(400, "The response was filtered", code="content_filter")], 1, "filtered", "withheld"),
    Behaviour("declined", "the `refusal` field instead of content", "records that the model declined",
              [answer(None, refusal="I cannot help with that.")], 1, "filtered", "declined", structured()),
    Behaviour("no_usage", "no `usage`", "estimates the tokens and says so; the cost is unknown, not 0",
              [answer(usage=None)], 1, check=lambda c: c.usage.estimated and c.usage.cost is None
              and c.usage.prompt_tokens > 0 and c.usage.completion_tokens > 0),
    Behaviour("odd_usage", "`usage` with texts and negative numbers", "estimates the tokens and says so",
              [answer(usage={"prompt_tokens": "many", "completion_tokens": -1})], 1, check=lambda c: c.usage.estimated),
    Behaviour("tool_call", "a tool call", "hands its arguments on", [answer(None, finish="tool_calls", tool_calls=_call(
        '{"query": "aspirin"}'))], 1, request=ask(tools=[TOOL]),
              check=lambda c: c.tool_calls[0].arguments == {"query": "aspirin"} and c.tool_calls[0].name == "search"),
    Behaviour("tool_call_broken", "a tool call whose arguments are no JSON", "hands on the raw text, arguments None",
              [answer(None, finish="tool_calls", tool_calls=_call('{"query": "asp'))], 1, request=ask(tools=[TOOL]),
              check=lambda c: c.tool_calls[0].arguments is None and c.tool_calls[0].raw_arguments == '{"query": "asp'),
    Behaviour("choices", "two choices, in the wrong order", "uses the one with index 0",
              [Reply({"choices": [{"index": 1, "finish_reason": "stop", "message": {"content": "b"}},
                                  {"index": 0, "finish_reason": "stop", "message": {"content": "a"}}]})], 1,
              reason="2 choices", check=lambda c: c.text == "a"),
    Behaviour("other_model", "names another model than was asked for", "records both names",
              [answer("fine")], 1, check=lambda c: c.model == "stub-model" and c.sent["model"] != c.model),
    Behaviour("key_in_answer", "repeats the key in its answer", "hides it", [answer(f"Your key is {CANARY}.")], 1,
              check=lambda c: c.text == "Your key is [key hidden]."),
]

BEHAVIOURS = [*FAILURES, *PARAMETERS, *THINKING, *ANSWERS]


def markdown_table() -> str:
    """Return the table of `book/endpoints.md`."""
    lines = ["| # | The server | The client | Sent | Recorded |", "|---|---|---|---|---|"]
    for number, row in enumerate(BEHAVIOURS, start=1):
        said = f": … {row.reason} …" if row.reason else ""
        lines.append(f"| {number} | {row.server} | {row.client} | {row.calls} | {row.status}{said} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown_table())  # noqa: T201
