"""The door of this room: every array is checked here once, and what comes out is clean."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from litsynth.errors import DataError, ParameterError

LARGEST = 1e100  # sums and squares of what is larger could leave the range of a float


def is_missing(value: Any) -> bool:
    """Return whether `value` is None, NaN or pandas' NA or NaT: the things that are not equal to themselves."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA refuses to be true or false
        return True
    except ValueError:  # an array, which is no single value
        return False


def clean_values(values: Iterable[Any], name: str) -> np.ndarray:
    """Return `values` as float64 of shape (n,); booleans become 0 and 1.

    Raises `DataError` that names the first row which is missing, infinite or no number.
    """
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuf":
        array = values.astype(np.float64)
    else:
        try:
            items = list(values)
        except TypeError:
            raise DataError(f"{name} is a {type(values).__name__}", expected="a list or column of numbers",
                            remedy="give all values at once") from None
        for row, value in enumerate(items):
            if is_missing(value) or isinstance(value, str | bytes) or np.ndim(value) != 0:
                raise _bad_row(name, row, value)
        try:
            array = np.array(items, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"{name} holds something that is no number ({error})", expected="numbers or booleans",
                            remedy="convert the column before the estimate") from None
    bad = np.flatnonzero(~(np.abs(array) <= LARGEST))
    if len(bad):
        raise _bad_row(name, int(bad[0]), array[bad[0]])
    return array + 0.0  # turns -0.0 into 0.0, so that equal values have equal bytes


def _bad_row(name: str, row: int, value: Any) -> DataError:
    return DataError(f"{name}, row {row} (counted from 0): {value!r} is not a finite number",
                     expected=f"a number or a boolean in every row, none beyond {LARGEST:g}",
                     remedy="leave rows without a score out of the denominator, or score them, before the estimate")


def clean_binary(values: Iterable[Any], name: str) -> np.ndarray:
    """Return `values` as float64 zeros and ones; raises `DataError` that names the first row with anything else."""
    array = clean_values(values, name)
    bad = np.flatnonzero((array != 0) & (array != 1))
    if len(bad):
        raise DataError(f"{name}, row {int(bad[0])} (counted from 0): {array[bad[0]]} is neither 0 nor 1",
                        expected="verdicts as 0 and 1 or False and True", remedy="decide each verdict first")
    return array


def label_codes(labels: Iterable[Hashable], name: str) -> tuple[np.ndarray, list[Hashable]]:
    """Return integer codes of shape (n,) and the labels they stand for, in order of first appearance.

    Raises `DataError` that names the first row whose label is missing.
    """
    codes: dict[Hashable, int] = {}
    rows = np.empty(0, dtype=np.int64)
    found = []
    for row, label in enumerate(labels.tolist() if isinstance(labels, np.ndarray) else labels):
        if is_missing(label):
            raise DataError(f"{name}, row {row} (counted from 0): the label is missing",
                            expected="a label in every row", remedy="name what the row belongs to, or leave it out")
        try:
            found.append(codes.setdefault(label, len(codes)))
        except TypeError:
            raise DataError(f"{name}, row {row} (counted from 0): {label!r} cannot be a label",
                            expected="text or numbers", remedy="use the identifier alone") from None
    if found:
        rows = np.array(found, dtype=np.int64)
    return rows, list(codes)


def same_length(**arrays: Sequence[Any]) -> int:
    """Return the common length of the named arrays; raises `DataError` that names every length when they differ."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise DataError(f"lengths differ: {sizes}", expected="one row in each for every item",
                        remedy="join the tables on the item's identifier first")
    return next(iter(lengths.values()))


def check_count(value: Any, name: str, *, least: int = 0) -> int:
    """Return `value` as an integer of at least `least`; raises `ParameterError` otherwise."""
    number = None if isinstance(value, bool | str) or is_missing(value) else value
    try:
        whole = number is not None and int(number) == number and least <= number <= LARGEST
    except (TypeError, ValueError, OverflowError):  # infinity, or no number at all
        whole = False
    if not whole:
        raise ParameterError(f"{name} is {value!r}", expected=f"a whole number of at least {least}",
                             remedy=f"give {name} as a count")
    return int(number)


def check_confidence(confidence: float) -> float:
    """Return `confidence` if it lies strictly between 0 and 1; raises `ParameterError` otherwise."""
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence is {confidence!r}", expected="a share between 0 and 1, such as 0.95",
                             remedy="write 95 % as 0.95")
    return float(confidence)


def z_value(confidence: float) -> float:
    """Return the two-sided normal quantile for `confidence`, 1.96 for 0.95."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(0.5 + check_confidence(confidence) / 2)
