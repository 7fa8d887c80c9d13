"""Run GPT-Researcher's MCP retriever against an address, by a Python that has it and langchain-mcp-adapters.

Usage: python gpt_researcher_probe.py ADDRESS QUERY. The model is a stub on this machine that asks for one search with
the query it is given and for one fetch of an article that was not returned; nothing leaves the machine. Prints the
retriever's results as JSON on the last line.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any


class Stub(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint that calls every tool it is offered once."""

    query = ""

    def do_POST(self) -> None:
        """Answer one chat completion."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        arguments = {"search_metasyn_corpus": {"query": self.query, "k": 3}, "fetch_metasyn_record": {"corpus_id": 1}}
        names = [tool["function"]["name"] for tool in asked.get("tools", [])]
        calls = [{"id": f"c{name}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
                 for name, given in arguments.items() if name in names]
        message = {"role": "assistant", "content": "" if calls else "no selection", **({"tool_calls": calls} if calls
                                                                                         else {})}
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "stub", "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Stay quiet."""


def main(address: str, query: str) -> None:
    """Let the retriever search once and print what it found."""
    Stub.query = query
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ.update(OPENAI_API_KEY="unused", OPENAI_BASE_URL=f"http://127.0.0.1:{server.server_port}/v1")
    from gpt_researcher.retrievers.mcp.retriever import MCPRetriever

    settings = SimpleNamespace(strategic_llm_model="stub", strategic_llm_provider="openai", llm_kwargs={})
    researcher = SimpleNamespace(mcp_configs=[{"name": "metasyn", "connection_url": address}], cfg=settings,
                                 add_costs=lambda cost: None)
    print(json.dumps(MCPRetriever(query, researcher=researcher).search(max_results=20)))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
