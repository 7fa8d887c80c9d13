"""Fetches the full text of a bank's papers from PubMed Central by their identifiers."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litsynth.datasets.jats import parse_articles
from litsynth.datasets.litbench import LitbenchPart, load_folder_part, text_status
from litsynth.datasets.litbench_write import write_bank
from litsynth.datasets.pmc import PmcClient, missing_reason
from litsynth.errors import DataError
from litsynth.files import ItemLog, write_json
from litsynth.paths import raw_dir
from litsynth.records import Paper


def fetch_text(manifest: Path, output: Path, client: PmcClient, raw: Path | None = None) -> dict[str, Any]:
    """Write the bank at `manifest` to `output` with the full texts that PubMed Central has, and return the account.

    The XML files stay in `raw` (`data/raw/pmc` by default), so that a killed run goes on where it was. The account,
    also in `text.json`, counts papers by text (full, abstract_only, none) and says for each without full text why.
    """
    folder = raw if raw is not None else raw_dir() / "pmc"
    part = load_folder_part(manifest)
    pmcids = _pmcids(part.papers, client, folder)
    places = client.fetch(sorted({pmcid for pmcid in pmcids.values() if pmcid}), folder)
    papers, gaps = {}, {}
    for paper in part.papers.values():
        pmcid = pmcids[paper.id]
        place = places.get(pmcid) if pmcid else None
        papers[paper.id] = with_text(paper, place) if place else paper
        status = text_status(papers[paper.id])
        if status != "full":
            gaps[paper.id] = _reason(status, pmcid, folder)
    write_bank(output, LitbenchPart(papers, part.facts, part.questions))
    counts = Counter(text_status(paper) for paper in papers.values())
    account = {"papers": len(papers), "full": counts["full"], "abstract_only": counts["abstract_only"],
               "none": counts["none"], "without_full_text": gaps, "source": client.base_url}
    write_json(Path(output) / "text.json", account)
    return account


def with_text(paper: Paper, place: Path) -> Paper:
    """Return `paper` with the sections of the JATS file at `place`, and with its title and year where it had none."""
    articles = parse_articles(place.read_bytes(), str(place))
    if len(articles) != 1:
        raise DataError(f"{place} holds {len(articles)} articles", expected="one article",
                        remedy="delete the file and fetch it again")
    article = articles[0]
    return dataclasses.replace(paper, sections=article.sections, title=paper.title or article.title,
                               journal=paper.journal or article.journal, year=paper.year or article.year)


def _pmcids(papers: Mapping[str, Paper], client: PmcClient, folder: Path) -> dict[str, str | None]:
    own = {paper.id: _own_pmcid(paper) for paper in papers.values()}
    pmids = {i: _pmid(paper) for i, paper in papers.items() if own[i] is None}
    known = client.pmcids(sorted({pmid for pmid in pmids.values() if pmid}), ItemLog(folder / "pmcids.jsonl"))
    return {i: own[i] or known.get(pmids[i] or "") for i in papers}


def _own_pmcid(paper: Paper) -> str | None:
    match = re.fullmatch(r"(?:PMC)?(\d+)", (paper.identifier or "").strip(), re.IGNORECASE)
    named = (paper.identifier_type or "").strip().upper() in ("PMCID", "PMC")
    return f"PMC{match.group(1)}" if match and named else None


def _pmid(paper: Paper) -> str | None:
    if (paper.identifier_type or "").strip().upper() not in ("PMID", "PUBMED"):
        return None
    digits = re.fullmatch(r"(?:PMID:?\s*)?(\d+)", (paper.identifier or "").strip(), re.IGNORECASE)
    return digits.group(1) if digits else None


def _reason(status: str, pmcid: str | None, folder: Path) -> str:
    if pmcid is None:
        return "no PubMed Central record for its identifier"
    if status == "abstract_only":
        return f"{pmcid} has no body: the publisher does not share it as XML"
    return f"{pmcid}: {missing_reason(folder, pmcid) or 'the record has no text'}"
