"""When value windows close, and on which row: by the stream's progress, or by their own group's values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from aurora.boxes.order import Judged, Passage, Rows
from aurora.boxes.segments import Array, search, stable_order
from aurora.model.train import CLOCK, ORDER, Ints


class Closing(Protocol):
    """How far one train took the stream. ``order`` and ``clock`` are those of its rows."""

    @property
    def order(self) -> Ints: ...

    @property
    def clock(self) -> Ints: ...

    @property
    def taken(self) -> Ints:
        """Which of its rows the windows were given; the others were late."""

    def rows_reaching(self, codes: Ints, ends: Array) -> Ints:
        """The first row at which each window's end is reached; ``len(order)`` where it is not."""

    def limits(self, codes: Ints) -> Array:
        """How far the groups have come after the train."""

    def may_reach(self, end: Any) -> bool:
        """Whether a window with this end, the earliest that is open, may close; True where it depends on the group."""


@dataclass(frozen=True)
class ByProgress:
    """Time slack: one progress for all groups. ``late`` are the rows that the windows were not given.

    Where the windows get one part of a stream that is split, the rows are those of all parts; ``own`` are those of them
    that the windows were given, and ``places`` their places on the arc.
    """

    passage: Passage
    now: Any
    order: Ints
    clock: Ints
    late: Ints
    own: Ints | None = None
    places: Ints | None = None

    @classmethod
    def of_part(cls, judged: Judged, now: Any, own: Ints) -> ByProgress:
        """For windows that were given the rows at these places."""
        none = np.empty(0, np.int64)
        return cls(judged.passage, now, judged.order, judged.clock, none, judged.rows_of(own), judged.places)

    @property
    def taken(self) -> Ints:
        if self.own is not None:
            return self.own
        return np.delete(np.arange(len(self.order)), self.late)

    def without(self, early: npt.NDArray[np.bool_]) -> ByProgress:
        """The same when some of the rows taken turn out to be too early for any window."""
        if self.own is not None:
            return replace(self, own=self.own[~early])
        return replace(self, late=np.union1d(self.late, self.taken[early]))

    def rows_reaching(self, codes: Ints, ends: Array) -> Ints:
        return self.passage.rows_reaching(ends)

    def limits(self, codes: Ints) -> Array:
        return np.full(len(codes), self.now)

    def may_reach(self, end: Any) -> bool:
        return bool(self.now >= end)


class ByGroup:
    """Count slack: a window closes when its own group delivers a value at or past its end."""

    def __init__(self, rows: Rows, highest: Array) -> None:
        self.order, self.clock = rows.hidden(ORDER), rows.hidden(CLOCK)
        self._layout = stable_order(rows.codes)
        self._codes = rows.codes[self._layout]
        self._values = rows.values[self._layout]
        self._highest = highest
        self.taken = np.arange(len(rows))

    def rows_reaching(self, codes: Ints, ends: Array) -> Ints:
        none = len(self._codes)
        if not none:
            return np.full(len(codes), none)
        found = search(self._codes, self._values, codes, ends)
        inside = np.minimum(found, none - 1)
        reached = (found < none) & (self._codes[inside] == codes)
        return np.where(reached, self._layout[inside], none)

    def limits(self, codes: Ints) -> Array:
        return self._highest[codes]

    def may_reach(self, end: Any) -> bool:
        return True


@dataclass(frozen=True)
class AtEnd:
    """The end of the input: every window closes."""

    order: Ints
    clock: Ints
    taken: Ints

    @classmethod
    def at(cls, order: int, clock: int) -> AtEnd:
        return cls(np.array([order]), np.array([clock]), np.empty(0, np.int64))

    def rows_reaching(self, codes: Ints, ends: Array) -> Ints:
        return np.zeros(len(codes), np.int64)

    def limits(self, codes: Ints) -> Array:
        return np.full(len(codes), np.inf)

    def may_reach(self, end: Any) -> bool:
        return True
