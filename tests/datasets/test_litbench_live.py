"""Full texts for a manifest, and the live pool, both over a server on this machine."""

from __future__ import annotations

import datetime
import json

import pytest
from eutils_server import EutilsServer, article_xml
from typer.testing import CliRunner

from litsynth.cli import app
from litsynth.conditions import LivePool
from litsynth.datasets.litbench import load_folder_part, text_status
from litsynth.datasets.litbench_text import fetch_text
from litsynth.datasets.pmc import PmcClient, RateLimiter
from litsynth.errors import DataError, ParameterError
from litsynth.records import Paper
from litsynth.retrieval.passages import PassageIndex

HEADER = "paper_id,role,stratum,identifier_type,identifier,doi,title,journal,year,url\n"
DAY = datetime.date(2026, 7, 14)


@pytest.fixture
def server():
    made = EutilsServer()
    made.articles = {1: article_xml(1), 2: article_xml(2, body=""),
                     3: article_xml(3, body="<p>Cold hands, cold feet.</p>")}
    made.dates = dict.fromkeys((1, 2, 3, 4), DAY)
    yield made
    made.close()


@pytest.fixture
def client(server):
    return PmcClient(server.url, api_key="", limiter=RateLimiter(10_000), sleep=lambda s: None, today=lambda: DAY)


@pytest.fixture
def manifest(tmp_path):
    folder = tmp_path / "manifest"
    folder.mkdir()
    rows = ["by_pmid,gold (carries answers),socks,PMID,91,,Given title,,,",
            "short,gold (carries answers),socks,PMID,92,,,,,",
            "by_pmcid,decoy (no answer),hats,PMCID,PMC3,,,,,", "no_pmc,gold (carries answers),socks,PMID,98,,,,,",
            "gone,decoy (no answer),hats,PMCID,PMC7,,,,,", "no_id,decoy (no answer),hats,,,,,,,"]
    (folder / "corpus_papers.csv").write_text(HEADER + "\n".join(rows) + "\n")
    return folder


def test_full_texts_are_fetched_and_gaps_are_told(manifest, client, tmp_path):
    account = fetch_text(manifest, tmp_path / "bank", client, tmp_path / "raw")
    papers = load_folder_part(tmp_path / "bank").papers
    assert {i: text_status(paper) for i, paper in papers.items()} == {
        "by_pmid": "full", "short": "abstract_only", "by_pmcid": "full", "no_pmc": "none", "gone": "none",
        "no_id": "none"}
    assert papers["by_pmid"].title == "Given title"
    assert (papers["short"].title, papers["short"].year) == ("Article 2", 2020)
    assert [s.name for s in papers["by_pmid"].sections] == ["abstract", "results"]
    assert account["without_full_text"] == {
        "short": "PMC2 has no body: the publisher does not share it as XML",
        "no_pmc": "no PubMed Central record for its identifier",
        "gone": "PMC7: the server returned no such record (2026-07-14)",
        "no_id": "no PubMed Central record for its identifier",
    }
    assert (account["full"], account["abstract_only"], account["none"]) == (2, 1, 3)
    assert json.loads((tmp_path / "bank" / "text.json").read_text()) == account


def test_second_fetch_asks_for_nothing_and_writes_the_same(manifest, client, server, tmp_path):
    for name in ("one", "two"):
        fetch_text(manifest, tmp_path / name, client, tmp_path / "raw")
        asked = len(server.requests)
        server.articles = {}
    assert len(server.requests) == asked
    assert (tmp_path / "one/papers.parquet").read_bytes() == (tmp_path / "two/papers.parquet").read_bytes()


def test_command_fetches_into_the_raw_folder(manifest, server, workspace, tmp_path):
    output = tmp_path / "bank"
    command = ["bank", "fetch-text", str(manifest), "--output", str(output), "--base-url", server.url]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "6 papers: 2 with full text, 1 with an abstract only, 3 without text" in done.output
    assert (workspace / "data/raw/pmc/PMC1.xml").exists()


def searcher_of(papers):
    return PassageIndex(papers).searcher(tuple(papers))


def test_live_pool_is_a_searcher_that_keeps_its_searches(client, server, tmp_path):
    bank = {"1_Lee_2017": Paper("1_Lee_2017", "gold", "socks", "", identifier_type="PMID", identifier="91")}
    pool = LivePool(client, "feet[mesh]", searcher_of, tmp_path, bank=bank, papers_per_query=3)
    assert pool.paper_ids == ()
    passages = pool.search('Were the feet warm) OR ("anything"[all]?', 5)
    assert passages[0].paper_id == "1_Lee_2017"
    assert "Warm feet." in passages[0].text
    assert pool.paper_ids == ("1_Lee_2017", "PMC2", "PMC3")
    utility, fields = server.requests[0]
    assert utility == "esearch"
    assert fields["term"] == "(feet OR warm OR anything) AND (feet[mesh])"
    assert fields["sort"] == "relevance"
    assert [p.paper_id for p in pool.read("PMC3")] == ["PMC3"] * len(pool.read("PMC3"))
    record = pool.record()
    assert (record["pool"], record["records"], record["date"]) == ("feet[mesh]", 4, "2026-07-14")
    assert record["searches"][0]["papers"] == ["1_Lee_2017", "PMC2", "PMC3"]
    assert record["searches"][0]["matches"] == 4
    with pytest.raises(KeyError):
        pool.read("PMC9")


def test_live_pool_without_words_or_matches(client, server, tmp_path):
    pool = LivePool(client, "feet[mesh]", searcher_of, tmp_path)
    assert pool.search("is it so?", 5) == []
    assert server.requests == []
    server.dates = {}
    assert pool.search("warm socks", 5) == []
    with pytest.raises(DataError, match="pool 'feet\\[mesh\\]' is empty"):
        pool.record()
    with pytest.raises(ParameterError, match="at least 1"):
        pool.search("warm", 0)
    with pytest.raises(ParameterError, match="query is empty"):
        LivePool(client, " ", searcher_of, tmp_path)
