"""A join side's memory: rows that partners may still come for, found by key and band.

Rows lie in runs, the older run first and each run's rows as they were delivered, so that a row's place in memory tells
which of two was first. Runs of similar size are merged, so that there are few of them and a row is sorted again only a
logarithmic number of times, however long the band.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.order import Rows
from aurora.boxes.segments import Array, repeat_ranges, sorting
from aurora.model.train import Ints, rows_where

NO_KEY = -1
"""The code of a row whose key holds a NULL: it matches nothing."""
_BEYOND = np.array([np.iinfo(np.int64).max])
_STEPS = 6
"""So many partners of each probe are looked for one by one; only where there are more, the last one is searched."""


class Run:
    """Rows that can be searched by (code, value). They are sorted when they are searched first."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def low(self) -> Any:
        return self.rows.values.min()

    @cached_property
    def high(self) -> Any:
        return self.rows.values.max()

    @cached_property
    def index(self) -> Index:
        return Index(self.rows.codes, self.rows.values, self.low, self.high)

    def in_reach(self, low: Array, high: Array) -> npt.NDArray[np.bool_]:
        """Which of the ranges low <= value <= high meet the range of the run's values at all."""
        near: npt.NDArray[np.bool_] = (high >= self.low) & (low <= self.high)
        return near

    def pairs(self, codes: Ints, low: Array, high: Array) -> tuple[Ints, Ints]:
        """(probe, row) for every probe and every row of the same code with low <= value <= high, in no order.

        Fast when the probes are sorted by (code, value), since the search then goes on from where it was.
        """
        if not len(self):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return self.index.pairs(codes, low, high)


class Index:
    """The layout of rows sorted by (code, value), and their keys in it: code and value as one integer.

    Doubles and far-flung values do not fit; they are replaced by their ranks.
    """

    def __init__(self, codes: Ints, values: Array, low: Any, high: Any) -> None:
        self._greatest = int(codes.max())
        self._distinct: Array | None = None
        span = 0 if values.dtype == np.float64 else (int(high) - int(low) + 2) * (self._greatest + 2)
        if 0 < span < 2**62 and low > np.iinfo(np.int64).min:
            self._base, self._width = int(low), int(high) - int(low) + 2
            keys = codes * self._width + (values - self._base)
        else:
            self._distinct = np.unique(values)
            self._base, self._width = 0, len(self._distinct) + 1
            span = self._width * (self._greatest + 2)
            keys = codes * self._width + np.searchsorted(self._distinct, values)
        bits = len(codes).bit_length()
        if span << bits < 2**62:
            # With its row in the lowest bits a key is sorted as a plain number, much faster than rows are by their key.
            numbered = np.sort((keys << bits) | np.arange(len(codes)))
            self.layout: Ints = numbered & ((1 << bits) - 1)
            keys = numbered >> bits
        else:
            self.layout = sorting(keys)
            keys = keys[self.layout]
        self._keys = np.concatenate((keys, _BEYOND))

    def _ranks(self, bounds: Array, side: Any) -> Ints:
        """Where a bound stands among the values of one code."""
        if self._distinct is not None:
            return np.searchsorted(self._distinct, bounds, side=side)
        base = self._base - 1 if side == "right" else self._base
        ranks: Ints = np.clip(bounds, base, base + self._width - 1) - base
        return ranks

    def pairs(self, codes: Ints, low: Array, high: Array) -> tuple[Ints, Ints]:
        # A code that the rows do not have could, packed, come round to one that they have.
        here = (codes != NO_KEY) & (codes <= self._greatest)
        probes = np.flatnonzero(here)
        if len(probes) < len(codes):
            codes, low, high = codes[probes], low[probes], high[probes]
        origin = codes * self._width
        place = np.searchsorted(self._keys, origin + self._ranks(low, "left"))
        end = origin + self._ranks(high, "right")
        found = []
        for _ in range(_STEPS):
            match = np.flatnonzero(self._keys.take(place) < end)
            probes, place, end = probes.take(match), place.take(match), end.take(match)
            found.append((probes, self.layout.take(place)))
            if not len(probes):
                break
            place += 1
        else:
            last = np.searchsorted(self._keys, end)
            more, places = repeat_ranges(place, np.maximum(last - place, 0))
            found.append((probes[more], self.layout[places]))
        of, rows = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return of, rows


class Memory:
    """The rows of one side that may still find partners."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def front(self, rows: Rows) -> Run:
        """New rows as a run behind the youngest rows of memory, which leave it, so that they are searched together.

        These are not more than the new ones: what is searched again costs no more than what must be searched.
        """
        taken = [rows]
        old = 0
        while self.runs and old + len(self.runs[-1]) <= len(rows):
            old += len(self.runs[-1])
            taken.insert(0, self.runs.pop().rows)
        return Run(Rows.concat(taken))

    def keep(self, front: Run, cutoff: Any | None) -> None:
        """Takes in new rows, and drops those below the cutoff: they can match no more.

        A run is rewritten only when half of it has expired.
        """
        kept = []
        for run in [*self.runs, front]:
            if not len(run):
                continue
            if cutoff is None or cutoff <= run.low:
                kept.append(run)
                continue
            alive = run.rows.values >= cutoff
            living = int(np.count_nonzero(alive))
            if 2 * living > len(run):
                kept.append(run)
            elif living:
                rows = run.rows
                kept.append(Run(Rows(rows_where(rows.frame, alive), rows.codes[alive], rows.values[alive])))
        self.runs = kept
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            newer, older = self.runs.pop(), self.runs.pop()
            self.runs.append(Run(Rows.concat([older.rows, newer.rows])))

    def state(self) -> pl.DataFrame:
        if not self.runs:
            return pl.DataFrame()
        return Rows.concat([run.rows for run in self.runs]).to_frame()

    def load(self, state: pl.DataFrame) -> None:
        self.runs = [Run(Rows.from_frame(state))] if state.width else []
