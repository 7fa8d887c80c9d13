"""Titles and abstracts of the made-up studies: varied sentences in which every criterion of a protocol can be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from litsynth.datasets.sample_metasyn_phrases import PHRASES, SPELLINGS


@dataclass(frozen=True)
class Wording:
    """How one study speaks of each criterion, and its numbers.

    `kind` is PI or E; `interval` is (ratio, low, high) of the result; `measured` says that the outcome is no event.
    """

    kind: str
    population: str
    agent: str
    comparison: str
    outcome: str
    design: str
    participants: int
    interval: tuple[float, float, float]
    measured: bool
    acronym: str


def pick(rng: np.random.Generator, items: Sequence[str]) -> str:
    """Return one item at random."""
    return items[int(rng.integers(len(items)))]


def _fill(rng: np.random.Generator, template: str, wording: Wording) -> str:
    ratio, low, high = wording.interval
    article = "an" if wording.design[:1].lower() in "aeiou" else "a"
    text = template.format(
        A=wording.agent, P=wording.population, C=wording.comparison, O=wording.outcome, D=wording.design,
        aD=f"{article} {wording.design}", N=wording.participants, Q=wording.acronym,
        R=f"{ratio:.2f}", L=f"{low:.2f}", H=f"{high:.2f}",
        F=pick(rng, PHRASES["follow_up"]), S=pick(rng, PHRASES["setting"]),
        x=int(rng.integers(3, 60)), y=int(rng.integers(2, 40)), z=f"{rng.random() * 0.9 + 0.02:.2f}",
        d=int(rng.integers(3, 10)),
    )  # fmt: skip
    return re.sub(r"(?:^|[.?] )[a-z]", lambda start: start.group().upper(), text)


def title(rng: np.random.Generator, wording: Wording) -> str:
    """Return a title; one in seven names little more than the study's acronym."""
    group = "title_acronym" if rng.random() < 0.14 else f"title_{wording.kind}"
    return _spell(rng, _fill(rng, pick(rng, PHRASES[group]), wording))


def abstract(rng: np.random.Generator, wording: Wording, padding: int) -> str:
    """Return an abstract with `padding` sentences beside the essential ones, with section labels or without."""
    conclusion = _conclusion_group(wording)
    # Padding comes in three places, so that what matters may stand behind the point where an encoder stops reading.
    extra = [_fill(rng, text, wording) for text in _several(rng, PHRASES["extra"], padding)]
    early, late = extra[: padding // 2], extra[padding // 2 :]
    background = [_fill(rng, text, wording) for text in _several(rng, PHRASES["background"], 1 + int(rng.integers(2)))]
    result = "measured" if wording.measured else f"result_{wording.kind}"
    parts = (
        ("Background", background + early[: padding // 3]),
        ("Methods", [_fill(rng, pick(rng, PHRASES[f"method_{wording.kind}"]), wording), *early[padding // 3 :]]),
        ("Results", [_fill(rng, pick(rng, PHRASES[result]), wording), *late]),
        ("Conclusions", [_fill(rng, pick(rng, PHRASES[conclusion]), wording)]),
    )
    if rng.random() < 0.55:
        labels = PHRASES["labels"][int(rng.integers(len(PHRASES["labels"])))].split("|")
        text = " ".join(f"{label}: {' '.join(body)}" for label, (_, body) in zip(labels, parts, strict=True))
    else:
        text = " ".join(" ".join(body) for _, body in parts)
    return _spell(rng, text)


def _conclusion_group(wording: Wording) -> str:
    _, low, high = wording.interval
    if low > 1:
        return f"conclude_more_{wording.kind}"
    return f"conclude_less_{wording.kind}" if high < 1 else "conclude_none"


def _several(rng: np.random.Generator, items: Sequence[str], count: int) -> list[str]:
    order = rng.permutation(len(items))
    return [items[int(order[i % len(items)])] for i in range(count)]


def _spell(rng: np.random.Generator, text: str) -> str:
    """Write half of the texts in American spelling."""
    if rng.random() < 0.5:
        for british, american in SPELLINGS:
            text = re.sub(british, american, text)
    return text


def sections(rng: np.random.Generator, wording: Wording) -> list[dict[str, str]]:
    """Return a short full text: introduction, methods, results, discussion."""
    groups = (
        ("Introduction", ["background"] * 3), ("Methods", [f"method_{wording.kind}", "extra", "extra", "extra"]),
        ("Results", ["measured" if wording.measured else f"result_{wording.kind}", "extra", "extra", "extra"]),
        ("Discussion", [_conclusion_group(wording), "background", "extra"]),
    )  # fmt: skip
    return [
        {"heading": heading, "text": _spell(rng, " ".join(_fill(rng, pick(rng, PHRASES[g]), wording) for g in names))}
        for heading, names in groups
    ]
