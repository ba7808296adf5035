"""Small kinds of box, so that these tests stand on the model alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, NoReturn

import polars as pl
from pydantic import Field

from aurora.errors import Report
from aurora.model.box import OUT, Box
from aurora.model.element import Names, TuplesField
from aurora.model.quantities import Tuples
from aurora.model.schema import ArcType, Schema
from aurora.model.types import INT
from aurora.model.window import Window


class SampleBox(Box):
    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> NoReturn:
        raise NotImplementedError


def _present(columns: Sequence[str], schema: Schema, report: Report) -> bool:
    for index, column in enumerate(columns):
        if column not in schema:
            report.at(index).add("unknown-column", f"no column {column!r}", "name one", choices=schema)
    return all(column in schema for column in columns)


class Keep(SampleBox):
    """Passes some columns; reports those that are not there."""

    kind: ClassVar[str] = "keep"
    columns: Names
    mode: Literal["strict", "loose"] = "strict"

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        schema = inputs[0].schema
        if not _present(self.columns, schema, report.at("columns")):
            return {}
        return {OUT: ArcType(Schema({name: schema[name] for name in self.columns}), inputs[0].grouping)}


class Split(SampleBox):
    """One port per route."""

    kind: ClassVar[str] = "split"
    routes: dict[str, str]
    otherwise: str | None = Field(default=None, alias="else")

    def output_ports(self) -> tuple[str, ...]:
        return (*self.routes, *([] if self.otherwise is None else [self.otherwise]))

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        return dict.fromkeys(self.output_ports(), inputs[0])


class Merge(SampleBox):
    kind: ClassVar[str] = "merge"
    arity: ClassVar[tuple[int, int | None]] = (2, None)

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        return {OUT: inputs[0]}


class Count(SampleBox):
    """Has a window, a nested declaration, like the real aggregates."""

    kind: ClassVar[str] = "count"
    window: Window
    group_by: Names = ()
    every: TuplesField = Tuples(1)
    compute: dict[str, str] = Field(default_factory=dict)
    late: bool = False

    def output_ports(self) -> tuple[str, ...]:
        return (OUT, "late") if self.late else (OUT,)

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        if not _present(self.group_by, inputs[0].schema, report.at("group_by")):
            return {}
        counted = ArcType(Schema({**{name: inputs[0].schema[name] for name in self.group_by}, "n": INT}))
        return {OUT: counted, "late": inputs[0]} if self.late else {OUT: counted}


class Lookup(SampleBox):
    """Its second input may be static."""

    kind: ClassVar[str] = "lookup"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    takes_static: ClassVar[bool] = True

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        return {OUT: ArcType(Schema({**inputs[0].schema, **inputs[1].schema}))}


SAMPLES: dict[str, type[Box]] = {box.kind: box for box in (Keep, Split, Merge, Count, Lookup)}
