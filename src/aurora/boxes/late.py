"""Late tuples: counted, and kept where a box offers them on a port."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.order import Rows
from aurora.model.train import Ints, Train, rows_where


class Late:
    """The tuples that one call of a kernel discarded because they came out of order."""

    def __init__(self, *, keep: bool) -> None:
        self._keep = keep
        self._frames: list[pl.DataFrame] = []
        self._places: list[Ints] = []
        self.count = 0

    def add(self, rows: Rows, mask: npt.NDArray[np.bool_] | None = None) -> None:
        """Takes the rows, or those that the mask points out."""
        count = len(rows) if mask is None else int(np.count_nonzero(mask))
        self.count += count
        if count and self._keep:
            self._frames.append(rows.frame if mask is None else rows_where(rows.frame, mask))
            self._places.append(rows.places if mask is None else rows.places[mask])

    def trains(self, port: str) -> dict[str, Train]:
        """What goes to the port, in the order in which it was found late; nothing if nobody keeps it."""
        if not self._frames:
            return {}
        order = np.argsort(np.concatenate(self._places), kind="stable")
        return {port: Train(pl.concat(self._frames)[order])}
