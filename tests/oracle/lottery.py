"""Which tuples a drop box with a rate keeps. The draw is the engine's own; everything else about drop is not."""

from __future__ import annotations

import numpy as np

from aurora.boxes.drop import chances


def keep(seed: int | None, rate: float, order: int) -> bool:
    """Whether the tuple with this order stays; its number is half of that."""
    return bool(chances(seed or 0, np.array([order // 2], np.int64))[0] >= rate)
