"""Late tuples: counted, and kept where a box offers them on a port."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from aurora.boxes.merge import in_order
from aurora.model.train import Train, rows_where


class Late:
    """The tuples that one call of a kernel discarded because they came out of order."""

    def __init__(self, *, keep: bool) -> None:
        self._keep = keep
        self._frames: list[pl.DataFrame] = []
        self.count = 0

    def add(self, frame: pl.DataFrame, mask: npt.NDArray[np.bool_] | None = None) -> None:
        """Takes the rows of the frame, or those that the mask points out."""
        count = frame.height if mask is None else int(np.count_nonzero(mask))
        self.count += count
        if count and self._keep:
            self._frames.append(frame if mask is None else rows_where(frame, mask))

    def trains(self, port: str) -> dict[str, Train]:
        """What goes to the port, in arc order; nothing if nothing was late or nobody keeps it."""
        if not self._frames:
            return {}
        return {port: in_order(Train.concat([Train(frame) for frame in self._frames]))}
