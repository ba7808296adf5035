"""Segmented array operations against plain Python."""

from __future__ import annotations

import itertools
import struct
from bisect import bisect_left, bisect_right

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes.segments import (
    accumulate,
    pack,
    position_in_segment,
    repeat_ranges,
    search,
    slots_of,
    sorting,
    stable_order,
    starts_of,
)
from tests.unit.boxes.drawn import GREATEST, LEAST, doubles, ints, real, small, whole

lengths = st.lists(st.integers(1, 5), max_size=8)
many = st.lists(whole, max_size=20)


def sorted_rows(*keys: list[float]) -> list[int]:
    """Python's sort is stable, so it says what a stable permutation is."""
    return sorted(range(len(keys[0])), key=lambda row: tuple(key[row] for key in keys))


@given(many)
def test_sorting_by_one_key(values: list[int]) -> None:
    """The ends of the range make a packing that does not check for room wrap around."""
    assert sorting(ints(values)).tolist() == sorted_rows(values)


@given(st.lists(st.tuples(small, whole, st.booleans()), max_size=20))
def test_sorting_by_several_keys(rows: list[tuple[int, int, bool]]) -> None:
    major, minor, flag = ([row[i] for row in rows] for i in range(3))
    keys = (ints(major), ints(minor), np.array(flag, bool))
    assert sorting(*keys).tolist() == sorted_rows(major, minor, flag)


@given(st.lists(st.tuples(small, real), max_size=20))
def test_sorting_by_doubles(rows: list[tuple[int, float]]) -> None:
    """-0.0 and 0.0 are one value: rows that hold them stay as they stand."""
    major, minor = [row[0] for row in rows], [row[1] for row in rows]
    assert sorting(ints(major), doubles(minor)).tolist() == sorted_rows(major, minor)


def test_sorting_where_the_keys_just_do_not_fit_into_one_integer() -> None:
    wide = [0, 2**31, 5, 2**31, 0]
    assert sorting(ints(wide), ints(wide)).tolist() == sorted_rows(wide)
    equal = [GREATEST] * 3
    assert sorting(ints(equal), ints([LEAST] * 3)).tolist() == [0, 1, 2]


@given(st.lists(st.one_of(st.integers(0, 3), st.sampled_from([65_535, 65_536, 70_000])), max_size=30))
def test_stable_order(codes: list[int]) -> None:
    """Codes on both sides of 2**16, where another way of sorting begins."""
    assert stable_order(ints(codes)).tolist() == sorted_rows(codes)


@given(lengths)
def test_starts_and_positions(counts: list[int]) -> None:
    codes = [code for code, count in enumerate(counts) for _ in range(count)]
    starts = starts_of(ints(codes))
    assert starts.tolist() == [sum(counts[:i]) for i in range(len(counts))]
    assert position_in_segment(starts, len(codes)).tolist() == [i for count in counts for i in range(count)]


def segments_of(values: list[float], counts: list[int]) -> list[list[float]]:
    """The values dealt out to segments of these lengths, over and over."""
    dealt = itertools.cycle(values)
    return [[next(dealt) for _ in range(count)] for count in counts]


@given(
    st.lists(real, min_size=1, max_size=12),
    st.lists(st.sampled_from([1, 2, 3, 63, 64, 65, 130]), max_size=6),
)
def test_accumulate_sums_from_left_to_right(values: list[float], counts: list[int]) -> None:
    """Segments on both sides of the length from which they are folded one by one. Bit by bit: a difference of two
    running totals, or a sum in pairs, rounds otherwise."""
    segments = segments_of(values, counts)
    flat = [value for segment in segments for value in segment]
    starts = ints([sum(counts[:i]) for i in range(len(counts))])
    expected = [total for segment in segments for total in itertools.accumulate(segment)]
    assert bits(accumulate(np.add, doubles(flat), starts).tolist()) == bits(expected)


@given(st.lists(whole, min_size=1, max_size=12), st.lists(st.sampled_from([1, 2, 70]), max_size=6))
def test_accumulate_extremes(values: list[int], counts: list[int]) -> None:
    segments = segments_of(values, counts)
    flat = ints([value for segment in segments for value in segment])
    starts = ints([sum(counts[:i]) for i in range(len(counts))])
    for ufunc, python in ((np.maximum, max), (np.minimum, min)):
        expected = [best for segment in segments for best in itertools.accumulate(segment, python)]
        before = flat.copy()
        assert accumulate(ufunc, flat, starts).tolist() == expected
        assert flat.tolist() == before.tolist()


def bits(values: list[float]) -> list[bytes]:
    return [struct.pack("d", value) for value in values]


def searched(segments: list[list[float]], segment: int, query: float, side: str) -> int:
    before = sum(len(values) for values in segments[:segment])
    find = bisect_left if side == "left" else bisect_right
    return before + (find(segments[segment], query) if segment < len(segments) else 0)


@pytest.mark.parametrize("side", ["left", "right"])
@given(
    st.lists(st.lists(st.one_of(whole, small), max_size=6).map(sorted), max_size=5),
    st.lists(st.tuples(st.integers(0, 5), st.one_of(whole, small)), max_size=10),
)
def test_search(side: str, segments: list[list[int]], queries: list[tuple[int, int]]) -> None:
    """Also in segments that hold nothing, and beyond the last one."""
    codes = [code for code, values in enumerate(segments) for _ in values]
    flat = [value for values in segments for value in values]
    found = search(ints(codes), ints(flat), ints([q[0] for q in queries]), ints([q[1] for q in queries]), side)
    assert found.tolist() == [
        searched(segments, min(segment, len(segments)), query, side) for segment, query in queries
    ]
    # A few queries are answered in another way.
    alone = [search(ints(codes), ints(flat), ints([q[0]]), ints([q[1]]), side).item() for q in queries]
    assert alone == found.tolist()


@pytest.mark.parametrize("side", ["left", "right"])
@given(
    st.lists(st.lists(real, max_size=6).map(sorted), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 4), real), max_size=10),
)
def test_search_of_doubles(side: str, segments: list[list[float]], queries: list[tuple[int, float]]) -> None:
    codes = [code for code, values in enumerate(segments) for _ in values]
    flat = [value for values in segments for value in values]
    asked = [(segment % len(segments), query) for segment, query in queries]
    found = search(ints(codes), doubles(flat), ints([q[0] for q in asked]), doubles([q[1] for q in asked]), side)
    assert found.tolist() == [searched(segments, segment, query, side) for segment, query in asked]
    alone = [search(ints(codes), doubles(flat), ints([q[0]]), doubles([q[1]]), side).item() for q in asked]
    assert alone == found.tolist()


@given(st.lists(st.tuples(whole, st.integers(0, 6)), max_size=20))
def test_packed_pairs_sort_and_differ_like_the_pairs(pairs: list[tuple[int, int]]) -> None:
    packed = pack(ints([p[0] for p in pairs]), ints([p[1] for p in pairs]), 7).tolist()
    for (one, a), (other, b) in itertools.product(zip(pairs, packed, strict=True), repeat=2):
        assert (one < other) == (a < b)


@given(st.one_of(many, st.lists(small, max_size=20)))
def test_slots(keys: list[int]) -> None:
    """Keys from a narrow range and from a wide one are numbered in different ways."""
    slots, first = slots_of(ints(keys))
    distinct = sorted(set(keys))
    assert slots.tolist() == [distinct.index(key) for key in keys]
    assert first.tolist() == [keys.index(key) for key in distinct]


@pytest.mark.parametrize("width", [4_100, 4_101, 4_200])
def test_slots_around_the_width_of_the_table(width: int) -> None:
    keys = [7, 7 + width - 1, 7]
    slots, first = slots_of(ints(keys))
    assert (slots.tolist(), first.tolist()) == ([0, 1, 0], [0, 1])


@given(st.lists(st.tuples(small, st.integers(0, 4)), max_size=10))
def test_repeat_ranges(ranges: list[tuple[int, int]]) -> None:
    rows, values = repeat_ranges(ints([r[0] for r in ranges]), ints([r[1] for r in ranges]))
    expected = [(row, first + i) for row, (first, count) in enumerate(ranges) for i in range(count)]
    assert list(zip(rows.tolist(), values.tolist(), strict=True)) == expected
