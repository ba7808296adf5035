"""Value windows: aggregates over ranges of the order column, per group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.aggregation import Aggregation, Partials, concat_partials, take_partials
from aurora.boxes.cells import Cells, OpenPanes
from aurora.boxes.closing import Closing
from aurora.boxes.empties import Empties
from aurora.boxes.grid import NEVER, Grid
from aurora.boxes.groups import grown
from aurora.boxes.order import Rows
from aurora.boxes.origins import Origins
from aurora.boxes.segments import Array, pack, repeat_ranges, slots_of
from aurora.boxes.selection import Selection
from aurora.model.train import CLOCK, Ints, Progress

Bools = npt.NDArray[np.bool_]
_BLOCK_ROWS = 64
"""Rows that are looked at together when windows are dropped."""


@dataclass(frozen=True)
class Results:
    """Windows that come out: one entry per window and group. ``row`` ranks the rows that made them come out."""

    codes: Ints
    starts: Array
    ends: Array
    partials: Partials
    order: Ints
    clock: Ints
    row: Ints
    timed_out: Bools

    def at(self, entries: Ints) -> Results:
        return Results(
            self.codes[entries],
            self.starts[entries],
            self.ends[entries],
            take_partials(self.partials, entries),
            self.order[entries],
            self.clock[entries],
            self.row[entries],
            self.timed_out[entries],
        )

    def at_rows(self, row: Ints, timed_out: Bools | None = None) -> Results:
        """The same windows with the rows that made them come out, and which of them timed out."""
        return replace(self, row=row, timed_out=self.timed_out if timed_out is None else timed_out)

    @classmethod
    def concat(cls, parts: list[Results]) -> Results:
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([p.codes for p in parts]),
            np.concatenate([p.starts for p in parts]),
            np.concatenate([p.ends for p in parts]),
            concat_partials([p.partials for p in parts]),
            np.concatenate([p.order for p in parts]),
            np.concatenate([p.clock for p in parts]),
            np.concatenate([p.row for p in parts]),
            np.concatenate([p.timed_out for p in parts]),
        )


class ValueWindows:
    """What all value windows know: their grid, where it starts, and which of them come out when there is too much."""

    def __init__(self, aggregation: Aggregation, grid: Grid, *, align_first: bool, emit_empty: bool) -> None:
        self._aggregation = aggregation
        self._grid = grid
        self._align_first = align_first
        self.origins = Origins(first=align_first, whole=grid.whole)
        self._empties = Empties(grid) if emit_empty else None
        self.selection: Selection | None = None

    def needed(self, rows: Rows) -> Bools:
        """Which rows are in a window that comes out."""
        assert self.selection is not None
        if not len(rows) or not self.selection.alike or self._grid.size < self._grid.advance:
            return self.selection.needed(*self._windows_of(rows), rows.codes)
        # Most rows stand beside others of the same windows: blocks go or stay as a whole, and few are looked into.
        starts = np.arange(0, len(rows), _BLOCK_ROWS)
        low = self._grid.windows_of_values(np.minimum.reduceat(rows.values, starts))
        high = self._grid.windows_of_values(np.maximum.reduceat(rows.values, starts))
        blocks = np.zeros(len(starts), np.int64)
        some = self.selection.needed(low[0], high[1], blocks)
        every = self.selection.needed(high[0], low[1], blocks) & (high[0] <= low[1])
        needed = np.repeat(every, np.diff(starts, append=len(rows)))
        mixed = np.repeat(some & ~every, np.diff(starts, append=len(rows)))
        if mixed.any():
            inside = Rows(rows.frame, rows.codes[mixed], rows.values[mixed])
            needed[mixed] = self.selection.needed(*self._windows_of(inside), inside.codes)
        return needed

    def _windows_of(self, rows: Rows) -> tuple[Ints, Ints]:
        first, last = self._grid.windows_of_values(rows.values - self.origins.of(rows.codes))
        return (np.maximum(first, 0), last) if self._align_first else (first, last)

    def _kept(self, windows: Ints, codes: Ints) -> Bools:
        assert self.selection is not None
        return self.selection.kept(windows, codes)

    def opened(self, highest: Array) -> Ints:
        """The last window of each group that a value may have been in, given the highest value of each."""
        return self._last(highest, lambda values: self._grid.windows_of_values(values)[1])

    def closed(self, limits: Array) -> Ints:
        """The last window of each group that is done with, given how far each has come."""
        if self._empties is not None:
            # Empty windows come out only when their group has gone on.
            return grown(self._empties.done, len(limits), NEVER)
        return self._last(limits, self._grid.last_closed)

    def _last(self, values: Array, find: Callable[[Array], Ints]) -> Ints:
        least = np.iinfo(np.int64).min if self._grid.whole else -np.inf
        known = (values > least) & self.origins.known(len(values))
        relative = np.where(known, values, 0) - self.origins.of(np.arange(len(values)))
        return np.where(known, find(relative), NEVER)


class PaneWindows(ValueWindows):
    """Windows on whole numbers, made of panes. Rows fold into the pane they fall into; a window combines its panes
    when it closes, so the cost per row does not depend on the window's size.

    Panes that can get no more rows are sealed and not looked at again until a window closes.
    """

    def __init__(self, aggregation: Aggregation, grid: Grid, *, align_first: bool, emit_empty: bool) -> None:
        super().__init__(aggregation, grid, align_first=align_first, emit_empty=emit_empty)
        self._active = OpenPanes(aggregation, grid, Cells.none(aggregation))
        self._sealed: list[Cells] = []
        self._closed = np.empty(0, np.int64)
        self._next_end: int | None = None

    def add(
        self, rows: Rows, partials: Partials, closing: Closing, progress: Progress | None, seen: Rows
    ) -> Results | None:
        """Folds the rows in, and gives the windows that the train closed. ``seen`` has dropped rows as well."""
        groups = max(len(self._closed), int(rows.codes.max(initial=-1)) + 1)
        if len(rows):
            values = rows.values - self.origins.of(rows.codes) if self._align_first else rows.values
            self._active.fold(values, rows.codes, partials, groups)
            self._closed = grown(self._closed, groups, NEVER)
        if self._next_end is not None and not closing.may_reach(self._next_end):
            return None
        return self._close(seen, closing)

    def _close(self, rows: Rows, closing: Closing) -> Results | None:
        every = np.arange(len(self._closed))
        limits = closing.limits(every) - self.origins.of(every)
        reached = np.where(self.origins.known(len(every)), self._grid.last_closed(limits), NEVER)
        now = np.maximum(reached, self._closed)
        if not len(every) or not bool((now > self._closed).any()):
            # A group may go on past empty windows that closed before.
            return None if self._empties is None else self._results(rows, Cells.none(self._aggregation), closing)
        cells = Cells.concat([*self._sealed, self._active.cells()])
        closed = self._tumbled(cells, now) if self._grid.tumbling else self._combined(cells, now, limits)
        self._closed = now
        if not self._align_first and self._empties is None:
            # All groups share one grid. With one progress for all, nothing closes before the next window's end.
            self._next_end = int(self._grid.ends(now.max(keepdims=True) + 1)[0]) if int(now.max()) < -NEVER else None
        return self._results(rows, closed, closing)

    def _tumbled(self, cells: Cells, now: Ints) -> Cells:
        """Windows that are panes: those that closed, as they are."""
        closes = cells.cells <= now[cells.codes]
        self._sealed = []
        self._keep_open(cells.at(np.flatnonzero(~closes)))
        if self.selection is not None:
            closes &= self._kept(cells.cells, cells.codes)
        return cells.at(np.flatnonzero(closes))

    def _combined(self, cells: Cells, now: Ints, limits: Array) -> Cells:
        """The windows that closed, each combined from its panes; panes that no open window needs go."""
        first, last = self._grid.windows_of_cells(cells.cells)
        if self._align_first:
            first = np.maximum(first, 0)
        low = np.maximum(first, self._closed[cells.codes] + 1)
        newest = now[cells.codes]
        counts = np.maximum(np.minimum(last, newest) - low + 1, 0)
        of, windows = repeat_ranges(low, counts)
        if self.selection is not None:
            kept = self._kept(windows, cells.codes[of])
            of, windows = of[kept], windows[kept]
        closed = Cells(windows, cells.codes[of], take_partials(cells.partials, of))
        closed = closed.folded(self._aggregation, len(now))
        keep = last > newest
        finished = self._grid.pane_ends(cells.cells) <= limits[cells.codes]
        sealed = np.flatnonzero(keep & finished)
        self._sealed = [cells.at(sealed)] if len(sealed) else []
        self._keep_open(cells.at(np.flatnonzero(keep & ~finished)))
        return closed

    def _keep_open(self, cells: Cells) -> None:
        self._active = OpenPanes(self._aggregation, self._grid, cells)

    def _results(self, rows: Rows, closed: Cells, closing: Closing) -> Results | None:
        parts = []
        if len(closed):
            ends = self._grid.ends(closed.cells) + self.origins.of(closed.codes)
            parts.append(self._result(closed, closing, closing.rows_reaching(closed.codes, ends)))
        if self._empties is not None:
            found = self._empties.take(rows, self.origins, closed.codes, closed.cells, closing, self.selection)
            if found is not None:
                codes, windows, released = found
                empty = Cells(windows, codes, empty_partials(self._aggregation, closing.clock[released]))
                parts.append(self._result(empty, closing, released))
        return Results.concat(parts) if parts else None

    def _result(self, closed: Cells, closing: Closing, row: Ints) -> Results:
        origin = self.origins.of(closed.codes)
        return Results(
            closed.codes,
            self._grid.starts(closed.cells) + origin,
            self._grid.ends(closed.cells) + origin,
            closed.partials,
            closing.order[row],
            closing.clock[row],
            row,
            np.zeros(len(row), bool),
        )

    def state(self) -> dict[str, pl.DataFrame]:
        parts = {
            "cells": Cells.concat([*self._sealed, self._active.cells()]).to_frame(self._aggregation),
            "closed": pl.DataFrame({"closed": self._closed}),
            "origins": self.origins.state(),
        }
        return parts if self._empties is None else {**parts, "empties": self._empties.state()}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        self._keep_open(Cells.from_frame(state["cells"], self._aggregation))
        self._sealed = []
        self._closed = state["closed"].get_column("closed").to_numpy().copy()
        self.origins.load(state["origins"])
        if self._empties is not None:
            self._empties.load(state["empties"])


def empty_partials(aggregation: Aggregation, arrivals: Ints) -> Partials:
    """Partials of empty windows, which have the arrival time of what made them come out."""
    partials = aggregation.nothings(len(arrivals))
    return [(arrivals,), *partials[1:]]


class TimedWindows(ValueWindows):
    """Windows that may time out, or that lie on doubles: every window is a cell, and knows when it was opened."""

    def __init__(
        self, aggregation: Aggregation, grid: Grid, *, align_first: bool, emit_empty: bool, timeout_us: int | None
    ) -> None:
        super().__init__(aggregation, grid, align_first=align_first, emit_empty=emit_empty)
        self._timeout_us = timeout_us
        none = np.empty(0, np.int64)
        self._open = Cells(none, none, aggregation.nothing)
        self._opened = none
        self._done = np.empty(0, bool)

    def add(
        self, rows: Rows, partials: Partials, closing: Closing, progress: Progress | None, seen: Rows
    ) -> Results | None:
        first, last = self._windows_of(rows)
        of, windows = repeat_ranges(first, np.maximum(last - first + 1, 0))
        if self.selection is not None:
            kept = self._kept(windows, rows.codes[of])
            of, windows = of[kept], windows[kept]
        cells = np.concatenate((self._open.cells, windows))
        codes = np.concatenate((self._open.codes, rows.codes[of]))
        clocks = np.concatenate((self._opened, rows.hidden(CLOCK)[of]))
        groups = int(codes.max(initial=-1)) + 1
        slots, lead = slots_of(pack(cells, codes, groups))
        opened = clocks[lead]
        done = np.zeros(len(lead), bool)
        done[slots[: len(self._open)]] = self._done
        in_time = ~done[slots]
        if self._timeout_us is not None:
            in_time &= clocks < opened[slots] + self._timeout_us
        in_time[: len(self._open)] = True
        both = concat_partials([self._open.partials, take_partials(partials, of)])
        if not in_time.all():
            both = take_partials(both, np.flatnonzero(in_time))
        folded = self._aggregation.combine(both, slots[in_time], len(lead))
        return self._close(seen, Cells(cells[lead], codes[lead], folded), opened, done, closing, progress)

    def _close(
        self, rows: Rows, cells: Cells, opened: Ints, done: Bools, closing: Closing, progress: Progress | None
    ) -> Results | None:
        origin = self.origins.of(cells.codes)
        starts = self._grid.starts(cells.cells) + origin
        ends = self._grid.ends(cells.cells) + origin
        row = closing.rows_reaching(cells.codes, ends)
        closes = row < len(closing.order)
        safe = np.where(closes, row, 0)
        timed_out = np.zeros(len(cells), bool)
        order, clock = np.zeros(len(cells), np.int64), np.zeros(len(cells), np.int64)
        if len(closing.order):
            order, clock = closing.order[safe], closing.clock[safe]
        if self._timeout_us is not None and progress is not None:
            due = opened + self._timeout_us
            timed_out = ~done & (due <= progress.clock) & ~(closes & (clock < due))
            at = np.flatnonzero(timed_out)
            order[at], clock[at] = progress.orders_of(due[at]), due[at]
        comes = (closes & ~done) | timed_out
        if self.selection is not None:
            comes &= self._kept(cells.cells, cells.codes)
        out = np.flatnonzero(comes)
        rows_out = np.where(timed_out, -1, row)
        results = [
            Results(
                cells.codes[out],
                starts[out],
                ends[out],
                take_partials(cells.partials, out),
                order[out],
                clock[out],
                rows_out[out],
                timed_out[out],
            )
        ]
        if self._empties is not None:
            closed = np.flatnonzero(closes)
            found = self._empties.take(
                rows, self.origins, cells.codes[closed], cells.cells[closed], closing, self.selection
            )
            if found is not None:
                results.append(self._empty(*found, closing))
        stays = np.flatnonzero(~closes)
        self._open, self._opened = cells.at(stays), opened[stays]
        self._done = (done | timed_out)[stays]
        total = Results.concat(results)
        return total if len(total.codes) else None

    def _empty(self, codes: Ints, windows: Ints, released: Ints, closing: Closing) -> Results:
        origin = self.origins.of(codes)
        return Results(
            codes,
            self._grid.starts(windows) + origin,
            self._grid.ends(windows) + origin,
            empty_partials(self._aggregation, closing.clock[released]),
            closing.order[released],
            closing.clock[released],
            released,
            np.zeros(len(codes), bool),
        )

    def state(self) -> dict[str, pl.DataFrame]:
        cells = self._open.to_frame(self._aggregation)
        cells = cells.with_columns(pl.Series("opened", self._opened), pl.Series("done", self._done))
        parts = {"cells": cells, "origins": self.origins.state()}
        return parts if self._empties is None else {**parts, "empties": self._empties.state()}

    def load(self, state: Mapping[str, pl.DataFrame]) -> None:
        cells = state["cells"]
        self._open = Cells.from_frame(cells, self._aggregation)
        self._opened = cells.get_column("opened").to_numpy()
        self._done = cells.get_column("done").to_numpy()
        self.origins.load(state["origins"])
        if self._empties is not None:
            self._empties.load(state["empties"])
