"""A join side's memory against comparing every probe with every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes.memory import NO_KEY, Memory, Run
from tests.unit.boxes.drawn import GREATEST, LEAST, ints, real, rows_of, small, whole

codes = st.sampled_from([NO_KEY, 0, 1, 2, 7])


def brute(rows: Any, probes: Any) -> set[tuple[int, int]]:
    return {
        (p, r)
        for p, (probe, low, high) in enumerate(probes)
        for r, (code, value) in enumerate(rows)
        if probe == code != NO_KEY and low <= value <= high
    }


def found(rows: Any, probes: Any, dtype: Any) -> list[tuple[int, int]]:
    run = Run(rows_of([r[0] for r in rows], [r[1] for r in rows], dtype))
    low, high = (np.array([p[i] for p in probes], dtype) for i in (1, 2))
    of, at = run.pairs(ints([p[0] for p in probes]), low, high)
    return list(zip(of.tolist(), at.tolist(), strict=True))


@pytest.mark.parametrize("values", [small, whole], ids=["near", "far-flung"])
@given(st.data())
def test_pairs(values: st.SearchStrategy[int], data: st.DataObject) -> None:
    """Values at both ends of the range, and probes for keys that the run does not have: neither may wrap around."""
    rows = data.draw(st.lists(st.tuples(codes, values), max_size=12))
    probes = data.draw(st.lists(st.tuples(codes, values, values), max_size=8))
    pairs = found(rows, probes, np.int64)
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == brute(rows, probes)


@given(st.lists(st.tuples(codes, real), max_size=12), st.lists(st.tuples(codes, real, real), max_size=8))
def test_pairs_of_doubles(rows: list[tuple[int, float]], probes: list[tuple[int, float, float]]) -> None:
    pairs = found(rows, probes, np.float64)
    assert sorted(pairs) == sorted(brute(rows, probes))


@pytest.mark.parametrize("code", [1, 4, 8, 16, 64, 2**20])
def test_a_key_beyond_those_of_the_run_matches_nothing(code: int) -> None:
    """Key and value packed into one integer: a large key times a wide range comes round to where key 0 is."""
    rows = [(0, 0), (0, 2**58 - 2), (0, 2**60 - 2)]
    assert found(rows, [(code, LEAST, GREATEST), (code, 0, 2**60)], np.int64) == []


@pytest.mark.parametrize("value", [LEAST, GREATEST])
def test_values_at_the_ends_of_the_range(value: int) -> None:
    near = value + 1 if value == LEAST else value - 1
    probes = [(0, value, value), (0, LEAST, GREATEST), (0, near, near)]
    assert found([(0, value)], probes, np.int64) == [(0, 0), (1, 0)]
    assert sorted(found([(0, value), (0, near)], probes, np.int64)) == [(0, 0), (1, 0), (1, 1), (2, 1)]


@st.composite
def sessions(draw: st.DrawFn) -> list[tuple[list[tuple[int, int]], int | None]]:
    """Rows that come train by train, and how far they are forgotten after each; the border only rises."""
    trains = draw(st.lists(st.lists(st.tuples(codes, st.integers(0, 30)), max_size=8), max_size=8))
    borders = draw(st.lists(st.one_of(st.none(), st.integers(0, 30)), min_size=len(trains), max_size=len(trains)))
    reached = None
    session = []
    for rows, border in zip(trains, borders, strict=True):
        if border is not None:
            reached = border if reached is None else max(reached, border)
        session.append((rows, reached))
    return session


@pytest.mark.parametrize("count", [0, 1, 5, 6, 7, 8, 40])
def test_many_partners_of_one_probe(count: int) -> None:
    """The first partners are found one by one, the others by search: none may be missing where these meet."""
    rows = [(0, 0), *((1, value) for value in range(count)), (1, 50), (2, 0)]
    probes = [(1, 0, 45), (1, 2, 45), (2, 0, 45), (0, 1, 45), (1, 50, 49)]
    pairs = found(rows, probes, np.int64)
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == brute(rows, probes)


@pytest.mark.parametrize("high", [2**20, 2**59])
def test_rows_are_sorted_also_where_their_number_does_not_fit_beside_the_key(high: int) -> None:
    codes_and_values = [(2, 5), (0, high), (1, 3), (0, 3), (1, high), (2, 0), (1, 3)]
    run = Run(rows_of([c for c, _ in codes_and_values], [v for _, v in codes_and_values]))
    assert run.index.layout.tolist() == sorted(range(7), key=lambda row: codes_and_values[row])


@given(sessions(), st.booleans())
def test_memory_finds_every_row_above_the_border(session: Any, restart: bool) -> None:
    """Rows below the border may stay a while; rows above it must be found, each once, in the order they came."""
    memory = Memory()
    known: list[tuple[int, int]] = []
    for rows, border in session:
        before = len(memory)
        front = memory.front(rows_of([r[0] for r in rows], [r[1] for r in rows], first=len(known)))
        assert len(memory) + len(front) == before + len(rows)
        assert front.rows.frame["id"][len(front) - len(rows) :].to_list() == list(range(len(known), len(known + rows)))
        assert len(front) <= 2 * len(rows)
        memory.keep(front, border)
        known += rows
        if restart:
            state, memory = memory.state(), Memory()
            memory.load(state)
        ids = [number for run in memory.runs for number in run.rows.frame["id"]]
        assert ids == sorted(ids)
        low = 0 if border is None else border
        for code in (0, 1, 2, 7):
            numbers: list[int] = []
            for run in memory.runs:
                _, at = run.pairs(ints([code]), ints([low]), ints([100]))
                numbers += run.rows.frame["id"][at.tolist()].to_list()
            assert sorted(numbers) == [i for i, row in enumerate(known) if row[0] == code and row[1] >= low]


def test_memory_stays_small_and_in_few_runs() -> None:
    """A band that moves on: without expiry rows pile up, without merging runs do."""
    memory = Memory()
    for n in range(300):
        memory.keep(memory.front(rows_of([0], [n], first=n)), n - 20)
        assert len(memory) <= 2 * 21 + 2
        assert len(memory.runs) <= 8
