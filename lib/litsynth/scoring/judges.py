"""The panel of judges: independent votes, strict majority of the full panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from litsynth.errors import ParameterError
from litsynth.records import LanguageModel, Usage
from litsynth.records.results import Status
from litsynth.scoring.judging import Judge, JudgeCase, LexicalJudge, ModelJudge, Vote

__all__ = ["JudgeCase", "LexicalJudge", "ModelJudge", "Panel", "PanelVote", "Vote", "votes_by_judge"]


@dataclass(frozen=True, slots=True)
class PanelVote:
    """What a panel decided on one case, with every vote, ordered by judge.

    `verdict` is None while undecided; `status` is then unparsed, or failed when only infrastructure kept
    judges from voting, and `reason` lists what each of them said.
    """

    verdict: bool | None
    votes: tuple[Vote, ...]
    status: Status = "scored"
    reason: str = ""

    @property
    def usage(self) -> Usage:
        """Tokens of all votes."""
        return sum((vote.usage for vote in self.votes), Usage())


class Panel:
    """Three judges (or one, or any odd number), each voting alone from question, reference fact, quote and response.

    Credit needs more than half of the full panel; so does its denial. A judge that cannot be read, fails, or wrote the
    response itself has no vote, and the panel does not get smaller: with one of three missing the other two must agree.
    Judges are ordered by identity, so the order they are given in changes nothing. Raises `ParameterError` for
    an even number of judges or the same judge twice.
    """

    def __init__(self, judges: Sequence[Judge | LanguageModel]) -> None:
        made = [judge if hasattr(judge, "judge_many") else ModelJudge(judge) for judge in judges]
        self.judges: tuple[Judge, ...] = tuple(sorted(made, key=lambda judge: (judge.identity, judge.name)))
        doubled = [name for name, count in Counter(judge.identity for judge in self.judges).items() if count > 1]
        if doubled:
            raise ParameterError(f"judge {doubled[0]!r} is on the panel twice", expected="different models",
                                 remedy="name another profile")
        if len(self.judges) % 2 == 0:
            raise ParameterError(f"a panel of {len(self.judges)} judges can be tied",
                                 expected="an odd number, usually 3", remedy="add or remove a judge")
        self.name = " + ".join(sorted(judge.name for judge in self.judges))
        self.identities = tuple(judge.identity for judge in self.judges)

    @property
    def lexical(self) -> bool:
        """Whether a judge without a model takes part, so that results must say so."""
        return any(isinstance(judge, LexicalJudge) for judge in self.judges)

    def vote(self, case: JudgeCase, *, repeat: int = 0) -> PanelVote:
        """Decide one case."""
        return self.vote_many([case], repeat=repeat)[0]

    def vote_many(self, cases: Sequence[JudgeCase], *, repeat: int = 0, stage: str = "judging") -> list[PanelVote]:
        """Decide many cases, in order; a `repeat` above 0 is a sample to measure self-agreement with."""
        columns = [judge.judge_many(cases, repeat=repeat, stage=f"{stage}: {judge.name}") for judge in self.judges]
        return [self._decide(votes) for votes in zip(*columns, strict=True)]

    def _decide(self, votes: tuple[Vote, ...]) -> PanelVote:
        for verdict in (True, False):
            if 2 * sum(vote.verdict is verdict for vote in votes) > len(votes):
                return PanelVote(verdict, votes)
        missing = [vote for vote in votes if vote.verdict is None]
        status: Status = "failed" if all(vote.status == "failed" for vote in missing) else "unparsed"
        said = "; ".join(f"{vote.judge}: {vote.reason or ('yes' if vote.verdict else 'no')}" for vote in votes)
        return PanelVote(None, votes, status, f"undecided ({said})")


def votes_by_judge(decided: Sequence[PanelVote]) -> dict[str, list[bool | None]]:
    """Return each judge's verdicts in the order of the cases, None where it had no vote; for measures of agreement."""
    table: dict[str, list[bool | None]] = {}
    for panel_vote in decided:
        for vote in panel_vote.votes:
            table.setdefault(vote.judge, []).append(vote.verdict)
    return table
