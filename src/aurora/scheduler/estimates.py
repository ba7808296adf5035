"""Costs and selectivities that hold still: what depends on them is computed anew only when they have changed much."""

from __future__ import annotations

import math

import numpy as np

from aurora.scheduler.state import Floats, Ints, Snapshot

ENOUGH = 0.2
"""A change by this share is one. Smaller ones hardly change an order, and measurements always waver a little. What a
call costs is measured against what a tuple costs, where that is more."""

_LEAST = np.array([[1e-9], [1e-6], [1e-2], [1.0]])
"""What is smaller is as good as nothing: a nanosecond per tuple, a microsecond per call, a tuple out of a hundred."""

Columns = tuple[list[float], ...]
"""Cost per tuple, overhead per call, selectivity, bytes per tuple."""


class Estimates:
    """Costs, overheads, selectivities and sizes as they were when they last changed much."""

    def __init__(self, boxes: int) -> None:
        # Nothing equals NaN, so the first look finds everything changed.
        self._kept: Floats = np.full((4, boxes), np.nan)
        self.lists: Columns = tuple([math.nan] * boxes for _ in range(4))
        """What is kept, by box number: loops over a few boxes are faster on these."""

    def refresh(self, state: Snapshot, boxes: Ints | None = None) -> list[int]:
        """Takes over what changed much, of these boxes or of all; the boxes where something did."""
        columns = (state.cost_s, state.overhead_s, state.selectivity, state.tuple_bytes)
        seen = np.array(columns if boxes is None else [column[boxes] for column in columns])
        kept = self._kept if boxes is None else self._kept[:, boxes]
        matters = np.maximum(kept, _LEAST)
        np.maximum(matters[1], kept[0], out=matters[1])
        near = np.abs(seen - kept) <= ENOUGH * matters
        if near.all():
            return []
        places = np.flatnonzero(~near.all(axis=0))
        changed: list[int] = (places if boxes is None else boxes[places]).tolist()
        fresh = seen[:, places]
        self._kept[:, changed] = fresh
        for kept_list, values in zip(self.lists, fresh.tolist(), strict=True):
            for box, value in zip(changed, values, strict=True):
                kept_list[box] = value
        return changed
