"""union: merges streams of one schema into one, in the order in which their tuples entered the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import polars as pl

from aurora.boxes.kernel import BaseKernel
from aurora.boxes.merge import Merge
from aurora.errors import Report
from aurora.model.box import OUT, TOGETHER, Box, Kernel, Partitioning, box_kind
from aurora.model.schema import ArcType, Schema
from aurora.model.train import NOTHING, Emission, Progress, Train
from aurora.model.types import DOUBLE, INT, Type


@box_kind
class Union(Box):
    """Merges its inputs. They have the same columns by name; an int widens to a double where another input has one.

    >>> from aurora.testing import run_rows
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {a: {schema: {t: int, x: int}}, b: {schema: {t: int, x: double}}}
    ... boxes: {both: {kind: union, in: [a, b]}}
    ... outputs: {out: {from: both}}
    ... ''', {"a": [{"t": 1, "x": 1}, {"t": 3, "x": 2}], "b": [{"t": 2, "x": 0.5}]}, clock="t").rows("out")
    [(1, 1.0), (2, 0.5), (3, 2.0)]
    """

    kind: ClassVar[str] = "union"
    arity: ClassVar[tuple[int, int | None]] = (1, None)

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        first = inputs[0].schema
        columns: dict[str, Type] = dict(first)
        fine = True
        for port, arc in enumerate(inputs[1:], start=1):
            if set(arc.schema) != set(first):
                fine = False
                report.at("in", port).add(
                    "schema-mismatch",
                    f"{self.inputs[0]} has the columns {', '.join(first)}, but {self.inputs[port]} has "
                    f"{', '.join(arc.schema)}",
                    "bring both to the same columns with a map box",
                    choices=first,
                )
                continue
            for name, kind in arc.schema.items():
                widened = _widened(columns[name], kind)
                if widened is None:
                    fine = False
                    report.at("in", port).add(
                        "schema-mismatch",
                        f"column {name} is {columns[name]} in {self.inputs[0]}, but {kind} in {self.inputs[port]}",
                        f"cast it in a map box before the union: cast({name} as {columns[name]})",
                    )
                else:
                    columns[name] = widened
        if not fine:
            return {}
        groupings = {arc.grouping for arc in inputs}
        return {OUT: ArcType(Schema(columns), groupings.pop() if len(groupings) == 1 else ())}

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        # Its inputs are merged by the numbers of their tuples.
        return TOGETHER

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        return UnionKernel(self.derive(inputs, Report())[OUT].schema, inputs)


def _widened(one: Type, other: Type) -> Type | None:
    if one == other:
        return one
    return DOUBLE if {one, other} == {INT, DOUBLE} else None


class UnionKernel(BaseKernel):
    """Holds the inputs' tuples until all ports have been given everything up to a number, then merges."""

    def __init__(self, schema: Schema, inputs: Sequence[ArcType]) -> None:
        dtypes = schema.to_polars()
        self._casts: list[list[pl.Expr] | None] = []
        for arc in inputs:
            same = list(arc.schema.items()) == list(schema.items())
            exprs = [pl.col(name).cast(dtype) for name, dtype in dtypes.items()]
            self._casts.append(None if same else [*exprs, pl.col("^__.*$")])
        self._merge = Merge(len(inputs), Train.empty(schema))

    def process(self, port: int, train: Train) -> Emission:
        cast = self._casts[port]
        self._merge.put(port, train if cast is None else Train(train.frame.select(cast)))
        return NOTHING

    def advance(self, progress: Progress) -> Emission:
        merged = self._merge.take()
        return NOTHING if merged is None else Emission({OUT: merged})

    def state(self) -> dict[str, pl.DataFrame]:
        return self._merge.state()

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._merge.load(state)
