"""How many tuples of a train are looked at one by one. A longer train is judged by tuples spread evenly over it."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

MOST_LOOKED_AT = 1024
"""So measuring costs some microseconds per train at most."""

Scalar = TypeVar("Scalar", bound=np.generic)


def step_of(tuples: int) -> int:
    """Of so many tuples, every which one is looked at. An odd number, because what alternates must not be missed.

    >>> step_of(1024), step_of(1025), step_of(50_000)
    (1, 3, 49)
    """
    return -(-tuples // MOST_LOOKED_AT) | 1 if tuples > MOST_LOOKED_AT else 1


def spread(values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    return values[:: step_of(len(values))]
