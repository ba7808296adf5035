"""Interpolation against looking for the neighbours of each point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes.interpolation import Interpolation
from aurora.expressions import Scope
from aurora.model.types import DOUBLE, INT
from tests.unit.boxes.drawn import ints

SCOPE = Scope({"t": INT, "x": DOUBLE, "n": INT})


def slow(point: float, rows: list[tuple[float, float | None]]) -> float | None:
    """Between the last row with a value at or before the point and the first one after it."""
    before = [row for row in rows if row[1] is not None and row[0] <= point]
    after = [row for row in rows if row[1] is not None and row[0] > point]
    if not before:
        return None
    x0, y0 = before[-1]
    assert y0 is not None
    if x0 == point:
        return y0
    if not after:
        return None
    x1, y1 = after[0]
    assert y1 is not None
    return y0 + (y1 - y0) * ((point - x0) / (x1 - x0))


def at(points: Any, ranges: list[tuple[int, int]], axis: Any, values: list[float | None]) -> list[float | None]:
    begin, end = (ints([r[i] for r in ranges]) for i in (0, 1))
    samples = pl.DataFrame({"v": pl.Series(values, dtype=pl.Float64)})
    (column,) = Interpolation({"v": "x"}, SCOPE).at(points, begin, end, axis, samples)
    return column.to_list()


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.one_of(st.none(), st.floats(-100, 100))), min_size=1, max_size=12).map(
        lambda rows: sorted(rows, key=lambda row: row[0])
    ),
    st.lists(st.tuples(st.integers(-6, 6), st.integers(0, 11), st.integers(1, 12)), max_size=8),
    st.booleans(),
)
def test_at(rows: list[tuple[int, float | None]], asked: list[tuple[int, int, int]], real: bool) -> None:
    """Only the rows of its own range count for a point: those beside it belong to other groups."""
    asked = [(p, b % len(rows), min(b % len(rows) + n, len(rows))) for p, b, n in asked]
    dtype = np.float64 if real else np.int64
    axis, points = np.array([row[0] for row in rows], dtype), np.array([a[0] for a in asked], dtype)
    found = at(points, [(b, e) for _, b, e in asked], axis, [row[1] for row in rows])
    for value, (point, b, e) in zip(found, asked, strict=True):
        expected = slow(point, rows[b:e])
        assert value is None if expected is None else value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_point_after_nothing_but_nulls_does_not_look_into_the_range_before() -> None:
    axis = ints([0, 1, 2, 0, 1, 2])
    values = [5.0, 5.0, 5.0, None, None, 7.0]
    assert at(ints([1, 1]), [(0, 3), (3, 6)], axis, values) == [5.0, None]
    assert at(ints([1, 1]), [(0, 3), (3, 6)], axis, [7.0, None, None, *values[:3]]) == [None, 5.0]


def test_what_is_not_finite() -> None:
    axis = ints([0, 2, 4])
    found = at(ints([1, 2, 3]), [(0, 3)] * 3, axis, [1.0, math.inf, -math.inf])
    assert found[:2] == [math.inf, math.inf]
    assert found[2] is not None
    assert math.isnan(found[2])


@pytest.mark.parametrize(
    ("text", "expected"), [("x", [1.0, None]), ("avg(x)", [1.0, None]), ("n + 1", [3.0, 4.0]), ("max(n)", [2.0, 3.0])]
)
def test_samples_are_of_the_expression_or_of_what_its_aggregate_takes(text: str, expected: list[Any]) -> None:
    frame = pl.DataFrame({"t": [0, 1], "x": [1.0, None], "n": [2, 3]})
    samples, nulled = Interpolation({"v": text}, SCOPE).sample(frame)
    assert (samples["v"].to_list(), nulled) == (expected, 0)
