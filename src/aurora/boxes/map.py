"""map: computes new tuples from old ones, one for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

import polars as pl
from pydantic import Field, model_validator

from aurora.boxes.kernel import BaseKernel, Projection, asks_arrival, check_columns, typed_all
from aurora.errors import Report
from aurora.expressions import Scalar, Scope, analyse
from aurora.model.box import OUT, Box, Kernel, box_kind
from aurora.model.element import ColumnNames, Computed
from aurora.model.forms import KeyedBy
from aurora.model.schema import ArcType, Schema
from aurora.model.train import Emission, Train
from aurora.model.types import NULL


@box_kind
class Map(Box):
    """Computes columns.

    ``compute`` gives exactly the columns it names. ``extend`` keeps the input's columns and adds to them or
    replaces them; ``drop`` and ``rename`` do what they say, before ``extend`` adds its columns.

    >>> from aurora.testing import run_rows
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {trades: {schema: {price: double, volume: int}}}
    ... boxes:
    ...   worth: {kind: map, in: trades, extend: {notional: price * volume}, drop: [price]}
    ... outputs: {out: {from: worth}}
    ... ''', {"trades": [{"price": 2.5, "volume": 4}]}).rows("out")
    [(4, 10.0)]
    """

    kind: ClassVar[str] = "map"
    tuplewise: ClassVar[bool] = True

    compute: Computed = Field(default_factory=dict)
    extend: Computed = Field(default_factory=dict)
    drop: ColumnNames = ()
    rename: Annotated[dict[str, str], KeyedBy("column")] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.compute and (self.extend or self.drop or self.rename):
            raise ValueError("`compute` gives all columns; it does not go with `extend`, `drop` or `rename`")
        if not (self.compute or self.extend or self.drop or self.rename):
            raise ValueError("a map needs `compute`, or some of `extend`, `drop` and `rename`")
        return self

    def _texts(self, schema: Schema) -> dict[str, str]:
        """Every output column with its expression, in order. A kept column is its own expression."""
        if self.compute:
            return dict(self.compute)
        kept = {self.rename.get(name, name): _quoted(name) for name in schema if name not in self.drop}
        return kept | self.extend

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        (arc,) = inputs
        schema = arc.schema
        scope = Scope.of(schema)
        fine = check_columns(self.drop, schema, report.at("drop"))
        fine &= check_columns(list(self.rename), schema, report.at("rename"))
        kept = [self.rename.get(name, name) for name in schema if name not in self.drop]
        if len(set(kept)) < len(kept):
            fine = False
            report.at("rename").add(
                "duplicate-column",
                f"after renaming, the columns are {', '.join(kept)}",
                "give each column its own name",
            )
        section = "compute" if self.compute else "extend"
        computed = typed_all(getattr(self, section), scope, report.at(section))
        if computed is None or not fine:
            return {}
        for name, scalar in computed.items():
            if scalar.type == NULL:
                fine = False
                report.at(section, name).add(
                    "untyped-null", "NULL alone has no type", "say which, for example cast(null as double)"
                )
        if not fine:
            return {}
        columns = {name: analyse(text, scope).type for name, text in self._texts(schema).items()}
        if not columns:
            report.add("no-columns", "the map leaves no column", "keep or compute at least one")
            return {}
        return {OUT: ArcType(Schema(columns), self._grouping(arc))}

    def _grouping(self, arc: ArcType) -> tuple[str, ...]:
        """Substreams stay apart while the columns that tell them apart are there: under whatever name, or computed
        anew under their own.
        """
        texts = self._texts(arc.schema)
        names = []
        for column in arc.grouping:
            same = [name for name, text in texts.items() if text in (column, _quoted(column))]
            if not same and column not in texts:
                return ()
            names.append(column if column in same or not same else same[0])
        return tuple(dict.fromkeys(names))

    def asks_hidden(self) -> bool:
        return asks_arrival([*self.compute.values(), *self.extend.values()])

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        scope = Scope.of(inputs[0].schema)
        scalars = {name: analyse(text, scope) for name, text in self._texts(inputs[0].schema).items()}
        return MapKernel(scalars)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class MapKernel(BaseKernel):
    def __init__(self, scalars: Mapping[str, Scalar]) -> None:
        self._projection = Projection(scalars, keep=())

    def process(self, port: int, train: Train) -> Emission:
        frame, nulled = self._projection(train.frame)
        hidden = train.hidden_columns
        return Emission({OUT: train.made(frame.hstack(hidden) if hidden else frame)}, nulled=nulled)
