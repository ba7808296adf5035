"""The aggregate calls of one box, computed together: rows become partials, partials combine, partials give columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes import bags
from aurora.boxes.accumulators import (
    Accumulator,
    Array,
    Column,
    Count,
    DoubleSum,
    Earliest,
    Extreme,
    IntegerSum,
    Moments,
    State,
    concat,
    take,
)
from aurora.boxes.kernel import Projection
from aurora.boxes.picks import Delta, Pick
from aurora.boxes.weighted import Estimate, EstimatedCount, Weighing, estimate_for
from aurora.expressions import AggregateCall, Aggregates, Compiled, Scalar
from aurora.expressions.nodes import Column as ColumnNode
from aurora.model.schema import Schema
from aurora.model.train import ARRIVAL, Ints
from aurora.model.types import BINARY, BOOL, DOUBLE, STRING

TIMED_OUT = "__timed_out"
WINDOW_START = "__window_start"
WINDOW_END = "__window_end"

Partials = list[State]
"""One state per aggregate call; the first entry is the earliest arrival time."""


def accumulator_for(call: AggregateCall, *, by_key: bool) -> Accumulator:
    """How a call is computed, by its function and its argument's type.

    With ``by_key`` first and last go by order values, else by the place of the rows.
    """
    by: Literal["place", "key"] = "key" if by_key else "place"
    argument = BOOL if call.argument is None else call.argument.type
    match call.function:
        case "count_all" | "count":
            return Count()
        case "sum" | "avg":
            average = call.function == "avg"
            return DoubleSum(average=average) if argument == DOUBLE else IntegerSum(argument, average=average)
        case "min" | "max" if argument in (STRING, BINARY):
            return Pick(argument, last=call.function == "max", by="value")
        case "min" | "max":
            return Extreme(argument, greatest=call.function == "max")
        case "bool_and" | "bool_or":
            return Extreme(BOOL, greatest=call.function == "bool_or")
        case "first" | "any_value" | "last":
            return Pick(argument, last=call.function == "last", by=by)
        case "delta":
            return Delta(argument, call.type, by=by)
        case "stddev" | "variance":
            return Moments(root=call.function == "stddev")
        case "count_distinct":
            return bags.distinct_count(call.type)
        case "median":
            return bags.quantile(call.type, 0.5)
        case "quantile":
            return bags.quantile(call.type, call.parameters[0])
        case "collect":
            return bags.collected(call.type, by_key=by_key)
        case name:
            return bags.user_defined(call.type, name, by_key=by_key)


def _argument(call: AggregateCall) -> Scalar | Compiled | None:
    """What is lifted for a call: its argument where the call's filter holds; None for a plain count(*)."""
    if call.where is None:
        return call.argument
    compiled = None if call.argument is None else call.argument.compile()
    where = call.where.compile()
    value = pl.lit(True) if compiled is None else compiled.value
    faults = [f for f in (None if compiled is None else compiled.faults, where.faults) if f is not None]
    filtered = pl.when(where.value.fill_null(False)).then(value)
    return Compiled(filtered, pl.sum_horizontal(faults) if faults else None, faults_show=False)


class Aggregation:
    """All aggregate calls of one box."""

    def __init__(
        self,
        aggregates: Aggregates,
        schema: Schema,
        grouping: Sequence[str],
        keys: npt.DTypeLike | None = None,
        weighing: Weighing | None = None,
    ) -> None:
        """``keys`` is the type of the order values that first and last go by; None if rows come in order.

        With a ``weighing`` counts and sums are estimates from a sample.
        """
        by_key = keys is not None
        self._given = (aggregates, schema, grouping, keys)
        self.weighing = weighing
        self._accumulators: list[Accumulator] = [Earliest()]
        for call in aggregates.calls:
            estimate = None
            if weighing is not None:
                estimate = estimate_for(call.function, BOOL if call.argument is None else call.argument.type, weighing)
            self._accumulators.append(estimate or accumulator_for(call, by_key=by_key))
        self._slots = [call.slot for call in aggregates.calls]
        arguments = {call.slot: _argument(call) for call in aggregates.calls}
        self._arguments = Projection({s: c for s, c in arguments.items() if c is not None}, keep=(ARRIVAL,))
        self._plain_counts = {slot for slot, c in arguments.items() if c is None}
        used = {name for final in aggregates.finals.values() for name in final.columns | final.hidden}
        self._extras = [name for name in (TIMED_OUT, WINDOW_START, WINDOW_END) if name in used]
        self._finals = Projection(aggregates.finals, keep=())
        plain = {name: final.tree for name, final in aggregates.finals.items() if isinstance(final.tree, ColumnNode)}
        slots = {name: tree.name for name, tree in plain.items() if tree.name in self._slots}
        # Where every output column is an aggregate and nothing more, there is nothing left to compute.
        self._direct = slots if len(slots) == len(aggregates.finals) else None
        self._grouping = list(grouping)
        arguments_of = [s for call in aggregates.calls for s in (call.argument, call.where) if s is not None]
        self.needs = sorted({name for scalar in arguments_of for name in scalar.columns})
        """The input columns that the calls read."""
        empty = pl.DataFrame(schema={**schema.to_polars(), ARRIVAL: pl.Int64()})
        self.nothing: Partials = self.lift(empty, np.empty(0, keys or np.int64))[0]
        """Partials of no row at all."""
        self.empty_cell = self.nothings(1)
        """Partials of one empty cell; not to be changed."""

    def weighed(self) -> Aggregation:
        """The same as estimates. It can take over the partials of this one through a frame."""
        return Aggregation(*self._given, Weighing())

    def lift(self, frame: pl.DataFrame, keys: Array) -> tuple[Partials, int]:
        """Every row as partials of its own, and how many values faults made NULL."""
        arguments, nulled = self._arguments(frame)
        partials = [self._accumulators[0].lift(arguments.get_column(ARRIVAL), keys)]
        for slot, accumulator in zip(self._slots, self._accumulators[1:], strict=True):
            if slot in self._plain_counts and isinstance(accumulator, EstimatedCount):
                partials.append(accumulator.ones(frame.height))
            elif slot in self._plain_counts:
                partials.append((np.broadcast_to(np.int64(1), frame.height),))
            else:
                partials.append(accumulator.lift(arguments.get_column(slot), keys))
        return partials, nulled

    def combine(self, partials: Partials, slots: Ints, size: int) -> Partials:
        return [a.combine(s, slots, size) for a, s in zip(self._accumulators, partials, strict=True)]

    def fold(self, into: Partials, partials: Partials, slots: Ints, tally: Ints) -> Partials:
        """Partials folded into others, which may be changed in place; ``tally`` says how many each slot gets."""
        return [a.fold(i, s, slots, tally) for a, i, s in zip(self._accumulators, into, partials, strict=True)]

    def merge(self, partials: Partials, others: Partials) -> Partials:
        """Entry by entry, partials followed by others."""
        return [a.merge(s, o) for a, s, o in zip(self._accumulators, partials, others, strict=True)]

    def scan(self, partials: Partials, starts: Ints, *, reverse: bool = False) -> Partials:
        return [a.scan(s, starts, reverse=reverse) for a, s in zip(self._accumulators, partials, strict=True)]

    @property
    def bounded(self) -> bool:
        """Whether no partial grows with what was folded into it."""
        return all(accumulator.bounded for accumulator in self._accumulators)

    def nothings(self, size: int) -> Partials:
        """Partials of ``size`` empty cells."""
        return self.combine(self.nothing, np.empty(0, np.int64), size)

    @property
    def asks_bounds(self) -> bool:
        """Whether an output column holds a window's start or end."""
        return WINDOW_START in self._extras or WINDOW_END in self._extras

    def arrivals(self, partials: Partials) -> Ints:
        return np.asarray(partials[0][0])

    def error(self, partials: Partials) -> tuple[float, int]:
        """The relative standard errors of what was estimated, of each window the largest: their sum and number."""
        states = zip(self._accumulators, partials, strict=True)
        errors = [accumulator.errors(state) for accumulator, state in states if isinstance(accumulator, Estimate)]
        if not errors:
            return 0.0, 0
        largest = np.fmax.reduce(errors)
        return float(np.nansum(largest)), int(np.count_nonzero(~np.isnan(largest)))

    def columns(
        self,
        partials: Partials,
        keys: pl.DataFrame,
        order: pl.Series | None,
        *,
        timed_out: npt.NDArray[np.bool_] | None = None,
        bounds: tuple[pl.Series, pl.Series] | None = None,
    ) -> tuple[pl.DataFrame, int]:
        """The box's output: group columns, the order column if there is one, then what was computed."""
        size = len(np.asarray(partials[0][0]))
        slots, overflowed = [], 0
        for slot, accumulator, state in zip(self._slots, self._accumulators[1:], partials[1:], strict=True):
            final = accumulator.final(state)
            overflowed += accumulator.faults(state) if final.null_count() else 0
            slots.append(final.alias(slot))
        group = [keys.get_column(name) for name in self._grouping]
        before = [*group] if order is None else [*group, order]
        if self._direct is not None:
            by_slot = {slot.name: slot for slot in slots}
            return pl.DataFrame(
                [*before, *(by_slot[slot].alias(name) for name, slot in self._direct.items())]
            ), overflowed
        extras: dict[str, Any] = {TIMED_OUT: np.zeros(size, bool) if timed_out is None else timed_out}
        if bounds is not None:
            extras[WINDOW_START], extras[WINDOW_END] = bounds
        frame = pl.DataFrame([*group, *slots, *(pl.Series(name, extras[name]) for name in self._extras)])
        if not frame.width:
            frame = pl.DataFrame({TIMED_OUT: extras[TIMED_OUT]})
        computed, nulled = self._finals(frame)
        return pl.DataFrame([*before, *computed.get_columns()]), nulled + overflowed

    def to_frame(self, partials: Partials) -> pl.DataFrame:
        """Partials as a frame, for a snapshot."""
        columns = {f"{i}.{j}": column for i, state in enumerate(partials) for j, column in enumerate(state)}
        return pl.DataFrame({name: pl.Series(name, column) for name, column in columns.items()})

    def from_frame(self, frame: pl.DataFrame) -> Partials:
        return [
            tuple(_like(column, f"{i}.{j}", frame, self.weighing is not None) for j, column in enumerate(state))
            for i, state in enumerate(self.nothing)
        ]


def _like(example: Column, name: str, frame: pl.DataFrame, weighing: bool) -> Column:
    if weighing and name not in frame.columns:
        # The partials are from before estimates were kept: no weight has added to them.
        return np.zeros(frame.height, np.asarray(example).dtype)
    series = frame.get_column(name)
    return series if isinstance(example, pl.Series) else series.to_numpy()


def take_partials(partials: Partials, rows: Any) -> Partials:
    return [take(state, rows) for state in partials]


def concat_partials(parts: Sequence[Partials]) -> Partials:
    if len(parts) == 1:
        return parts[0]
    return [concat(list(states)) for states in zip(*parts, strict=True)]
