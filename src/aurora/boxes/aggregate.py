"""aggregate: functions over windows of a stream, per group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from aurora.boxes.aggregation import Aggregation
from aurora.boxes.axis import order_series, order_values
from aurora.boxes.closing import AtEnd, ByGroup, ByProgress, Closing
from aurora.boxes.grid import Grid
from aurora.boxes.groups import Appearance, GroupIndex
from aurora.boxes.kernel import BaseKernel, typed_aggregates
from aurora.boxes.late import Late
from aurora.boxes.merge import Merge
from aurora.boxes.order import AsTheyCome, CountSlack, Delivery, Gate, Rows, TimeSlack, sortable
from aurora.boxes.ordered import OrderedBox, amount, check_unique, numpy_type, ordered_columns
from aurora.boxes.segments import Array, sorting
from aurora.boxes.selection import Selection
from aurora.boxes.thinned import Rule, Weighted, WholeWindows, overlap_of, rule_frame, rule_of
from aurora.boxes.tuple_windows import TupleWindows
from aurora.boxes.value_windows import PaneWindows, Results, TimedWindows
from aurora.errors import Report
from aurora.expressions import Aggregates, Scope, analyse_aggregates
from aurora.model.box import LATE, OUT, Kernel, Partitioning, box_kind
from aurora.model.element import Aggregated
from aurora.model.quantities import Tuples
from aurora.model.schema import ArcType, Schema
from aurora.model.train import AT_END, CLOCK, HIDDEN, NOTHING, ORDER, WHEN, Emission, Ints, Progress, Train
from aurora.model.types import INT, Type
from aurora.model.window import ARRIVAL_ORDER, Window, check_quantity


@box_kind
class Aggregate(OrderedBox):
    """Aggregates over windows: of some tuples of a group, or of a range of the order column's values.

    ``compute`` holds expressions of aggregates. A value window puts out the group columns, the order column with the
    window's start, and what was computed; a tuple window the group columns and what was computed.

    >>> from aurora.testing import run_rows
    >>> rows = [{"t": 1, "x": 4.0}, {"t": 7, "x": 8.0}, {"t": 11, "x": 1.0}, {"t": 25, "x": 3.0}]
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {s: {schema: {t: int, x: double}}}
    ... boxes:
    ...   means: {kind: aggregate, in: s, order_by: t, window: {size: 10, advance: 10}, compute: {mean: avg(x)}}
    ... outputs: {out: {from: means}}
    ... ''', {"s": rows}).rows("out")
    [(0, 6.0), (10, 1.0), (20, 3.0)]
    """

    kind: ClassVar[str] = "aggregate"

    window: Window
    compute: Annotated[Aggregated, Field(min_length=1)]
    shed: Literal["windows", "tuples"] = "windows"
    max_gap: Annotated[int, Field(ge=1)] | None = None

    def shape(self) -> Window:
        """The window with everything said that the kind of box implies."""
        return self.window

    def keeps_time(self) -> bool:
        return self.shape().timeout is not None

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        if self.shape().value_based and not isinstance(self.slack, Tuples):
            # Rows are folded as they come; only how far the whole stream has come must be known.
            return Partitioning.by(self.grouping(inputs[0]), progress=self.order_by)
        return super().partitioning(inputs)

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        (arc,) = inputs
        order = self.check_order(arc.schema, report)
        self._check_window(arc.schema, order, report.at("window"))
        self._check_shedding(report)
        aggregates = self._aggregates(arc, order, report.at("compute"))
        ports = {LATE: arc} if self.late else {}
        grouping = self.grouping(arc)
        if aggregates is None or any(name not in arc.schema for name in grouping):
            return ports
        columns: list[tuple[str, Type]] = [(name, arc.schema[name]) for name in grouping]
        if self.shape().value_based:
            if order is None or self.order_by == ARRIVAL_ORDER:
                return ports
            columns.append((self.order_by, order))
        columns += [(name, final.type) for name, final in aggregates.finals.items()]
        if not check_unique([name for name, _ in columns], report.at("compute")):
            return ports
        return {OUT: ArcType(Schema(dict(columns)), arc.grouping_among(grouping)), **ports}

    def _aggregates(self, arc: ArcType, order: Type | None, report: Report) -> Aggregates | None:
        scope = Scope.of(arc.schema)
        grouping = [name for name in self.grouping(arc) if name in arc.schema]
        return typed_aggregates(self.compute, scope, report, grouping=grouping, window_type=order or INT)

    def _check_window(self, schema: Schema, order: Type | None, report: Report) -> None:
        window = self.shape()
        axis = None if self.order_by == ARRIVAL_ORDER else order
        check_quantity(window.size, axis, report.at("size"), positive=True)
        if window.advance is not None:
            check_quantity(window.advance, axis, report.at("advance"), positive=True)
        if window.timeout is not None:
            check_quantity(window.timeout, None, report.at("timeout"), positive=True)
        if isinstance(window.size, Tuples) != isinstance(window.step, Tuples):
            report.at("advance").add(
                "mixed-window",
                f"the size is {window.size}, but the advance is {window.step}",
                "give both in tuples, or both in values of the order column",
            )
        if window.value_based and self.order_by == ARRIVAL_ORDER:
            report.add(
                "window-without-order",
                f"a window of {window.size} needs a column to measure, but the order is that of arrival",
                "state the column with order_by, or give the size in tuples",
                choices=ordered_columns(schema),
            )
        if not window.value_based and (window.emit_empty or window.align != "origin"):
            report.add(
                "value-window-only",
                "align and emit_empty have no meaning for a window of tuples",
                "leave them out, or give the size in values of the order column",
            )

    def _check_shedding(self, report: Report) -> None:
        if self.shed == "tuples" and not self.shape().value_based:
            report.at("shed").add(
                "shed-tuples-of-tuple-window",
                f"a window of {self.window.size} always holds that many, so nothing can be estimated from fewer",
                "leave shed out, so that whole windows go, or give the size in values of the order column",
            )
        elif self.shed == "tuples" and self.max_gap is not None:
            report.at("max_gap").add(
                "gap-without-windows",
                f"a gap of {self.max_gap} windows is given, but with shed: tuples all windows come out",
                "leave max_gap out, or shed windows",
            )

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        (arc,) = inputs
        grouping = self.grouping(arc)
        order = INT if self.order_by == ARRIVAL_ORDER else arc.schema[self.order_by]
        aggregates = analyse_aggregates(self.compute, Scope.of(arc.schema), grouping=grouping, window_type=order)
        aggregation = Aggregation(aggregates, arc.schema, grouping, self._key_type(order))
        return AggregateKernel(self, arc.schema, grouping, order, aggregation)

    def _key_type(self, order: Type) -> Any:
        """First and last go by order value where rows are folded as they come, else by place."""
        by_value = self.shape().value_based and not isinstance(self.slack, Tuples)
        return numpy_type(order) if by_value else None


class AggregateKernel(BaseKernel):
    """Orders its rows, folds them into windows, and puts out the windows that close.

    A box with a timeout waits for word of progress, because a timeout may fall due between any two of its tuples.

    Under a rule for whole windows, rows that none of the windows needs which come out are dropped as soon as order and
    lateness are known. Where these do not depend on the rows' groups, that is before anything else is looked at.
    """

    optional: ClassVar[tuple[str, ...]] = ("rule", "selection.", "windows.lanes")

    def __init__(
        self, box: Aggregate, schema: Schema, grouping: Sequence[str], order: Type, aggregation: Aggregation
    ) -> None:
        self._window = box.shape()
        self._order_by = None if box.order_by == ARRIVAL_ORDER else box.order_by
        self._order = order
        self._late_port = box.late
        self._aggregation = aggregation
        self._needed = [*aggregation.needs, *HIDDEN]
        self._groups = GroupIndex(grouping, schema)
        self._appearance = Appearance()
        self._waiting = Merge(1, Train.empty(schema))
        self._nothing = Train.empty(schema).frame
        self._timed = self._window.timeout is not None
        self._gate: Gate | None = None
        self._delivery: Delivery = AsTheyCome()
        dtype = numpy_type(order)
        if self._order_by is not None and isinstance(box.slack, Tuples):
            self._delivery = CountSlack(box.slack.n, dtype)
        elif self._order_by is not None and self._window.value_based:
            self._gate = Gate(amount(box.slack, order), dtype)
        elif self._order_by is not None:
            self._delivery = TimeSlack(amount(box.slack, order), dtype)
        self._windows = self._make_windows()
        self._rule: Rule | None = None
        self._selection: Selection | None = None

    def _make_windows(self) -> PaneWindows | TimedWindows | TupleWindows:
        window = self._window
        timeout_us = None if window.timeout is None else window.timeout.us
        if isinstance(window.size, Tuples) and isinstance(window.step, Tuples):
            none = np.empty(0, numpy_type(self._order))
            return TupleWindows(self._aggregation, window.size.n, window.step.n, timeout_us, none)
        whole = numpy_type(self._order) is np.int64
        panes = whole and timeout_us is None
        grid = Grid(amount(window.size, self._order), amount(window.step, self._order), whole=whole, panes=panes)
        first, empty = window.align == "first", window.emit_empty
        if panes:
            return PaneWindows(self._aggregation, grid, align_first=first, emit_empty=empty)
        return TimedWindows(self._aggregation, grid, align_first=first, emit_empty=empty, timeout_us=timeout_us)

    def rank(self) -> None:
        super().rank()
        self._needed += WHEN
        self._nothing = self._nothing.with_columns(pl.Series(name, [], pl.Int64) for name in WHEN)

    def thin(self, rule: Rule | None) -> None:
        """Obeys another rule, or none. To be called between trains, and after ``restore``, which brings the rule that
        was in force; the same rule again changes nothing."""
        if rule == self._rule:
            return
        self._rule = rule
        if isinstance(rule, Weighted):
            self._weigh()
        if self._aggregation.weighing is not None:
            self._aggregation.weighing.weight = rule.weight if isinstance(rule, Weighted) else 1.0
        whole = rule if isinstance(rule, WholeWindows) else None
        if self._selection is None and whole is None:
            return
        if self._selection is None:
            self._select(self._new_selection())
        assert self._selection is not None
        self._selection.change(whole, self._opened())

    def _weigh(self) -> None:
        """Goes over from plain aggregates to estimates, with all that has been folded."""
        if self._aggregation.weighing is None:
            state = self._windows.state()
            self._aggregation = self._aggregation.weighed()
            self._windows = self._make_windows()
            self._windows.load(state)
            if self._selection is not None:
                self._windows.selection = self._selection

    def _new_selection(self) -> Selection:
        first, counted = self._window.align == "first", not self._window.value_based
        shared = self._gate is not None and not first and not self._window.emit_empty
        return Selection(overlap_of(self._window), shared=shared, spread=first or counted)

    def _select(self, selection: Selection) -> None:
        self._selection = selection
        if isinstance(self._windows, TupleWindows):
            self._windows.select(selection)
        else:
            self._windows.selection = selection

    def _opened(self) -> Ints:
        if isinstance(self._windows, TupleWindows):
            return self._windows.opened()
        return self._windows.opened(self._came(None if self._gate is None else self._gate.highest))

    def _came(self, everywhere: Any) -> Array:
        """How far each group of the selection has come: as far as the whole stream, or as it has itself."""
        if self._gate is None:
            assert isinstance(self._delivery, CountSlack)
            return self._delivery.highest.values
        assert self._selection is not None
        return np.full(1 if self._selection.shared else len(self._groups), everywhere, numpy_type(self._order))

    def _forget_closed(self) -> None:
        """Lets go of rules that no open window is under, and of the selection when it keeps all."""
        assert self._selection is not None
        if isinstance(self._windows, TupleWindows):
            self._selection.close(self._windows.closed())
            if self._selection.idle and self._windows.release():
                self._selection = None
            return
        self._selection.close(self._windows.closed(self._came(None if self._gate is None else self._gate.progress)))
        if self._selection.idle:
            self._selection = self._windows.selection = None

    def process(self, port: int, train: Train) -> Emission:
        if self._timed:
            self._waiting.put(port, train)
            return NOTHING
        return self._run(train, None)

    def advance(self, progress: Progress) -> Emission:
        if progress.end:
            return self._flush(progress)
        if not self._timed:
            return NOTHING
        train = self._waiting.take()
        return self._run(Train(self._nothing) if train is None else train, progress)

    def _run(self, train: Train, progress: Progress | None) -> Emission:
        frame = train.frame
        late = Late(keep=self._late_port)
        # Where all groups come to their windows together, groups are found after rows were dropped.
        shared = self._selection is not None and self._selection.shared
        codes = np.zeros(frame.height, np.int64) if shared else self._groups.codes(frame)
        if self._order_by is None:
            values, known = frame.get_column(ORDER).to_numpy() >> 1, None
        else:
            values, known = order_values(frame, self._order_by)
        if not self._late_port:
            needed = dict.fromkeys([*self._needed, *self._groups.columns]) if shared else self._needed
            frame = pl.DataFrame([frame.get_column(name) for name in needed])
        rows = Rows(frame, codes, values, frame.get_column(WHEN[0]).to_numpy() if self.ranked else None)
        if known is not None and not known.all():
            late.add(rows, ~known)
            rows = rows.only(known)
        closing: ByProgress | None = None
        if self._gate is not None and train.part is not None:
            assert self._order_by is not None
            judged = self._gate.judged(train.part, self._order_by)
            behind = judged.late_at(rows.places)
            late.add(rows, behind)
            rows = rows.only(~behind)
            closing = ByProgress.of_part(judged, self._gate.progress, rows.places)
        elif self._gate is not None:
            passage = self._gate.passed(rows.values)
            late_rows = passage.late()
            closing = ByProgress(passage, self._gate.progress, rows.hidden(ORDER), rows.hidden(CLOCK), late_rows)
            if len(late_rows):
                taken = np.ones(len(rows), bool)
                taken[late_rows] = False
                late.add(rows, ~taken)
                rows = rows.only(taken)
        else:
            rows, behind_rows = self._delivery.push(rows)
            late.add(behind_rows)
        return self._take(rows, closing, late, progress)

    def _take(self, rows: Rows, closing: ByProgress | None, late: Late, progress: Progress | None) -> Emission:
        """Gives the ordered rows to the windows."""
        windows = self._windows
        shed = 0
        if self._selection is not None and self._selection.shared and not isinstance(windows, TupleWindows):
            came, rows = len(rows), rows.only(windows.needed(rows))
            rows = replace(rows, codes=self._groups.codes(rows.frame))
            shed = came - len(rows)
        if not isinstance(windows, TupleWindows):
            early = windows.origins.early(rows)
            if early.any():
                late.add(rows, early)
                rows = rows.only(~early)
                closing = None if closing is None else closing.without(early)
        when: list[Ints] = []
        if self.ranked:
            when = [rows.hidden(name) for name in WHEN]
        self._appearance.note(rows.codes, len(self._groups), when)
        some, numbers = self._needed_of(rows)
        partials, nulled = self._aggregation.lift(some.frame, some.values)
        if not isinstance(windows, TupleWindows):
            results = windows.add(some, partials, closing or self._by_group(rows), progress, rows)
        elif numbers is None:
            results = windows.add(rows, partials, progress)
        else:
            results = windows.add_some(some, numbers, partials, progress)
            when = [some.hidden(name) for name in WHEN] if self.ranked else when
        if self.ranked and closing is not None and closing.places is not None:
            at_once = np.zeros(len(closing.places), np.int64)
            when = [closing.places, at_once, at_once]
        if self._selection is not None:
            self._forget_closed()
        return self._emission(results, late, nulled, when, shed + len(rows) - len(some))

    def _needed_of(self, rows: Rows) -> tuple[Rows, Ints | None]:
        """The rows that windows need which come out; those of tuple windows with their numbers if some may go."""
        selection = self._selection
        if selection is None or selection.shared:
            return rows, None
        selection.place(self._groups.keys)
        if isinstance(self._windows, TupleWindows):
            needed, numbers = self._windows.needed(rows)
            return rows.only(needed), numbers[needed]
        return rows.only(self._windows.needed(rows)), None

    def _by_group(self, rows: Rows) -> Closing:
        assert isinstance(self._delivery, CountSlack)
        return ByGroup(rows, self._delivery.highest.values)

    def _emission(
        self, results: Results | None, late: Late, nulled: int = 0, when: Sequence[Ints] = (), shed: int = 0
    ) -> Emission:
        """``when`` says when the rows came that made the windows come out."""
        error, estimated = 0.0, 0
        trains = late.trains(LATE)
        if results is not None:
            trains[OUT], faults = self._train(results, when)
            nulled += faults
            if self._aggregation.weighing is not None:
                error, estimated = self._aggregation.error(results.partials)
        return Emission(trains, late=late.count, nulled=nulled, shed=shed, error=error, estimated=estimated)

    def _sorted(self, results: Results) -> Results:
        """The windows in the order in which they come out: by what made them, then window start, then group."""
        row, starts = results.row, results.starts
        if results.timed_out.any():
            ranks = self._appearance.of(results.codes)
            start_first = np.where(results.timed_out, 0, starts)
            keys = (starts, ranks, start_first, row, ~results.timed_out, results.clock, results.order)
            return results.at(np.lexsort(keys))
        if bool((row[1:] > row[:-1]).all()):
            return results
        return results.at(sorting(row, starts, self._appearance.of(results.codes)))

    def _ranks(self, results: Results, when: Sequence[Ints]) -> list[Ints] | None:
        """The keys by which ``_sorted`` sorts, as what can be compared with windows of other parts."""
        if not self.ranked:
            return None
        # A timeout's row is -1, which is the last: it comes before all rows.
        moments = [np.append(moment, -1)[results.row] for moment in when]
        if isinstance(self._windows, TupleWindows) and not self._timed:
            # A row fills one window, that of its own group.
            return moments
        starts = np.where(results.timed_out, 0, sortable(results.starts))
        return [*moments, starts, *self._appearance.moments_of(results.codes)]

    def _train(self, results: Results, when: Sequence[Ints]) -> tuple[Train, int]:
        results = self._sorted(results)
        name = "__order_value" if self._order_by is None else self._order_by
        start_column, bounds = None, None
        if self._window.value_based or self._aggregation.asks_bounds:
            start_column = order_series(name, results.starts, self._order)
        if self._aggregation.asks_bounds and start_column is not None:
            bounds = start_column, order_series(name, results.ends, self._order)
        visible, nulled = self._aggregation.columns(
            results.partials,
            self._groups.keys_of(results.codes),
            start_column if self._window.value_based else None,
            timed_out=results.timed_out,
            bounds=bounds,
        )
        arrivals = self._aggregation.arrivals(results.partials)
        return Train.of(visible, results.order, results.clock, arrivals, self._ranks(results, when)), nulled

    def _flush(self, progress: Progress) -> Emission:
        emissions = []
        flushed = self._delivery.flush(progress.end_order, progress.clock)
        if flushed is not None:
            late = Late(keep=self._late_port)
            late.add(flushed[1])
            emissions.append(self._take(flushed[0], None, late, progress))
        if not isinstance(self._windows, TupleWindows):
            none = Rows(self._nothing, np.empty(0, np.int64), np.empty(0, numpy_type(self._order)))
            closing = AtEnd.at(progress.end_order, progress.clock)
            results = self._windows.add(none, self._aggregation.nothing, closing, progress, none)
            after_all = [np.array([AT_END])] * len(WHEN)
            emissions.append(self._emission(results, Late(keep=False), when=after_all))
        return joined(emissions)

    def state(self) -> dict[str, pl.DataFrame]:
        parts = {
            "groups": self._groups.keys,
            "appearance": self._appearance.state(),
            **{f"waiting.{name}": frame for name, frame in self._waiting.state().items()},
            **{f"delivery.{name}": frame for name, frame in self._delivery.state().items()},
            **{f"windows.{name}": frame for name, frame in self._windows.state().items()},
        }
        if self._gate is not None:
            parts["gate"] = self._gate.state()
        if self._rule is not None or self._aggregation.weighing is not None:
            parts["rule"] = rule_frame(self._rule, weighed=self._aggregation.weighing is not None)
        if self._selection is not None:
            parts |= {f"selection.{name}": frame for name, frame in self._selection.state().items()}
        return parts

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._load_rule(state)
        self._groups.load(state["groups"])
        self._appearance.load(state["appearance"])
        self._waiting.load(part(state, "waiting"))
        self._delivery.load(part(state, "delivery"))
        self._windows.load(part(state, "windows"))
        if self._gate is not None:
            self._gate.load(state["gate"])

    def _load_rule(self, state: Mapping[str, pl.DataFrame]) -> None:
        """Takes over the rule that was in force, before the windows that it is for."""
        self._rule = rule_of(state["rule"]) if "rule" in state else None
        if "rule" in state and state["rule"].get_column("weighed").item():
            self._weigh()
        if self._aggregation.weighing is not None:
            self._aggregation.weighing.weight = self._rule.weight if isinstance(self._rule, Weighted) else 1.0
        self._selection = self._windows.selection = None
        if "selection.terms" in state:
            self._select(self._new_selection())
            assert self._selection is not None
            self._selection.load(part(state, "selection"))


def part(state: Mapping[str, pl.DataFrame], prefix: str) -> dict[str, pl.DataFrame]:
    """The frames of one component of a kernel."""
    start = prefix + "."
    return {name.removeprefix(start): frame for name, frame in state.items() if name.startswith(start)}


def joined(emissions: Sequence[Emission]) -> Emission:
    """Emissions one after the other, as one."""
    ports = {port for emission in emissions for port in emission.trains}
    return Emission(
        {port: Train.concat([e.trains[port] for e in emissions if port in e.trains]) for port in ports},
        late=sum(e.late for e in emissions),
        nulled=sum(e.nulled for e in emissions),
        rejected=sum(e.rejected for e in emissions),
        shed=sum(e.shed for e in emissions),
        error=sum(e.error for e in emissions),
        estimated=sum(e.estimated for e in emissions),
    )
