"""Which rows a search may return: excluded ones leave before anything is ranked."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from litsynth.errors import ParameterError


def check_depth(k: Any) -> int:
    """Return `k` as an int; raises `ParameterError` unless it is a whole number of at least 1."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ParameterError(f"k is {k!r}", expected="a whole number of at least 1",
                             remedy="ask for at least one article (a depth beyond the corpus is cut to its size)")
    return int(k)


def id_array(name: str, ids: Iterable[int]) -> np.ndarray:
    """Return article IDs as a sorted int64 array without repeats; raises `ParameterError` for anything but integers."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return np.unique(ids.astype(np.int64))
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise ParameterError(f"{name} is {ids!r}", expected="a list of article IDs", remedy="give integers, as [1, 2]")
    numbers = list(ids)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise ParameterError(f"{name} holds {number!r}", expected="integer article IDs",
                                 remedy="take them from the data set's corpus")
    return np.unique(np.array(numbers, dtype=np.int64))


def kept_rows(corpus_ids: np.ndarray, exclude: Iterable[int], allowed: Iterable[int] | None) -> np.ndarray | None:
    """Return the ascending row numbers that may be ranked, or None when all may.

    `corpus_ids` is ascending. IDs that are not in the corpus change nothing; an empty `allowed` allows no row.
    """
    removed = id_array("exclude", exclude)
    chosen = None if allowed is None else id_array("allowed", allowed)
    if chosen is None and not len(removed):
        return None
    keep = np.ones(len(corpus_ids), dtype=bool) if chosen is None else np.isin(corpus_ids, chosen)
    if len(removed):
        keep &= ~np.isin(corpus_ids, removed)
    return None if keep.all() else np.flatnonzero(keep)
