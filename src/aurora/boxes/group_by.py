"""group_by: splits a stream into keyed substreams, which order-sensitive boxes downstream inherit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from aurora.boxes.kernel import BaseKernel, check_grouping
from aurora.errors import Report
from aurora.model.box import OUT, Box, Kernel, box_kind
from aurora.model.element import ColumnNames
from aurora.model.schema import ArcType
from aurora.model.train import Emission, Train


@box_kind
class GroupBy(Box):
    """Gives the stream a grouping; an order-sensitive box downstream that states no ``group_by`` of its own uses it.

    >>> from aurora.testing import run_rows
    >>> rows = [{"k": "a", "x": 1}, {"k": "b", "x": 2}, {"k": "a", "x": 3}]
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {s: {schema: {k: string, x: int}}}
    ... boxes:
    ...   by_k: {kind: group_by, in: s, columns: [k]}
    ...   pairs: {kind: tumble, in: by_k, window: {size: 2 tuples}, compute: {total: sum(x)}}
    ... outputs: {out: {from: pairs}}
    ... ''', {"s": rows}).rows("out")
    [('a', 4)]
    """

    kind: ClassVar[str] = "group_by"
    tuplewise: ClassVar[bool] = True

    columns: Annotated[ColumnNames, Field(min_length=1)]

    def asks_hidden(self) -> bool:
        return False

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        schema = inputs[0].schema
        grouping = self.columns if check_grouping(self.columns, schema, report.at("columns")) else ()
        return {OUT: ArcType(schema, grouping)}

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        return GroupByKernel()


class GroupByKernel(BaseKernel):
    """The grouping is known from the network alone; the tuples pass as they are."""

    def process(self, port: int, train: Train) -> Emission:
        return Emission({OUT: train})
