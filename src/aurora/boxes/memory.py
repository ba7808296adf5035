"""A join side's memory: rows that partners may still come for, found by key and band.

Rows lie in runs sorted by (key, order value). Runs of similar size are merged, so that there are few of them and a row
is sorted again only a logarithmic number of times, however long the band.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.order import Rows
from aurora.boxes.segments import Array, repeat_ranges, sorting
from aurora.model.train import Ints

NO_KEY = -1
"""The code of a row whose key holds a NULL: it matches nothing."""


class Run:
    """Rows sorted by (code, value), ready to be searched. ``serial`` is the rows' order of delivery on their side."""

    def __init__(self, rows: Rows, serial: Ints) -> None:
        self.rows = rows
        self.serial = serial
        self.layout = sorting(rows.codes, rows.values)
        self._codes = rows.codes[self.layout]
        self._values = rows.values[self.layout]
        # Code and value as one integer, where they fit; doubles and far-flung values are replaced by their ranks.
        self._distinct: Array | None = None
        self._keys, self._width, self._base = self._codes, 1, 0
        if not len(rows):
            return
        low, high = rows.values.min(), rows.values.max()
        span = 0 if rows.values.dtype == np.float64 else (int(high) - int(low) + 2) * (int(self._codes[-1]) + 2)
        if 0 < span < 2**62 and low > np.iinfo(np.int64).min:
            self._base, self._width = int(low), int(high) - int(low) + 2
            self._keys = self._codes * self._width + (self._values - self._base)
        else:
            self._distinct = np.unique(rows.values)
            self._width = len(self._distinct) + 1
            self._keys = self._codes * self._width + np.searchsorted(self._distinct, self._values)

    def __len__(self) -> int:
        return len(self.serial)

    def in_reach(self, low: Array, high: Array) -> npt.NDArray[np.bool_]:
        """Which of the ranges low <= value <= high meet the range of the run's values at all."""
        near: npt.NDArray[np.bool_] = (high >= self.rows.values.min()) & (low <= self.rows.values.max())
        return near

    def _places(self, codes: Ints, bounds: Array, side: Any) -> Ints:
        if self._distinct is not None:
            ranks = np.searchsorted(self._distinct, bounds, side=side)
        else:
            step = 1 if side == "right" else 0
            ranks = np.clip(bounds, self._base - step, self._base + self._width - 1 - step) - (self._base - step)
        return np.searchsorted(self._keys, codes * self._width + ranks, side="left")

    def pairs(self, codes: Ints, low: Array, high: Array) -> tuple[Ints, Ints]:
        """(probe, row) for every probe and every row of the same code with low <= value <= high.

        Fast when the probes are sorted by (code, value), since the search then goes on from where it was.
        """
        first = self._places(codes, low, "left")
        last = self._places(codes, high, "right")
        # A code that the run does not have could, packed, come round to one that it has.
        absent = (codes == NO_KEY) | (codes > (self._codes[-1] if len(self) else NO_KEY))
        probes, places = repeat_ranges(first, np.where(absent, 0, np.maximum(last - first, 0)))
        return probes, self.layout[places]


class Memory:
    """The rows of one side that may still find partners."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._serial = 0

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def run_of(self, rows: Rows) -> Run:
        """New rows as a run with the next serial numbers."""
        serial = np.arange(self._serial, self._serial + len(rows))
        self._serial += len(rows)
        return Run(rows, serial)

    def keep(self, fresh: Run, cutoff: Any | None) -> None:
        """Takes in new rows, and drops those below the cutoff: they can match no more.

        An old run is rewritten only when half of it has expired.
        """
        kept = []
        for run in [*self.runs, fresh]:
            alive = np.ones(len(run), bool) if cutoff is None else run.rows.values >= cutoff
            living = int(np.count_nonzero(alive))
            if 2 * living > len(run):
                kept.append(run)
            elif living:
                kept.append(Run(run.rows.only(alive), run.serial[alive]))
        self.runs = kept
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            newer, older = self.runs.pop(), self.runs.pop()
            self.runs.append(Run(Rows.concat([older.rows, newer.rows]), np.concatenate((older.serial, newer.serial))))

    def state(self) -> pl.DataFrame:
        if not self.runs:
            return pl.DataFrame({"__next": [self._serial]})
        rows = Rows.concat([run.rows for run in self.runs])
        serial = np.concatenate([run.serial for run in self.runs])
        return rows.to_frame().with_columns(pl.Series("__serial", serial), pl.lit(self._serial).alias("__next"))

    def load(self, state: pl.DataFrame) -> None:
        self._serial = int(state.get_column("__next")[0])
        self.runs = []
        if state.width > 1:
            serial = state.get_column("__serial").to_numpy()
            self.runs = [Run(Rows.from_frame(state.drop("__serial", "__next")), serial)]
