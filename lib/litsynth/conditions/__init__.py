"""Candidate sets of the LitBench conditions, pure and seeded, and the live pool."""

from litsynth.conditions.catalogue import (
    CONDITIONS,
    Condition,
    PoolSizes,
    condition_named,
    default_grid,
    largest_n,
    representative_n,
)
from litsynth.conditions.draw import candidate_set, grid
from litsynth.conditions.live import LivePool, pool_record
from litsynth.conditions.pools import Pools

__all__ = [
    "CONDITIONS", "Condition", "LivePool", "PoolSizes", "Pools", "candidate_set", "condition_named", "default_grid",
    "grid", "largest_n", "pool_record", "representative_n",
]
