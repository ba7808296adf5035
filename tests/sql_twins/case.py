"""A case: one network with its input, and one SQL query that should give the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

Row = tuple[Any, ...]

POLARS: Mapping[str, pl.DataType] = {
    "bool": pl.Boolean(),
    "int": pl.Int64(),
    "double": pl.Float64(),
    "string": pl.String(),
    "timestamp": pl.Datetime("us", "UTC"),
    "duration": pl.Duration("us"),
}
IN_MICROSECONDS = ("timestamp", "duration")
"""Kinds whose values are whole microseconds here, so that no time is too early or late for Python."""


@dataclass(frozen=True)
class Table:
    """Rows of a stream or of static data."""

    columns: Mapping[str, str]
    rows: tuple[Row, ...]

    def frame(self) -> pl.DataFrame:
        """As Aurora takes it."""
        return self._raw().cast({name: POLARS[kind] for name, kind in self.columns.items()})

    def frame_for_duckdb(self) -> pl.DataFrame:
        """Times without a zone, durations as whole numbers: DuckDB's intervals have months and days apart."""
        times = {name: pl.Datetime("us") for name, kind in self.columns.items() if kind == "timestamp"}
        return self._raw().cast(dict(times))

    def _raw(self) -> pl.DataFrame:
        kinds = {name: "int" if kind in IN_MICROSECONDS else kind for name, kind in self.columns.items()}
        return pl.DataFrame(list(self.rows), {name: POLARS[kind] for name, kind in kinds.items()}, orient="row")


Inputs = Mapping[str, Table]


@dataclass(frozen=True)
class Case:
    """``key`` holds the columns that tell the rows apart, by which both sides are sorted; without it rows are in order.

    Columns named in ``rounded`` may differ in their last digits: by the order of additions, or by the library of
    mathematics.
    ``simpler`` gives cases over given inputs that say less, for a failure to be shown in its smallest form.
    """

    boxes: Mapping[str, Any]
    output: str
    inputs: Inputs
    sql: str
    columns: Mapping[str, str]
    key: tuple[str, ...] = ()
    rounded: frozenset[str] = frozenset()
    static: frozenset[str] = frozenset()
    clock: str | None = None
    simpler: Callable[[Inputs], Iterator[Case]] = field(default=lambda _: iter(()), compare=False)

    def document(self) -> str:
        """The network, as a document in JSON."""
        schemas = {name: {"schema": dict(table.columns)} for name, table in self.inputs.items()}
        document: dict[str, Any] = {
            "aurora": 1,
            "network": "twin",
            "streams": {name: schema for name, schema in schemas.items() if name not in self.static},
            "boxes": self.boxes,
            "outputs": {"out": {"from": self.output}},
        }
        if self.static:
            document["connection_points"] = {name: schemas[name] for name in sorted(self.static)}
        return json.dumps(document, ensure_ascii=False)

    def with_rows(self, stream: str, rows: tuple[Row, ...]) -> Case:
        """The same case over other rows."""
        return replace(self, inputs={**self.inputs, stream: replace(self.inputs[stream], rows=rows)})
