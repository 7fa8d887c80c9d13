"""Run every benchmark and keep what it printed, with the machine it ran on, where the book's benchmark page reads it.

usage: python tests/benchmarks/run_all.py [--reviews FOLDER] [--bank FOLDER] [--only NAME …] [--output DIR]

Ratios are measured side by side in one run of one script; seconds depend on the machine and on what else it does, so
the load average stands beside them. `--reviews` and `--bank` name data sets in the MetaSyn and the LitBench shape
(default: the synthetic sample for both, which is small).
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from litsynth import datasets, paths
from litsynth.files import write_json

HERE = Path(__file__).resolve().parent
TAKES = {"bm25_speed": "reviews", "hnsw_recall": "reviews", "litbench_speed": "bank"}


def processor() -> str:
    """Return the processor's name as the system tells it."""
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
             ] if info.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def main() -> int:
    """Run the scripts one after the other; returns 1 when one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reviews", default="sample")
    parser.add_argument("--bank", default="sample")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--output", type=Path, default=paths.results_dir() / "benchmarks")
    given = parser.parse_args()
    scripts = [path for path in sorted(HERE.glob("*.py")) if path.stem != Path(__file__).stem]
    failed = 0
    for script in scripts:
        if given.only and script.stem not in given.only:
            continue
        name = {"reviews": given.reviews, "bank": given.bank}.get(TAKES.get(script.stem, ""))
        sys.stdout.write(f"== {script.stem}" + (f" ({name})" if name else "") + "\n")
        sys.stdout.flush()
        before, started = os.getloadavg()[0], datetime.now(timezone.utc)
        command = [sys.executable, str(script), *([name] if name else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        sys.stdout.write(done.stdout + "\n")
        if done.returncode:
            failed += 1
            continue
        data = datasets.load(name) if name else None
        about = {"name": data.name, "checksum": data.checksum, "synthetic": data.synthetic} if data else None
        write_json(given.output / f"{script.stem}.json", {
            "benchmark": script.stem, "printed": done.stdout.rstrip(), "date": started.strftime("%Y-%m-%d"),
            "seconds": round((datetime.now(timezone.utc) - started).total_seconds(), 1),
            "load_average_before": round(before, 2), "processor": processor(), "cores": os.cpu_count(),
            "python": platform.python_version(),
            "dataset": about})
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
