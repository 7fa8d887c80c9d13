"""Let GPT-Researcher work on one review: python gpt_researcher_run.py TASK.txt ADDRESS REPORT.md

Runs in an environment of its own with gpt-researcher==0.14.7 and langchain-mcp-adapters. TASK.txt is what
`litsynth agent-prompt` prints, ADDRESS what `litsynth serve-corpus` serves, such as http://127.0.0.1:8765/tasks/run1/mcp.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

SETTINGS = Path(__file__).with_name("gpt_researcher.json")


async def run(task: Path, address: str, report: Path) -> None:
    """Write the report of one deep research run."""
    from gpt_researcher import GPTResearcher

    researcher = GPTResearcher(query=task.read_text(encoding="utf-8"), report_type="deep", config_path=str(SETTINGS),
                               mcp_configs=[{"name": "metasyn", "connection_url": address}])
    await researcher.conduct_research()
    report.write_text(await researcher.write_report(), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
