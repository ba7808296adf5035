"""Values as JSON writes them, and lists, which every text format writes as JSON.

JSON has no timestamps, durations or bytes: these are strings in the forms of ``from_text`` (or integers, where those
allow them). ``NaN``, ``inf`` and ``-inf`` are strings too. A column is first read in its *plain* type, the one JSON
has for it, and then turned into the type of the schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow as pa

from aurora.connectors.from_text import fault, parse_text
from aurora.model.types import BOOL, DOUBLE, INT, STRING, Type

_NUMBERS = {"NaN": math.nan, "inf": math.inf, "-inf": -math.inf, "Infinity": math.inf, "-Infinity": -math.inf}


def plain_type(kind: Type) -> pl.DataType:
    """The Polars type of what JSON holds for a column of this type."""
    if kind.item is not None:
        return pl.List(plain_type(kind.item))
    return kind.to_polars() if kind in (BOOL, INT, DOUBLE) else pl.String()


def plain_value(value: Any, kind: Type) -> Any:
    """A decoded JSON value in the plain type; raises ValueError with the reason if it is none."""
    if value is None:
        return None
    if kind.item is not None and isinstance(value, list):
        return [plain_value(item, kind.item) for item in value]
    if kind == BOOL and isinstance(value, bool):
        return value
    if kind == INT and isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{_shown(value)} is out of the range of int")
        return value
    if kind == DOUBLE:
        if isinstance(value, str) and value in _NUMBERS:
            return _NUMBERS[value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _double(value)
    if kind == STRING and isinstance(value, str):
        return value
    if kind.temporal and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if (kind.temporal or kind.name == "binary") and isinstance(value, str):
        return value
    article = "an" if kind.name == "int" else "a"
    raise ValueError(f"the JSON value {_shown(value)} is not {article} {kind}")


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{_shown(value)} is out of the range of double") from None


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"


def from_plain(values: pl.Series, kind: Type) -> pl.Series:
    """The typed column; null where a text inside stands for no value of the type (for lists: the whole list)."""
    if plain_type(kind) == kind.to_polars():
        return values
    if kind.item is None:
        return parse_text(values, kind)
    return lists_of(values, kind, from_plain)


def lists_of(values: pl.Series, kind: Type, convert: Callable[[pl.Series, Type], pl.Series]) -> pl.Series:
    """Lists whose items are converted; null where an item is lost."""
    item = kind.item
    assert item is not None
    arrays = values.rechunk().to_arrow()
    inner = pl.Series(arrays.values)
    typed = convert(inner, item)
    if len(inner) == 0:
        return values.cast(kind.to_polars())
    lost = (typed.is_null() & inner.is_not_null()).to_numpy()
    whole = pl.Series(
        values.name,
        pa.LargeListArray.from_arrays(arrays.offsets, typed.to_arrow(), mask=arrays.is_null()),
    ).cast(kind.to_polars())
    if not lost.any():
        return whole
    flags = pl.Series(pa.LargeListArray.from_arrays(arrays.offsets, pa.array(lost), mask=arrays.is_null()))
    return pl.select(pl.when(~flags.list.any().fill_null(False)).then(whole)).to_series().alias(values.name)


def parse_column(text: pl.Series, kind: Type) -> pl.Series:
    """As ``parse_text``, for lists too."""
    if kind.item is None:
        return parse_text(text, kind)
    # The vectorised decoder rounds and converts the items of lists silently, so lists go one by one.
    values = pl.Series([_list_or_none(item, kind) for item in text], dtype=plain_type(kind))
    return from_plain(values, kind)


def _list_or_none(text: str | None, kind: Type) -> Any:
    if text is None:
        return None
    try:
        return plain_value(json.loads(text), kind)
    except (ValueError, RecursionError):
        return None


def column_fault(value: Any, kind: Type) -> str:
    """Why a value that was found in a column is none of the column's type."""
    if isinstance(value, pl.Series):
        return f"{_shown(value.to_list())} holds a value that is not a {kind.item}"
    if not isinstance(value, str) or kind.item is None:
        return fault(str(value), kind)
    try:
        plain_value(json.loads(value), kind)
    except (json.JSONDecodeError, RecursionError):
        return fault(value, kind)
    except ValueError as error:
        return str(error)
    return f"{value[:80]!r} holds a value that is not a {kind.item}"
