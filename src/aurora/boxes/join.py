"""join: pairs the tuples of two streams that lie close in order and satisfy a condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from aurora.boxes.aggregate import part
from aurora.boxes.axis import order_values
from aurora.boxes.interleaving import Interleaving
from aurora.boxes.kernel import BaseKernel, Projection, typed, typed_all
from aurora.boxes.keys import PairKeys
from aurora.boxes.late import Late
from aurora.boxes.memory import NO_KEY, Memory, Run
from aurora.boxes.merge import Merge
from aurora.boxes.order import CountSlack, Gate, Rows
from aurora.boxes.ordered import amount, check_order_column, numpy_type
from aurora.boxes.segments import Array, sorting
from aurora.errors import Report
from aurora.expressions import Scalar, Scope, analyse, equalities
from aurora.model.box import ANYWHERE, OUT, TOGETHER, Box, Kernel, Partitioning, Port, box_kind
from aurora.model.element import DistanceField, QuantityField
from aurora.model.forms import Holds, KeyedBy
from aurora.model.quantities import Quantity, Tuples
from aurora.model.schema import ArcType, Schema
from aurora.model.train import (
    ARRIVAL,
    CLOCK,
    HIDDEN,
    NOTHING,
    ORDER,
    WHEN,
    Emission,
    Ints,
    Progress,
    Train,
    rows_at,
    rows_where,
)
from aurora.model.types import BOOL, Type
from aurora.model.window import check_quantity

SIDES = ("left", "right")


@box_kind
class Join(Box):
    """All pairs for which ``on`` holds and whose order values differ by at most ``within``, each once.

    The output has all columns, those on both sides prefixed ``left_`` and ``right_``, or those of ``compute``. A side
    may be a dangling connection point; then every tuple of the other side is matched against its data.

    >>> from aurora.testing import run_rows
    >>> bids = [{"t": 1, "k": "a", "bid": 10.0}, {"t": 5, "k": "a", "bid": 11.0}]
    >>> asks = [{"t": 2, "k": "a", "ask": 12.0}, {"t": 9, "k": "a", "ask": 13.0}]
    >>> run_rows('''
    ... aurora: 1
    ... network: example
    ... streams: {bids: {schema: {t: int, k: string, bid: double}}, asks: {schema: {t: int, k: string, ask: double}}}
    ... boxes:
    ...   pairs:
    ...     kind: join
    ...     in: [bids, asks]
    ...     on: left.k = right.k
    ...     within: 3
    ...     left_order_by: t
    ...     right_order_by: t
    ...     compute: {k: left.k, spread: ask - bid}
    ... outputs: {out: {from: pairs}}
    ... ''', {"bids": bids, "asks": asks}, clock="t").rows("out")
    [('a', 2.0), ('a', 1.0)]
    """

    kind: ClassVar[str] = "join"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    takes_static: ClassVar[bool] = True
    ports: ClassVar[tuple[Port, ...]] = (Port(OUT), Port("late_left", when="late"), Port("late_right", when="late"))

    on: Annotated[str, Holds("expression", expect="bool", scope="joined")] | None = None
    within: DistanceField | None = None
    left_order_by: Annotated[str, Holds("column", input=0)] | None = None
    right_order_by: Annotated[str, Holds("column", input=1)] | None = None
    slack: QuantityField = Tuples(0)
    left_slack: QuantityField | None = None
    right_slack: QuantityField | None = None
    late: bool = False
    compute: Annotated[dict[str, Annotated[str, Holds("expression", scope="joined")]], KeyedBy("new column")] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _order_of_both(self) -> Self:
        given = [name for name in ("left_order_by", "right_order_by") if getattr(self, name) is not None]
        if self.within is not None and len(given) < 2:
            raise ValueError("`within` needs both `left_order_by` and `right_order_by`")
        if self.within is None and given:
            raise ValueError(f"`{given[0]}` has no meaning without `within`")
        return self

    def partitioning(self, inputs: Sequence[ArcType]) -> Partitioning:
        if any(arc.static for arc in inputs):
            return ANYWHERE
        scope = Scope.joined(*(arc.schema for arc in inputs))
        pairs = equalities(analyse(self.on, scope, expect=BOOL))[0] if self.on is not None else ()
        # Equal numbers of two types are not split alike.
        keys = [pair for pair in pairs if scope[pair[0]] == scope[pair[1]]]
        if not keys or any(isinstance(slack, Tuples) for slack in self.slacks()):
            # Count slack takes each side as one group.
            return TOGETHER
        columns = tuple(tuple(name.split(".", 1)[1] for name in side) for side in zip(*keys, strict=True))
        return Partitioning(columns, self.order_columns())

    def order_columns(self) -> tuple[str | None, str | None]:
        return self.left_order_by, self.right_order_by

    def slacks(self) -> tuple[Quantity, Quantity]:
        left = self.slack if self.left_slack is None else self.left_slack
        right = self.slack if self.right_slack is None else self.right_slack
        return left, right

    def derive(self, inputs: Sequence[ArcType], report: Report) -> Mapping[str, ArcType]:
        left, right = (arc.schema for arc in inputs)
        late = {f"late_{side}": arc for side, arc in zip(SIDES, inputs, strict=True)} if self.late else {}
        if inputs[0].static and inputs[1].static:
            report.at("in").add("two-static-sides", "both sides are static data", "join a stream with one of them")
        elif self.within is None and not (inputs[0].static or inputs[1].static):
            report.add(
                "missing-parameter",
                "a join of two streams needs `within`, else it would have to remember everything",
                "say how far apart the order values of a pair may be, with left_order_by and right_order_by",
            )
        if self.within is not None:
            self._check_band(left, right, self.within, report)
        scope = Scope.joined(left, right)
        if self.on is not None:
            typed(self.on, scope, report.at("on"), expect=BOOL)
        computed = typed_all(self.compute, scope, report.at("compute"))
        if computed is None:
            return late
        if self.compute:
            columns = {name: scalar.type for name, scalar in computed.items()}
        else:
            columns = {name: scope[source] for name, source in _all_columns(left, right).items()}
            if len(columns) < len(left) + len(right):
                report.add("duplicate-column", "prefixed columns collide with others", "choose columns with compute")
                return late
        return {OUT: ArcType(Schema(columns)), **late}

    def _check_band(self, left: Schema, right: Schema, within: Quantity, report: Report) -> None:
        kinds: list[Type | None] = []
        for side, schema, column, slack in zip(SIDES, (left, right), self.order_columns(), self.slacks(), strict=True):
            assert column is not None
            kinds.append(check_order_column(column, schema, report.at(f"{side}_order_by")))
            given = f"{side}_slack" if getattr(self, f"{side}_slack") is not None else "slack"
            check_quantity(slack, kinds[-1], report.at(given), positive=False)
        if isinstance(within, Tuples):
            report.at("within").add("wrong-unit", f"{within} is no distance", "write a duration or a plain number")
            return
        if kinds[0] is not None and kinds[1] is not None:
            check_quantity(within, kinds[0], report.at("within"), positive=False)
            if kinds[0] != kinds[1]:
                report.at("right_order_by").add(
                    "type-mismatch",
                    f"the left side is ordered by {kinds[0]}, the right side by {kinds[1]}",
                    "order both sides by columns of one type; a map box can cast",
                )

    def kernel(self, inputs: Sequence[ArcType], statics: Mapping[int, pl.DataFrame]) -> Kernel:
        matcher = Matcher(self, inputs)
        if statics:
            ((port, data),) = statics.items()
            return StaticJoinKernel(self, matcher, port, data)
        return JoinKernel(self, inputs, matcher)


def _all_columns(left: Schema, right: Schema) -> dict[str, str]:
    """Output column -> column of the joined scope, when no ``compute`` is given."""
    columns = {}
    for side, own, other in (("left", left, right), ("right", right, left)):
        for name in own:
            columns[f"{side}_{name}" if name in other else name] = f"{side}.{name}"
    return columns


def _of_side(side: str, names: Iterable[str]) -> list[str]:
    """The columns of one side among columns of the joined scope."""
    return sorted(name.split(".", 1)[1] for name in names if name.startswith(f"{side}."))


class Matcher:
    """What is matched and what comes out, the same for live and static sides."""

    def __init__(self, box: Join, inputs: Sequence[ArcType]) -> None:
        left, right = (arc.schema for arc in inputs)
        scope = Scope.joined(left, right)
        pairs: Sequence[tuple[str, str]] = ()
        rest: Scalar | None = None
        if box.on is not None:
            pairs, rest = equalities(analyse(box.on, scope, expect=BOOL))
        self.keys = PairKeys(pairs, scope)
        self._condition = None if rest is None else Projection({"match": rest}, keep=())
        texts = box.compute or {
            name: '{}."{}"'.format(*source.split(".", 1)) for name, source in _all_columns(left, right).items()
        }
        computed = {name: analyse(text, scope) for name, text in texts.items()}
        self._computed = computed
        self._output = Projection(computed)
        used = {name for scalar in computed.values() for name in scalar.columns}
        used |= rest.columns if rest is not None else set()
        self._used = [_of_side(side, used) for side in SIDES]
        # Memory keeps the key columns too, to be able to code them afresh.
        self._kept = [_of_side(side, used.union(*pairs)) for side in SIDES]
        self.kind = left[box.left_order_by] if box.left_order_by is not None else None
        self._whole = self.kind is None or numpy_type(self.kind) is np.int64
        self.within: Any = 0 if box.within is None or self.kind is None else amount(box.within, self.kind)

    def rank(self) -> None:
        """What comes out has ranks too."""
        self._output = Projection(self._computed, keep=(*HIDDEN, *WHEN))

    def rows(self, port: int, rows: Rows, *, learn: bool = True) -> Rows:
        """The rows with the columns that are needed and the codes of their keys."""
        columns = [rows.frame.get_column(name) for name in [*self._kept[port], ARRIVAL]]
        return Rows(pl.DataFrame(columns), self.keys.codes(port, rows.frame, learn=learn), rows.values)

    def search(self, probes: Run, run: Run) -> tuple[Any, Any]:
        """(probe, row) indices of all pairs that agree in key and lie within the band, in no order."""
        if not len(run) or not len(probes):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        layout = probes.index.layout
        values = probes.rows.values.take(layout)
        if self._whole:
            limits = np.iinfo(np.int64)
            low = np.maximum(values, limits.min + self.within) - self.within
            high = np.minimum(values, limits.max - self.within) + self.within
        else:
            # Sums of doubles round; look a little too far, then measure the distance itself.
            low = np.nextafter(values - self.within, -np.inf)
            high = np.nextafter(values + self.within, np.inf)
        near = run.in_reach(low, high)
        if not near.all():
            layout, low, high = layout[near], low[near], high[near]
        of, rows = run.pairs(probes.rows.codes.take(layout), low, high)
        of = layout.take(of)
        if not self._whole:
            close = np.abs(probes.rows.values[of] - run.rows.values[rows]) <= self.within
            of, rows = of[close], rows[close]
        return of, rows

    def emit(
        self,
        sides: Sequence[pl.DataFrame],
        pairs: Sequence[Ints],
        order: Ints,
        clock: Ints,
        ranks: Sequence[Ints] | None = None,
    ) -> Emission:
        """The pairs that satisfy the rest of the condition. ``pairs`` has rows of both sides, in output order."""
        columns: list[pl.Series] = []
        arrivals: list[Ints] = []
        for side, frame, rows, names in zip(SIDES, sides, pairs, self._used, strict=True):
            used = pl.DataFrame([*(frame.get_column(name).alias(f"{side}.{name}") for name in names), frame[ARRIVAL]])
            *taken, arrival = rows_at(used, rows).get_columns()
            columns += taken
            arrivals.append(arrival.to_numpy())
        joined = Train.of(pl.DataFrame(columns), order, clock, np.minimum(*arrivals), ranks).frame
        nulled = 0
        if self._condition is not None:
            matches, nulled = self._condition(joined)
            joined = rows_where(joined, matches.to_series())
        if not joined.height:
            return Emission({}, nulled=nulled)
        frame, faults = self._output(joined)
        return Emission({OUT: Train(frame)}, nulled=nulled + faults)


class Side:
    """One live side: its order, its slack and its memory."""

    def __init__(self, column: str, slack: Quantity, kind: Type, *, keep_late: bool) -> None:
        self._column = column
        self._keep_late = keep_late
        dtype = numpy_type(kind)
        self._gate = None if isinstance(slack, Tuples) else Gate(amount(slack, kind), dtype)
        self._buffer = CountSlack(slack.n, dtype) if isinstance(slack, Tuples) else None
        self.memory = Memory()

    def deliver(self, train: Train) -> tuple[Rows, Late]:
        """The rows that take part now, and those that came too late."""
        frame = train.frame
        late = Late(keep=self._keep_late)
        values, known = order_values(frame, self._column)
        places = frame.get_column(WHEN[0]).to_numpy() if train.ranks else None
        rows = Rows(frame, np.zeros(len(values), np.int64), values, places)
        if not known.all():
            late.add(rows, ~known)
            rows = rows.only(known)
        if self._gate is not None:
            if train.part is None:
                behind = rows.values < self._gate.progress_at(rows.values)
            else:
                behind = self._gate.judged(train.part, self._column).late_at(rows.places)
            late.add(rows, behind)
            return rows.only(~behind), late
        assert self._buffer is not None
        rows, behind_rows = self._buffer.push(rows)
        late.add(behind_rows)
        return rows, late

    def flush(self, order: int, clock: int) -> tuple[Rows, Late] | None:
        flushed = None if self._buffer is None else self._buffer.flush(order, clock)
        if flushed is None:
            return None
        late = Late(keep=self._keep_late)
        late.add(flushed[1])
        return flushed[0], late

    def progress(self) -> Any | None:
        """No row to come has an order value below this; None while nothing is known."""
        if self._gate is not None:
            return self._gate.progress
        assert self._buffer is not None
        highest: Array = self._buffer.highest.values
        return highest[0] if len(highest) else None

    def state(self) -> dict[str, pl.DataFrame]:
        own = {"gate": self._gate.state()} if self._gate is not None else {}
        buffer = {} if self._buffer is None else self._buffer.state()
        return {**own, **buffer, "memory": self.memory.state()}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        if self._gate is not None:
            self._gate.load(state["gate"])
        if self._buffer is not None:
            self._buffer.load(state)
        self.memory.load(state["memory"])


class JoinKernel(BaseKernel):
    """Two live sides. What came on both ports is matched when all of it up to a number is there."""

    def __init__(self, box: Join, inputs: Sequence[ArcType], matcher: Matcher) -> None:
        assert matcher.kind is not None
        self._matcher = matcher
        columns, slacks = box.order_columns(), box.slacks()
        self._sides = [Side(columns[port] or "", slacks[port], matcher.kind, keep_late=box.late) for port in (0, 1)]
        self._empty = [Train.empty(arc.schema).frame for arc in inputs]
        self._waiting = [Merge(1, Train.empty(arc.schema)) for arc in inputs]

    def rank(self) -> None:
        super().rank()
        self._matcher.rank()
        self._empty = [frame.with_columns(pl.Series(name, [], pl.Int64) for name in WHEN) for frame in self._empty]

    def process(self, port: int, train: Train) -> Emission:
        self._waiting[port].put(0, train)
        return NOTHING

    def advance(self, progress: Progress) -> Emission:
        if progress.end:
            flushed = [side.flush(progress.end_order, progress.clock) for side in self._sides]
            if flushed == [None, None]:
                return NOTHING
            parts = [
                (self._no_rows(empty), Late(keep=False)) if rows is None else rows
                for rows, empty in zip(flushed, self._empty, strict=True)
            ]
            return self._match(parts)
        trains = [waiting.take() for waiting in self._waiting]
        if trains == [None, None]:
            return NOTHING
        given = [Train(empty) if train is None else train for train, empty in zip(trains, self._empty, strict=True)]
        return self._match([side.deliver(train) for side, train in zip(self._sides, given, strict=True)])

    def _no_rows(self, empty: pl.DataFrame) -> Rows:
        assert self._matcher.kind is not None
        return Rows(empty, np.empty(0, np.int64), np.empty(0, numpy_type(self._matcher.kind)))

    def _match(self, delivered: Sequence[tuple[Rows, Late]]) -> Emission:
        new = [rows for rows, _ in delivered]
        late = [side_late for _, side_late in delivered]
        trains = late[0].trains("late_left") | late[1].trains("late_right")
        memories = [side.memory for side in self._sides]
        interleaving = Interleaving(new, [len(memory) for memory in memories])
        fresh = [self._matcher.rows(port, rows) for port, rows in enumerate(new)]
        fronts = [memory.front(rows) for memory, rows in zip(memories, fresh, strict=True)]
        left, right, at = self._pairs(interleaving, fresh, fronts)
        emission = NOTHING
        if len(at):
            frames = [
                pl.concat([run.rows.frame for run in (*memory.runs, front)]) if memory.runs else front.rows.frame
                for memory, front in zip(memories, fronts, strict=True)
            ]
            order, clock = interleaving.order.take(at), interleaving.clock.take(at)
            ranks = [rank.take(at) for rank in interleaving.ranks(new)] if self.ranked else None
            emission = self._matcher.emit(frames, (left, right), order, clock, ranks)
        self._remember(fronts)
        counted = late[0].count + late[1].count
        return Emission({**emission.trains, **trains}, late=counted, nulled=emission.nulled)

    def _pairs(
        self, interleaving: Interleaving, fresh: Sequence[Rows], fronts: Sequence[Run]
    ) -> tuple[Ints, Ints, Ints]:
        """The pairs that the new rows complete, in output order: rows of both sides, and places of completion."""
        memories = [side.memory for side in self._sides]
        notes = [
            interleaving.of_fronts([len(memory) for memory in memories], *self._matcher.search(fronts[0], fronts[1]))
        ]
        for own, other in ((0, 1), (1, 0)):
            if not memories[other].runs:
                continue
            probes = fronts[own] if len(fronts[own]) == len(fresh[own]) else Run(fresh[own])
            base = 0
            for run in memories[other].runs:
                of, partner = self._matcher.search(probes, run)
                notes.append(interleaving.with_old(own, of, base + partner))
                base += len(run)
        return interleaving.ordered(np.concatenate(notes) if len(notes) > 1 else notes[0])

    def _remember(self, fronts: Sequence[Run]) -> None:
        """A row leaves memory when the other side's order shows that it can match no more."""
        for own, other in ((0, 1), (1, 0)):
            progress = self._sides[other].progress()
            known = progress is not None and progress > np.iinfo(np.int64).min // 2
            cutoff = progress - self._matcher.within if known else None
            self._sides[own].memory.keep(fronts[own], cutoff)
        self._matcher.keys.compact([side.memory for side in self._sides])

    def state(self) -> dict[str, pl.DataFrame]:
        parts = {}
        for name, side, waiting in zip(SIDES, self._sides, self._waiting, strict=True):
            parts.update({f"{name}.{key}": frame for key, frame in side.state().items()})
            parts.update({f"{name}_waiting.{key}": frame for key, frame in waiting.state().items()})
        return parts

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        for name, side, waiting in zip(SIDES, self._sides, self._waiting, strict=True):
            side.load(part(state, name))
            waiting.load(part(state, f"{name}_waiting"))
        self._matcher.keys.recode([side.memory for side in self._sides])


class StaticJoinKernel(BaseKernel):
    """A stream against data that does not move; nothing needs remembering, and nothing is late."""

    def __init__(self, box: Join, matcher: Matcher, static_port: int, data: pl.DataFrame) -> None:
        self._matcher = matcher
        self._columns = box.order_columns()
        far = np.full(data.height, np.iinfo(np.int64).max)
        self._run = self._run_of(static_port, Train.of(data, far, far, far).frame, learn=True)

    def _run_of(self, port: int, frame: pl.DataFrame, *, learn: bool) -> Run:
        column = self._columns[port]
        values, known = np.zeros(frame.height, np.int64), np.ones(frame.height, bool)
        if column is not None:
            values, known = order_values(frame, column)
        rows = self._matcher.rows(port, Rows(frame, values, values), learn=learn)
        return Run(Rows(rows.frame, np.where(known, rows.codes, NO_KEY), values))

    def process(self, port: int, train: Train) -> Emission:
        probes = self._run_of(port, train.frame, learn=False)
        of, rows = self._matcher.search(probes, self._run)
        if not len(of):
            return NOTHING
        in_order = sorting(of, rows)
        of, rows = of[in_order], rows[in_order]
        live, static = probes.rows.frame, self._run.rows.frame
        order, clock = train.hidden(ORDER)[of], train.hidden(CLOCK)[of]
        if port == 0:
            return self._matcher.emit((live, static), (of, rows), order, clock)
        return self._matcher.emit((static, live), (rows, of), order, clock)
