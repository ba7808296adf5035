"""Group codes against a dictionary."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes.groups import Appearance, GroupIndex
from aurora.model.schema import Schema
from tests.unit.boxes.drawn import GREATEST, LEAST, cuts, ints

# Values of every type a column can have. Each list has pairs that some way of comparing would confuse.
VALUES: dict[str, list[Any]] = {
    "bool": [True, False],
    "int": [0, 1, -1, LEAST, GREATEST],
    "double": [0.0, -0.0, math.nan, -math.nan, 1.0, math.inf, -math.inf, 1e-320],
    "string": ["", "a", "A", "a ", "\x00", "é", "e\u0301"],
    "binary": [b"", b"\x00", b"\x00\x00", b"a"],
    "timestamp": [datetime(1970, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)],
    "duration": [timedelta(0), timedelta(microseconds=1), timedelta(microseconds=-1)],
}


def plain(value: Any) -> Any:
    """What makes two values one group: -0.0 is 0.0, and all NaN are one; NULL is a value of its own."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return value


class SlowGroups:
    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], int] = {}

    def codes(self, rows: list[tuple[Any, ...]]) -> list[int]:
        return [self.known.setdefault(tuple(map(plain, row)), len(self.known)) for row in rows]


@st.composite
def grouped(draw: st.DrawFn) -> tuple[list[str], list[list[tuple[Any, ...]]]]:
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    row = st.tuples(*(st.one_of(st.none(), st.sampled_from(VALUES[kind])) for kind in kinds))
    rows = draw(st.lists(row, max_size=25))
    return kinds, [rows[cut] for cut in cuts(draw, len(rows))]


def index_of(kinds: list[str]) -> tuple[GroupIndex, Schema]:
    schema = Schema.of(**{f"c{i}": kind for i, kind in enumerate(kinds)})
    return GroupIndex(list(schema), schema), schema


def frame_of(schema: Schema, rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema.to_polars(), orient="row")


@given(grouped())
def test_codes_are_those_of_a_dictionary(drawn: tuple[list[str], list[list[tuple[Any, ...]]]]) -> None:
    kinds, trains = drawn
    groups, schema = index_of(kinds)
    slow = SlowGroups()
    for rows in trains:
        codes = groups.codes(frame_of(schema, rows))
        assert codes.tolist() == slow.codes(rows)
        behind = groups.keys_of(codes).rows()
        assert [tuple(map(plain, key)) for key in behind] == [tuple(map(plain, row)) for row in rows]
    assert len(groups) == len(slow.known)


@given(grouped())
def test_a_snapshot_keeps_the_codes(drawn: tuple[list[str], list[list[tuple[Any, ...]]]]) -> None:
    """After every train the groups move into a fresh index, which must number old and new groups alike."""
    kinds, trains = drawn
    groups, schema = index_of(kinds)
    slow = SlowGroups()
    for rows in trains:
        fresh, _ = index_of(kinds)
        fresh.load(groups.keys)
        groups = fresh
        assert groups.codes(frame_of(schema, rows)).tolist() == slow.codes(rows)


@pytest.mark.parametrize("kind", VALUES)
def test_every_type_can_be_grouped_by(kind: str) -> None:
    groups, schema = index_of([kind])
    rows = [(value,) for value in [None, *VALUES[kind], None]]
    assert groups.codes(frame_of(schema, rows)).tolist() == SlowGroups().codes(rows)


def test_columns_do_not_run_into_each_other() -> None:
    """(0, 1) and (1, 0) have the same values in all; only which column holds which tells them apart."""
    groups, schema = index_of(["int", "int"])
    assert groups.codes(frame_of(schema, [(0, 1), (1, 0), (0, 0), (1, 1), (0, 1)])).tolist() == [0, 1, 2, 3, 0]


def test_no_columns_is_one_group() -> None:
    groups = GroupIndex([], Schema.of(x="int"))
    assert groups.codes(pl.DataFrame({"x": [1, 2]})).tolist() == [0, 0]
    assert len(groups) == 1
    assert groups.keys_of(ints([0, 0])).width == 0


@st.composite
def trains_of_codes(draw: st.DrawFn) -> list[list[int]]:
    codes = draw(st.lists(st.integers(0, 6), max_size=20))
    return [codes[cut] for cut in cuts(draw, len(codes))]


@given(trains_of_codes(), st.booleans())
def test_appearance(trains: list[list[int]], restart: bool) -> None:
    """A group's code says when it first came, its rank when it was first let through."""
    appearance = Appearance()
    ranks: dict[int, int] = {}
    for codes in trains:
        appearance.note(ints(codes), 7)
        for code in codes:
            ranks.setdefault(code, len(ranks))
        if restart:
            state, appearance = appearance.state(), Appearance()
            appearance.load(state)
        assert appearance.of(ints(list(ranks))).tolist() == list(ranks.values())
