"""bsort: sorts a stream approximately, with a bounded buffer; loses nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from aurora.boxes.axis import order_values
from aurora.boxes.groups import GroupIndex
from aurora.boxes.kernel import BaseKernel, check_grouping
from aurora.boxes.order import CountBuffer, Rows, TimeSlack
from aurora.boxes.ordered import amount, check_order_column, numpy_type
from aurora.errors import Report
from aurora.model.box import OUT, Box, Kernel, Partitioning, box_kind
from aurora.model.element import ColumnName, ColumnNames, QuantityField
from aurora.model.quantities import Tuples
from aurora.model.schema import ArcType, Schema
from aurora.model.train import NOTHING, WHEN, Emission, Progress, Train, rows_at
from aurora.model.window import check_quantity


@box_kind
class BSort(Box):
    """Sorts by a column with a buffer of ``slack`` + 1 tuples per group; each time it is full, the least leaves.

    With a time slack tuples leave in order when progress reaches them; what is out of order passes at once.

    >>> from aurora.testing import run_rows
    >>> rows = [{"x": x} for x in (1, 3, 1, 2, 4, 4, 8, 3, 4, 4)]
    >>> result = run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {s: {schema: {x: int}}}
    ... boxes: {sorted: {kind: bsort, in: s, order_by: x, slack: 2 tuples}}
    ... outputs: {out: {from: sorted}}
    ... ''', {"s": rows})
    >>> [x for (x,) in result.rows("out")]
    [1, 1, 2, 3, 4, 3, 4, 4, 4, 8]
    """

    kind: ClassVar[str] = "bsort"

    order_by: ColumnName
    slack: QuantityField = Tuples(0)
    group_by: ColumnNames = ()

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        schema = inputs[0].schema
        check_grouping(self.group_by, schema, report.at("group_by"))
        kind = check_order_column(self.order_by, schema, report.at("order_by"))
        check_quantity(self.slack, kind, report.at("slack"), positive=False)
        return {OUT: inputs[0]}

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        by_groups = isinstance(self.slack, Tuples)
        return Partitioning.by(self.group_by or inputs[0].grouping if by_groups else ())

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        (arc,) = inputs
        return BSortKernel(self, arc.schema, self.group_by or arc.grouping)


class BSortKernel(BaseKernel):
    def __init__(self, box: BSort, schema: Schema, grouping: Sequence[str]) -> None:
        self._order_by = box.order_by
        self._groups = GroupIndex(grouping, schema)
        kind = schema[box.order_by]
        self._by_count = CountBuffer(box.slack.n) if isinstance(box.slack, Tuples) else None
        self._by_time = None if self._by_count else TimeSlack(amount(box.slack, kind), numpy_type(kind))

    def process(self, port: int, train: Train) -> Emission:
        frame = train.frame
        values, known = order_values(frame, self._order_by)
        places = train.hidden(WHEN[0]) if self.ranked else None
        rows = Rows(frame, self._groups.codes(frame), values, places)
        passed: list[Rows] = []
        if not known.all():
            passed = [rows.only(~known)]
            rows = rows.only(known)
        if self._by_time is not None:
            leaving, late = self._by_time.push(rows)
            passed.append(late)
        else:
            assert self._by_count is not None
            leaving = self._by_count.push(rows)
        if not any(map(len, passed)):
            return Emission({OUT: Train(leaving.frame)})
        both = Rows.concat([leaving, *passed])
        by_place = np.argsort(np.concatenate([part.places for part in [leaving, *passed]]), kind="stable")
        return Emission({OUT: Train(rows_at(both.frame, by_place))})

    def advance(self, progress: Progress) -> Emission:
        if not progress.end:
            return NOTHING
        if self._by_time is not None:
            flushed = self._by_time.flush(progress.end_order, progress.clock)
            rows = None if flushed is None else flushed[0]
        else:
            assert self._by_count is not None
            rows = self._by_count.flush(progress.end_order, progress.clock)
        return NOTHING if rows is None else Emission({OUT: Train(rows.frame)})

    def state(self) -> dict[str, pl.DataFrame]:
        if self._by_time is not None:
            return self._by_time.state()
        assert self._by_count is not None
        return {**self._by_count.state(), "groups": self._groups.keys}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        if self._by_time is not None:
            self._by_time.load(state)
            return
        assert self._by_count is not None
        self._by_count.load(state)
        self._groups.load(state["groups"])
