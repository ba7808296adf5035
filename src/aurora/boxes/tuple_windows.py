"""Tuple windows: aggregates over so many tuples of a group, in the box's order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from aurora.boxes.aggregation import Aggregation, Partials, concat_partials, take_partials
from aurora.boxes.groups import grown
from aurora.boxes.lanes import Laid, Lanes
from aurora.boxes.order import Rows
from aurora.boxes.segments import Array, position_in_segment, repeat_ranges, search, stable_order, starts_of
from aurora.boxes.selection import Selection
from aurora.boxes.value_windows import Bools, Results
from aurora.model.train import CLOCK, ORDER, Ints, Progress

_NEVER = np.iinfo(np.int64).max
_WIDE = 24
"""From this many entries on, windows are made from running folds."""
_AT_ONCE = 2_000_000
"""So many entries at most are gathered for windows at once."""


@dataclass(frozen=True)
class Entries:
    """What windows are made of: tuples, or runs of tuples folded into one. In each group they stand in order."""

    partials: Partials
    codes: Ints
    first_value: Array
    last_value: Array
    order: Ints
    clock: Ints

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, rows: Rows, partials: Partials) -> Entries:
        return cls(partials, rows.codes, rows.values, rows.values, rows.hidden(ORDER), rows.hidden(CLOCK))

    def _arrays(self) -> tuple[Array, ...]:
        return self.codes, self.first_value, self.last_value, self.order, self.clock

    def at(self, rows: Ints) -> Entries:
        return Entries(take_partials(self.partials, rows), *(array[rows] for array in self._arrays()))

    def followed_by(self, other: Entries) -> Entries:
        if not len(self):
            return other
        arrays = (np.concatenate(pair) for pair in zip(self._arrays(), other._arrays(), strict=True))
        return Entries(concat_partials([self.partials, other.partials]), *arrays)

    _NAMES = ("code", "first_value", "last_value", "order", "clock")

    def to_frame(self, aggregation: Aggregation) -> pl.DataFrame:
        columns = [pl.Series(name, array) for name, array in zip(self._NAMES, self._arrays(), strict=True)]
        return aggregation.to_frame(self.partials).with_columns(columns)

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, aggregation: Aggregation) -> Entries:
        return cls(aggregation.from_frame(frame), *(frame.get_column(name).to_numpy() for name in cls._NAMES))


class Layout:
    """Entries by group: ``place`` lists them one group after another; ``index`` numbers a group's from its first."""

    def __init__(self, entries: Entries) -> None:
        self.place = stable_order(entries.codes)
        self.codes = entries.codes[self.place]
        self.starts = starts_of(self.codes)
        self.lengths = np.diff(self.starts, append=len(self.codes))
        self.groups = self.codes[self.starts]
        self.index = position_in_segment(self.starts, len(self.codes))

    @property
    def segment(self) -> Ints:
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    @property
    def end(self) -> Ints:
        """Where each entry's group ends."""
        return np.repeat(self.starts + self.lengths, self.lengths)


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
        nothing = Entries(aggregation.nothing, none, values, values, none, none)
        # The last entries of each group, which windows to come will hold, and the pane that each group is filling.
        self._tail = nothing
        self._filling = nothing
        self._filled = none
        # The number of each group's first entry in the tail, counted over its life.
        self._number = none
        self._next_due = _NEVER
        self.selection: Selection | None = None
        self._lanes = Lanes(none)
        self._owners = none

    def select(self, selection: Selection) -> None:
        """From now on only windows that the selection keeps come out."""
        in_tail = np.bincount(self._tail.codes, minlength=len(self._number))
        self._lanes = Lanes((self._number + in_tail) * self._pane + grown(self._filled, len(self._number), 0))
        self.selection = selection

    def release(self) -> bool:
        """Does without the selection, which keeps all; False if groups still have a gap, so that it is needed."""
        if self._lanes.whole:
            self.selection = None
        return self.selection is None

    def opened(self) -> Ints:
        """The last window of each group that a tuple has been in."""
        return (self._lanes.seen - 1) // (self._advance * self._pane)

    def closed(self) -> Ints:
        """The last window of each group that no more tuples come for."""
        return (self._lanes.seen - self._size * self._pane) // (self._advance * self._pane)

    def needed(self, rows: Rows) -> tuple[Bools, Ints]:
        """Which rows are in a window that comes out, and the number of every row in its group."""
        assert self.selection is not None
        numbers = self._lanes.numbers(rows.codes)
        size, advance = self._size * self._pane, self._advance * self._pane
        first = np.maximum((numbers - size) // advance + 1, 0)
        return self.selection.needed(first, numbers // advance, rows.codes), numbers

    def add_some(self, rows: Rows, numbers: Ints, partials: Partials, progress: Progress | None) -> Results | None:
        """The same as ``add`` for the rows that are needed."""
        groups = max(len(self._number), int(rows.codes.max(initial=-1)) + 1)
        laid = self._lanes.lay(rows.codes, numbers, groups)
        self._number = np.append(grown(self._number, groups, 0), laid.starts // self._pane)
        self._filled = np.append(grown(self._filled, groups, 0), np.zeros(len(laid.starts), np.int64))
        self._owners = laid.owners
        results = self.add(replace(rows, codes=laid.lanes), partials, progress)
        self._tail, self._filling = _newest(self._tail, laid), _newest(self._filling, laid)
        self._number, self._filled = self._number[laid.newest], self._filled[laid.newest]
        return results if results is None else replace(results, codes=laid.owners[results.codes])

    def _kept(self, lanes: Ints, numbers: Ints) -> Bools:
        """Which of the windows that begin at these entries come out."""
        assert self.selection is not None
        return self.selection.kept(numbers // self._advance, self._owners[lanes])

    def add(self, rows: Rows, partials: Partials, progress: Progress | None) -> Results | None:
        """Takes the rows, and gives the windows that they filled or that timed out."""
        groups = max(len(self._number), int(rows.codes.max(initial=-1)) + 1)
        self._number = grown(self._number, groups, 0)
        new, row = Entries.of(rows, partials), np.arange(len(rows))
        if self._timeout_us is not None:
            assert progress is not None
            if not len(new) and progress.clock < self._next_due:
                return None
            return self._timed(new, progress)
        if self._pane > 1:
            self._filled = grown(self._filled, groups, 0)
            new, row = self._folded(new, row)
        return self._untimed(new, row)

    def _folded(self, new: Entries, row: Ints) -> tuple[Entries, Ints]:
        """Runs of ``pane`` tuples folded into one entry each; the unfinished run of each group waits."""
        if not len(new):
            return new, row
        ahead = len(self._filling)
        entries = self._filling.followed_by(new)
        layout = Layout(entries)
        # An unfinished run stands for the tuples in it; those after it count on from there.
        count = layout.index + np.where(self._filled[layout.codes] > 0, self._filled[layout.codes] - 1, 0)
        panes = count // self._pane
        begins = starts_of(layout.segment * (int(panes.max()) + 1) + panes)
        ends = np.append(begins[1:], len(entries)) - 1
        slots = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(entries)))
        first, last = layout.place[begins], layout.place[ends]
        folded = Entries(
            self._aggregation.combine(take_partials(entries.partials, layout.place), slots, len(begins)),
            entries.codes[last],
            entries.first_value[first],
            entries.last_value[last],
            entries.order[last],
            entries.clock[last],
        )
        full = (count[ends] + 1) % self._pane == 0
        self._filled[:] = 0
        self._filled[folded.codes[~full]] = (count[ends] + 1)[~full] % self._pane
        self._filling = folded.at(np.flatnonzero(~full))
        complete = np.flatnonzero(full)
        rows = np.concatenate((np.full(ahead, -1), row))[last[complete]]
        by_row = np.argsort(rows)
        return folded.at(complete[by_row]), rows[by_row]

    def _untimed(self, new: Entries, row: Ints) -> Results | None:
        """The windows whose last entry is new. A group's last size - 1 entries stay for the windows to come."""
        if not len(new):
            return None
        ahead = len(self._tail)
        entries = self._tail.followed_by(new)
        layout = Layout(entries)
        index = layout.index - (self._size - 1)
        number = self._number[layout.codes] + index
        fills = (index >= 0) & (layout.place >= ahead)
        fills &= number % self._advance == 0 if self._advance > 1 else True
        # Windows in the order of the entries that fill them, which are distinct: put them where those stand.
        seat = np.full(len(entries), -1)
        ends = np.flatnonzero(fills)
        if self.selection is not None:
            ends = ends[self._kept(layout.codes[ends], number[ends])]
        seat[layout.place[ends]] = ends
        ends = seat[seat >= 0]
        results = None
        if len(ends):
            last = layout.place[ends]
            results = self._results(
                entries, layout, ends - self._size + 1, self._size, entries.order[last], entries.clock[last]
            )
            results = results.at_rows(row[last - ahead])
        stays = layout.end - np.arange(len(entries)) < self._size
        self._tail = entries.at(np.sort(layout.place[stays]))
        self._number[layout.groups] += np.maximum(layout.lengths - (self._size - 1), 0)
        return results

    def _timed(self, new: Entries, progress: Progress) -> Results | None:
        """The windows that were filled before their time was out, and those whose time is out."""
        assert self._timeout_us is not None
        ahead = len(self._tail)
        entries = self._tail.followed_by(new)
        layout = Layout(entries)
        segment, end, clocks = layout.segment, layout.end, entries.clock[layout.place]
        number = self._number[layout.codes] + layout.index
        begins = np.flatnonzero(number % self._advance == 0)
        if self.selection is not None:
            begins = begins[self._kept(layout.codes[begins], number[begins])]
        due = clocks[begins] + self._timeout_us
        fill = begins + self._size - 1
        exists = fill < end[begins]
        last = np.where(exists, fill, begins)
        filled = exists & (clocks[last] < due)
        timed_out = ~filled & (due <= progress.clock)
        held = search(segment, clocks, segment[begins], due) - begins
        counts = np.where(filled, self._size, np.minimum(np.minimum(held, self._size), end[begins] - begins))
        place = layout.place[last]
        order, clock, row = entries.order[place], entries.clock[place], place - ahead
        late = np.flatnonzero(timed_out)
        order[late], clock[late], row[late] = progress.orders_of(due[late]), due[late], -1
        out = np.flatnonzero(filled | timed_out)
        results = None
        if len(out):
            results = self._results(entries, layout, begins[out], counts[out], order[out], clock[out])
            results = results.at_rows(row[out], timed_out[out])
        still = np.flatnonzero(~(filled | timed_out))
        self._next_due = int(due[still].min(initial=_NEVER))
        # Windows of a group end in the order in which they opened: what follows the start of an open one stays.
        # Without an open window the next one starts at the next multiple of the advance.
        first = layout.starts + layout.lengths
        np.minimum.at(first, segment[begins[still]], begins[still])
        self._tail = entries.at(np.sort(layout.place[np.arange(len(entries)) >= first[segment]]))
        self._number[layout.groups] += first - layout.starts
        return results

    def _results(
        self, entries: Entries, layout: Layout, begins: Ints, counts: Ints | int, order: Ints, clock: Ints
    ) -> Results:
        first, last = layout.place[begins], layout.place[begins + counts - 1]
        if self._size == 1:
            partials = take_partials(entries.partials, first)
        elif not isinstance(counts, int) or not self._aggregation.bounded:
            partials = self._uneven(entries, layout, begins, np.broadcast_to(counts, begins.shape))
        elif counts > _WIDE:
            partials = self._wide(entries, layout, begins)
        else:
            partials = self._narrow(entries, layout, begins)
        return Results(
            entries.codes[first],
            entries.first_value[first],
            entries.last_value[last],
            partials,
            order,
            clock,
            np.zeros(len(begins), np.int64),
            np.zeros(len(begins), bool),
        )

    def _narrow(self, entries: Entries, layout: Layout, begins: Ints) -> Partials:
        """All windows at once: their first entries, followed by their second ones, and so on."""
        partials = take_partials(entries.partials, layout.place[begins])
        for step in range(1, self._size):
            following = take_partials(entries.partials, layout.place[begins + step])
            partials = self._aggregation.merge(partials, following)
        return partials

    def _uneven(self, entries: Entries, layout: Layout, begins: Ints, counts: Ints) -> Partials:
        """Each window folded from its entries, some windows at a time so that memory stays bounded."""
        step = max(1, _AT_ONCE // int(counts.max()))
        parts = []
        for start in range(0, len(begins), step):
            cut = slice(start, start + step)
            of, places = repeat_ranges(begins[cut], counts[cut])
            taken = take_partials(entries.partials, layout.place[places])
            parts.append(self._aggregation.combine(taken, of, len(begins[cut])))
        return concat_partials(parts)

    def _wide(self, entries: Entries, layout: Layout, begins: Ints) -> Partials:
        """Each window folded from two running folds, whatever its size.

        A group's entries are cut into blocks as long as the window, at fixed numbers. A window is the end of one block
        and the beginning of the next.
        """
        number = self._number[layout.codes] + layout.index
        blocks = number // self._size
        starts = np.flatnonzero(
            np.concatenate(([True], (layout.codes[1:] != layout.codes[:-1]) | (blocks[1:] != blocks[:-1])))
        )
        laid_out = take_partials(entries.partials, layout.place)
        forward = self._aggregation.scan(laid_out, starts)
        backward = self._aggregation.scan(laid_out, starts, reverse=True)
        whole = number[begins] % self._size == 0
        ends = begins + self._size - 1
        both = concat_partials([take_partials(backward, begins[~whole]), take_partials(forward, ends)])
        slots = np.concatenate((np.flatnonzero(~whole), np.arange(len(begins))))
        return self._aggregation.combine(both, slots, len(begins))

    def state(self) -> dict[str, pl.DataFrame]:
        lanes = {} if self.selection is None else {"lanes": self._lanes.state()}
        return {
            **lanes,
            "tail": self._tail.to_frame(self._aggregation),
            "filling": self._filling.to_frame(self._aggregation),
            "filled": pl.DataFrame({"filled": self._filled}),
            "number": pl.DataFrame({"number": self._number}),
            "due": pl.DataFrame({"next": [self._next_due]}),
        }

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._tail = Entries.from_frame(state["tail"], self._aggregation)
        self._filling = Entries.from_frame(state["filling"], self._aggregation)
        self._filled = state["filled"].get_column("filled").to_numpy().copy()
        self._number = state["number"].get_column("number").to_numpy().copy()
        self._next_due = int(state["due"].item())
        if "lanes" in state:
            self._lanes = Lanes.from_state(state["lanes"])


def _newest(entries: Entries, laid: Laid) -> Entries:
    """The entries of each group's newest lane, as those of the group."""
    owners = laid.owners[entries.codes]
    stays = np.flatnonzero(laid.newest[owners] == entries.codes)
    return replace(entries.at(stays), codes=owners[stays])
