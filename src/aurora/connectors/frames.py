"""Tables in memory as sources and sinks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa

from aurora.connectors.source import SinkPosition
from aurora.errors import InputError
from aurora.model.schema import Schema

Table: TypeAlias = pl.DataFrame | Sequence[Mapping[str, Any]] | Any
"""What is taken as a table: a list of rows, or what hands out its columns as Arrow: Polars, pandas, Arrow itself."""


def table_frame(table: Table, schema: Schema) -> pl.DataFrame:
    """The table with exactly the schema's columns and types; raises InputError where it does not fit."""
    if isinstance(table, pl.DataFrame) and schema.describes(table):
        return table
    dtypes = schema.to_polars()
    try:
        if hasattr(table, "__arrow_c_stream__"):
            frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(pa.table(table))
            missing = [name for name in schema if name not in frame.columns]
            if missing:
                raise InputError(f"the table lacks the columns {', '.join(missing)}; it has {', '.join(frame.columns)}")
            return frame.select(_fitted(frame.get_column(name), dtype) for name, dtype in dtypes.items())
        return pl.DataFrame(list(table), schema=dtypes, orient="row")
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise InputError(f"the table does not fit {schema}: {error}") from error


def _fitted(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    if isinstance(dtype, pl.Datetime) and isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is None:
        column = column.dt.replace_time_zone("UTC")
    return column.cast(dtype)


class FrameSource:
    """A table as an input.

    >>> source = FrameSource([{"x": 1}, {"x": 2}], Schema.of(x="int"))
    >>> [batch.height for batch in source.batches(1)]
    [1, 1]
    """

    def __init__(self, table: Table, schema: Schema) -> None:
        self._frame = table_frame(table, schema)
        self._read = 0

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        for start in range(0, self._frame.height, size):
            self._read = min(start + size, self._frame.height)
            yield self._frame.slice(start, size)

    def fraction(self) -> float | None:
        return self._read / self._frame.height if self._frame.height else 1.0

    def close(self) -> None:
        """Nothing is open."""


class FrameSink:
    """Keeps what an output delivers. It lives in memory, so nothing can continue it; its position counts tuples."""

    def __init__(self, schema: Schema) -> None:
        self._frames = [pl.DataFrame(schema=schema.to_polars())]

    def write(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)

    def position(self, *, durable: bool = False) -> SinkPosition:
        return sum(frame.height for frame in self._frames)

    def suspend(self) -> None:
        """Nothing is open."""

    def close(self) -> None:
        """Nothing is open."""

    @property
    def frame(self) -> pl.DataFrame:
        return pl.concat(self._frames, rechunk=True)
