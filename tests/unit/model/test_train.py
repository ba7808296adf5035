"""When the tuples of a train came, in runs, beside a list with the time of every tuple."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.model.train import Came, Train
from aurora.storage.entries import joined, sum_of_arrivals

RUNS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 5)), min_size=1, max_size=60)
"""Times, and how many tuples came then."""


def times_of(runs: list[tuple[int, int]]) -> list[int]:
    return [time for time, count in runs for _ in range(count)]


def train_of(times: list[int]) -> Train:
    frame = pl.DataFrame({"x": range(len(times))}, schema={"x": pl.Int64})
    return Train(frame, min(times), came=Came.of(np.array(times)))


def told(train: Train) -> list[int]:
    return np.broadcast_to(train.arrivals_us(), len(train)).tolist()


@given(RUNS)
def test_every_tuple_has_its_time(runs: list[tuple[int, int]]) -> None:
    times = times_of(runs)
    train = train_of(times)
    assert told(train) == times
    assert sum_of_arrivals(train) == sum(times)
    if train.came is None:
        assert len(set(times)) == 1
    else:
        assert [train.came.at(row) for row in range(len(times))] == times


@given(RUNS, st.data())
def test_so_have_some_of_them(runs: list[tuple[int, int]], data: st.DataObject) -> None:
    times = times_of(runs)
    start = data.draw(st.integers(0, len(times) - 1))
    stop = data.draw(st.integers(start + 1, len(times)))
    piece = train_of(times).between(start, stop)
    assert piece.frame["x"].to_list() == list(range(start, stop))
    assert told(piece) == times[start:stop]
    assert piece.arrival_us == min(times[start:stop])


@pytest.mark.parametrize("packed", [False, True])
@given(RUNS, st.data())
def test_so_have_those_that_pass_a_filter_and_another(
    packed: bool, runs: list[tuple[int, int]], data: st.DataObject
) -> None:
    times, train = times_of(runs), train_of(times_of(runs))
    bits = st.booleans() | st.none() if packed else st.booleans()
    for _ in range(2):
        mask = data.draw(st.lists(bits, min_size=len(times), max_size=len(times)))
        train = train.where(pl.Series(mask, dtype=pl.Boolean) if packed else np.array(mask, np.bool_))
        times = [time for time, stays in zip(times, mask, strict=True) if stays]
        assert told(train) == times


@given(RUNS)
def test_what_a_map_makes_keeps_the_times_and_what_has_other_rows_the_first(runs: list[tuple[int, int]]) -> None:
    times = times_of(runs)
    train = train_of(times)
    assert told(train.made(train.frame.select(pl.col("x") + 1))) == times
    assert set(told(train.made(pl.concat([train.frame, train.frame])))) == {min(times)}


@given(st.lists(RUNS, min_size=1, max_size=6))
def test_joined_trains_keep_their_times(several: list[list[tuple[int, int]]]) -> None:
    train = joined([train_of(times_of(runs)) for runs in several])
    times = [time for runs in several for time in times_of(runs)]
    assert told(train) == times
    assert train.arrival_us == min(times)
