"""Regions against plain comparison, number by number."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.expressions import Interval, Scope, analyse
from aurora.model.schema import Schema
from aurora.model.types import DOUBLE, INT, Type
from aurora.shedding.regions import LEAST_INT, MOST_INT, Number, Region

INTS = st.integers(-5, 5) | st.sampled_from([LEAST_INT, MOST_INT, 2**53 + 1])
DOUBLES = st.integers(-50, 50).map(lambda n: n / 10) | st.sampled_from([math.inf, -math.inf, 1e308, 5e-324, -0.0])
BOUNDS = st.none() | st.integers(-6, 6) | st.integers(-60, 60).map(lambda n: n / 10)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    made = Interval(draw(BOUNDS), draw(BOUNDS), draw(st.booleans()), draw(st.booleans()))
    return made.meet(Interval())


def holds(region: Region, value: Number) -> bool:
    return region.nan if math.isnan(value) else any(lo <= value <= hi for lo, hi in region.ranges)


@given(st.lists(intervals(), max_size=3), st.sampled_from([INT, DOUBLE]), st.data())
def test_a_region_holds_what_its_intervals_hold_and_so_does_its_condition(
    parts: list[Interval], kind: Type, data: st.DataObject
) -> None:
    region = Region.of(parts, kind)
    values = data.draw(st.lists(INTS if kind == INT else DOUBLES | st.just(math.nan), min_size=1))
    expected = [any(_inside(part, value) for part in parts) for value in values]
    assert [holds(region, value) for value in values] == expected
    frame = pl.DataFrame({"x": [*values, None]}, {"x": kind.to_polars()})
    condition = analyse(region.condition("x"), Scope.of(Schema({"x": kind}))).compile()
    assert condition.values(frame).fill_null(False).to_list() == [*expected, False]


def _inside(part: Interval, value: Number) -> bool:
    if part.empty:
        return False
    if math.isnan(value):
        return part.hi is None
    lo, hi = part.lo, part.hi
    above = lo is None or (value > lo if part.lo_open else value >= lo)  # type: ignore[operator]
    return above and (hi is None or (value < hi if part.hi_open else value <= hi))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("function", "rising"),
    [(lambda x: x * 0.1, True), (lambda x: x * -3.7, False), (lambda x: x + 0.3, True), (lambda x: x / 7.0, True)],
)
@given(parts=st.lists(intervals(), max_size=2), values=st.lists(DOUBLES, min_size=1))
def test_what_a_function_takes_into_a_region_is_found_exactly(
    function: object, rising: bool, parts: list[Interval], values: list[float]
) -> None:
    assert callable(function)
    region = Region.of(parts, DOUBLE)
    before = region.before(function, DOUBLE, rising=rising)
    edges = [math.nextafter(edge, to) for pair in before.ranges for edge in pair for to in (-math.inf, math.inf)]
    for value in [*values, *(edge for pair in before.ranges for edge in pair), *edges]:
        assert holds(before, value) == holds(region, function(value))
    assert before.nan == region.nan


@given(st.lists(intervals(), max_size=2), st.integers(-9, 9).filter(bool), st.lists(INTS, min_size=1))
def test_what_overflows_comes_into_no_region(parts: list[Interval], factor: int, values: list[int]) -> None:
    region = Region.of(parts, INT)
    before = region.before(lambda x: x * factor, INT, rising=factor > 0)
    for value in values:
        inside = LEAST_INT <= value * factor <= MOST_INT and holds(region, value * factor)
        assert holds(before, value) == inside
