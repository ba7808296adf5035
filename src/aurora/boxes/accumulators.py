"""Accumulators: partial aggregates that rows are lifted into, that combine in order, and that give a value at last.

An accumulator's state is a tuple of columns with one entry per cell (a row, a pane, a window). ``combine`` folds
entries into slots strictly in the order in which they stand. Rows fold into a pane in arc order and panes combine
into a window in pane order, so the result of a window does not depend on how the stream was cut into trains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.segments import accumulate
from aurora.model.train import Ints
from aurora.model.types import BOOL, DOUBLE, DURATION, INT, Type

Array = npt.NDArray[Any]
Column = Array | pl.Series
State = tuple[Column, ...]

_LOW_BITS = np.int64(0xFFFFFFFF)


def take(state: State, rows: Any) -> State:
    """The entries with these numbers. A column that a state holds twice is gathered once."""
    taken: dict[int, Column] = {}
    for column in state:
        if id(column) not in taken:
            taken[id(column)] = column[rows]
    return tuple(taken[id(column)] for column in state)


def concat(states: list[State]) -> State:
    """One state after the other."""
    if len(states) == 1:
        return states[0]
    columns: list[Column] = []
    for parts in zip(*states, strict=True):
        if isinstance(parts[0], pl.Series):
            columns.append(pl.concat(parts, rechunk=True))
        else:
            columns.append(np.concatenate(parts))
    return tuple(columns)


def is_valid(values: pl.Series) -> npt.NDArray[np.bool_]:
    if not values.null_count():
        return np.ones(len(values), bool)
    return values.is_not_null().to_numpy()


def numbers(values: pl.Series, fill: float) -> Array:
    """The physical numbers behind a column, with ``fill`` where it is NULL."""
    if values.null_count() or values.dtype == pl.Boolean:
        physical = values.cast(pl.Int64) if values.dtype == pl.Boolean else values.to_physical()
        return physical.fill_null(fill).to_numpy()
    array = values.to_numpy()
    return array.view(np.int64) if array.dtype.kind in "mM" else array


def added(into: State, state: State, slots: Ints, tally: Ints | None = None) -> State:
    """Entries added to the slots that they belong to, one after the other."""
    for total, values in zip(into, state, strict=True):
        if len(values) and isinstance(values, np.ndarray) and values.strides == (0,):
            tally = np.bincount(slots, minlength=len(total)) if tally is None else tally
            total += values[0] * tally
        else:
            # Infinities of both signs have no sum; that is no mistake.
            with np.errstate(invalid="ignore", over="ignore"):
                np.add.at(total, slots, values)
    return into


def counts_of(values: pl.Series) -> Array:
    """One for every value, none for NULL. Where nothing is NULL it is one number, seen again and again."""
    if not values.null_count():
        return np.broadcast_to(np.int64(1), len(values))
    return is_valid(values).astype(np.int64)


def restored(physical: Array, missing: npt.NDArray[np.bool_], kind: Type) -> pl.Series:
    """A column of the given type from physical numbers, NULL where they are missing."""
    series = pl.Series(physical)
    if missing.any():
        series = series.set(pl.Series(missing), None)
    return series if kind in (INT, DOUBLE) else series.cast(kind.to_polars())


class Accumulator(ABC):
    """How one aggregate call is computed. ``keys`` are order values, for accumulators that follow the box's order.

    ``bounded`` says that a state does not grow with what was folded into it, so that running folds are cheap.
    """

    bounded: ClassVar[bool] = True

    @abstractmethod
    def lift(self, values: pl.Series, keys: Array) -> State:
        """Every row as a state of its own. NULL rows count for nothing."""

    @abstractmethod
    def combine(self, state: State, slots: Ints, size: int) -> State:
        """Entries folded into ``size`` slots, in the order in which they stand."""

    def fold(self, into: State, state: State, slots: Ints, tally: Ints | None = None) -> State:
        """Entries folded into states that are there already, which may be changed in place.

        ``tally`` says how many entries each slot gets, where the caller knows.
        """
        size = len(into[0])
        return self.combine(concat([into, state]), np.concatenate((np.arange(size), slots)), size)

    def merge(self, state: State, other: State) -> State:
        """Entry by entry, one state followed by another."""
        size = len(state[0])
        return self.combine(concat([state, other]), np.tile(np.arange(size), 2), size)

    @abstractmethod
    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        """The running fold within each segment of entries, from its first entry on or from its last one back."""

    @abstractmethod
    def final(self, state: State) -> pl.Series:
        """The values of the aggregate."""

    def faults(self, state: State) -> int:
        """How many of the values are NULL because they overflowed."""
        return 0


class Earliest(Accumulator):
    """The least of integers that are never NULL: arrival times."""

    def lift(self, values: pl.Series, keys: Array) -> State:
        return (values.to_numpy(),)

    def combine(self, state: State, slots: Ints, size: int) -> State:
        least = np.full(size, np.iinfo(np.int64).max)
        return self.fold((least,), state, slots)

    def fold(self, into: State, state: State, slots: Ints, tally: Ints | None = None) -> State:
        if tally is not None and len(slots):
            arrivals, touched = np.asarray(state[0]), np.flatnonzero(tally)
            least, known = arrivals.min(), np.asarray(into[0])[touched]
            if known.max() <= least:
                return into
            if arrivals.max() == least:
                into[0][touched] = np.minimum(known, least)
                return into
        np.minimum.at(into[0], slots, state[0])
        return into

    def merge(self, state: State, other: State) -> State:
        return (np.minimum(state[0], other[0]),)

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        return (accumulate(np.minimum, np.asarray(state[0]), starts, reverse=reverse),)

    def final(self, state: State) -> pl.Series:
        return pl.Series(state[0])


class Count(Accumulator):
    def lift(self, values: pl.Series, keys: Array) -> State:
        return (counts_of(values),)

    def combine(self, state: State, slots: Ints, size: int) -> State:
        return self.fold((np.zeros(size, np.int64),), state, slots)

    def fold(self, into: State, state: State, slots: Ints, tally: Ints | None = None) -> State:
        return added(into, state, slots, tally)

    def merge(self, state: State, other: State) -> State:
        return tuple(np.add(one, two) for one, two in zip(state, other, strict=True))

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        return (running_sum(state[0], starts, reverse=reverse),)

    def final(self, state: State) -> pl.Series:
        return pl.Series(state[0])


def running_sum(values: Column, starts: Ints, *, reverse: bool = False) -> Array:
    """Running sums of integers within segments; integers are exact, so a difference of two running sums will do."""
    if reverse and len(values):
        ends = np.append(starts[1:], len(values))
        return running_sum(np.asarray(values)[::-1], (len(values) - ends)[::-1])[::-1]
    total: Array = np.cumsum(np.asarray(values))
    before = np.where(starts > 0, total[starts - 1], 0)
    result: Array = total - np.repeat(before, np.diff(starts, append=len(total)))
    return result


class DoubleSum(Accumulator):
    """Sum or average of doubles."""

    def __init__(self, *, average: bool) -> None:
        self._average = average

    def lift(self, values: pl.Series, keys: Array) -> State:
        return numbers(values, 0.0), counts_of(values)

    def combine(self, state: State, slots: Ints, size: int) -> State:
        return self.fold((np.zeros(size), np.zeros(size, np.int64)), state, slots)

    def fold(self, into: State, state: State, slots: Ints, tally: Ints | None = None) -> State:
        return added(into, state, slots, tally)

    def merge(self, state: State, other: State) -> State:
        with np.errstate(invalid="ignore", over="ignore"):
            return tuple(np.add(one, two) for one, two in zip(state, other, strict=True))

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        return accumulate(np.add, np.asarray(state[0]), starts, reverse=reverse), running_sum(
            state[1], starts, reverse=reverse
        )

    def final(self, state: State) -> pl.Series:
        total, n = np.asarray(state[0]), np.asarray(state[1])
        value = total / np.maximum(n, 1) if self._average else total
        return restored(value, n == 0, DOUBLE)


class IntegerSum(Accumulator):
    """Sum or average of 64-bit integers, exact: kept in two halves, so that only the final total can overflow."""

    def __init__(self, kind: Type, *, average: bool) -> None:
        self._kind = kind
        self._average = average

    def lift(self, values: pl.Series, keys: Array) -> State:
        x = numbers(values, 0)
        return x >> 32, x & _LOW_BITS, counts_of(values)

    def combine(self, state: State, slots: Ints, size: int) -> State:
        return self.fold(tuple(np.zeros(size, np.int64) for _ in state), state, slots)

    def fold(self, into: State, state: State, slots: Ints, tally: Ints | None = None) -> State:
        return added(into, state, slots, tally)

    def merge(self, state: State, other: State) -> State:
        return tuple(np.add(one, two) for one, two in zip(state, other, strict=True))

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        return tuple(running_sum(column, starts, reverse=reverse) for column in state)

    def final(self, state: State) -> pl.Series:
        high, low, n = (np.asarray(column) for column in state)
        high = high + (low >> 32)
        low = low & _LOW_BITS
        if self._average and self._kind == DURATION:
            return restored(_rounded_share(high, low, np.maximum(n, 1)), n == 0, DURATION)
        if self._average:
            mean = (high.astype(np.float64) * 2.0**32 + low) / np.maximum(n, 1)
            return restored(mean, n == 0, DOUBLE)
        overflow = self._overflow(high)
        return restored(np.where(overflow, 0, high) << 32 | low, (n == 0) | overflow, self._kind)

    def _overflow(self, high: Array) -> npt.NDArray[np.bool_]:
        return (high < -(2**31)) | (high >= 2**31)

    def faults(self, state: State) -> int:
        high, low, _ = (np.asarray(column) for column in state)
        return 0 if self._average else int(np.count_nonzero(self._overflow(high + (low >> 32))))


def _rounded_share(high: Array, low: Array, n: Array) -> Array:
    """(high·2³² + low) / n in whole numbers, since doubles hold no long durations; a half goes to the even side."""
    share, rest = high // n, (high % n << 32) + low
    share = (share << 32) + rest // n
    rest = rest % n
    rounded: Array = share + ((2 * rest > n) | ((2 * rest == n) & (share % 2 == 1)))
    return rounded


class Extreme(Accumulator):
    """Least or greatest of a column that is numbers underneath. NaN is greater than every other double."""

    def __init__(self, kind: Type, *, greatest: bool) -> None:
        self._kind = kind
        real = kind == DOUBLE
        limits = (-np.inf, np.nan) if real else (np.iinfo(np.int64).min, np.iinfo(np.int64).max)
        self._nothing = limits[0] if greatest else limits[1]
        # fmin passes NaN over where there is anything else; maximum lets NaN win.
        self._ufunc = np.maximum if greatest else np.fmin if real else np.minimum

    def lift(self, values: pl.Series, keys: Array) -> State:
        return numbers(values, self._nothing), counts_of(values)

    def combine(self, state: State, slots: Ints, size: int) -> State:
        best = np.full(size, self._nothing, np.asarray(state[0]).dtype)
        return self.fold((best, np.zeros(size, np.int64)), state, slots)

    def fold(self, into: State, state: State, slots: Ints, tally: Ints | None = None) -> State:
        # NumPy warns of the NaN that stands for nothing.
        with np.errstate(invalid="ignore"):
            self._ufunc.at(into[0], slots, state[0])
        return into[:1] + added(into[1:], state[1:], slots, tally)

    def merge(self, state: State, other: State) -> State:
        with np.errstate(invalid="ignore"):
            return self._ufunc(state[0], other[0]), np.add(state[1], other[1])

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        return accumulate(self._ufunc, np.asarray(state[0]), starts, reverse=reverse), running_sum(
            state[1], starts, reverse=reverse
        )

    def final(self, state: State) -> pl.Series:
        best, n = np.asarray(state[0]), np.asarray(state[1])
        if self._kind == BOOL:
            return restored((best == 1).astype(np.int64), n == 0, INT).cast(pl.Boolean)
        if self._kind == DOUBLE:
            # Zero and minus zero are equal; which of them NumPy finds depends on how the rows lie.
            best = best + 0.0
        return restored(best, n == 0, self._kind)


class Moments(Accumulator):
    """Sample variance or standard deviation from sums of differences to a first value.

    Differences to a value among the data keep the sums small, so that a large mean does not drown the spread.
    """

    def __init__(self, *, root: bool) -> None:
        self._root = root

    def lift(self, values: pl.Series, keys: Array) -> State:
        zeros = np.zeros(len(values))
        return is_valid(values).astype(np.int64), numbers(values, 0).astype(np.float64), zeros, zeros

    def _about(self, state: State, pivot: Array) -> State:
        """The same moments taken about other pivots."""
        n, old, first, second = (np.asarray(column) for column in state)
        with np.errstate(invalid="ignore", over="ignore"):
            shift = np.where(n > 0, old - pivot, 0.0)
            return n, pivot, first + n * shift, second + 2 * shift * first + n * shift * shift

    def combine(self, state: State, slots: Ints, size: int) -> State:
        filled = np.flatnonzero(np.asarray(state[0]))
        pivot = np.zeros(size)
        pivot[slots[filled[::-1]]] = np.asarray(state[1])[filled[::-1]]
        n, _, first, second = self._about(state, pivot[slots])
        return (
            added((np.zeros(size, np.int64),), (n,), slots)[0],
            pivot,
            np.bincount(slots, first, size),
            np.bincount(slots, second, size),
        )

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        segment = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(state[0])))
        # The pivot is the value that the fold meets first.
        way = slice(None, None, -1 if reverse else 1)
        pivots = self.combine(tuple(np.asarray(column)[way] for column in state), segment[way], len(starts))[1]
        n, pivot, first, second = self._about(state, np.asarray(pivots)[segment])
        return (
            running_sum(n, starts, reverse=reverse),
            pivot,
            accumulate(np.add, np.asarray(first), starts, reverse=reverse),
            accumulate(np.add, np.asarray(second), starts, reverse=reverse),
        )

    def final(self, state: State) -> pl.Series:
        n, _, first, second = (np.asarray(column) for column in state)
        with np.errstate(invalid="ignore", over="ignore"):
            spread = (second - first * first / np.maximum(n, 1)) / np.maximum(n - 1, 1)
            spread = np.where(spread < 0, 0.0, spread)
        return restored(np.sqrt(spread) if self._root else spread, n < 2, DOUBLE)
