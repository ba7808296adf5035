"""Estimates from a sample: counts, sums and averages when only some of the tuples have come.

A tuple that came through with the chance p stands for w = 1/p of them (the estimator of Horvitz and Thompson). A sum
of w·x estimates the sum of x over all tuples, and the sum of w·(w - 1)·x² its variance. Beside the plain aggregate,
which stays exact, only what the weights add is kept; so at weight 1 the result is the plain one to the last bit.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.accumulators import (
    Accumulator,
    Array,
    Column,
    Count,
    DoubleSum,
    IntegerSum,
    State,
    added,
    counts_of,
    numbers,
    restored,
)
from aurora.boxes.segments import accumulate
from aurora.model.train import Ints
from aurora.model.types import DOUBLE, DURATION, Type

_LIMIT = 2.0**63


class Weighing:
    """The weight of the tuples that are lifted now, one for all calls of a box."""

    weight = 1.0


class Estimate(Accumulator):
    """A plain accumulator with sums of doubles beside it, which weights add to."""

    extras: int

    def __init__(self, plain: Accumulator, weighing: Weighing) -> None:
        self._plain = plain
        self._weighing = weighing

    def _split(self, state: State) -> tuple[State, tuple[Array, ...]]:
        return state[: -self.extras], tuple(np.asarray(column) for column in state[-self.extras :])

    def combine(self, state: State, slots: Ints, size: int) -> State:
        plain, extras = self._split(state)
        zeros = tuple(np.zeros(size) for _ in extras)
        return self._plain.combine(plain, slots, size) + added(zeros, extras, slots)

    def fold(self, into: State, state: State, slots: Ints, tally: Ints | None = None) -> State:
        plain, extras = self._split(state)
        into_plain, into_extras = self._split(into)
        return self._plain.fold(into_plain, plain, slots, tally) + added(into_extras, extras, slots, tally)

    def merge(self, state: State, other: State) -> State:
        (plain, extras), (other_plain, other_extras) = self._split(state), self._split(other)
        with np.errstate(invalid="ignore", over="ignore"):
            sums = tuple(one + two for one, two in zip(extras, other_extras, strict=True))
        return self._plain.merge(plain, other_plain) + sums

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        plain, extras = self._split(state)
        sums = tuple(accumulate(np.add, column, starts, reverse=reverse) for column in extras)
        return self._plain.scan(plain, starts, reverse=reverse) + sums

    def _weighed(self, weight: float, values: Column) -> Array:
        """Values times a weight; where the weight is 0, one number seen again and again."""
        array = np.asarray(values)
        if weight and array.strides != (0,):
            with np.errstate(invalid="ignore", over="ignore"):
                return array * weight
        return np.broadcast_to(np.float64(weight * array[0] if weight and len(array) else 0.0), len(array))

    def errors(self, state: State) -> Array:
        """The relative standard error of each value; NaN where it has none."""
        plain, extras = self._split(state)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            variance, value = self._spread(plain, extras)
            error: Array = np.where(variance > 0, np.sqrt(variance) / np.abs(value), 0.0)
        error[~np.isfinite(error)] = np.nan
        return error

    @abstractmethod
    def _spread(self, plain: State, extras: tuple[Array, ...]) -> tuple[Array, Array]:
        """The variance of the estimates, and the estimates."""


class EstimatedCount(Estimate):
    """Beside the count: what weights add to it, and its variance."""

    extras = 2

    def __init__(self, weighing: Weighing) -> None:
        super().__init__(Count(), weighing)

    def lift(self, values: pl.Series, keys: Array) -> State:
        return self._lifted(counts_of(values))

    def ones(self, rows: int) -> State:
        return self._lifted(np.broadcast_to(np.int64(1), rows))

    def _lifted(self, counts: Array) -> State:
        w = self._weighing.weight
        return counts, self._weighed(w - 1, counts), self._weighed(w * (w - 1), counts)

    def final(self, state: State) -> pl.Series:
        (count,), (more, _) = self._split(state)
        return pl.Series(np.asarray(count) + np.rint(more).astype(np.int64))

    def _spread(self, plain: State, extras: tuple[Array, ...]) -> tuple[Array, Array]:
        return extras[1], np.asarray(plain[0]) + extras[0]


class EstimatedSum(Estimate):
    """Beside the sum: what weights add to it, and its variance. Whole numbers are rounded when the window closes."""

    extras = 2

    def __init__(self, kind: Type, weighing: Weighing) -> None:
        self._kind = kind
        self._real = kind == DOUBLE
        super().__init__(DoubleSum(average=False) if self._real else IntegerSum(kind, average=False), weighing)

    def lift(self, values: pl.Series, keys: Array) -> State:
        w = self._weighing.weight
        plain = self._plain.lift(values, keys)
        if w == 1.0:
            none = np.broadcast_to(np.float64(0), len(values))
            return (*plain, none, none)
        x = numbers(values, 0).astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            return *plain, x * (w - 1), x * x * (w * (w - 1))

    def _total(self, plain: State, more: Array) -> Array:
        if self._real:
            return np.asarray(plain[0]) + more
        high, low, _ = (np.asarray(column) for column in plain)
        total: Array = high * 2.0**32 + low + more
        return total

    def _overflow(self, plain: State, more: Array) -> npt.NDArray[np.bool_]:
        return ~(np.abs(self._total(plain, more)) < _LIMIT) | ~(np.abs(more) < _LIMIT)

    def final(self, state: State) -> pl.Series:
        plain, (more, _) = self._split(state)
        total = self._plain.final(plain)
        if not more.any():
            return total
        if self._real:
            return restored(self._total(plain, more), total.is_null().to_numpy(), DOUBLE)
        missing = total.is_null().to_numpy() | self._overflow(plain, more)
        whole = numbers(total, 0) + np.rint(np.where(missing, 0.0, more)).astype(np.int64)
        return restored(whole, missing, self._kind)

    def faults(self, state: State) -> int:
        plain, (more, _) = self._split(state)
        if self._real or not more.any():
            return self._plain.faults(plain)
        return int(np.count_nonzero((np.asarray(plain[-1]) > 0) & self.final(state).is_null().to_numpy()))

    def _spread(self, plain: State, extras: tuple[Array, ...]) -> tuple[Array, Array]:
        return extras[1], self._total(plain, extras[0])


class EstimatedAverage(Estimate):
    """An average needs no scaling; but tuples that came while few got through count for more.

    Beside sum and count: what weights add to each, and the sums of w·(w - 1) times 1, x and x².
    """

    extras = 5

    def __init__(self, kind: Type, weighing: Weighing) -> None:
        self._real = kind == DOUBLE
        super().__init__(DoubleSum(average=True) if self._real else IntegerSum(kind, average=True), weighing)

    def lift(self, values: pl.Series, keys: Array) -> State:
        w = self._weighing.weight
        plain = self._plain.lift(values, keys)
        if w == 1.0:
            none = np.broadcast_to(np.float64(0), len(values))
            return (*plain, none, none, none, none, none)
        n = counts_of(values)
        x = numbers(values, 0).astype(np.float64)
        square = w * (w - 1)
        with np.errstate(invalid="ignore", over="ignore"):
            spread = self._weighed(square, n), x * square, x * x * square
            return *plain, self._weighed(w - 1, n), x * (w - 1), *spread

    def _mean(self, plain: State, extras: tuple[Array, ...]) -> tuple[Array, Array]:
        """The averages, and how many tuples they stand for."""
        total = np.asarray(plain[0]) if self._real else np.asarray(plain[0]) * 2.0**32 + plain[1]
        n = np.asarray(plain[-1]) + extras[0]
        return (total + extras[1]) / np.maximum(n, 1), n

    def final(self, state: State) -> pl.Series:
        plain, extras = self._split(state)
        if not extras[0].any():
            return self._plain.final(plain)
        with np.errstate(invalid="ignore", over="ignore"):
            mean, n = self._mean(plain, extras)
        return restored(mean, n == 0, DOUBLE)

    def _spread(self, plain: State, extras: tuple[Array, ...]) -> tuple[Array, Array]:
        mean, n = self._mean(plain, extras)
        _, _, zeroth, first, second = extras
        return (second - 2 * mean * first + mean * mean * zeroth) / np.maximum(n, 1) ** 2, mean


def estimate_for(function: str, argument: Type, weighing: Weighing) -> Estimate | None:
    """How a call is estimated from a sample; None for calls that weights do not change."""
    match function:
        case "count_all" | "count":
            return EstimatedCount(weighing)
        case "sum":
            return EstimatedSum(argument, weighing)
        case "avg" if argument != DURATION:
            return EstimatedAverage(argument, weighing)
    return None
