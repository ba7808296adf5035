"""latch: aggregates over the whole life of each group, put out again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from aurora.boxes.aggregate import part
from aurora.boxes.aggregation import Aggregation, Partials, concat_partials, take_partials
from aurora.boxes.axis import order_values
from aurora.boxes.groups import GroupIndex, grown
from aurora.boxes.kernel import BaseKernel, typed_aggregates
from aurora.boxes.late import Late
from aurora.boxes.order import AsTheyCome, CountSlack, Delivery, Rows, TimeSlack
from aurora.boxes.ordered import OrderedBox, amount, check_unique, numpy_type
from aurora.boxes.segments import position_in_segment, stable_order, starts_of
from aurora.errors import Report
from aurora.expressions import Scope, analyse_aggregates
from aurora.model.box import LATE, OUT, Kernel, box_kind
from aurora.model.element import Aggregated, TuplesField
from aurora.model.quantities import Tuples
from aurora.model.schema import ArcType, Schema
from aurora.model.train import CLOCK, NOTHING, ORDER, WHEN, Emission, Ints, Progress, Train
from aurora.model.types import INT
from aurora.model.window import ARRIVAL_ORDER, check_quantity

_NEVER = np.iinfo(np.int64).max


@box_kind
class Latch(OrderedBox):
    """After every ``every`` tuples of a group, the aggregates over all its tuples so far.

    >>> from aurora.testing import run_rows
    >>> rows = [{"k": "a", "x": 3}, {"k": "b", "x": 5}, {"k": "a", "x": 9}, {"k": "a", "x": 4}]
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {s: {schema: {k: string, x: int}}}
    ... boxes: {record: {kind: latch, in: s, group_by: k, compute: {n: count(*), top: max(x)}}}
    ... outputs: {out: {from: record}}
    ... ''', {"s": rows}).rows("out")
    [('a', 1, 3), ('b', 1, 5), ('a', 2, 9), ('a', 3, 9)]
    """

    kind: ClassVar[str] = "latch"

    every: TuplesField = Tuples(1)
    compute: Annotated[Aggregated, Field(min_length=1)]

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        (arc,) = inputs
        self.check_order(arc.schema, report)
        check_quantity(self.every, None, report.at("every"), positive=True)
        grouping = [name for name in self.grouping(arc) if name in arc.schema]
        scope = Scope.of(arc.schema)
        aggregates = typed_aggregates(self.compute, scope, report.at("compute"), grouping=grouping, window_type=None)
        ports = {LATE: arc} if self.late else {}
        if aggregates is None or not check_unique([*grouping, *self.compute], report.at("compute")):
            return ports
        columns = {name: arc.schema[name] for name in grouping}
        columns |= {name: final.type for name, final in aggregates.finals.items()}
        return {OUT: ArcType(Schema(columns), arc.grouping_among(grouping)), **ports}

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        return LatchKernel(self, inputs[0])


class LatchKernel(BaseKernel):
    def __init__(self, box: Latch, arc: ArcType) -> None:
        grouping = box.grouping(arc)
        order = INT if box.order_by == ARRIVAL_ORDER else arc.schema[box.order_by]
        aggregates = analyse_aggregates(box.compute, Scope.of(arc.schema), grouping=grouping)
        self._aggregation = Aggregation(aggregates, arc.schema, grouping)
        self._every = box.every.n
        self._order_by = None if box.order_by == ARRIVAL_ORDER else box.order_by
        self._late_port = box.late
        self._groups = GroupIndex(grouping, arc.schema)
        self._delivery: Delivery = AsTheyCome()
        if self._order_by is not None:
            dtype = numpy_type(order)
            if isinstance(box.slack, Tuples):
                self._delivery = CountSlack(box.slack.n, dtype)
            else:
                self._delivery = TimeSlack(amount(box.slack, order), dtype)
        self._counts: Ints = np.empty(0, np.int64)
        self._lives: Partials = self._aggregation.nothing

    def process(self, port: int, train: Train) -> Emission:
        frame = train.frame
        late = Late(keep=self._late_port)
        codes = self._groups.codes(frame)
        if self._order_by is None:
            rows = Rows(frame, codes, frame.get_column(ORDER).to_numpy() >> 1, self._places(train))
        else:
            values, known = order_values(frame, self._order_by)
            rows = Rows(frame, codes, values, self._places(train))
            late.add(rows, ~known)
            rows = rows.only(known)
        rows, behind = self._delivery.push(rows)
        late.add(behind)
        return self._take(rows, late)

    def _places(self, train: Train) -> Ints | None:
        return train.hidden(WHEN[0]) if self.ranked else None

    def _take(self, rows: Rows, late: Late) -> Emission:
        trains = late.trains(LATE)
        if not len(rows):
            return Emission(trains, late=late.count)
        partials, nulled = self._aggregation.lift(rows.frame, rows.values)
        known = len(self._counts)
        groups = max(known, int(rows.codes.max(initial=-1)) + 1)
        if groups > known:
            self._lives = concat_partials([self._lives, self._aggregation.nothings(groups - known)])
            self._counts = grown(self._counts, groups, 0)
        layout = stable_order(rows.codes)
        codes = rows.codes[layout]
        starts = starts_of(codes)
        touched = codes[starts]
        # Each group's life so far stands before its new rows, and the running fold goes on from it.
        lives = len(touched)
        both = concat_partials([take_partials(self._lives, touched), take_partials(partials, layout)])
        place = stable_order(np.concatenate((touched, codes)))
        running = self._aggregation.scan(take_partials(both, place), starts_of(np.concatenate((touched, codes))[place]))
        row_of = place - lives
        ends = np.append(starts[1:], len(codes)) + np.arange(lives)
        numbers = self._counts[codes] + position_in_segment(starts, len(codes)) + 1
        self._counts[touched] += np.diff(starts, append=len(codes))
        due = np.flatnonzero(numbers % self._every == 0)
        emitting = np.flatnonzero(row_of >= 0)[due]
        running[0] = (self._since_answers(np.asarray(both[0][0])[place], starts + np.arange(lives), emitting),)
        self._lives = _put(self._lives, touched, take_partials(running, ends), groups, self._aggregation)
        self._lives[0][0][touched[self._counts[touched] % self._every == 0]] = _NEVER
        if len(due):
            by_row = np.argsort(layout[due], kind="stable")
            out, source = emitting[by_row], layout[due][by_row]
            trains[OUT], faults = self._train(take_partials(running, out), rows.at(source))
            nulled += faults
        return Emission(trains, late=late.count, nulled=nulled)

    @staticmethod
    def _since_answers(arrivals: Ints, groups: Ints, answers: Ints) -> Ints:
        """The earliest arrival of each stretch from one answer of a group to the next, at every entry of the stretch.

        What came before the last answer does not make this one late; else latency would be the age of the group.
        """
        cuts = np.union1d(groups, answers[answers < len(arrivals) - 1] + 1)
        earliest: Ints = np.repeat(np.minimum.reduceat(arrivals, cuts), np.diff(cuts, append=len(arrivals)))
        return earliest

    def _train(self, partials: Partials, rows: Rows) -> tuple[Train, int]:
        visible, nulled = self._aggregation.columns(partials, self._groups.keys_of(rows.codes), None)
        arrivals = self._aggregation.arrivals(partials)
        ranks = [rows.hidden(name) for name in WHEN] if self.ranked else None
        return Train.of(visible, rows.hidden(ORDER), rows.hidden(CLOCK), arrivals, ranks), nulled

    def advance(self, progress: Progress) -> Emission:
        if not progress.end:
            return NOTHING
        flushed = self._delivery.flush(progress.end_order, progress.clock)
        if flushed is None:
            return NOTHING
        late = Late(keep=self._late_port)
        late.add(flushed[1])
        return self._take(flushed[0], late)

    def state(self) -> dict[str, pl.DataFrame]:
        return {
            "groups": self._groups.keys,
            "lives": self._aggregation.to_frame(self._lives),
            "counts": pl.DataFrame({"count": self._counts}),
            **{f"delivery.{name}": frame for name, frame in self._delivery.state().items()},
        }

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._groups.load(state["groups"])
        self._lives = self._aggregation.from_frame(state["lives"])
        self._counts = state["counts"].get_column("count").to_numpy().copy()
        self._delivery.load(part(state, "delivery"))


def _put(lives: Partials, touched: Ints, new: Partials, groups: int, aggregation: Aggregation) -> Partials:
    """The lives with those of the touched groups replaced."""
    source = np.arange(groups)
    source[touched] = groups + np.arange(len(touched))
    return take_partials(concat_partials([lives, new]), source)
