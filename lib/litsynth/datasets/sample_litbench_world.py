"""The made-up world of the synthetic question bank: one specialty, four strata of decoys, and a study's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Field:
    """A field of medicine: its disease, the words that go with it, and what was studied there by kind of study."""

    stratum: str
    disease: str
    short: str
    episode: str
    tissue: str
    scale: str
    trigger: str
    agents: Mapping[str, tuple[str, ...]]


SPECIALTY = Field(
    "thermic_myopathy", "periodic thermic myopathy", "thermic myopathy", "weakness episodes", "muscle", "Ostrand",
    "a rapid change of temperature",
    {"trial": ("velatrine", "omidarel", "quistamide", "parolexin", "sorbutal"),
     "marker": ("serum calthermin", "urinary pyromyosin", "calf echo grading", "thermal grip testing",
                "cold-bath electromyography"),
     "exposure": ("night-time heating", "creatine loading", "high-altitude residence", "weekly sauna use",
                  "low-salt eating")},
)
# Shares the specialty's tissue, complaint, scale and people, and never its disease.
ADJACENT = Field(
    "neuromuscular_other", "late grip fatigue syndrome", "grip fatigue", "weakness episodes", "muscle", "Ostrand",
    "long work with the hands",
    {"trial": ("lumidrone", "castavine"), "marker": ("serum desmalin",), "exposure": ("work with vibrating tools",)},
)
DECOYS = (
    ADJACENT,
    Field("cardio_renal", "ebb-flow cardiomyopathy", "ebb-flow disease", "fainting spells", "heart wall", "Brannock",
          "standing up quickly",
          {"trial": ("tredaprine", "volsartine"),
           "marker": ("serum atriolin",), "exposure": ("heavy coffee drinking",)}),
    Field("skin_infection", "marsh dermatitis", "marsh rash", "itching flares", "skin", "Vellacott",
          "wading in still water",
          {"trial": ("dermocline", "bathoxil"),
           "marker": ("nail-fold microscopy",), "exposure": ("daily river bathing",)}),
    Field("endocrine_metabolic", "dawn glandular syndrome", "dawn syndrome", "shaking spells", "gland", "Eskildsen",
          "a missed breakfast",
          {"trial": ("gluvorine", "endamisole"), "marker": ("saliva matutin",), "exposure": ("late evening meals",)}),
)
# What papers call the people they studied, and another way to speak of the same people.
POPULATIONS = {
    "trial": (("adolescents aged 12 to 17 years", "teenagers"), ("adults older than 65 years", "elderly patients"),
              ("pregnant women", "expectant mothers"),
              ("adults on maintenance dialysis", "patients with kidney failure")),
    "marker": (("children under six years", "preschoolers"), ("adults in primary care", "patients of family doctors"),
               ("military recruits", "soldiers in training"), ("adults in intensive care", "critically ill patients")),
    "exposure": (("shift workers", "employees on nights"), ("rural households", "families in the countryside"),
                 ("competitive rowers", "athletes in boats"), ("firefighters", "fire brigade crews")),
}
BOUTS = "attacks"
COUNTRIES = ("Norway", "Portugal", "Canada", "Kenya", "Chile", "Japan", "Estonia", "New Zealand")
JOURNALS = ("Annals of Invented Medicine", "Synthetic Clinical Reports", "Journal of Imagined Trials")
_COMPARTMENTS = ("muscle fibre", "cerebrospinal fluid", "fatty tissue", "inner ear", "bone marrow")
_STRATIFIERS = ("age band", "hospital", "severity at entry", "season of enrolment", "body weight", "family history")
_ORGANS = ("kidney", "liver", "heart", "lung", "thyroid")
_CONFOUNDERS = ("body weight", "age", "smoking", "income", "length of sleep")
_ORIGINS = ("a freezer failure at a blood bank", "a student's notebook", "an audit of discarded samples",
            "a veterinary report on racing hounds", "a chance finding in a heat wave", "a patients' newsletter")
_HARMS = (("sends one in five to the ward overnight", "unsafe"), ("takes two full working days", "too slow"),
          ("cannot be done in smaller hospitals", "not available everywhere"),
          ("half of those asked refuse", "unpopular"))
_MEALS = ("the last meal", "waking", "brisk exercise", "a warm bath")
_MODES = ("telephone", "postal form", "text message", "home visit")


def draw_values(field: Field, kind: str, agent: str, population: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return every value that the templates of one paper need; those ending in `_yes` decide a labelled fact."""
    def number(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    def one_of(options: tuple) -> Any:
        return options[number(0, len(options) - 1)]

    na, nb, first_year = number(48, 97), number(48, 97), number(1999, 2016)
    values: dict[str, Any] = {
        "agent": agent, "Agent": _capital(agent), "population": population, "disease": field.disease,
        "Disease": _capital(field.disease), "short": field.short, "episode": field.episode, "tissue": field.tissue,
        "scale": field.scale, "trigger": field.trigger, "bouts": BOUTS, "comparator": one_of(("placebo", "usual care")),
        "country": one_of(COUNTRIES), "journal": one_of(JOURNALS), "year": first_year + number(3, 9),
        "n": na + nb, "na": na, "nb": nb, "screened": na + nb + number(20, 160), "centres": number(3, 19),
        "y1": first_year, "y2": first_year + 2, "week": number(8, 40),
    }
    draw = {"trial": _trial, "marker": _marker, "exposure": _exposure}[kind]
    return {**values, **draw(values, number, one_of)}


def _trial(values: dict[str, Any], number: Any, one_of: Any) -> dict[str, Any]:
    base, low, gain = number(70, 118), number(21, 69), number(9, 31)
    helped, better, freer, apart, over = (bool(number(0, 1)) for _ in range(5))
    small, large = number(9, 19), number(26, 44)
    return {
        "base": base / 10, "end": low / 10, "pilot": number(7, 24), "loading": number(12, 95) * 5, "lag": number(4, 17),
        "ci_low": f"-{number(21, 49) / 10}", "ci_high": f"{'-' if helped else ''}{number(3, 14) / 10}",
        "compartment": one_of(_COMPARTMENTS), "block": one_of((4, 6, 8)), "stratifier": one_of(_STRATIFIERS),
        "organ": one_of(_ORGANS), "cut": number(45, 80), "nausea": number(3, 17), "months": number(5, 30),
        "gain": gain if better else gain - number(3, 8), "gain2": gain - number(3, 8) if better else gain,
        "bias": ("Rescue medicine was open to the treated group alone" if over
                 else "Physiotherapists saw the control group twice as often"),
        "k1": number(33, 51) / 10, "k2": number(33, 51) / 10, "day": number(9, 77),
        "fa": large if freer else small, "fb": small if freer else large,
        "bands": f"do not touch after week {values['week']}" if apart else "overlap at every visit",
        "abstract_yes": helped, "results_yes": better, "discussion_yes": over, "table_yes": freer, "figure_yes": apart,
    }


def _marker(values: dict[str, Any], number: Any, one_of: Any) -> dict[str, Any]:
    rare, unblinded, agreed, flattered, missed, too_low = (bool(number(0, 1)) for _ in range(6))
    harm, drawback = one_of(_HARMS)
    few, many = number(2, 8), number(14, 29)
    return {
        "sens": number(52, 97), "cutoff": number(11, 48), "fp": number(1, 4) if rare else number(15, 24),
        "origin": one_of(_ORIGINS), "harm": harm, "drawback": drawback, "hours": number(2, 14), "meal": one_of(_MEALS),
        "blinding": ("had the clinical diagnosis on the same screen" if unblinded
                     else "were given coded files without names or diagnoses"),
        "auc": f"0.{number(58, 97)}", "kappa": f"0.{number(84, 97) if agreed else number(11, 27)}",
        "repeat": number(2, 13),
        "spectrum": ("Borderline results were dropped before analysis" if flattered
                     else "Everybody who came in the period was tested and analysed"),
        "limit": number(102, 289) / 10, "tp": number(30, 47), "tn": number(30, 47), "fn": many if missed else few,
        "fp2": few if missed else many, "optimum": number(102, 289) / 10, "side": "above" if too_low else "below",
        "abstract_yes": rare, "methods_yes": unblinded, "results_yes": agreed, "discussion_yes": flattered,
        "table_yes": missed, "figure_yes": too_low,
    }


def _exposure(values: dict[str, Any], number: Any, one_of: Any) -> dict[str, Any]:
    fits, complete, graded, reverse, higher, differs = (bool(number(0, 1)) for _ in range(6))
    lost, rate, dated = number(5, 11), number(11, 24), number(31, 46)
    small, large = number(12, 19) / 10, number(24, 38) / 10
    return {
        "hr": f"{number(121, 297) / 100:.2f}", "hr1": f"{number(151, 239) / 100:.2f}", "hr2": f"1.0{number(1, 7)}",
        "confounder": one_of(_CONFOUNDERS), "share": number(6, 41),
        "trend": "doubled as well" if fits else "stayed as rare as before", "interval": number(2, 16),
        "mode": one_of(_MODES), "lost": lost, "lost2": lost + number(0, 1) if complete else lost + number(14, 25),
        "cases": number(9, 41), "r1": rate, "r2": rate + number(6, 12) if graded else rate - number(2, 6),
        "r3": rate + number(19, 30) if graded else rate, "ceiling": number(3, 14), "dated": dated,
        "reverse": dated - number(2, 8) if reverse else number(2, 7), "age": number(23, 51),
        "ra": large if higher else small, "rb": small if higher else large, "cumulative": number(108, 389) / 10,
        "meeting": "lie far apart" if differs else "cover one another almost wholly",
        "introduction_yes": fits, "methods_yes": complete, "results_yes": graded, "discussion_yes": reverse,
        "table_yes": higher, "figure_yes": differs,
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
