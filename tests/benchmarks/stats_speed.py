"""Measure the bootstrap against a plain loop, and its time and memory at 100,000 items. usage: python stats_speed.py"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from litsynth.stats import cluster_bootstrap, mean_bootstrap, pair_bootstrap, paired_bootstrap, rank_bootstrap

RESAMPLES = 5_000


def plain_loop(values: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Resample whole clusters by laying their rows side by side, once for each resample."""
    groups = [values[clusters == name] for name in np.unique(clusters)]
    rng = np.random.default_rng(7)
    means = [np.concatenate([groups[i] for i in rng.integers(0, len(groups), len(groups))]).mean()
             for _ in range(RESAMPLES)]
    return np.percentile(means, [2.5, 97.5])


def measure(name: str, call: Callable[[], Any]) -> float:
    """Print the time of a call, and in a second call its peak memory as tracemalloc sees it (NumPy reports to it)."""
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    sys.stdout.write(f"{name:62s} {seconds:8.3f} s {peak / 2**20:8.1f} MiB\n")
    return seconds


def main() -> None:
    """Print one line a case."""
    rng = np.random.default_rng(1)
    clusters = rng.integers(0, 835, 2188)
    values = (rng.random(2188) < 1 / (1 + np.exp(-rng.normal(0, 1, 835)[clusters]))).astype(float)
    shares = rng.random(2188)
    slow = measure("plain loop: 2,188 questions, 835 clusters", lambda: plain_loop(values, clusters))
    quick = measure("cluster bootstrap of the same", lambda: cluster_bootstrap(values, clusters, seed=1))
    sys.stdout.write(f"ratio {slow / quick:.0f}\n")
    measure("cluster bootstrap, values all different", lambda: cluster_bootstrap(shares, clusters, seed=1))
    measure("paired bootstrap over 2,188 questions", lambda: paired_bootstrap(values, shares, seed=1))
    pairs = [(0, 1 + i % 60) if i % 3 else (1 + i % 60, 61 + i % 31) for i in range(170)]
    measure("pair bootstrap, 170 pairs", lambda: pair_bootstrap(values[:170], pairs, seed=1))
    measure("ranks of 12 systems on 86 reviews", lambda: rank_bootstrap(rng.random((12, 86)), seed=1))
    many, groups = (rng.random(100_000) < 0.7).astype(float), rng.integers(0, 40_000, 100_000)
    measure("100,000 items, zeros and ones", lambda: mean_bootstrap(many, seed=1))
    measure("100,000 items in 40,000 clusters", lambda: cluster_bootstrap(many, groups, seed=1))
    measure("100,000 items, values all different", lambda: mean_bootstrap(rng.random(100_000), seed=1))


if __name__ == "__main__":
    main()
