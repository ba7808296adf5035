"""The late port: tuples that a box discarded because they came out of order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from aurora.model.train import CLOCK, ORDER, Train


def late_train(frames: Sequence[pl.DataFrame]) -> Train:
    """Late tuples from several reasons as one train in arc order."""
    train = Train.concat([Train(frame) for frame in frames if frame.height])
    return Train(train.frame[np.lexsort((train.hidden(CLOCK), train.hidden(ORDER)))])
