"""Groups as dense integers: each combination of group-by values gets a code, in order of first appearance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.coding import Coder
from aurora.boxes.segments import slots_of
from aurora.model.schema import Schema
from aurora.model.train import WHEN, Ints, rows_at


class GroupIndex:
    """Codes for combinations of group-by columns, and the combination behind each code."""

    def __init__(self, columns: Sequence[str], schema: Schema) -> None:
        self.columns = list(columns)
        self._start(pl.DataFrame(schema={name: schema[name].to_polars() for name in columns}))

    def _start(self, no_keys: pl.DataFrame) -> None:
        self.keys = no_keys
        self._coders = [Coder() for _ in self.columns]
        self._pairs = [Coder() for _ in self.columns[1:]]

    def __len__(self) -> int:
        return self.keys.height if self.columns else 1

    def codes(self, frame: pl.DataFrame) -> Ints:
        if not self.columns:
            return np.zeros(frame.height, np.int64)
        codes, new_rows = self._coders[0].codes(frame.get_column(self.columns[0]))
        for name, coder, pair in zip(self.columns[1:], self._coders[1:], self._pairs, strict=True):
            others, _ = coder.codes(frame.get_column(name))
            codes, new_rows = pair.codes(pl.Series(codes << 32 | others))
        if len(new_rows):
            self.keys = self.keys.vstack(frame.select(self.columns)[new_rows])
        return codes

    def keys_of(self, codes: Ints) -> pl.DataFrame:
        return rows_at(self.keys, codes) if self.columns else pl.DataFrame()

    def load(self, keys: pl.DataFrame) -> None:
        """Takes over the groups of a snapshot, with the codes they had."""
        self._start(keys.clear())
        self.codes(keys)


class Appearance:
    """Ranks groups by when they first appeared among the tuples that a box let through."""

    def __init__(self) -> None:
        self._rank = np.empty(0, np.int64)
        self._known = 0
        # By group, in parts only: what ``WHEN`` says of the tuple with which it appeared.
        self._moments = [np.empty(0, np.int64) for _ in WHEN]

    def note(self, codes: Ints, groups: int, when: Sequence[Ints] = ()) -> None:
        """Ranks the groups of these tuples, in the order in which the box took them; there are ``groups`` in all.

        ``when`` says of each tuple when it came, for comparison with groups of other parts.
        """
        if not len(codes) or self._known == groups:
            return
        self._rank = grown(self._rank, int(codes.max()) + 1, -1)
        new = codes[self._rank[codes] < 0]
        if len(new):
            first = np.sort(slots_of(new)[1])
            in_order = new[first]
            if when:
                rows = np.flatnonzero(self._rank[codes] < 0)[first]
                for number, moment in enumerate(when):
                    self._moments[number] = grown(self._moments[number], len(self._rank), 0)
                    self._moments[number][in_order] = moment[rows]
            self._rank[in_order] = self._known + np.arange(len(in_order))
            self._known += len(in_order)

    def of(self, codes: Ints) -> Ints:
        return self._rank[codes]

    def moments_of(self, codes: Ints) -> list[Ints]:
        """When each group appeared, as what can be compared with groups of other parts."""
        return [moment[codes] for moment in self._moments]

    def state(self) -> pl.DataFrame:
        moments = {name: grown(m, len(self._rank), 0) for name, m in zip(WHEN, self._moments, strict=True)}
        return pl.DataFrame({"rank": self._rank, **moments})

    def load(self, state: pl.DataFrame) -> None:
        self._rank, *self._moments = (column.to_numpy().copy() for column in state.get_columns())
        self._known = int(self._rank.max(initial=-1)) + 1


def grown(values: npt.NDArray[Any], size: int, fill: float) -> npt.NDArray[Any]:
    """The per-group array made at least ``size`` long."""
    if len(values) >= size:
        return values
    return np.concatenate((values, np.full(size - len(values), fill, values.dtype)))
