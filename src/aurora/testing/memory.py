"""Sources and sinks in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from aurora.model.schema import Schema

Rows = Sequence[Mapping[str, Any]] | pl.DataFrame


class ListSource:
    """Rows or a frame as an input, with exactly the columns of the stream.

    >>> source = ListSource([{"x": 1}, {"x": 2}], Schema.of(x="int"))
    >>> [batch.height for batch in source.batches(1)]
    [1, 1]
    """

    def __init__(self, rows: Rows, schema: Schema) -> None:
        dtypes = schema.to_polars()
        if isinstance(rows, pl.DataFrame):
            self.frame = rows.select(pl.col(name).cast(dtype) for name, dtype in dtypes.items())
        else:
            self.frame = pl.DataFrame(list(rows), schema=dtypes, orient="row")

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        for start in range(0, self.frame.height, size):
            yield self.frame.slice(start, size)


class ListSink:
    """Keeps what an output delivers."""

    def __init__(self, schema: Schema) -> None:
        self._frames = [pl.DataFrame(schema=schema.to_polars())]

    def write(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)

    @property
    def frame(self) -> pl.DataFrame:
        return pl.concat(self._frames, rechunk=True)
