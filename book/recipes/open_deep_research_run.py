"""Let Open Deep Research work on one review: python open_deep_research_run.py TASK.txt REPORT.md

Runs in an environment of its own with open-deep-research==0.0.16. TASK.txt is what `litsynth agent-prompt` prints; the
address of the corpus stands in open_deep_research.json, without the /mcp that the agent puts at its end.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

SETTINGS = Path(__file__).with_name("open_deep_research.json")


async def run(task: Path, report: Path) -> None:
    """Write the report of one run."""
    from open_deep_research.deep_researcher import deep_researcher

    message = {"role": "user", "content": task.read_text(encoding="utf-8")}
    state = await deep_researcher.ainvoke({"messages": [message]}, json.loads(SETTINGS.read_text(encoding="utf-8")))
    report.write_text(state["final_report"], encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), Path(sys.argv[2])))
