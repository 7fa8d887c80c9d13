"""A stand-in for NCBI's E-utilities on this machine: it knows some articles, and misbehaves as it is told."""

from __future__ import annotations

import contextlib
import datetime
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs


def article_xml(number: int, *, body: str = "<sec><title>Results</title><p>Warm feet.</p></sec>") -> str:
    inside = f"<body>{body}</body>" if body else ""
    return (f'<article><front><article-meta><article-id pub-id-type="pmid">9{number}</article-id>'
            f'<article-id pub-id-type="pmcid">PMC{number}</article-id><title-group><article-title>Article {number}'
            f"</article-title></title-group><pub-date><year>2020</year></pub-date><abstract><p>About {number}.</p>"
            f"</abstract></article-meta></front>{inside}</article>")


class EutilsServer:
    """Serves `articles` (XML by number) and `dates` (by number); `faults` are given out one a request, in order."""

    def __init__(self) -> None:
        self.articles: dict[int, str] = {}
        self.dates: dict[int, datetime.date] = {}
        self.faults: list[Callable[[str, dict[str, str]], tuple[int, dict[str, str], str] | None]] = []
        self.reach = 9_999
        self.claimed: int | None = None  # a count that is not true
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                fields = {k: v[0] for k, v in parse_qs(self.rfile.read(length).decode()).items()}
                utility = self.path.rsplit("/", 1)[-1].removesuffix(".fcgi")
                outer.paths.append(self.path)
                outer.requests.append((utility, fields))
                fault = outer.faults.pop(0)(utility, fields) if outer.faults else None
                status, headers, text = fault or (200, {}, outer.answer(utility, fields))
                data = text.encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client has given up
                    self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Keep the test's output quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/eutils/"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, utility: str, fields: dict[str, str]) -> str:
        if utility == "esearch":
            return self._search(fields)
        if utility == "esummary":
            result = {pmid: {"articleids": [{"idtype": "pubmed", "value": pmid}] + (
                [{"idtype": "pmc", "value": f"PMC{pmid[1:]}"}] if int(pmid[1:]) in self.articles else [])}
                for pmid in fields["id"].split(",")}
            return json.dumps({"result": result})
        found = [self.articles[int(i)] for i in fields["id"].split(",") if int(i) in self.articles]
        return f"<pmc-articleset>{''.join(found)}</pmc-articleset>"

    def _search(self, fields: dict[str, str]) -> str:
        found = sorted(self.dates)
        if "mindate" in fields:
            low, high = (datetime.datetime.strptime(fields[name], "%Y/%m/%d").date() for name in ("mindate", "maxdate"))
            found = [i for i in found if low <= self.dates[i] <= high]
        start, size = int(fields["retstart"]), int(fields["retmax"])
        shown = found[: self.reach][start : start + size]
        count = len(found) if self.claimed is None else self.claimed
        return json.dumps({"esearchresult": {"count": str(count), "idlist": [str(i) for i in shown]}})


def fault(status: int, *, headers: dict[str, str] | None = None, text: str = "busy") -> Callable[..., Any]:
    """A fault that answers once with this status, these headers and this text."""
    return lambda utility, fields: (status, headers or {}, text)


def no_fault(utility: str, fields: dict[str, str]) -> None:
    """Let a request through."""
