"""`extractive`: the LitBench baseline without a model."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from litsynth.errors import ParameterError
from litsynth.llm.fencing import one_line
from litsynth.records import LanguageModel, Passage, QuestionTask, Quotation, Response, Searcher, Trace
from litsynth.retrieval.passages import terms
from litsynth.retrieval.sentences import sentence_spans

DECLINED = "The papers searched do not answer this."

# A sentence that announces an aim repeats the question's words and answers nothing.
_AIM = re.compile(
    r"\?\s*$|\b(?:aim(?:s|ed)?|objectives?|purpose|goal|hypothes[ie]\w+|whether|we (?:sought|aimed|set out)"
    r"|to (?:investigate|evaluate|assess|determine|examine|compare|study|analy[sz]e|identify|explore|test))\b",
    re.IGNORECASE,
)
_QUESTION_WORD = ("(?:what|how|which|who|whom|whose|when|where|why|is|are|was|were|do|does|did|can|could|has|have"
                  "|in|for)")
# Where a question for two papers falls apart, the plainest sign first.
_JOINTS = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (
    r"(?<=\?)\s+", r";\s*", rf",?\s+and,?\s+(?={_QUESTION_WORD}\b)", r",\s*and\s+", r"\s+and\s+",
))
_LEAD_IN = re.compile(
    r"^(?:and|also)?[\s,]*(?:(?:from|in|by)\s+(?:an?|the)\s*(?:separate|other|different|second)?\s*"
    r"(?:another\s+)?(?:study|paper|article|report|source)\s*[,:]?)?\s*", re.IGNORECASE,
)


def split_question(text: str) -> tuple[str, str] | None:
    """Return the two halves of a question for two papers, or None when it cannot be split.

    Tried in order: two question marks, a semicolon, "and" before a question word, ", and", "and". Where
    several places are alike, the one nearest the middle is taken. Each half needs two search terms.
    """
    total = len(terms(text))
    for joint in _JOINTS:
        halves = [(text[:match.start()].strip(" ,;"), _LEAD_IN.sub("", text[match.end():].strip()))
                  for match in joint.finditer(text)]
        halves = [pair for pair in halves if all(len(terms(half)) >= 2 for half in pair)]
        if halves:
            return min(halves, key=lambda pair: abs(2 * len(terms(pair[0])) - total))
    return None


@lru_cache(maxsize=8192)
def _sentences(passage_text: str) -> tuple[tuple[str, frozenset[str], bool], ...]:
    """Return the sentences of a passage with their terms, and whether each announces an aim or asks a question.

    Kept for later questions, since a sweep meets the same passages again and again.
    """
    sentences = (passage_text[start:end] for start, end in sentence_spans(passage_text))
    return tuple((sentence, frozenset(terms(sentence)), bool(_AIM.search(sentence))) for sentence in sentences)


@dataclass(frozen=True, slots=True)
class _Find:
    """The best sentence of one paper for one query; `coverage` is the share of the query's terms in its passages."""

    paper_id: str
    sentence: str
    coverage: float
    score: float  # of the paper's best passage


@dataclass(frozen=True, kw_only=True)
class Extractive:
    """Answers with the best sentence of the best paper, and declines below a threshold; uses no model.

    1. The `passages` best passages for the question are found by keyword search.
    2. A paper's coverage is the share of the question's distinct search terms that its passages found hold. The paper
       with the highest coverage is named (ties: the higher passage score, then the earlier rank).
    3. Its sentence with the highest share of the question's terms is the answer and the quotation; a sentence that
       announces an aim or asks a question counts `aim_factor` of its share (ties: earlier in the search result).
    4. Coverage below `refusal_threshold` is an explicit refusal. The default is calibrated on the synthetic sample
       alone: over T1 to T4 against T6 and T6s, the mean of answered-when-present and refused-when-withheld is
       highest (0.66) from 0.35 to 0.40. Where questions share more words with their papers a higher one is better.

    A question for two papers is split in two (`split_question`; unsplit, both halves are the whole question), each
    half is answered and refused by itself, and the two papers must differ: of all pairs of different papers the
    one with the highest coverage together is named.
    """

    name: str = "extractive"
    passages: int = 8
    refusal_threshold: float = 0.4
    aim_factor: float = 0.25

    def __post_init__(self) -> None:
        if self.passages < 1:
            raise ParameterError(f"passages = {self.passages}", expected="at least 1", remedy="raise `passages`")
        for option in ("refusal_threshold", "aim_factor"):
            if not 0.0 <= getattr(self, option) <= 1.0:
                raise ParameterError(f"{option} = {getattr(self, option)}", expected="a share from 0 to 1",
                                     remedy=f"correct `{option}`")

    def answer(self, task: QuestionTask, searcher: Searcher, llm: LanguageModel | None = None) -> Response:
        """Answer one question over its candidate papers; `llm` is not used."""
        begin = time.perf_counter()
        parts = (split_question(task.text) or (task.text,) * 2) if task.sources == 2 else (task.text,)
        results = [searcher.search(part, self.passages) for part in parts]
        finds = [self._finds(part, passages) for part, passages in zip(parts, results, strict=True)]
        chosen = _distinct(finds)
        refusals = tuple(find is None or find.coverage < self.refusal_threshold for find in chosen)
        kept = [find for find, refused in zip(chosen, refusals, strict=True) if find and not refused]
        seen = [passage for passages in results for passage in passages]
        trace = Trace(
            queries=parts, seen_paper_ids=tuple(dict.fromkeys(passage.paper_id for passage in seen)),
            passages_seen=len({(p.paper_id, p.section, p.start) for p in seen}), seconds=time.perf_counter() - begin,
            steps=tuple({"query": part, "coverage": find.coverage if find else None,
                         "threshold": self.refusal_threshold, "paper_id": find.paper_id if find else None,
                         "refused": refused}
                        for part, find, refused in zip(parts, chosen, refusals, strict=True)),
        )
        return Response(
            question_id=task.id, system=self.name, refused=all(refusals),
            answer="\n".join(one_line(find.sentence) for find in kept) or DECLINED,
            paper_ids=tuple(find.paper_id for find in kept),
            quotations=tuple(Quotation(find.paper_id, find.sentence) for find in kept),
            refusals=refusals if task.sources == 2 else (), trace=trace,
            status="refused" if all(refusals) else "scored",
            reason=f"coverage below {self.refusal_threshold}" if all(refusals) else "",
        )

    def _finds(self, query: str, passages: Sequence[Passage]) -> list[_Find]:
        """Return the best sentence of every paper found, the best paper first."""
        asked = set(terms(query))
        papers: dict[str, list[Passage]] = {}
        for passage in passages:
            papers.setdefault(passage.paper_id, []).append(passage)
        finds = []
        for paper_id, found in papers.items():
            best, best_share, covered = "", -1.0, set()
            for passage in found:
                for sentence, sentence_terms, announces in _sentences(passage.text):
                    held = asked & sentence_terms
                    covered |= held
                    share = len(held) * (self.aim_factor if announces else 1.0)
                    if share > best_share:
                        best, best_share = sentence, share
            finds.append(_Find(paper_id, best, len(covered) / len(asked), found[0].score))
        return sorted(finds, key=lambda find: (-find.coverage, -find.score))


def _distinct(finds: Sequence[Sequence[_Find]]) -> list[_Find | None]:
    """Choose one find for each half so that no paper is named twice and coverage together is highest."""
    if len(finds) == 1:
        return [finds[0][0] if finds[0] else None]
    # A half's second-best paper is enough: at most one paper is taken by the other half.
    options = [[*half[:2], None] for half in finds]
    pairs = [(first, second) for first in options[0] for second in options[1]
             if first is None or second is None or first.paper_id != second.paper_id]
    return list(max(pairs, key=lambda pair: sum(find.coverage for find in pair if find)))
