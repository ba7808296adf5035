"""The lots that a drop box draws, and the merging of ports."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.boxes.drop import chances
from aurora.boxes.merge import Merge, in_order
from aurora.model.schema import Schema
from aurora.model.train import Train
from tests.unit.boxes.drawn import ints

EMPTY = Train.empty(Schema.of(x="int"))


def splitmix(seed: int, number: int) -> float:
    """The generator step by step, in Python's integers."""
    mask = 2**64 - 1
    mixed = (number + seed * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) & mask
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & mask
    return ((mixed ^ mixed >> 31) >> 11) / 2**53


@given(st.integers(-(2**70), 2**70), st.lists(st.integers(0, 2**62), max_size=10))
def test_chances_are_fixed_by_seed_and_number(seed: int, numbers: list[int]) -> None:
    """The lot of a tuple must never change: a recovered run would drop others than the one before it."""
    assert chances(seed, ints(numbers)).tolist() == [splitmix(seed, number) for number in numbers]


@pytest.mark.parametrize("seed", [0, 1, 12_345])
def test_chances_are_spread_evenly(seed: int) -> None:
    drawn = chances(seed, np.arange(20_000))
    assert float(drawn.min()) >= 0.0
    assert float(drawn.max()) < 1.0
    tenths = np.bincount((drawn * 10).astype(int), minlength=10)
    assert np.abs(tenths - 2_000).max() < 200
    # Neighbours and other seeds have nothing to do with each other.
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.03
    assert abs(np.corrcoef(drawn, chances(seed + 1, np.arange(20_000)))[0, 1]) < 0.03


def train_of(rows: list[tuple[int, int, int]]) -> Train:
    """Tuples as (x, order, clock)."""
    x, order, clock = (ints([row[i] for row in rows]) for i in range(3))
    return Train.of(pl.DataFrame({"x": x}), order, clock, clock)


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=6).map(sorted), max_size=4))
def test_merge(ports: list[list[tuple[int, int]]]) -> None:
    """By order and clock; at a tie the earlier port goes first, and one port's tuples stay as they stand."""
    tuples = [[(10 * port + i, *place) for i, place in enumerate(places)] for port, places in enumerate(ports)]
    merge = Merge(len(ports), EMPTY)
    for port, rows in enumerate(tuples):
        for cut in (rows[:2], rows[2:]):
            if cut:
                merge.put(port, train_of(cut))
    state, merge = merge.state(), Merge(len(ports), EMPTY)
    merge.load(state)
    merged = merge.take()
    expected = sorted((row for rows in tuples for row in rows), key=lambda row: row[1:])
    assert (merged.visible["x"].to_list() if merged is not None else []) == [row[0] for row in expected]
    assert merge.take() is None


def test_in_order_keeps_what_has_the_same_place() -> None:
    train = train_of([(1, 5, 0), (2, 3, 1), (3, 5, 0), (4, 3, 0)])
    assert in_order(train).visible["x"].to_list() == [4, 2, 1, 3]
