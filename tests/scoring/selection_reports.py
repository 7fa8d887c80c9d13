"""Reports made from a known list, in the wordings and layouts that models use; shared by the parser's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

# Invented titles: letters beyond ASCII, markup characters, numbers and a colon belong to real titles.
TITLES = {
    12: "Effects of early mobilisation on recovery after hip surgery: a randomised trial",
    7: "Vitamin D3 and β-carotene in 2010 schoolchildren from São Paulo and Malmö",
    40493: "Does night-shift work raise blood pressure in 248 nurses? A cohort study",
    3: "[Ergebnisse einer Übungsbehandlung bei älteren Menschen mit Kniearthrose]",
    2015: "Low-dose aspirin versus placebo for “silent” infarction in older adults",
    88: "Cost of H2O purification in rural districts of the northern highlands",
}
CANDIDATES = [{"corpus_id": i, "title": title} for i, title in TITLES.items()]
NO_TITLES = [{"corpus_id": i, "title": ""} for i in TITLES]

WORDINGS = (
    "Final included studies",
    "Final Included Primary-Study Articles",
    "Final included primary‑study articles",
    "Included Studies",
    "Included primary studies",
    "List of included articles",
    "Final list of included articles",
    "Included-Study List",
    "Eligible primary articles",
    "Eligible Studies",
    "Studies included in the synthesis",
    "Studies included in the meta-analysis",
    "Articles included in the final review",
    "Selected studies",
    "Final inclusion list",
    "Final included evidence base",
    "Included RCTs",
    "Final set of included records",
    "Études incluses",
    "Estudios incluidos",
    "Eingeschlossene Studien",
    "最终纳入研究",
)
HEADINGS: tuple[Callable[[str], str], ...] = (
    lambda w: f"## {w}",
    lambda w: f"### 5. {w}",
    lambda w: f"# {w.upper()} #",
    lambda w: f"**{w}**",
    lambda w: f"**{w}:**",
    lambda w: f"**7. {w}**",
    lambda w: f"## **{w}**",
    lambda w: f"## {w} (n = 3)",
    lambda w: f"{w}:",
    lambda w: f"__{w}__",
    lambda w: f"**{w}**：",
)
Entry = tuple[int, str]
LAYOUTS: dict[str, Callable[[Sequence[Entry]], str]] = {
    "numbered, bold ID, title below": lambda e: "\n\n".join(
        f"{n}. **Corpus ID: {i}**  \n   **Title:** *{t}*" for n, (i, t) in enumerate(e, 1)
    ),
    "numbered title, ID on the next line": lambda e: "\n\n".join(
        f"{n}. **{t}**\n   Corpus ID: {i}" for n, (i, t) in enumerate(e, 1)
    ),
    "numbered, ID on the next line, no blank lines": lambda e: "\n".join(
        f"{n}. {t}\n   Corpus ID: {i}" for n, (i, t) in enumerate(e, 1)
    ),
    "ID on the next line, not indented": lambda e: "\n".join(
        f"{n}. {t}\nCorpus ID: {i}" for n, (i, t) in enumerate(e, 1)
    ),
    "bullets with code ticks": lambda e: "\n".join(f"- `{t}` `Corpus ID: {i}`" for i, t in e),
    "starred bullets, ID in brackets": lambda e: "\n".join(f"*   **{t}** (Corpus ID: {i})" for i, t in e),
    "nested bullets": lambda e: "\n".join(
        f"{n}. **{t}**\n    *   Corpus ID: {i}\n    *   Year: 2011" for n, (i, t) in enumerate(e, 1)
    ),
    "table with an ID column": lambda e: (
        "| # | Title | Corpus ID |\n|---|---|---|\n"
        + "\n".join(f"| {n} | {t} | {i} |" for n, (i, t) in enumerate(e, 1))
    ),
    "table with ticked IDs first": lambda e: (
        "| Corpus ID | Year | Title |\n|:--|--:|---|\n" + "\n".join(f"| `{i}` | 2009 | {t} |" for i, t in e)
    ),
    "table with labelled IDs": lambda e: (
        "| Candidate | Study |\n|---|---|\n"
        + "\n".join(f"| 0{n} | {t} (Corpus ID: {i}) |" for n, (i, t) in enumerate(e, 1))
    ),
    "links": lambda e: "\n".join(f"{n}. [{t.strip('[]')}](metasyn://corpus/{i})" for n, (i, t) in enumerate(e, 1)),
    "full-width colon": lambda e: "\n".join(f"{n}. {t} Corpus ID：{i}" for n, (i, t) in enumerate(e, 1)),
    "dash and bold number": lambda e: "\n".join(f"{n}) *{t}* — Corpus ID **{i}**" for n, (i, t) in enumerate(e, 1)),
    "paragraphs without markers": lambda e: "\n\n".join(f"**Corpus ID: {i}**  \n{t}" for i, t in e),
    "title above ID, no markers": lambda e: "\n\n".join(f"{t}  \nCorpus ID: {i}" for i, t in e),
    "label and number on two lines": lambda e: "\n\n".join(f"- **{t}**\n  Corpus ID:\n  {i}" for i, t in e),
    "candidate numbers beside": lambda e: "\n".join(
        f"- **Candidate {n:03d}**: {t} | `Corpus ID: {i}`" for n, (i, t) in enumerate(e, 21)
    ),
    "IDs alone in one line": lambda e: "Corpus IDs: " + ", ".join(str(i) for i, _ in e),
    "non-breaking spaces": lambda e: "\n".join(f"- {t} (Corpus\u202fID:\u00a0{i})" for i, t in e),
    "entry headings": lambda e: "\n\n".join(f"#### {n}) Corpus ID {i}\n{t}" for n, (i, t) in enumerate(e, 1)),
}
TITLE_LAYOUTS: dict[str, Callable[[Sequence[Entry]], str]] = {
    "numbered": lambda e: "\n".join(f"{n}. {t}" for n, (_, t) in enumerate(e, 1)),
    "bold with full stop": lambda e: "\n\n".join(f"- **{t}.**" for _, t in e),
    "ticked, capitals": lambda e: "\n".join(f"- `{t.upper()}`" for _, t in e),
    "table": lambda e: "| Title | Year |\n|---|---|\n" + "\n".join(f"| {t} | 2001 |" for _, t in e),
    "authors before, journal behind": lambda e: "\n".join(
        f"- Smith A, et al. *{t}.* J Test. 2001;12:3-40." for _, t in e
    ),
    "title label": lambda e: "\n".join(f"{n}. Exact title: {t}" for n, (_, t) in enumerate(e, 1)),
    "over two lines": lambda e: "\n".join(
        "- " + t[: t.index(" ", 30)] + "\n  " + t[t.index(" ", 30) + 1 :] for _, t in e
    ),
}
BEFORE = """# Evidence synthesis

## Inclusion criteria
- Randomised trials in adults; at least 10 participants (see Corpus ID: 88)

Of 200 candidates, 3 studies were included. Corpus ID: 2015 was excluded because of its comparator.

## Excluded studies
- Corpus ID: 88 — wrong population
"""
AFTER = "\n\n## Limitations\n\nThe trial with Corpus ID: 88 could not be used. If you want, I can next make a table.\n"


def entries(ids: Sequence[int]) -> list[Entry]:
    """Return (ID, title) of the invented candidates."""
    return [(i, TITLES[i]) for i in ids]


def reports(
    layouts: dict[str, Callable[[Sequence[Entry]], str]],
    ids: Sequence[int],
    wordings: Sequence[str] = WORDINGS,
) -> Iterator[tuple[str, str]]:
    """Yield (description, report) for every wording, heading form and layout."""
    for wording in wordings:
        for number, heading in enumerate(HEADINGS):
            for name, layout in layouts.items():
                yield (
                    f"{wording} / form {number} / {name}",
                    f"{BEFORE}\n{heading(wording)}\n\n{layout(entries(ids))}{AFTER}",
                )
