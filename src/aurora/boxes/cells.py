"""Cells: partial aggregates, one per piece of the order column's axis and group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from aurora.boxes.aggregation import Aggregation, Partials, concat_partials, take_partials
from aurora.boxes.grid import Grid
from aurora.boxes.segments import Array, pack, slots_of
from aurora.model.train import Ints

_BLOCK_ROWS = 32_768
"""Rows are folded in blocks whose arrays stay in the processor's cache."""


@dataclass(frozen=True)
class Cells:
    """Partial aggregates, one per (cell, group)."""

    cells: Ints
    codes: Ints
    partials: Partials

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def none(cls, aggregation: Aggregation) -> Cells:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), aggregation.nothing)

    def at(self, rows: Ints) -> Cells:
        return Cells(self.cells[rows], self.codes[rows], take_partials(self.partials, rows))

    @classmethod
    def concat(cls, parts: list[Cells]) -> Cells:
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([p.cells for p in parts]),
            np.concatenate([p.codes for p in parts]),
            concat_partials([p.partials for p in parts]),
        )

    def folded(self, aggregation: Aggregation, groups: int) -> Cells:
        """Entries of the same cell and group folded into one, in the order in which they stand."""
        slots, first = slots_of(pack(self.cells, self.codes, groups))
        return Cells(self.cells[first], self.codes[first], aggregation.combine(self.partials, slots, len(first)))

    def to_frame(self, aggregation: Aggregation) -> pl.DataFrame:
        columns = aggregation.to_frame(self.partials)
        return columns.with_columns(pl.Series("cell", self.cells), pl.Series("code", self.codes))

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, aggregation: Aggregation) -> Cells:
        cells, codes = frame.get_column("cell").to_numpy(), frame.get_column("code").to_numpy()
        return cls(cells, codes, aggregation.from_frame(frame))


class _Table:
    """The cells ``low`` to ``high`` of all groups, each with a place of its own, so that rows need no search for it.

    Places that no row fell into hold nothing, and are no cells yet.
    """

    def __init__(self, aggregation: Aggregation, low: int, high: int, groups: int, held: Cells) -> None:
        self.low, self.high, self.groups = low, high, groups
        self._aggregation = aggregation
        self._size = (high - low + 1) * groups
        places = (held.cells - low) * groups + held.codes
        source = np.full(self._size, len(held))
        source[places] = np.arange(len(held))
        self._partials = take_partials(concat_partials([held.partials, aggregation.empty_cell]), source)
        self._rows = np.zeros(self._size, np.int64)
        self._rows[places] = 1

    def fold(self, places: Ints, partials: Partials) -> None:
        tally = np.bincount(places, minlength=self._size)
        self._partials = self._aggregation.fold(self._partials, partials, places, tally)
        self._rows += tally

    def cells(self) -> Cells:
        there = np.flatnonzero(self._rows)
        cells, codes = np.divmod(there, self.groups)
        return Cells(self.low + cells, codes, take_partials(self._partials, there))


class OpenPanes:
    """The panes that rows fold into, each group's in the order of the axis."""

    def __init__(self, aggregation: Aggregation, grid: Grid, cells: Cells) -> None:
        self._aggregation = aggregation
        self._grid = grid
        self._cells = cells
        self._table: _Table | None = None

    def cells(self) -> Cells:
        """The panes that rows fell into."""
        return self._cells if self._table is None else self._table.cells()

    def fold(self, values: Array, codes: Ints, partials: Partials, groups: int) -> None:
        """Folds rows in. There are ``groups`` groups in all."""
        spans = []
        rows = max(_BLOCK_ROWS, groups)
        for start in range(0, len(values), rows):
            block = slice(start, start + rows)
            low, high = self._grid.pane_of(values[block].min()), self._grid.pane_of(values[block].max())
            spans.append((block, low, high))
        table = self._room(min(low for _, low, _ in spans), max(high for _, _, high in spans), groups, len(values))
        if table is None:
            new = Cells(self._grid.panes_of(values), codes, partials)
            self._cells = Cells.concat([self.cells(), new]).folded(self._aggregation, groups)
            self._table = None
            return
        for block, low, high in spans:
            if low == high:
                places = codes[block] + (low - table.low) * table.groups
            else:
                places = self._grid.panes_of(values[block])
                places -= table.low
                places *= table.groups
                places += codes[block]
            table.fold(places, take_partials(partials, block))

    def _room(self, low: int, high: int, groups: int, rows: int) -> _Table | None:
        """A table with room for these panes and groups; None where it would be mostly empty."""
        table = self._table
        if table is not None and table.low <= low and high <= table.high and groups <= table.groups:
            return table
        held = self.cells()
        if len(held):
            low, high = min(low, int(held.cells.min())), max(high, int(held.cells.max()))
        if (high - low + 1) * groups > 4 * (len(held) + rows) + 4_096:
            return None
        self._table = _Table(self._aggregation, low, high, groups, held)
        return self._table
