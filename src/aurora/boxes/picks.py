"""Accumulators that choose one of the values: first, last, the least or greatest text, and last minus first."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.accumulators import Accumulator, Array, State, is_valid, numbers, restored, take
from aurora.boxes.segments import accumulate
from aurora.model.train import Ints
from aurora.model.types import Type


class Pick(Accumulator):
    """One of the values: first or last in the box's order, or the least or greatest of a text column.

    ``by`` says what decides: the place of the rows, which come in order; their order values; or the values themselves.
    Numbers are kept as numbers, since they are gathered faster than other values.
    """

    def __init__(self, kind: Type, *, last: bool, by: Literal["place", "key", "value"]) -> None:
        self._kind = kind
        self._last = last
        self._by = by
        self._numeric = kind.ordered
        self.width = (2 if self._numeric else 1) + (by == "key")

    def lift(self, values: pl.Series, keys: Array) -> State:
        state: State = (numbers(values, 0), is_valid(values)) if self._numeric else (values,)
        return (*state, keys) if self._by == "key" else state

    def _valid(self, state: State) -> npt.NDArray[np.bool_]:
        if self._numeric:
            return np.asarray(state[1])
        assert isinstance(state[0], pl.Series)
        return is_valid(state[0])

    def _ranks(self, state: State) -> Array | None:
        """What the choice goes by; None for the place."""
        if self._by == "place":
            return None
        if self._by == "key":
            return np.asarray(state[-1])
        assert isinstance(state[0], pl.Series)
        return state[0].rank("dense").fill_null(0).to_numpy().astype(np.int64)

    def combine(self, state: State, slots: Ints, size: int) -> State:
        rows = np.flatnonzero(self._valid(state))
        ranks = self._ranks(state)
        if ranks is not None and len(rows) > 1:
            ranks = ranks[rows]
            if not bool((ranks[1:] >= ranks[:-1]).all()):
                rows = rows[np.argsort(ranks, kind="stable")]
        if not self._last:
            rows = rows[::-1]
        chosen = np.full(size, -1, np.int64)
        chosen[slots[rows]] = rows
        return self._at(state, chosen)

    def merge(self, state: State, other: State) -> State:
        if self._by != "place" or not self._numeric:
            return super().merge(state, other)
        preferred, second = (other, state) if self._last else (state, other)
        valid = np.asarray(preferred[1])
        if valid.all():
            return preferred
        return np.where(valid, preferred[0], second[0]), valid | second[1]

    def _at(self, state: State, chosen: Ints) -> State:
        """The states of the chosen rows; nothing where the choice is -1."""
        none = chosen < 0
        if not none.any():
            return take(state, chosen)
        if not len(state[0]):
            empty = pl.Series([None] * len(chosen), dtype=self._kind.to_polars())
            keys = np.asarray(state[-1]).dtype if self._by == "key" else np.int64
            return self.lift(empty, np.zeros(len(chosen), keys))
        picked = list(take(state, np.where(none, 0, chosen)))
        if self._numeric:
            picked[1] = np.asarray(picked[1]) & ~none
        else:
            assert isinstance(picked[0], pl.Series)
            picked[0] = picked[0].set(pl.Series(none), None)
        return tuple(picked)

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        valid = self._valid(state)
        rows, width = np.arange(len(valid)), len(valid) + 1
        ranks = self._ranks(state)
        scores = rows if ranks is None else np.unique(ranks, return_inverse=True)[1] * width + rows
        # The best so far by (rank, place), packed into one integer.
        nothing = -1 if self._last else np.iinfo(np.int64).max
        best = accumulate(
            np.maximum if self._last else np.minimum, np.where(valid, scores, nothing), starts, reverse=reverse
        )
        return self._at(state, np.where(best == nothing, -1, best % width))

    def final(self, state: State) -> pl.Series:
        if self._numeric:
            return restored(np.asarray(state[0]), ~np.asarray(state[1]), self._kind)
        assert isinstance(state[0], pl.Series)
        return state[0]


class Delta(Accumulator):
    """Last minus first, in the box's order."""

    def __init__(self, argument: Type, result: Type, *, by: Literal["place", "key"]) -> None:
        self._result = result
        self._first = Pick(argument, last=False, by=by)
        self._last = Pick(argument, last=True, by=by)

    def _split(self, state: State) -> tuple[State, State]:
        return state[: self._first.width], state[self._first.width :]

    def lift(self, values: pl.Series, keys: Array) -> State:
        return self._first.lift(values, keys) * 2

    def combine(self, state: State, slots: Ints, size: int) -> State:
        first, last = self._split(state)
        return self._first.combine(first, slots, size) + self._last.combine(last, slots, size)

    def merge(self, state: State, other: State) -> State:
        (first, last), (other_first, other_last) = self._split(state), self._split(other)
        return self._first.merge(first, other_first) + self._last.merge(last, other_last)

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        first, last = self._split(state)
        return self._first.scan(first, starts, reverse=reverse) + self._last.scan(last, starts, reverse=reverse)

    def _difference(self, state: State) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Last minus first, which of them there are, and which overflowed."""
        (low, valid, *_), (high, *_) = self._split(state)
        low, high, there = np.asarray(low), np.asarray(high), np.asarray(valid)
        with np.errstate(over="ignore", invalid="ignore"):
            difference = high - low
        if difference.dtype != np.int64:
            return difference, there, np.zeros(len(there), bool)
        # The sign of a difference is that of high < low, unless it overflowed.
        return difference, there, there & ((difference < 0) != (high < low))

    def final(self, state: State) -> pl.Series:
        difference, there, overflow = self._difference(state)
        return restored(difference, ~there | overflow, self._result)

    def faults(self, state: State) -> int:
        return int(np.count_nonzero(self._difference(state)[2]))
