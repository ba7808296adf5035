"""The grid of value windows: which windows a value falls into, and where each starts and ends.

Window k of a group covers [origin + k·advance, origin + k·advance + size). On whole numbers (integers, timestamps,
durations) the grid has panes, the largest pieces of which every window is made; on doubles arithmetic is inexact,
so every window is a cell of its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aurora.boxes.segments import Array
from aurora.model.train import Ints

NEVER = -(2**62)
"""A window number below all that there are."""


class Grid:
    def __init__(self, size: float, advance: float, *, whole: bool, panes: bool) -> None:
        self.size = size
        self.advance = advance
        self.whole = whole
        self.panes = panes and whole
        pane = math.gcd(int(size), int(advance)) if self.panes else 0
        self._pane = pane
        self._cells_per_window = int(size) // pane if pane else 1
        self._cells_per_advance = int(advance) // pane if pane else 1

    @property
    def tumbling(self) -> bool:
        """Whether every window is one pane, and every pane one window."""
        return self.panes and self._cells_per_window == self._cells_per_advance == 1

    def pane_of(self, value: Any) -> int:
        return int(value) // self._pane

    def panes_of(self, values: Array) -> Ints:
        return values // self._pane

    def pane_ends(self, cells: Ints) -> Ints:
        return (cells + 1) * self._pane

    def windows_of_values(self, values: Array) -> tuple[Ints, Ints]:
        """The first and the last window that each value falls into; first > last where it falls into a gap."""
        if self.whole:
            size, advance = int(self.size), int(self.advance)
            return (values - size) // advance + 1, values // advance
        last = np.floor(values / self.advance)
        last = np.where(last * self.advance > values, last - 1, last)
        last = np.where((last + 1) * self.advance <= values, last + 1, last)
        first = np.floor((values - self.size) / self.advance) + 1
        first = np.where((first - 1) * self.advance + self.size > values, first - 1, first)
        first = np.where(first * self.advance + self.size <= values, first + 1, first)
        return first.astype(np.int64), last.astype(np.int64)

    def windows_of_cells(self, cells: Ints) -> tuple[Ints, Ints]:
        """The first and the last window that each cell is part of."""
        first = -((self._cells_per_window - 1 - cells) // self._cells_per_advance)
        return first, cells // self._cells_per_advance

    def last_closed(self, limits: Array) -> Ints:
        """The last window that ends at or before each limit."""
        if not self.whole:
            found = np.floor((limits - self.size) / self.advance)
            found = np.where(found * self.advance + self.size > limits, found - 1, found)
            found = np.where((found + 1) * self.advance + self.size <= limits, found + 1, found)
            return np.clip(found, NEVER, -NEVER).astype(np.int64)
        if limits.dtype == np.float64:
            return np.where(limits > 0, -NEVER, NEVER)
        low = limits < np.iinfo(np.int64).min + int(self.size)
        return np.where(low, NEVER, (np.where(low, 0, limits) - int(self.size)) // int(self.advance))

    def starts(self, windows: Ints) -> Array:
        return windows * (int(self.advance) if self.whole else self.advance)

    def ends(self, windows: Ints) -> Array:
        return self.starts(windows) + (int(self.size) if self.whole else self.size)
