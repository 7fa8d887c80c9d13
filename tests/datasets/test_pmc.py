"""The E-utilities client against a server on this machine, which is slow, broken and wrong in all the known ways."""

from __future__ import annotations

import datetime
import email.utils
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from eutils_server import EutilsServer, article_xml, fault, no_fault

import litsynth.datasets.pmc as pmc
from litsynth.datasets.jats import parse_articles
from litsynth.datasets.pmc import PmcClient, RateLimiter, missing_reason, shared_limiter
from litsynth.errors import DataError
from litsynth.files import ItemLog

DAY = datetime.date(2026, 7, 14)
KEY = "canary-key-0123456789"


@pytest.fixture
def server():
    made = EutilsServer()
    yield made
    made.close()


@pytest.fixture
def slept():
    return []


@pytest.fixture
def client(server, slept):
    return PmcClient(server.url, api_key="", limiter=RateLimiter(10_000), sleep=slept.append, today=lambda: DAY)


def test_fetch_writes_one_file_a_record_and_asks_for_none_twice(server, client, tmp_path):
    server.articles = {i: article_xml(i) for i in (1, 2, 3)} | {4: article_xml(4, body="")}
    ids = [f"PMC{i}" for i in (1, 2, 3, 4, 5)]
    places = client.fetch(ids, tmp_path, batch=2)
    assert [i for i in ids if places[i] is None] == ["PMC5"]
    assert missing_reason(tmp_path, "PMC5") == "the server returned no such record (2026-07-14)"
    parsed = {i: parse_articles(place.read_bytes())[0] for i, place in places.items() if place}
    assert [i for i, article in parsed.items() if article.abstract_only] == ["PMC4"]
    assert [fields["id"] for _, fields in server.requests] == ["1,2", "3,4", "5"]
    assert client.fetch(ids, tmp_path) == places
    assert len(server.requests) == 3


def test_truncated_xml_is_asked_for_again_and_never_kept(server, client, slept, tmp_path):
    server.articles = {1: article_xml(1)}
    whole = f"<pmc-articleset>{article_xml(1)}</pmc-articleset>"
    server.faults = [fault(200, text=whole[: len(whole) // 2]), fault(200, text="<html>down</html>")]
    assert client.fetch(["PMC1"], tmp_path)["PMC1"].read_bytes().endswith(b"</article>")
    assert slept == [1.0, 2.0]


def test_truncated_for_good_is_an_error_and_leaves_nothing(server, tmp_path, slept):
    client = PmcClient(server.url, api_key="", limiter=RateLimiter(10_000), sleep=slept.append, attempts=3)
    server.faults = [fault(200, text="<pmc-articleset><article>")] * 3
    with pytest.raises(DataError, match=r"failed 3 times.*not readable XML"):
        client.fetch(["PMC1"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_busy_server_is_waited_for_as_it_asks(server, client, slept):
    later = email.utils.format_datetime(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=30))
    server.faults = [fault(429, headers={"Retry-After": "7"}), fault(429), fault(503, headers={"Retry-After": later}),
                     fault(500, headers={"Retry-After": "99999"})]
    assert client.count("socks") == 0
    assert slept[0] == 7
    assert slept[1] == 2  # the second try of 1, 2, 4, … without the header
    assert 25 < slept[2] <= 30
    assert slept[3] == 120  # a server may not ask for more


def test_dead_server_is_an_error_that_says_what_to_do(slept):
    client = PmcClient("http://127.0.0.1:9/", api_key=KEY, limiter=RateLimiter(10_000), sleep=slept.append, attempts=2)
    with pytest.raises(DataError, match=r"failed 2 times.*ConnectError.*run it again later") as caught:
        client.count("socks")
    assert KEY not in str(caught.value)


def test_slow_server_times_out_and_is_tried_again(server, slept):
    def slow(utility, fields):
        time.sleep(0.5)

    server.faults = [slow]
    client = PmcClient(server.url, api_key="", limiter=RateLimiter(10_000), sleep=slept.append, timeout=0.1)
    assert client.count("socks") == 0
    assert slept == [1.0]


def test_refused_request_is_not_repeated(server, client, slept):
    server.faults = [fault(400, text='{"error":"no such database"}')]
    with pytest.raises(DataError, match=r"answered 400.*no such database"):
        client.count("socks")
    assert slept == []


def test_search_pages_through_everything(server, client):
    server.dates = dict.fromkeys(range(1, 24), DAY)
    found = client.search("socks", page=10)
    assert found.ids == tuple(f"PMC{i}" for i in range(1, 24))
    assert (found.query, found.date, found.count) == ("socks", "2026-07-14", 23)
    sizes = [(fields["retstart"], fields["retmax"]) for _, fields in server.requests]
    assert sizes == [("0", "0"), ("0", "10"), ("10", "10"), ("20", "3")]


def test_search_beyond_its_reach_is_split_by_date(server, client, monkeypatch):
    monkeypatch.setattr(pmc, "REACH", 40)
    server.reach = 40
    first = datetime.date(2019, 5, 1)
    server.dates = {i: first + datetime.timedelta(days=i % 90) for i in range(1, 301)}
    found = client.search("socks", page=25)
    assert sorted(found.ids) == sorted(f"PMC{i}" for i in range(1, 301))
    assert found.count == 300


def test_search_that_no_date_can_split_is_an_error(server, client, monkeypatch):
    monkeypatch.setattr(pmc, "REACH", 40)
    server.dates = dict.fromkeys(range(1, 60), DAY)
    with pytest.raises(DataError, match="59 records of 2026-07-14"):
        client.search("socks")


def test_fewer_fetched_than_counted_is_an_error(server, client):
    server.dates = dict.fromkeys(range(1, 9), DAY)
    server.claimed = 12
    with pytest.raises(DataError, match="gave 8 of 12 records"):
        client.search("socks")


def test_search_errors_of_the_server_are_told(server, client, slept):
    server.faults = [fault(200, text='{"esearchresult": {"ERROR": "unbalanced parentheses"}}')]
    with pytest.raises(DataError, match="unbalanced parentheses"):
        client.count("(socks")
    server.faults = [fault(200, text="<html>"), fault(200, text="[1]"), no_fault]
    assert client.count("socks") == 0


def test_pubmed_ids_become_pmc_ids_and_are_remembered(server, client, tmp_path):
    server.articles = {1: "", 2: ""}
    log = ItemLog(tmp_path / "ids.jsonl")
    assert client.pmcids(["91", "97", "92"], log, batch=2) == {"91": "PMC1", "97": None, "92": "PMC2"}
    assert client.pmcids(["92", "97"], ItemLog(tmp_path / "ids.jsonl")) == {"92": "PMC2", "97": None}
    assert len(server.requests) == 2
    server.faults = [fault(200, text='{"result": {}}')]
    with pytest.raises(DataError, match="record 95 is missing"):
        client.pmcids(["95"], log)


def test_rate_limit_spaces_calls_of_all_threads():
    """20 calls at 10 a second: with an even spacing of 0.1 s the last goes out 1.9 s after the first."""
    now, lock, turns = [0.0], threading.Lock(), []

    def sleep(seconds: float) -> None:
        with lock:
            turns.append(now[0] + seconds)

    limiter = RateLimiter(10, clock=lambda: now[0], sleep=sleep)
    threads = [threading.Thread(target=lambda: [limiter.acquire() for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turns) == pytest.approx([i / 10 for i in range(1, 20)])


def test_clients_of_one_server_share_their_limit(server):
    one, two = PmcClient(server.url, api_key=""), PmcClient(server.url, api_key="")
    assert one._limiter is two._limiter
    assert one._limiter.per_second == 3
    assert PmcClient(server.url, api_key=KEY)._limiter.per_second == 10
    assert shared_limiter("http://127.0.0.1:1/", 3) is not one._limiter


def test_requests_keep_to_the_limit_in_real_time(server):
    client = PmcClient(server.url, api_key="", limiter=RateLimiter(20))
    start = time.monotonic()
    for _ in range(6):
        client.count("socks")
    assert time.monotonic() - start >= 5 / 20


def test_key_is_sent_and_stands_nowhere_else(server, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("NCBI_API_KEY", KEY)
    client = PmcClient(server.url, limiter=RateLimiter(10_000), sleep=lambda seconds: None, attempts=2)
    server.articles, server.dates = {1: article_xml(1)}, {1: DAY}
    client.search("socks")
    client.fetch(["PMC1", "PMC2"], tmp_path)
    client.pmcids(["91"], ItemLog(tmp_path / "ids.jsonl"))
    assert all(fields["api_key"] == KEY for _, fields in server.requests)
    assert not any(KEY in path for path in server.paths)
    messages = [repr(client)]
    for status in (400, 429):
        server.faults = [fault(status, text=f"api key {KEY} invalid")] * 2
        with pytest.raises(DataError) as caught:
            client.count("socks")
        messages.append(str(caught.value))
    assert "[key]" in messages[1]
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(KEY in text for text in [*messages, *written, *capfd.readouterr()])


KILLED = """
import sys
from pathlib import Path
from litsynth.datasets.pmc import PmcClient, RateLimiter
PmcClient(sys.argv[1], api_key="", limiter=RateLimiter(10_000)).fetch(
    [f"PMC{i}" for i in range(1, 13)], Path(sys.argv[2]), batch=2)
"""


def test_killed_fetch_goes_on_where_it_was(server, client, tmp_path):
    server.articles = {i: article_xml(i) for i in range(1, 13)}
    reached = threading.Event()

    def hang(utility, fields):
        reached.set()
        time.sleep(3)

    server.faults = [no_fault, no_fault, no_fault, hang]
    process = subprocess.Popen([sys.executable, "-c", KILLED, server.url, str(tmp_path)])
    assert reached.wait(30)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert sorted(p.name for p in tmp_path.glob("*.xml")) == [f"PMC{i}.xml" for i in range(1, 7)]
    server.requests.clear()
    places = client.fetch([f"PMC{i}" for i in range(1, 13)], tmp_path, batch=2)
    assert [fields["id"] for _, fields in server.requests] == ["7,8", "9,10", "11,12"]
    assert all(parse_articles(place.read_bytes())[0].title for place in places.values())


@pytest.mark.parametrize("pmcid", ["../PMC1", "13900", "PMC1/../2", ""])
def test_identifiers_are_checked_before_they_name_a_file(client, tmp_path, pmcid):
    with pytest.raises(DataError, match="no PubMed Central identifier"):
        client.fetch([pmcid], Path(tmp_path))


def test_missing_note_is_strict_json(server, client, tmp_path):
    client.fetch(["PMC8"], tmp_path)
    note = json.loads((tmp_path / "PMC8.missing.json").read_text())
    assert note == {"id": "PMC8", "date": "2026-07-14", "reason": "the server returned no such record"}
