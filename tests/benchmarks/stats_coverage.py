"""Simulate the coverage of all intervals, as `litsynth coverage` does. usage: python stats_coverage.py [simulations]"""

from __future__ import annotations

import sys
import time

from litsynth.stats.coverage import SIMULATIONS, simulate_coverage


def main() -> None:
    """Print the coverage of every interval in every scenario, and the seconds it took."""
    start = time.perf_counter()
    for row in simulate_coverage(simulations=int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS):
        share = "none" if row.coverage is None else f"{100 * row.coverage:.1f} %"
        sys.stdout.write(f"{row.scenario:20s} {row.role:9s} {row.method:44s} {share:>7s}\n")
    sys.stdout.write(f"{time.perf_counter() - start:.0f} s\n")


if __name__ == "__main__":
    main()
