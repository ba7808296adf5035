"""Tuple windows: aggregates over so many tuples of a group, in the box's order."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from aurora.boxes.aggregation import Aggregation, Partials, concat_partials, take_partials
from aurora.boxes.groups import grown
from aurora.boxes.order import Rows
from aurora.boxes.segments import Array, position_in_segment, repeat_ranges, search, stable_order, starts_of
from aurora.boxes.value_windows import Results
from aurora.model.train import CLOCK, ORDER, Ints, Progress


class Line:
    """Entries of all groups, one group after another, each group's in the order of its tuples.

    An entry is a tuple, or a run of ``pane`` tuples. ``index`` numbers a group's entries over its whole life.
    """

    def __init__(
        self,
        codes: Ints,
        index: Ints,
        values: tuple[Array, Array],
        order: Ints,
        clock: Ints,
        row: Ints,
        partials: Partials,
    ) -> None:
        self.codes = codes
        self.index = index
        self.first_value, self.last_value = values
        self.order = order
        self.clock = clock
        self.row = row
        self.partials = partials

    def __len__(self) -> int:
        return len(self.codes)

    def _arrays(self) -> tuple[Array, ...]:
        return self.codes, self.index, self.first_value, self.last_value, self.order, self.clock, self.row

    @classmethod
    def _of(cls, arrays: tuple[Array, ...], partials: Partials) -> Line:
        codes, index, first, last, order, clock, row = arrays
        return cls(codes, index, (first, last), order, clock, row, partials)

    def at(self, rows: Ints) -> Line:
        return self._of(tuple(a[rows] for a in self._arrays()), take_partials(self.partials, rows))

    def followed_by(self, other: Line) -> Line:
        """Both lines as one, laid out by group."""
        if not len(self):
            return other.at(stable_order(other.codes))
        arrays = tuple(np.concatenate(pair) for pair in zip(self._arrays(), other._arrays(), strict=True))
        both = self._of(arrays, concat_partials([self.partials, other.partials]))
        return both.at(stable_order(both.codes))

    _NAMES = ("code", "index", "first_value", "last_value", "order", "clock", "row")

    def to_frame(self, aggregation: Aggregation) -> pl.DataFrame:
        columns = [pl.Series(name, array) for name, array in zip(self._NAMES, self._arrays(), strict=True)]
        return aggregation.to_frame(self.partials).with_columns(columns)

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, aggregation: Aggregation) -> Line:
        arrays = tuple(frame.get_column(name).to_numpy() for name in cls._NAMES)
        return cls._of(arrays, aggregation.from_frame(frame))


class TupleWindows:
    """Windows of ``size`` tuples, a new one every ``advance`` tuples of a group.

    Without a timeout tuples fold into panes of gcd(size, advance) tuples, so that a large tumbling window keeps one
    partial aggregate per group. With a timeout every tuple is kept until no open window holds it, because a window
    that times out has to be cut at any tuple.
    """

    def __init__(
        self, aggregation: Aggregation, size: int, advance: int, timeout_us: int | None, values: Array
    ) -> None:
        self._aggregation = aggregation
        self._pane = 1 if timeout_us is not None else math.gcd(size, advance)
        self._size = size // self._pane
        self._advance = advance // self._pane
        self._timeout_us = timeout_us
        none = np.empty(0, np.int64)
        self._nothing = Line(none, none, (values, values), none, none, none, aggregation.nothing)
        self._tail = self._nothing
        self._partial = self._nothing
        self._counts = none
        # How far each group has been dealt with: in entries, or with a timeout in windows.
        self._done = none
        self._next_due = np.iinfo(np.int64).max

    def add(self, rows: Rows, partials: Partials, progress: Progress | None) -> Results | None:
        """Takes the rows, and gives the windows that they filled or that timed out."""
        new = self._entries(rows, partials)
        if self._timeout_us is None:
            return self._filled(self._tail.followed_by(new))
        assert progress is not None
        if not len(new) and progress.clock < self._next_due:
            return None
        return self._timed(self._tail.followed_by(new), progress)

    def _entries(self, rows: Rows, partials: Partials) -> Line:
        """The rows as numbered entries, by group; unfinished panes are put aside."""
        groups = max(len(self._counts), int(rows.codes.max(initial=-1)) + 1)
        self._counts = grown(self._counts, groups, 0)
        self._done = grown(self._done, groups, 0)
        layout = stable_order(rows.codes)
        codes = rows.codes[layout]
        starts = starts_of(codes)
        index = self._counts[codes] + position_in_segment(starts, len(codes))
        self._counts[codes[starts]] += np.diff(starts, append=len(codes))
        values = rows.values[layout]
        line = Line(
            codes,
            index,
            (values, values),
            rows.hidden(ORDER)[layout],
            rows.hidden(CLOCK)[layout],
            layout,
            take_partials(partials, layout),
        )
        return line if self._pane == 1 else self._folded(self._partial.followed_by(line))

    def _folded(self, line: Line) -> Line:
        """Runs of ``pane`` tuples folded into one entry each; the unfinished run of each group waits."""
        if not len(line):
            return line
        panes = line.index // self._pane
        starts = np.flatnonzero(
            np.concatenate(([True], (line.codes[1:] != line.codes[:-1]) | (panes[1:] != panes[:-1])))
        )
        ends = np.append(starts[1:], len(line)) - 1
        slots = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(line)))
        partials = self._aggregation.combine(line.partials, slots, len(starts))
        values = line.first_value[starts], line.last_value[ends]
        folded = Line(
            line.codes[ends], line.index[ends], values, line.order[ends], line.clock[ends], line.row[ends], partials
        )
        full = folded.index % self._pane == self._pane - 1
        self._partial = folded.at(np.flatnonzero(~full))
        complete = folded.at(np.flatnonzero(full))
        complete.index = complete.index // self._pane
        return complete

    def _filled(self, line: Line) -> Results | None:
        """The windows whose last entry is new. A group's last size - 1 entries stay for the windows to come."""
        new_entry = line.index >= self._done[line.codes]
        fills = (line.index >= self._size - 1) & ((line.index - self._size + 1) % self._advance == 0)
        ends = np.flatnonzero(new_entry & fills)
        begins = ends - self._size + 1
        order, clock, row = line.order[ends], line.clock[ends], line.row[ends]
        results = self._results(line, begins, ends - begins + 1, order, clock, row, None)
        starts = starts_of(line.codes)
        if len(starts):
            last = np.append(starts[1:], len(line)) - 1
            self._done[line.codes[last]] = line.index[last] + 1
            from_end = np.repeat(last, np.diff(starts, append=len(line))) - np.arange(len(line))
            self._tail = line.at(np.flatnonzero(from_end < self._size - 1))
        return results

    def _timed(self, line: Line, progress: Progress) -> Results | None:
        """The windows that were filled before their time was out, and those whose time is out."""
        assert self._timeout_us is not None
        starts = starts_of(line.codes)
        segment = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(line)))
        segment_end = np.append(starts[1:], len(line))[segment]
        opens = line.index % self._advance == 0
        begins = np.flatnonzero(opens & (line.index // self._advance >= self._done[line.codes]))
        due = line.clock[begins] + self._timeout_us
        fill = begins + self._size - 1
        exists = fill < segment_end[begins]
        safe = np.where(exists, fill, begins)
        filled = exists & (line.clock[safe] < due)
        timed_out = ~filled & (due <= progress.clock)
        held = search(segment, line.clock, segment[begins], due) - begins
        counts = np.where(filled, self._size, np.minimum(np.minimum(held, self._size), segment_end[begins] - begins))
        out = np.flatnonzero(filled | timed_out)
        order, clock, row = line.order[safe], line.clock[safe], line.row[safe].copy()
        late = np.flatnonzero(timed_out)
        order[late], clock[late], row[late] = progress.orders_of(due[late]), due[late], -1
        results = self._results(line, begins[out], counts[out], order[out], clock[out], row[out], timed_out[out])
        np.add.at(self._done, line.codes[begins[out]], 1)
        still = np.flatnonzero(~(filled | timed_out))
        self._next_due = int(due[still].min(initial=np.iinfo(np.int64).max))
        # Windows of a group end in the order in which they opened: all from its first open one on must stay.
        needed = np.full(len(starts), len(line))
        np.minimum.at(needed, segment[begins[still]], begins[still])
        self._tail = line.at(np.flatnonzero(np.arange(len(line)) >= needed[segment]))
        return results

    def _results(
        self, line: Line, begins: Ints, counts: Ints, order: Ints, clock: Ints, row: Ints, timed_out: Array | None
    ) -> Results | None:
        if not len(begins):
            return None
        of, entries = repeat_ranges(begins, counts)
        if self._size == 1:
            partials = take_partials(line.partials, begins)
        else:
            partials = self._aggregation.combine(take_partials(line.partials, entries), of, len(begins))
        return Results(
            line.codes[begins],
            line.first_value[begins],
            line.last_value[begins + counts - 1],
            partials,
            order,
            clock,
            row,
            np.zeros(len(begins), bool) if timed_out is None else timed_out,
        )

    def state(self) -> dict[str, pl.DataFrame]:
        return {
            "tail": self._tail.to_frame(self._aggregation),
            "partial": self._partial.to_frame(self._aggregation),
            "groups": pl.DataFrame({"count": self._counts, "done": self._done}),
            "due": pl.DataFrame({"next": [self._next_due]}),
        }

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._tail = Line.from_frame(state["tail"], self._aggregation)
        self._partial = Line.from_frame(state["partial"], self._aggregation)
        self._counts = state["groups"].get_column("count").to_numpy().copy()
        self._done = state["groups"].get_column("done").to_numpy().copy()
        self._next_due = int(state["due"].item())
