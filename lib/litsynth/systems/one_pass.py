"""`one_pass`: one prompt with the protocol and all candidates, one report with its final list."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from litsynth.errors import ParameterError, unknown_name
from litsynth.llm.fencing import fence_for, one_line
from litsynth.records import Candidate, Completion, LanguageModel, ModelRequest, Report, Review
from litsynth.systems import report_text
from litsynth.systems import review_prompts as prompts
from litsynth.systems.candidates import ReviewSearcher
from litsynth.systems.session import WEAK_LIMIT, require_model

TRUNCATIONS = ("none", "abstracts", "candidates")
MARGIN = 48  # tokens left free for what a chat template adds
ANSWER_TOKENS, WEAK_ANSWER_TOKENS = 4096, 512
_PER_MESSAGE = 6  # tokens of a role and its turn
_NEVER_FITS = ("not sent:", "the prompt is too long")  # reasons of the model door that no retry changes


@dataclass(frozen=True, slots=True)
class Truncation:
    """What of the candidates did not reach the model: the record that goes into every result.

    `limit` is the length in characters after which abstracts were cut (None: not cut).
    """

    mode: str
    shown: int
    dropped: int = 0
    limit: int | None = None
    abstracts_cut: int = 0
    characters_cut: int = 0
    prompt_tokens: int = 0
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class _Prompt:
    messages: tuple[dict[str, str], ...]
    candidates: tuple[Candidate, ...]
    fence: str
    truncation: Truncation
    schema: dict[str, Any] | None = None


class _DoesNotFit(Exception):
    """The prompt is larger than the context window and may not be cut (any more)."""


@dataclass(frozen=True, kw_only=True)
class OnePass:
    """Puts protocol and candidates into one prompt and takes the report that comes back.

    Before sending, the prompt is held against the model's context window beside an answer of `answer_tokens` (None:
    4096, or 512 for models marked weak). What does not fit ends in `failed`, or is cut as `truncate` says: abstracts,
    all after the same number of characters; or candidates, from the end of the list. `abstract_characters` cuts
    abstracts in any case. Every cut is told to the model and recorded in `details["truncation"]`; candidates that were
    dropped are no candidates of the report.

    `structured` asks for a decision on each candidate and a synthesis as a JSON object and writes the report from them
    (None: for models marked weak only, which do not keep to a form otherwise). An answer that broke off or cannot be
    read ends in `unparsed`.
    """

    name: str = "one_pass"
    top_k: int = 200
    truncate: str = "none"
    abstract_characters: int | None = None
    answer_tokens: int | None = None
    structured: bool | None = None
    temperature: float | None = 0.0
    seed: int | None = 0
    repeat: int = 0
    prompt_version: str = field(default=prompts.ONE_PASS_VERSION, init=False)

    def __post_init__(self) -> None:
        if self.truncate not in TRUNCATIONS:
            raise unknown_name("truncation", str(self.truncate), TRUNCATIONS)
        for option, least in (("top_k", 1), ("abstract_characters", 0), ("answer_tokens", 1)):
            value = getattr(self, option)
            if value is not None and value < least:
                raise ParameterError(f"{option} = {value}", expected=f"at least {least}", remedy=f"raise `{option}`")

    def review(self, task: Review, searcher: ReviewSearcher, llm: LanguageModel | None) -> Report:
        """Write one review's report from its candidates."""
        begin = time.perf_counter()
        model = require_model(self.name, llm)
        found = searcher.candidates(self.top_k)
        report = Report(task.id, self.name, searcher.mode, "", found, query=searcher.query, model=model.name)
        try:
            prompt = self._fitting(task, found, model)
        except _DoesNotFit as error:
            return replace(report, status="failed", reason=str(error),
                           details={"prompt_version": self.prompt_version, "retry": False})
        completion = model.complete(ModelRequest(
            messages=prompt.messages, prompt_version=self.prompt_version, schema=prompt.schema,
            max_tokens=self._answer_tokens(model), temperature=self.temperature, seed=self.seed, repeat=self.repeat))
        details = {"prompt_version": self.prompt_version, "fence": prompt.fence,
                   "truncation": asdict(prompt.truncation), "structured": prompt.schema is not None,
                   "completion": completion.status, "retry": False}
        report = replace(report, candidates=prompt.candidates, usage=completion.usage, details=details,
                         seconds=time.perf_counter() - begin)
        return self._ended(report, completion, task, structured=prompt.schema is not None)

    def _ended(self, report: Report, completion: Completion, task: Review, *, structured: bool) -> Report:
        """Put what the model answered, or why it did not, into the report."""
        if completion.status == "ok":
            text = _written(task, completion.parsed, report.candidates) if structured else completion.text
            return replace(report, text=text)
        reason = f"model call {completion.status}: {completion.reason}".rstrip(": ")
        if completion.status == "failed":
            again = not completion.reason.startswith(_NEVER_FITS)
            return replace(report, status="failed", reason=reason, details={**report.details, "retry": again})
        return replace(report, status="unparsed", text=completion.text, reason=reason)

    def _answer_tokens(self, llm: LanguageModel) -> int:
        return self.answer_tokens or (WEAK_ANSWER_TOKENS if llm.weak else ANSWER_TOKENS)

    def _fitting(self, task: Review, found: Sequence[Candidate], llm: LanguageModel) -> _Prompt:
        """Return the prompt, cut where that is allowed and needed; raises `_DoesNotFit`."""
        whole = self._prompt(task, found, self.abstract_characters, llm, requested=len(found))
        if self._fits(whole, llm):
            return whole
        if self.truncate == "abstracts":
            longest = max((len(one_line(c.abstract)) for c in found), default=0)
            top = min(longest, longest if self.abstract_characters is None else self.abstract_characters)
            cut = self._largest(top, lambda limit: self._prompt(task, found, limit, llm, requested=len(found)), llm)
        elif self.truncate == "candidates":
            cut = self._largest(len(found), lambda count: self._prompt(
                task, found[:count], self.abstract_characters, llm, requested=len(found)), llm)
        else:
            cut = None
        if cut is None or not cut.candidates:
            raise _DoesNotFit(
                f"the prompt of about {whole.truncation.prompt_tokens} tokens with {len(found)} candidates does not "
                f"fit the context window of {llm.context_window} beside an answer of {self._answer_tokens(llm)}"
                + ("; truncate=abstracts or truncate=candidates cuts it, and says so" if self.truncate == "none"
                   else f", even with {self.truncate} cut"))
        return cut

    def _largest(self, top: int, build: Any, llm: LanguageModel) -> _Prompt | None:
        """Return the prompt for the largest number up to `top` that fits, None when not even 0 does."""
        low, high, best = 0, top, None
        while low <= high:
            middle = (low + high) // 2
            prompt = build(middle)
            if self._fits(prompt, llm):
                best, low = prompt, middle + 1
            else:
                high = middle - 1
        return best

    def _fits(self, prompt: _Prompt, llm: LanguageModel) -> bool:
        needed = prompt.truncation.prompt_tokens + self._answer_tokens(llm) + MARGIN
        return llm.context_window is None or needed <= llm.context_window

    def _prompt(self, task: Review, candidates: Sequence[Candidate], limit: int | None, llm: LanguageModel, *,
                requested: int) -> _Prompt:
        lines = [prompts.candidate_line(candidate, limit) for candidate in candidates]
        lengths = [len(one_line(candidate.abstract)) for candidate in candidates]
        kept = [len(prompts.shorten(one_line(candidate.abstract), limit)) for candidate in candidates]
        cut = sum(whole != part for whole, part in zip(lengths, kept, strict=True))
        dropped = requested - len(candidates)
        notes = [f"{cut} of the abstracts are cut after {limit} characters and end with {prompts.CUT_MARK}."] if cut \
            else []
        notes += [f"{dropped} further candidates of the search do not fit and are not shown."] if dropped else []
        structured = llm.weak if self.structured is None else self.structured
        ranks = [candidate.rank for candidate in candidates]
        schema = prompts.review_schema(ranks, WEAK_LIMIT if llm.weak else None) if structured else None
        outside = [*report_text.protocol_lines(task), *report_text.criteria_lines(task)]
        fence = fence_for([*lines, *outside])
        messages = prompts.one_pass_messages(task, lines, fence, notes, structured)
        tokens = sum(llm.count_tokens(message["content"]) + _PER_MESSAGE for message in messages)
        tokens += llm.count_tokens(json.dumps(schema)) if schema else 0  # some endpoints are told it in the prompt
        mode = "candidates" if dropped else "abstracts" if cut else "none"
        record = Truncation(mode, len(candidates), dropped, limit if cut else None, cut, sum(lengths) - sum(kept),
                            tokens, llm.context_window)
        return _Prompt(messages, tuple(candidates), fence, record, schema)


def _written(task: Review, answer: Any, candidates: Sequence[Candidate]) -> str:
    """Return the report that a structured answer stands for."""
    decisions = answer["decisions"]
    included = [candidate for candidate in candidates if decisions[str(candidate.rank)] == prompts.INCLUDE]
    protocol = [report_text.escape(line) for line in report_text.protocol_lines(task)]
    return "\n".join((
        "# Report", "", "## Protocol", "", *(f"- {line}" for line in protocol), "", "## Synthesis", "",
        report_text.escape_title(answer["synthesis"]) or "Nothing was written.", "",
        report_text.final_list(included)))
