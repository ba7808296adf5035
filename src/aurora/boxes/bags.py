"""Accumulators that must keep every value: order statistics, distinct counts, lists, and the operator's aggregates."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from aurora.boxes.accumulators import Accumulator, Array, State, is_valid
from aurora.boxes.segments import repeat_ranges, stable_order
from aurora.errors import UserCodeError
from aurora.expressions.registry import AGGREGATES
from aurora.model.train import Ints
from aurora.model.types import Type


def _lists(flat: pl.Series, lengths: Ints) -> pl.Series:
    """A list column from its elements and the lengths of its lists."""
    arrow = flat.to_arrow()
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    series = pl.Series(pa.LargeListArray.from_arrays(pa.array(offsets), arrow))
    return series.cast(pl.List(flat.dtype))


def _flat(lists: pl.Series) -> tuple[pl.Series, Ints]:
    lengths = lists.list.len().to_numpy().astype(np.int64)
    inner = lists.dtype.inner  # type: ignore[attr-defined]
    flat = lists.filter(lists.list.len() > 0).explode() if lengths.any() else pl.Series(dtype=inner)
    return flat.cast(inner), lengths


class Bag(Accumulator):
    """Keeps the values of each cell in lists, with their order values beside them where order matters."""

    bounded: ClassVar[bool] = False

    def __init__(self, kind: Type, finish: Callable[[pl.Series], pl.Series], *, ordered: bool = False) -> None:
        self._kind = kind
        self._finish = finish
        self._ordered = ordered

    def lift(self, values: pl.Series, keys: Array) -> State:
        valid = is_valid(values)
        lengths = valid.astype(np.int64)
        kept = _lists(values.drop_nulls(), lengths)
        return (kept, _lists(pl.Series(keys[valid]), lengths)) if self._ordered else (kept,)

    def combine(self, state: State, slots: Ints, size: int) -> State:
        columns = []
        for lists in state:
            assert isinstance(lists, pl.Series)
            flat, lengths = _flat(lists)
            targets = np.repeat(slots, lengths)
            columns.append(_lists(flat[stable_order(targets)], np.bincount(targets, minlength=size)))
        return tuple(columns)

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        """Every prefix as a list of its own: what a running median costs."""
        assert not reverse, "lists are not folded backwards"
        columns = []
        segment_start = np.repeat(starts, np.diff(starts, append=len(state[0])))
        for lists in state:
            assert isinstance(lists, pl.Series)
            flat, lengths = _flat(lists)
            ends = np.cumsum(lengths)
            begins = (ends - lengths)[segment_start]
            _, rows = repeat_ranges(begins, ends - begins)
            columns.append(_lists(flat[rows], ends - begins))
        return tuple(columns)

    def final(self, state: State) -> pl.Series:
        values = state[0]
        assert isinstance(values, pl.Series)
        if self._ordered:
            keys = state[1]
            assert isinstance(keys, pl.Series)
            flat, lengths = _flat(values)
            flat_keys, _ = _flat(keys)
            cells = np.repeat(np.arange(len(lengths)), lengths)
            values = _lists(flat[np.lexsort((flat_keys.to_numpy(), cells))], lengths)
        return self._finish(values).cast(self._kind.to_polars())


class DistinctBag(Bag):
    """A bag that keeps each value once."""

    def combine(self, state: State, slots: Ints, size: int) -> State:
        return _once(super().combine(state, slots, size))

    def scan(self, state: State, starts: Ints, *, reverse: bool = False) -> State:
        return _once(super().scan(state, starts, reverse=reverse))


def _once(state: State) -> State:
    (values,) = state
    assert isinstance(values, pl.Series)
    return (values.list.unique(maintain_order=True),)


def distinct_count(kind: Type) -> Accumulator:
    return DistinctBag(kind, lambda lists: lists.list.n_unique())


def quantile(kind: Type, q: float) -> Accumulator:
    """The quantile with linear interpolation between the two values nearest to it."""

    def finish(lists: pl.Series) -> pl.Series:
        flat, lengths = _flat(lists)
        values = flat.to_physical().to_numpy()
        cells = np.repeat(np.arange(len(lengths)), lengths)
        values = values[np.lexsort((values, cells))]
        starts = np.cumsum(lengths) - lengths
        place = q * np.maximum(lengths - 1, 0)
        low = np.floor(place).astype(np.int64)
        high = np.ceil(place).astype(np.int64)
        if not len(values):
            return pl.Series([None] * len(lengths), dtype=pl.Float64)
        safe = np.where(lengths > 0, starts, 0)
        with np.errstate(invalid="ignore", over="ignore"):
            below, above = values[safe + low], values[safe + high]
            exact = (low == high) | (below == above)
            rise = (above.astype(np.float64) - below) * (place - low)
            if kind != Type("double"):
                # Long durations are no doubles; only the way from one value to the next may be.
                rise = np.round(rise).astype(np.int64)
            result = np.where(exact, below, below + rise)
        series = pl.Series(result)
        return series.set(pl.Series(lengths == 0), None)

    return Bag(kind, finish)


def collected(kind: Type, *, by_key: bool) -> Accumulator:
    def finish(lists: pl.Series) -> pl.Series:
        return lists.set(lists.list.len() == 0, None)

    return Bag(kind, finish, ordered=by_key)


def user_defined(kind: Type, name: str, *, by_key: bool) -> Accumulator:
    """The operator's own aggregate, applied to the values of each cell in the box's order."""
    aggregate = AGGREGATES[name].cls()

    def value_of(values: pl.Series) -> object:
        if not len(values):
            return None
        try:
            if hasattr(aggregate, "apply"):
                return aggregate.apply(values)
            state = aggregate.init()
            for value in values:
                state = aggregate.incr(state, value)
            return aggregate.final(state)
        except Exception as error:
            raise UserCodeError(f"the aggregate {name} raised {type(error).__name__}: {error}") from error

    def finish(lists: pl.Series) -> pl.Series:
        values = [value_of(values) for values in lists]
        try:
            return pl.Series(values, dtype=kind.to_polars())
        except (TypeError, pl.exceptions.PolarsError) as error:
            raise UserCodeError(f"the aggregate {name} gave a value that is no {kind}: {error}") from error

    return Bag(kind, finish, ordered=by_key)
