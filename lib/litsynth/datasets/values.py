"""What single values of a source mean: not reported, lists of criteria, identifiers, years."""

from __future__ import annotations

import datetime
import html
import math
import re
from collections.abc import Sequence
from typing import Any

from litsynth.errors import DataError

# "NR", empty and missing all mean not reported; "nan" is what a missing value becomes on its way through a text table.
_NOT_REPORTED = frozenset({"", "nr", "nan", "not reported"})
LARGEST_ID = 2**63 - 1  # what Parquet and the arrays of an index can hold
_WHOLE_NUMBER = re.compile(r"0|[1-9]\d*")


def is_reported(value: Any) -> bool:
    """Return whether a value says anything: None, NaN, empty text or list, and "NR" in any case do not."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return False
    if isinstance(value, str):
        return value.strip().rstrip(".").rstrip().casefold() not in _NOT_REPORTED
    if isinstance(value, (list, tuple, dict)):
        return len(value) > 0
    return True


def text_or_none(value: Any, where: str) -> str | None:
    """Return stripped text, or None when not reported; numbers and dates are written out.

    Raises `DataError` naming `where` for lists, objects and booleans.
    """
    if isinstance(value, str):
        return value.strip() if is_reported(value) else None
    if not is_reported(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, datetime.date)):
        raise DataError(
            f"{where} is {_shown(value)}", expected="text", remedy="write it as text, or null when not reported"
        )
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    return str(int(value)) if float(value).is_integer() else str(value)


def split_items(value: Any, where: str) -> tuple[str, ...]:
    """Return the reported items of a criteria field: text split at `;`, HTML entities decoded first, or a list."""
    if not is_reported(value):
        return ()
    if isinstance(value, str):
        value = html.unescape(value).split(";") if "&" in value else value.split(";")
    elif not isinstance(value, (list, tuple)):
        raise DataError(f"{where} is {_shown(value)}", expected="text with items separated by `;`, or a list of texts")
    items = (text_or_none(item, where) for item in value)
    return tuple(item for item in items if item is not None)


def split_lines(value: Any, where: str) -> tuple[str, ...]:
    """Return the reported, non-empty lines of a text, or the items of a list."""
    if isinstance(value, str) and is_reported(value):
        value = value.splitlines()
    return split_items(list(value) if isinstance(value, (list, tuple)) else value, where)


def whole_number(value: Any, where: str) -> int:
    """Return an identifier: a non-negative whole number, or its plain decimal digits as text.

    Raises `DataError` for booleans, floats, negative numbers, those beyond 63 bits, and anything else.
    """
    if type(value) is int and 0 <= value <= LARGEST_ID:
        return value
    digits = value.strip() if isinstance(value, str) else ""
    if _WHOLE_NUMBER.fullmatch(digits) and len(digits) < 30 and int(digits) <= LARGEST_ID:
        return int(digits)
    raise DataError(
        f"{where} is {_shown(value)}",
        expected="a non-negative whole number of at most 63 bits (booleans and floats are none)",
        remedy="store identifiers as whole numbers; a column with gaps turns them into floats",
    )


def number_list(value: Any, where: str) -> tuple[int, ...]:
    """Return a list of identifiers without repetitions, in order; not reported gives an empty one."""
    if not is_reported(value):
        return ()
    if isinstance(value, str):
        value = [part for part in re.split(r"[\s,;|\[\]]+", value) if part]
    if not isinstance(value, (list, tuple)):
        raise DataError(f"{where} is {_shown(value)}", expected="a list of whole numbers")
    return tuple(dict.fromkeys(whole_number(item, where) for item in value))


def year_or_none(value: Any, where: str) -> int | None:
    """Return a year as a whole number, or None; a float is accepted when whole, because gaps make floats of years."""
    if not is_reported(value):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and re.fullmatch(r"\d{4}(\.0)?", value.strip(), re.ASCII):
        return int(value.strip()[:4])
    if type(value) is int and 0 <= value <= 9999:
        return value
    raise DataError(f"{where} is {_shown(value)}", expected="a year such as 2004, or null")


def json_ready(value: Any) -> Any:
    """Return a value as strict JSON can hold it: NaN and infinities as None, dates and bytes as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value)


def few(values: Sequence[Any], limit: int = 5) -> str:
    """Return up to `limit` values for a message, and how many more there are."""
    shown = ", ".join(str(value) for value in values[:limit])
    return shown + (f" and {len(values) - limit} more" if len(values) > limit else "")


def _shown(value: Any) -> str:
    text = repr(value)
    return (text if len(text) <= 40 else text[:37] + "...") + f" ({type(value).__name__})"
