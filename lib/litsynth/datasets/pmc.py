"""Client for NCBI's E-utilities: searches PubMed Central and fetches its full texts, one file a record.

Requests are sent as POST, so that the key (`NCBI_API_KEY`) is part of no address; it is in no file and no message.
"""

from __future__ import annotations

import datetime
import email.utils
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from litsynth.errors import DataError
from litsynth.files import ItemLog, atomic_path, read_json, write_json
from litsynth.progress import progress

BASE_URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
KEY_VARIABLE = "NCBI_API_KEY"
REACH = 9_999  # no search shows records beyond this place
_FIRST_DAY = datetime.date(1800, 1, 1)
_LONGEST_WAIT = 120.0  # seconds


class _PassingTrouble(Exception):
    """A request that is worth repeating; `wait` is what the server asked for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class RateLimiter:
    """Spaces calls of all threads evenly, `per_second` of them at most."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic,
                 sleep: Callable[[float], None] = time.sleep) -> None:
        self.per_second = per_second
        self._interval, self._clock, self._sleep = 1 / per_second, clock, sleep
        self._next, self._lock = float("-inf"), threading.Lock()

    def acquire(self) -> None:
        """Return when the next call may go out."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._interval
        if turn > now:
            self._sleep(turn - now)


_LIMITERS: dict[tuple[str, float], RateLimiter] = {}


def shared_limiter(base_url: str, per_second: float) -> RateLimiter:
    """Return the limiter that all clients of one server in this process share."""
    return _LIMITERS.setdefault((urlsplit(base_url).netloc, per_second), RateLimiter(per_second))


@dataclass(frozen=True, slots=True)
class PmcSearch:
    """What a search found: its query, the UTC date it ran, how many records match, and the ids fetched (PMC…)."""

    query: str
    date: str
    count: int
    ids: tuple[str, ...]


class PmcClient:
    """Searches and fetches with at most 3 requests a second, or 10 with a key, and repeats what fails in passing."""

    def __init__(self, base_url: str = BASE_URL, *, api_key: str | None = None, limiter: RateLimiter | None = None,
                 attempts: int = 6, timeout: float = 60.0, sleep: Callable[[float], None] = time.sleep,
                 today: Callable[[], datetime.date] | None = None) -> None:
        self.base_url = base_url.rstrip("/") + "/"
        self._key = api_key if api_key is not None else os.environ.get(KEY_VARIABLE, "")
        self._limiter = limiter or shared_limiter(self.base_url, 10 if self._key else 3)
        self._attempts, self._timeout, self._sleep = attempts, timeout, sleep
        self._today = today or (lambda: datetime.datetime.now(datetime.timezone.utc).date())
        self._http: Any = None

    def __repr__(self) -> str:
        return f"PmcClient({self.base_url!r}, key {'set' if self._key else 'not set'})"

    def count(self, query: str) -> int:
        """Return how many records of PubMed Central match `query`."""
        return self._page(query, 0, 0)[0]

    def search(self, query: str, *, page: int = 5_000) -> PmcSearch:
        """Return all records that match `query`; more than the reach of one search are gathered by publication date.

        Raises `DataError` when fewer arrive than the server counts.
        """
        count = self.count(query)
        if count <= REACH:
            found = self._pages(query, count, page, {})
        else:
            # Dates lie ahead too: a journal's issue may be dated next year.
            last = self._today() + datetime.timedelta(days=1100)
            found = list(self._by_date(query, _FIRST_DAY, last, page))
        ids = tuple(dict.fromkeys(found))
        if len(ids) != count:
            raise DataError(f"the search {query!r} gave {len(ids)} of {count} records",
                            expected="as many ids as the server counts",
                            remedy="run it again; if it persists, narrow the query or split it by another field")
        return PmcSearch(query, self._today().isoformat(), count, ids)

    def best(self, query: str, limit: int) -> PmcSearch:
        """Return the `limit` records most relevant to `query`, best first, as the server ranks them."""
        count, ids = self._page(query, 0, min(limit, REACH), {"sort": "relevance"})
        return PmcSearch(query, self._today().isoformat(), count, tuple(ids))

    def pmcids(self, pmids: Sequence[str], log: ItemLog, *, batch: int = 200) -> dict[str, str | None]:
        """Return the PMC id of each PubMed id, None where PubMed Central lacks the article; `log` keeps the answers."""
        wanted = [pmid for pmid in dict.fromkeys(pmids) if pmid not in log]
        batches = [wanted[start : start + batch] for start in range(0, len(wanted), batch)]
        for some in progress(batches, total=len(batches), stage="PubMed Central identifiers"):
            result = self._json("esummary", {"db": "pubmed", "id": ",".join(some)}).get("result", {})
            for pmid in some:
                if pmid not in result:
                    raise DataError(f"the summary of PubMed record {pmid} is missing from the answer",
                                    expected="a summary for each identifier", remedy="run it again")
                log.append({"key": pmid, "pmcid": _pmcid_of(result[pmid]), "date": self._today().isoformat()})
        return {pmid: (log.get(pmid) or {}).get("pmcid") for pmid in pmids}

    def fetch(self, pmcids: Sequence[str], folder: Path, *, batch: int = 20) -> dict[str, Path | None]:
        """Fetch records into `folder`, one `PMC….xml` each, and return where each lies: None where the server has none.

        What lies there already, and what was once found missing, is not asked for again; a killed fetch goes on.
        """
        wanted = [i for i in dict.fromkeys(pmcids) if not _place(folder, i).exists() and not _gap(folder, i).exists()]
        batches = [wanted[start : start + batch] for start in range(0, len(wanted), batch)]
        for some in progress(batches, total=len(batches), stage="full texts"):
            got = self._repeat(lambda some=some: self._articles(some), f"efetch of {some[0]} and {len(some) - 1} more")
            for pmcid in some:
                if pmcid in got:
                    with atomic_path(_place(folder, pmcid)) as temporary:
                        temporary.write_bytes(got[pmcid])
                else:
                    write_json(_gap(folder, pmcid), {"id": pmcid, "date": self._today().isoformat(),
                                                     "reason": "the server returned no such record"})
        return {i: _place(folder, i) if _place(folder, i).exists() else None for i in pmcids}

    def _articles(self, pmcids: Sequence[str]) -> dict[str, bytes]:
        from lxml import etree

        from litsynth.datasets.jats import article_elements, parse_article

        numbers = ",".join(pmcid.removeprefix("PMC") for pmcid in pmcids)
        body = self._send("efetch", {"db": "pmc", "retmode": "xml", "id": numbers})
        try:
            elements = article_elements(body, "the server's answer")
        except DataError as error:  # cut off, or a page of apologies
            raise _PassingTrouble(error.problem) from None
        return {pmcid: etree.tostring(element, encoding="utf-8", xml_declaration=True, with_tail=False)
                for element in elements if (pmcid := parse_article(element).pmcid)}

    def _by_date(self, query: str, first: datetime.date, last: datetime.date, page: int) -> Iterator[str]:
        span = {"datetype": "pdat", "mindate": f"{first:%Y/%m/%d}", "maxdate": f"{last:%Y/%m/%d}"}
        count = self._page(query, 0, 0, span)[0]
        if count <= REACH:
            yield from self._pages(query, count, page, span)
        elif first == last:
            raise DataError(f"the search {query!r} matches {count} records of {first}",
                            expected=f"at most {REACH} records of one day", remedy="narrow the query")
        else:
            middle = first + (last - first) // 2
            yield from self._by_date(query, first, middle, page)
            yield from self._by_date(query, middle + datetime.timedelta(days=1), last, page)

    def _pages(self, query: str, count: int, page: int, span: Mapping[str, str]) -> list[str]:
        starts = range(0, count, page)
        return [i for start in starts for i in self._page(query, start, min(page, count - start), span)[1]]

    def _page(self, query: str, start: int, size: int, more: Mapping[str, str] | None = None) -> tuple[int, list[str]]:
        found = self._json("esearch", {"db": "pmc", "term": query, "retstart": str(start), "retmax": str(size),
                                       **(more or {})}).get("esearchresult", {})
        if "ERROR" in found or "count" not in found:
            problem = self._clean(str(found.get("ERROR", "no count in the answer")))
            raise DataError(f"the search {query!r} failed: {problem}",
                            expected="a query in PubMed Central's syntax", remedy="try it on the web site first")
        return int(found["count"]), [f"PMC{number}" for number in found.get("idlist", [])]

    def _json(self, utility: str, fields: Mapping[str, str]) -> dict[str, Any]:
        def ask() -> dict[str, Any]:
            try:
                answer = json.loads(self._send(utility, {**fields, "retmode": "json"}))
            except ValueError:
                raise _PassingTrouble("the answer is no JSON") from None
            if not isinstance(answer, dict):
                raise _PassingTrouble("the answer is no JSON object")
            return answer

        return self._repeat(ask, utility)

    def _send(self, utility: str, fields: Mapping[str, str]) -> bytes:
        import httpx

        if self._http is None:
            self._http = httpx.Client(timeout=self._timeout)
        self._limiter.acquire()
        key = {"api_key": self._key} if self._key else {}
        try:
            answer = self._http.post(f"{self.base_url}{utility}.fcgi", data={**fields, "tool": "litsynth", **key})
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _PassingTrouble(f"{type(error).__name__}: {error}") from None
        if answer.status_code == 429 or answer.status_code >= 500:
            raise _PassingTrouble(f"status {answer.status_code}", _retry_after(answer.headers.get("Retry-After")))
        if answer.status_code != 200:
            raise DataError(f"{self.base_url}{utility}.fcgi answered {answer.status_code}: {self._clean(answer.text)}",
                            expected="an answer with status 200",
                            remedy=f"check the query, and {KEY_VARIABLE} if it is set")
        return answer.content

    def _repeat(self, ask: Callable[[], Any], what: str) -> Any:
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        def wait(state: Any) -> float:
            asked_for = getattr(state.outcome.exception(), "wait", None)
            return min(_LONGEST_WAIT, 2.0 ** (state.attempt_number - 1) if asked_for is None else asked_for)

        try:
            return Retrying(retry=retry_if_exception_type(_PassingTrouble), stop=stop_after_attempt(self._attempts),
                            wait=wait, sleep=self._sleep, reraise=True)(ask)
        except _PassingTrouble as trouble:
            raise DataError(f"{what} failed {self._attempts} times at {self.base_url} ({self._clean(str(trouble))})",
                            expected="an answer from NCBI's E-utilities",
                            remedy="check the network and run it again later; what was fetched is kept") from None

    def _clean(self, text: str) -> str:
        """Return the start of a server's text on one line, without the key."""
        plain = " ".join(text.split())
        return (plain.replace(self._key, "[key]") if self._key else plain)[:200]


def missing_reason(folder: Path, pmcid: str) -> str | None:
    """Return why a record was not fetched, with the date, or None when nothing says so."""
    path = _gap(folder, pmcid)
    if not path.exists():
        return None
    note = read_json(path)
    return f"{note['reason']} ({note['date']})"


def _place(folder: Path, pmcid: str) -> Path:
    if not re.fullmatch(r"PMC\d+", pmcid):
        raise DataError(f"{pmcid!r} is no PubMed Central identifier", expected="PMC and digits, such as PMC13900",
                        remedy="correct the identifier")
    return folder / f"{pmcid}.xml"


def _gap(folder: Path, pmcid: str) -> Path:
    return folder / f"{pmcid}.missing.json"


def _pmcid_of(summary: Mapping[str, Any]) -> str | None:
    for item in summary.get("articleids", []):
        if item.get("idtype") in ("pmc", "pmcid") and (match := re.search(r"PMC\d+", str(item.get("value", "")))):
            return match.group()
    return None


def _retry_after(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number, or a date."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        until = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, until.timestamp() - time.time())
