"""Empty windows between the windows of a group that hold tuples."""

from __future__ import annotations

import numpy as np
import polars as pl

from aurora.boxes.closing import Closing
from aurora.boxes.grid import NEVER, Grid
from aurora.boxes.groups import grown
from aurora.boxes.order import Rows
from aurora.boxes.origins import Origins
from aurora.boxes.segments import accumulate, pack, repeat_ranges, search, stable_order, starts_of
from aurora.boxes.selection import Selection
from aurora.model.train import Ints


class Empties:
    """Empty windows between a group's first and last: out as soon as they are closed and their group has gone on."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.done = np.empty(0, np.int64)
        """By group: up to this window all that are empty are out."""
        self._newest = np.empty(0, np.float64 if not grid.whole else np.int64)

    def take(
        self,
        rows: Rows,
        origins: Origins,
        codes: Ints,
        windows: Ints,
        closing: Closing,
        selection: Selection | None = None,
    ) -> tuple[Ints, Ints, Ints] | None:
        """Codes, window numbers and releasing rows of the empty windows, given the full ones that closed now.

        With a selection the rows are all, those that no window was given as well, and only windows it keeps come out.
        """
        groups = int(np.concatenate((rows.codes, codes)).max(initial=-1)) + 1
        self.done = grown(self.done, groups, NEVER)
        self._newest = grown(self._newest, groups, -np.inf if not self._grid.whole else np.iinfo(np.int64).min)
        every = np.arange(len(self.done))
        first, last = self._grid.windows_of_values(rows.values - origins.of(rows.codes))
        inside = np.flatnonzero(first <= last)
        layout = inside[stable_order(rows.codes[inside])]
        row_codes = rows.codes[layout]
        starts = starts_of(row_codes)
        running = accumulate(np.maximum, rows.values[layout], starts)
        if selection is not None:
            self._begin(
                row_codes[starts], np.minimum.reduceat(first[layout], starts) if len(starts) else starts, origins
            )
        before = self._newest.copy()
        if len(starts):
            ends = np.append(starts[1:], len(layout)) - 1
            self._newest[row_codes[starts]] = np.maximum(self._newest[row_codes[starts]], running[ends])
        begun = np.full(len(every), -NEVER)
        np.minimum.at(begun, codes, windows)
        start = np.where(self.done == NEVER, begun, self.done + 1)
        limits = np.minimum(closing.limits(every), self._newest)
        if limits.dtype == np.float64 and self._grid.whole:
            limits = self._newest
        known = self._newest > (-np.inf if not self._grid.whole else np.iinfo(np.int64).min)
        closed = np.where(known, self._grid.last_closed(np.where(known, limits, 0) - origins.of(every)), NEVER)
        counts = np.where(begun == -NEVER, self.done != NEVER, True) * np.maximum(closed - start + 1, 0)
        of, numbers = repeat_ranges(start, counts)
        full = pack(np.concatenate((windows, numbers)), np.concatenate((codes, of)), len(every))
        empty = ~np.isin(full[len(windows) :], full[: len(windows)])
        if selection is not None:
            empty &= selection.kept(numbers, of)
        np.maximum.at(self.done, codes, windows)
        np.maximum.at(self.done, of, numbers)
        of, numbers = of[empty], numbers[empty]
        if not len(of):
            return None
        window_ends = self._grid.ends(numbers) + origins.of(of)
        passed = np.zeros(len(of), np.int64)
        later = before[of] < window_ends
        if later.any():
            place = search(row_codes, running, of[later], window_ends[later])
            passed[later] = closing.taken[layout[place]] if len(layout) else 0
        last_row = max(len(closing.order) - 1, 0)
        reached = closing.rows_reaching(of, window_ends)
        return of, numbers, np.minimum(np.maximum(reached, passed), last_row)

    def _begin(self, codes: Ints, first: Ints, origins: Origins) -> None:
        """Groups that are new have begun in these windows, which may be none of those that come out."""
        new = self._newest[codes] == (-np.inf if not self._grid.whole else np.iinfo(np.int64).min)
        self.done[codes[new]] = (np.maximum(first, 0) if origins.by_group else first)[new] - 1

    def state(self) -> pl.DataFrame:
        size = max(len(self.done), len(self._newest))
        return pl.DataFrame({"done": grown(self.done, size, NEVER), "newest": self._newest})

    def load(self, state: pl.DataFrame) -> None:
        self.done = state.get_column("done").to_numpy().copy()
        self._newest = state.get_column("newest").to_numpy().copy()
