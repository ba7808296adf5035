"""resample: aggregates of one stream around the points that another one sets, or values interpolated at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from aurora.boxes.aggregate import joined, part
from aurora.boxes.aggregation import Aggregation, concat_partials, take_partials
from aurora.boxes.axis import order_series, order_values
from aurora.boxes.groups import Appearance, GroupIndex, grown
from aurora.boxes.interpolation import Interpolation
from aurora.boxes.kernel import BaseKernel, check_grouping, typed_aggregates
from aurora.boxes.late import Late
from aurora.boxes.merge import Merge
from aurora.boxes.order import CountSlack, Gate, Rows, merged_places
from aurora.boxes.ordered import amount, check_order_column, check_unique, numpy_type
from aurora.boxes.segments import Array, repeat_ranges, search, sorting, stable_order
from aurora.errors import Report
from aurora.expressions import Scope, analyse_aggregates
from aurora.model.box import OUT, TOGETHER, Box, Kernel, Partitioning, Port, box_kind
from aurora.model.element import ColumnNames, DistanceField, Names, QuantityField
from aurora.model.forms import Holds, KeyedBy
from aurora.model.quantities import Tuples
from aurora.model.schema import ArcType, Schema
from aurora.model.train import ARRIVAL, NOTHING, Emission, Ints, Progress, Train
from aurora.model.types import DOUBLE, Type
from aurora.model.window import check_quantity

PACE, DATA = 0, 1


@box_kind
class Resample(Box):
    """For every tuple of the pace at t, and every group of the data, the aggregates over the group's tuples that lie
    within a distance of t; put out as soon as the group's data shows that the window is complete.

    ``order_by`` names the order column of both inputs, or of the pace and the data one after the other. With
    ``interpolate: linear`` the computed columns hold the data's values interpolated at t instead.

    >>> from aurora.testing import run_rows
    >>> pace = [{"t": 10}, {"t": 20}]
    >>> data = [{"t": 8, "x": 1.0}, {"t": 12, "x": 3.0}, {"t": 19, "x": 5.0}, {"t": 30, "x": 0.0}]
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {pace: {schema: {t: int}}, data: {schema: {t: int, x: double}}}
    ... boxes:
    ...   even: {kind: resample, in: [pace, data], order_by: t, within: 5, compute: {mean: avg(x)}}
    ... outputs: {out: {from: even}}
    ... ''', {"pace": pace, "data": data}, clock="t").rows("out")
    [(10, 2.0), (20, 5.0)]
    """

    kind: ClassVar[str] = "resample"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    ports: ClassVar[tuple[Port, ...]] = (Port(OUT), Port("late_pace", when="late"), Port("late_data", when="late"))

    order_by: Annotated[ColumnNames, Field(min_length=1, max_length=2)]
    within: DistanceField
    group_by: Annotated[Names, Holds("columns", input=DATA)] = ()
    slack: QuantityField = Tuples(0)
    late: bool = False
    compute: Annotated[
        dict[str, Annotated[str, Holds("expression", scope="aggregate", input=DATA)]],
        KeyedBy("new column"),
        Field(min_length=1),
    ]
    interpolate: Literal["linear"] | None = None

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        # Every group meets every tuple of the pace.
        return TOGETHER

    def order_columns(self) -> tuple[str, str]:
        return self.order_by[0], self.order_by[-1]

    def grouping(self, data: ArcType) -> tuple[str, ...]:
        return self.group_by or data.grouping

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        pace, data = inputs
        late = {"late_pace": pace, "late_data": data} if self.late else {}
        kinds = [
            check_order_column(column, arc.schema, report.at("order_by"))
            for column, arc in zip(self.order_columns(), inputs, strict=True)
        ]
        if isinstance(self.within, Tuples):
            report.at("within").add("wrong-unit", f"{self.within} is no distance", "write a duration or a plain number")
        else:
            check_quantity(self.within, kinds[PACE], report.at("within"), positive=False)
        check_quantity(self.slack, kinds[DATA], report.at("slack"), positive=False)
        if None not in kinds and kinds[PACE] != kinds[DATA]:
            report.at("order_by").add(
                "type-mismatch",
                f"the pace is ordered by {kinds[PACE]}, the data by {kinds[DATA]}",
                "order both by columns of one type; a map box can cast",
            )
        check_grouping(self.group_by, data.schema, report.at("group_by"))
        grouping = [name for name in self.grouping(data) if name in data.schema]
        computed = self._computed(data, grouping, kinds[PACE], report.at("compute"))
        order, kind = self.order_columns()[PACE], kinds[PACE]
        if computed is None or kind is None:
            return late
        if not check_unique([*grouping, order, *computed], report.at("compute")):
            return late
        columns = {name: data.schema[name] for name in grouping} | {order: kind} | computed
        return {OUT: ArcType(Schema(columns), data.grouping_among(grouping)), **late}

    def _computed(
        self, data: ArcType, grouping: Sequence[str], order: Type | None, report: Report
    ) -> dict[str, Type] | None:
        scope = Scope.of(data.schema)
        if self.interpolate is not None:
            return dict.fromkeys(self.compute, DOUBLE) if Interpolation.check(self.compute, scope, report) else None
        aggregates = typed_aggregates(self.compute, scope, report, grouping=grouping, window_type=order)
        return None if aggregates is None else {name: final.type for name, final in aggregates.finals.items()}

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        return ResampleKernel(self, inputs)


class Input:
    """One input's order and slack: the rows that count, and how far it has come."""

    def __init__(self, column: str, box: Resample, kind: Type, groups: GroupIndex) -> None:
        self._column = column
        self._keep_late = box.late
        self._groups = groups
        dtype = numpy_type(kind)
        self.buffer = CountSlack(box.slack.n, dtype) if isinstance(box.slack, Tuples) else None
        self.gate = None if isinstance(box.slack, Tuples) else Gate(amount(box.slack, kind), dtype)

    def deliver(self, frame: pl.DataFrame) -> tuple[Rows, Late, Array]:
        """The rows that count, those that came too late, and with time slack the progress at every row that counts."""
        late = Late(keep=self._keep_late)
        values, known = order_values(frame, self._column)
        rows = Rows(frame, self._groups.codes(frame), values)
        if not known.all():
            late.add(rows, ~known)
            rows = rows.only(known)
        if self.gate is not None:
            progress = self.gate.progress_at(rows.values)
            behind = rows.values < progress
            late.add(rows, behind)
            return rows.only(~behind), late, progress[~behind]
        assert self.buffer is not None
        rows, behind_rows = self.buffer.push(rows)
        late.add(behind_rows)
        return rows, late, np.empty(0, rows.values.dtype)

    def flush(self, order: int, clock: int) -> tuple[Rows, Late, Array] | None:
        flushed = None if self.buffer is None else self.buffer.flush(order, clock)
        if flushed is None:
            return None
        late = Late(keep=self._keep_late)
        late.add(flushed[1])
        return flushed[0], late, np.empty(0, flushed[0].values.dtype)

    def state(self) -> dict[str, pl.DataFrame]:
        own = self.gate.state() if self.gate is not None else None
        buffer = {} if self.buffer is None else self.buffer.state()
        return {"groups": self._groups.keys, **buffer, **({} if own is None else {"gate": own})}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._groups.load(state["groups"])
        if self.gate is not None:
            self.gate.load(state["gate"])
        if self.buffer is not None:
            self.buffer.load(state)


class ResampleKernel(BaseKernel):
    """Keeps the pace's tuples that some group has not passed, and the data's that a window may still need.

    With count slack and several groups the pace is kept for good, since a group that is new may start anywhere; with
    time slack, or without groups, it is forgotten when the data has passed it.
    """

    def __init__(self, box: Resample, inputs: Sequence[ArcType]) -> None:
        pace, data = inputs
        grouping = box.grouping(data)
        columns = box.order_columns()
        self._kind = pace.schema[columns[PACE]]
        self._dtype = numpy_type(self._kind)
        self._name = columns[PACE]
        self._within: Any = amount(box.within, self._kind)
        self._grouping = list(grouping)
        self._groups = GroupIndex(grouping, data.schema)
        self._appearance = Appearance()
        scope = Scope.of(data.schema)
        self._interpolation = None if box.interpolate is None else Interpolation(box.compute, scope)
        compute = box.compute if self._interpolation is None else {"n": "count(*)"}
        aggregates = analyse_aggregates(compute, scope, grouping=grouping, window_type=self._kind)
        self._aggregation = Aggregation(aggregates, data.schema, grouping, self._dtype)
        self._inputs = [
            Input(columns[PACE], box, self._kind, GroupIndex((), pace.schema)),
            Input(columns[DATA], box, self._kind, self._groups),
        ]
        self._empty = [Train.empty(arc.schema).frame for arc in inputs]
        self._waiting = [Merge(1, Train.empty(arc.schema)) for arc in inputs]
        none, no_values = np.empty(0, np.int64), np.empty(0, self._dtype)
        # The pace: points with their serial numbers and arrival times, sorted by point.
        self._points, self._serial, self._arrival = no_values, none, none
        self._next_serial = 0
        # The data: sorted by group, then value, then delivery.
        self._codes, self._values, self._partials = none, no_values, self._aggregation.nothing
        self._samples = None if self._interpolation is None else self._interpolation.nothing
        self._passed = no_values
        self._highest_point: Any = self._least

    @property
    def _least(self) -> Any:
        return -np.inf if self._dtype == np.float64 else np.iinfo(np.int64).min // 4

    def process(self, port: int, train: Train) -> Emission:
        self._waiting[port].put(0, train)
        return NOTHING

    def advance(self, progress: Progress) -> Emission:
        if progress.end:
            return self._flush(progress)
        trains = [waiting.take() for waiting in self._waiting]
        if trains == [None, None]:
            return NOTHING
        frames = [empty if train is None else train.frame for train, empty in zip(trains, self._empty, strict=True)]
        return self._take([source.deliver(frame) for source, frame in zip(self._inputs, frames, strict=True)])

    def _take(self, delivered: Sequence[tuple[Rows, Late, Array]]) -> Emission:
        (pace, late_pace, _), (data, late_data, progress) = delivered
        places, order, clock = merged_places(pace, data)
        self._appearance.note(data.codes, len(self._groups))
        before, now = self._note_passed(data)
        nulled = self._remember(data)
        emission = self._complete(pace, data, progress, before, now, places, order, clock)
        self._remember_points(pace)
        self._forget()
        trains = {**emission.trains, **late_pace.trains("late_pace"), **late_data.trains("late_data")}
        return Emission(trains, late=late_pace.count + late_data.count, nulled=nulled + emission.nulled)

    def _note_passed(self, data: Rows) -> tuple[Array, Array]:
        """How far each group's data had come before and has come now."""
        groups = max(len(self._passed), int(data.codes.max(initial=-1)) + 1)
        before = grown(self._passed, groups, self._least)
        now = before.copy()
        gate = self._inputs[DATA].gate
        if gate is None:
            np.maximum.at(now, data.codes, data.values)
        elif len(data):
            now[:] = gate.progress
        self._passed = now
        return before, now

    def _remember(self, data: Rows) -> int:
        partials, nulled = self._aggregation.lift(data.frame, data.values)
        codes = np.concatenate((self._codes, data.codes))
        values = np.concatenate((self._values, data.values))
        layout = sorting(codes, values)
        self._codes, self._values = codes[layout], values[layout]
        self._partials = take_partials(concat_partials([self._partials, partials]), layout)
        if self._interpolation is not None:
            samples, faults = self._interpolation.sample(data.frame)
            self._samples = pl.concat([self._samples, samples])[layout] if self._samples is not None else None
            return nulled + faults
        return nulled

    def _complete(
        self,
        pace: Rows,
        data: Rows,
        progress: Array,
        before: Array,
        now: Array,
        places: tuple[Ints, Ints],
        order: Ints,
        clock: Ints,
    ) -> Emission:
        """The windows that became complete: old points that a group has passed now, and new points already passed."""
        groups = np.arange(len(now))
        low = np.searchsorted(self._points, before - self._within, side="left")
        high = np.searchsorted(self._points, now - self._within, side="left")
        of, rows = repeat_ranges(low, np.maximum(high - low, 0))
        new_order = np.argsort(pace.values, kind="stable")
        count = np.searchsorted(pace.values[new_order], now - self._within, side="left")
        new_of, new_rows = repeat_ranges(np.zeros(len(groups), np.int64), count)
        new_rows = new_order[new_rows] if len(new_order) else new_rows
        codes = np.concatenate((of, new_of))
        points = np.concatenate((self._points[rows], pace.values[new_rows]))
        serial = np.concatenate((self._serial[rows], self._next_serial + new_rows))
        arrival = np.concatenate((self._arrival[rows], pace.hidden(ARRIVAL)[new_rows]))
        at_data = self._rows_passing(data, progress, before, codes, points + self._within, places[DATA])
        at_pace = np.concatenate((np.full(len(of), -1), places[PACE][new_rows]))
        place = np.maximum(at_data, at_pace)
        return self._emit(codes, points, serial, arrival, place, order, clock)

    def _rows_passing(
        self, data: Rows, progress: Array, before: Array, codes: Ints, limits: Array, places: Ints
    ) -> Ints:
        """The place of the data row that went past each limit, or -1 where the data had passed it before."""
        if not len(data) or not len(codes):
            return np.full(len(codes), -1)
        if self._inputs[DATA].gate is not None:
            found = np.searchsorted(progress, limits, side="right")
            passing = (found < len(data)) & (before[codes] <= limits)
            return np.where(passing, places[np.minimum(found, len(data) - 1)], -1)
        layout = stable_order(data.codes)
        row_codes = data.codes[layout]
        found = search(row_codes, data.values[layout], codes, limits, side="right")
        inside = np.minimum(found, len(data) - 1)
        passing = (found < len(data)) & (row_codes[inside] == codes) & (before[codes] <= limits)
        return np.where(passing, places[layout[inside]], -1)

    def _emit(
        self, codes: Ints, points: Array, serial: Ints, arrival: Ints, place: Ints, order: Ints, clock: Ints
    ) -> Emission:
        begin = search(self._codes, self._values, codes, points - self._within, side="left")
        end = search(self._codes, self._values, codes, points + self._within, side="right")
        full = np.flatnonzero(end > begin)
        if not len(full):
            return NOTHING
        ranks = self._appearance.of(codes)
        full = full[sorting(place[full], serial[full], ranks[full])]
        codes, points, place = codes[full], points[full], place[full]
        of, rows = repeat_ranges(begin[full], end[full] - begin[full])
        partials = self._aggregation.combine(take_partials(self._partials, rows), of, len(full))
        keys = self._groups.keys_of(codes)
        order_column = order_series(self._name, points, self._kind)
        ends = order_series(self._name, points + self._within, self._kind)
        starts = order_series(self._name, points - self._within, self._kind)
        arrivals = np.minimum(self._aggregation.arrivals(partials), arrival[full])
        if self._interpolation is None:
            visible, nulled = self._aggregation.columns(partials, keys, order_column, bounds=(starts, ends))
        else:
            assert self._samples is not None
            group = [keys.get_column(name) for name in self._grouping]
            values = self._interpolation.at(points, begin[full], end[full], self._values, self._samples)
            visible, nulled = pl.DataFrame([*group, order_column, *values]), 0
        return Emission({OUT: Train.of(visible, order[place], clock[place], arrivals)}, nulled=nulled)

    def _remember_points(self, pace: Rows) -> None:
        if not len(pace):
            return
        points = np.concatenate((self._points, pace.values))
        serial = np.concatenate((self._serial, self._next_serial + np.arange(len(pace))))
        arrival = np.concatenate((self._arrival, pace.hidden(ARRIVAL)))
        layout = np.argsort(points, kind="stable")
        self._points, self._serial, self._arrival = points[layout], serial[layout], arrival[layout]
        self._next_serial += len(pace)
        gate = self._inputs[PACE].gate
        highest = gate.progress if gate is not None else pace.values.max()
        self._highest_point = max(self._highest_point, highest)

    def _forget(self) -> None:
        if len(self._passed) and (not self._grouping or self._inputs[DATA].gate is not None):
            alive = self._points + self._within >= self._passed.min()
            self._points, self._serial, self._arrival = self._points[alive], self._serial[alive], self._arrival[alive]
        if len(self._codes):
            cut = np.minimum(self._highest_point - self._within, self._passed - 2 * self._within)
            needed = self._values >= cut[self._codes]
            if 2 * int(needed.sum()) < len(needed):
                self._codes, self._values = self._codes[needed], self._values[needed]
                self._partials = take_partials(self._partials, np.flatnonzero(needed))
                if self._samples is not None:
                    self._samples = self._samples.filter(pl.Series(needed))

    def _flush(self, progress: Progress) -> Emission:
        no_values = np.empty(0, self._dtype)
        rest = [source.flush(progress.end_order, progress.clock) for source in self._inputs]
        flushed = [
            (Rows(empty, np.empty(0, np.int64), no_values), Late(keep=False), no_values) if rows is None else rows
            for rows, empty in zip(rest, self._empty, strict=True)
        ]
        emissions = [self._take(flushed)]
        low = np.searchsorted(self._points, self._passed - self._within, side="left")
        codes, at = repeat_ranges(low, len(self._points) - low)
        end = np.array([progress.end_order]), np.array([progress.clock])
        points, serial, arrival = self._points[at], self._serial[at], self._arrival[at]
        emissions.append(self._emit(codes, points, serial, arrival, np.zeros(len(codes), np.int64), *end))
        return joined(emissions)

    def state(self) -> dict[str, pl.DataFrame]:
        data = self._aggregation.to_frame(self._partials)
        data = data.with_columns(pl.Series("code", self._codes), pl.Series("value", self._values))
        parts = {
            "appearance": self._appearance.state(),
            "points": pl.DataFrame({"point": self._points, "serial": self._serial, "arrival": self._arrival}),
            "data": data,
            "passed": pl.DataFrame({"passed": self._passed}),
            "next": pl.DataFrame(
                {"serial": [self._next_serial], "highest": np.array([self._highest_point], self._dtype)}
            ),
        }
        if self._samples is not None:
            parts["samples"] = self._samples
        for name, source, waiting in zip(("pace_input", "data_input"), self._inputs, self._waiting, strict=True):
            parts.update({f"{name}.{key}": frame for key, frame in source.state().items()})
            parts.update({f"{name}_waiting.{key}": frame for key, frame in waiting.state().items()})
        return parts

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._appearance.load(state["appearance"])
        points, data = state["points"], state["data"]
        self._points, self._serial, self._arrival = (points.get_column(n).to_numpy() for n in points.columns)
        self._codes, self._values = data.get_column("code").to_numpy(), data.get_column("value").to_numpy()
        self._partials = self._aggregation.from_frame(data)
        self._passed = state["passed"].get_column("passed").to_numpy().copy()
        self._next_serial = int(state["next"].get_column("serial")[0])
        self._highest_point = state["next"].get_column("highest").to_numpy()[0]
        self._samples = state.get("samples")
        for name, source, waiting in zip(("pace_input", "data_input"), self._inputs, self._waiting, strict=True):
            source.load(part(state, name))
            waiting.load(part(state, f"{name}_waiting"))
