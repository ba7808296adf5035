"""What the tests of the boxes' machinery draw and build: arrays, rows, and cuts of a stream into trains."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from aurora.boxes.order import Rows
from aurora.model.train import Ints

LEAST, GREATEST = -(2**63), 2**63 - 1

whole = st.one_of(
    st.integers(-5, 5), st.integers(-(2**40), 2**40), st.sampled_from([LEAST, LEAST + 1, GREATEST - 1, GREATEST])
)
"""Integers with many ties, and now and then the ends of the range."""

small = st.integers(-4, 6)

real = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, 1.5, -2.5, 1e16]),
    st.floats(-1e9, 1e9, allow_nan=False),
)
"""Doubles with ties, of both signs of zero, whose sums round."""


def ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


def doubles(values: Sequence[float]) -> Any:
    return np.array(values, np.float64)


def rows_of(codes: Sequence[int], values: Sequence[float], dtype: Any = np.int64, first: int = 0) -> Rows:
    """Rows as a box gets them: number ``first`` and on, the clock moving by ten at each. ``id`` tells them apart."""
    numbers = np.arange(first, first + len(codes))
    frame = pl.DataFrame(
        {"id": numbers, "__order": 2 * numbers + 1, "__clock": 10 * numbers, "__arrival": 10 * numbers}
    )
    return Rows(frame, ints(codes), np.array(values, dtype))


def cuts(draw: st.DrawFn, length: int) -> list[slice]:
    """A cut of so many rows into trains, some of which may be empty."""
    inner = sorted(draw(st.lists(st.integers(0, length), max_size=4)))
    bounds = [0, *inner, length]
    return [slice(a, b) for a, b in itertools.pairwise(bounds)]


def identities(rows: Rows) -> list[tuple[int, int, int]]:
    """Which rows these are, and with whose number and clock they come."""
    return rows.frame.select("id", "__order", "__clock").rows()
