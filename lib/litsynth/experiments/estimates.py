"""Estimates as table rows and as words, the same way in every experiment."""

from __future__ import annotations

from typing import Any

from litsynth.records import Estimate

COLUMNS = ("value", "low", "high", "n", "clusters", "method", "reason")


def estimate_row(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as the columns `COLUMNS`, unrounded, None where it has no value or no interval."""
    return {name: getattr(estimate, name) for name in COLUMNS}


def shown(value: float | None, low: float | None = None, high: float | None = None, *, digits: int = 3,
          signed: bool = False) -> str:
    """Return a number with its interval for reading, such as `0.712 (0.650 to 0.771)`; a dash where undefined."""
    form = f"{{:{'+' if signed else ''}.{digits}f}}"
    if value is None or value != value:
        return "–"
    if low is None or high is None or low != low or high != high:
        return form.format(value) + " (no interval)"
    return f"{form.format(value)} ({form.format(low)} to {form.format(high)})"
