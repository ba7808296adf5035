"""Where the numbers of a group's windows count from."""

from __future__ import annotations

import numpy as np
import polars as pl

from aurora.boxes.groups import grown
from aurora.boxes.order import Bools, Rows
from aurora.boxes.segments import Array
from aurora.model.train import Ints


class Origins:
    """Where a group's window numbers count from: zero, or with ``align: first`` its first value."""

    def __init__(self, *, first: bool, whole: bool) -> None:
        self._first = first
        self._values: Array = np.empty(0, np.int64 if whole else np.float64)
        self._known = np.empty(0, bool)

    @property
    def by_group(self) -> bool:
        """Whether every group counts from a value of its own."""
        return self._first

    def early(self, rows: Rows) -> Bools:
        """Rows below their group's first window; notes the first values of new groups."""
        if not self._first or not len(rows):
            return np.zeros(len(rows), bool)
        self._grow(int(rows.codes.max()) + 1)
        new = np.flatnonzero(~self._known[rows.codes])[::-1]
        self._values[rows.codes[new]] = rows.values[new]
        self._known[rows.codes[new]] = True
        return rows.values < self._values[rows.codes]

    def _grow(self, size: int) -> None:
        self._values = grown(self._values, size, 0)
        self._known = grown(self._known, size, False)

    def of(self, codes: Ints) -> Array:
        if not self._first:
            return np.zeros(len(codes), self._values.dtype)
        if len(codes):
            self._grow(int(codes.max()) + 1)
        return self._values[codes]

    def known(self, groups: int) -> Bools:
        """Which of the groups have windows: those that had a value, where windows count from it."""
        if not self._first:
            return np.ones(groups, bool)
        self._grow(groups)
        return self._known[:groups]

    def state(self) -> pl.DataFrame:
        return pl.DataFrame({"origin": self._values, "known": self._known})

    def load(self, state: pl.DataFrame) -> None:
        self._values = state.get_column("origin").to_numpy().copy()
        self._known = state.get_column("known").to_numpy().copy()
