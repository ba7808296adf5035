"""CAST: which types turn into which, and how. A value that does not fit becomes NULL and is counted."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from aurora.expressions import timestamps
from aurora.expressions.nodes import Build, Way
from aurora.model.types import BINARY, BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, Type

_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")


def _bool_of_text(text: pl.Expr) -> pl.Expr:
    word = text.str.strip_chars().str.to_lowercase()
    return pl.when(word.is_in(_TRUE)).then(True).when(word.is_in(_FALSE)).then(False)


def _number_of_text(dtype: pl.DataType) -> Build:
    return lambda text: text.str.strip_chars().cast(dtype, strict=False)


def _text_of_binary(data: pl.Expr) -> pl.Expr:
    return pl.map_batches([data], _decode_all, return_dtype=pl.String(), is_elementwise=True)


def _decode_all(columns: Sequence[pl.Series]) -> pl.Series:
    """Polars refuses a column with one value that is not UTF-8; only then are the values tried one by one."""
    try:
        return columns[0].cast(pl.String)
    except pl.exceptions.ComputeError:
        return pl.Series([_decode(data) for data in columns[0]], dtype=pl.String())


def _decode(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


_WAYS: dict[tuple[Type, Type], Way] = {
    (BOOL, INT): Way(lambda x: x.cast(pl.Int64)),
    (BOOL, DOUBLE): Way(lambda x: x.cast(pl.Float64)),
    (BOOL, STRING): Way(lambda x: x.cast(pl.String)),
    (INT, BOOL): Way(lambda x: x != 0),
    (INT, DOUBLE): Way(lambda x: x.cast(pl.Float64)),
    (INT, STRING): Way(lambda x: x.cast(pl.String)),
    (DOUBLE, BOOL): Way(lambda x: x != 0),
    (DOUBLE, INT): Way(lambda x: x.cast(pl.Int64, strict=False), fallible=True),
    (DOUBLE, STRING): Way(lambda x: x.cast(pl.String)),
    (STRING, BOOL): Way(_bool_of_text, fallible=True, reuses=True),
    (STRING, INT): Way(_number_of_text(pl.Int64()), fallible=True),
    (STRING, DOUBLE): Way(_number_of_text(pl.Float64()), fallible=True),
    (STRING, TIMESTAMP): Way(timestamps.of_text, fallible=True, reuses=True),
    (STRING, DURATION): Way(timestamps.duration_of_text, fallible=True, reuses=True),
    (STRING, BINARY): Way(lambda x: x.cast(pl.Binary)),
    (BINARY, STRING): Way(_text_of_binary, fallible=True),
    (TIMESTAMP, STRING): Way(timestamps.to_text, fallible=True, reuses=True),
    (DURATION, STRING): Way(timestamps.duration_to_text),
}


def narrowed(bounds: tuple[int, int]) -> Way:
    """An int as a narrower one: NULL outside of its range."""
    return Way(lambda x: pl.when(x.is_between(*bounds)).then(x), fallible=True, reuses=True)


def cast_way(source: Type, target: Type) -> Way | None:
    """How a value of one type becomes another, None if it does not. Doubles lose their fraction as ints."""
    return _WAYS.get((source, target))


def targets(source: Type) -> tuple[str, ...]:
    return tuple(str(target) for origin, target in _WAYS if origin == source)
