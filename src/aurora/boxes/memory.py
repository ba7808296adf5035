"""A join side's memory: rows that partners may still come for, found by key and band.

Rows lie in runs sorted by (key, order value). Runs of similar size are merged, so that there are few of them and a row
is sorted again only a logarithmic number of times, however long the band.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from aurora.boxes.order import Rows
from aurora.boxes.segments import Array, repeat_ranges
from aurora.model.train import Ints

NO_KEY = -1
"""The code of a row whose key holds a NULL: it matches nothing."""


class Run:
    """Rows sorted by (code, value), ready to be searched. ``serial`` is the rows' order of delivery on their side."""

    def __init__(self, rows: Rows, serial: Ints) -> None:
        self.rows = rows
        self.serial = serial
        self._distinct = np.unique(rows.values)
        self._width = len(self._distinct) + 1
        keys = rows.codes * self._width + np.searchsorted(self._distinct, rows.values)
        self._layout = np.argsort(keys, kind="stable")
        self._keys = keys[self._layout]

    def __len__(self) -> int:
        return len(self.serial)

    def pairs(self, codes: Ints, low: Array, high: Array) -> tuple[Ints, Ints]:
        """(probe, row) for every probe and every row of the same code with low <= value <= high."""
        base = codes * self._width
        first = np.searchsorted(self._keys, base + np.searchsorted(self._distinct, low, side="left"), side="left")
        last = np.searchsorted(self._keys, base + np.searchsorted(self._distinct, high, side="right"), side="left")
        probes, places = repeat_ranges(first, np.where(codes == NO_KEY, 0, np.maximum(last - first, 0)))
        return probes, self._layout[places]


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

    def add(self, run: Run) -> None:
        if not len(run):
            return
        self.runs.append(run)
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            newer, older = self.runs.pop(), self.runs.pop()
            self.runs.append(Run(Rows.concat([older.rows, newer.rows]), np.concatenate((older.serial, newer.serial))))

    def forget_below(self, cutoff: Any) -> None:
        """Drops rows that can match no more; a run is rewritten only when half of it has expired."""
        kept = []
        for run in self.runs:
            alive = run.rows.values >= cutoff
            living = int(alive.sum())
            if 2 * living > len(run):
                kept.append(run)
            elif living:
                kept.append(Run(run.rows.only(alive), run.serial[alive]))
        self.runs = kept

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
