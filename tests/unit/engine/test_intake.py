"""Intake against a merge that takes one tuple at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora.connectors.frames import FrameSource
from aurora.engine import intake
from aurora.engine.intake import Epoch, by_arrival, by_column
from aurora.errors import InputError
from aurora.model.schema import Schema
from aurora.scheduler.trains import FixedTrain
from aurora.testing import ManualClock

NEVER = -(2**63)


def microseconds(seconds: float | None) -> int:
    return NEVER if seconds is None else round(seconds * 1_000_000)


def slow(streams: list[list[float | None]]) -> list[tuple[int, int, int]]:
    """(stream, row, clock) tuple by tuple: the stream whose next key is least goes first, at a tie the first stream."""
    keys = []
    for times in streams:
        highest = NEVER
        own = []
        for time in times:
            highest = max(highest, microseconds(time))
            own.append(highest)
        keys.append(own)
    taken = [0] * len(streams)
    merged: list[tuple[int, int, int]] = []
    clock = NEVER
    while any(taken[s] < len(keys[s]) for s in range(len(streams))):
        stream = min((s for s in range(len(streams)) if taken[s] < len(keys[s])), key=lambda s: keys[s][taken[s]])
        clock = max(clock, keys[stream][taken[stream]])
        merged.append((stream, taken[stream], clock))
        taken[stream] += 1
    return merged


def taken_by(epochs: Iterator[Epoch], names: list[str]) -> list[tuple[int, int, int]]:
    """(stream, row, clock) as the epochs have it; checks that numbers, clocks and words of progress agree."""
    merged: dict[int, tuple[int, int, int]] = {}
    for epoch in epochs:
        progress = epoch.progress
        assert progress.first == len(merged)
        assert progress.seq == progress.first + len(progress.clocks) - 1
        assert progress.clock == progress.clocks[-1]
        for name, train in epoch.trains.items():
            assert len(train)
            assert train.hidden("__arrival").tolist() == train.hidden("__clock").tolist()
            for row, order, clock in train.frame.select("row", "__order", "__clock").rows():
                number = (order - 1) // 2
                assert order % 2 == 1
                assert progress.clocks[number - progress.first] == clock
                merged[number] = (names.index(name), row, clock)
        assert sorted(merged) == list(range(progress.seq + 1))
    return [merged[number] for number in range(len(merged))]


def run(streams: list[list[Any]], kind: str, train: int, chunk: int) -> list[tuple[int, int, int]]:
    schema = Schema.of(row="int", t=kind)
    names = [f"s{i}" for i in range(len(streams))]
    sources = {
        name: FrameSource([{"row": i, "t": t} for i, t in enumerate(times)], schema)
        for name, times in zip(names, streams, strict=True)
    }
    with mock.patch.object(intake, "_CHUNK_TUPLES", chunk):
        return taken_by(by_column(sources, dict.fromkeys(names, schema), "t", FixedTrain(train)), names)


seconds = st.one_of(st.none(), st.integers(-3, 6))
shapes = st.tuples(st.sampled_from([1, 2, 7, 100]), st.sampled_from([1, 2, 3, 100]))


@given(st.lists(st.lists(seconds, max_size=8), min_size=1, max_size=3), shapes)
def test_streams_merge_by_the_clock_column(streams: list[list[int | None]], shape: tuple[int, int]) -> None:
    """Ties, NULL, values that fall back, and chunks that end between tuples of the same time in several streams: what
    is not read yet may still come first."""
    assert run(streams, "int", *shape) == slow(streams)


@given(st.lists(st.lists(st.one_of(st.none(), st.floats(-3, 3)), max_size=6), min_size=1, max_size=3), shapes)
def test_seconds_as_doubles(streams: list[list[float | None]], shape: tuple[int, int]) -> None:
    assert run(streams, "double", *shape) == slow(streams)


def test_timestamps() -> None:
    def at(second: float) -> datetime:
        return datetime.fromtimestamp(second, UTC)

    found = run([[at(1), at(3)], [at(2.5), None]], "timestamp", 2, 1)
    assert found == [(0, 0, 1_000_000), (1, 0, 2_500_000), (1, 1, 2_500_000), (0, 1, 3_000_000)]


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf"), None])
def test_what_is_no_time_moves_nothing(odd: float | None) -> None:
    """An infinite clock would stand still for ever."""
    assert [clock for _, _, clock in run([[1.0, odd, 2.0]], "double", 1, 100)] == [1_000_000, 1_000_000, 2_000_000]


def test_a_stream_without_tuples_holds_up_nothing() -> None:
    assert run([[], [1, 2]], "int", 1, 1) == [(1, 0, 1_000_000), (1, 1, 2_000_000)]
    assert run([[], []], "int", 1, 1) == []


@pytest.mark.parametrize(
    ("schemas", "message"),
    [
        ({"a": {"t": "int"}, "b": {"u": "int"}}, "stream b has no column t to drive the clock; it has u"),
        ({"a": {"t": "string"}}, "column t of stream a is string; a clock is a timestamp or seconds"),
        ({"a": {"t": "duration"}}, "column t of stream a is duration"),
    ],
)
def test_a_column_that_is_no_clock(schemas: Mapping[str, Mapping[str, str]], message: str) -> None:
    typed = {name: Schema.of(**columns) for name, columns in schemas.items()}
    sources = {name: FrameSource([], schema) for name, schema in typed.items()}
    with pytest.raises(InputError, match=message):
        next(by_column(sources, typed, "t", FixedTrain(10)))


@given(st.lists(st.integers(0, 7), min_size=1, max_size=3), shapes)
def test_by_arrival_one_input_after_the_other(sizes: list[int], shape: tuple[int, int]) -> None:
    """The clock is read when a train comes in, and never by anyone but the clock that was handed in."""
    train, chunk = shape
    schema = Schema.of(row="int")
    names = [f"s{i}" for i in range(len(sizes))]
    tables = {name: pl.DataFrame({"row": np.arange(size)}) for name, size in zip(names, sizes, strict=True)}
    clock = ManualClock(5)

    def moving() -> Iterator[Epoch]:
        for epoch in by_arrival(
            {name: FrameSource(table, schema) for name, table in tables.items()}, FixedTrain(train), clock
        ):
            assert set(epoch.progress.clocks.tolist()) == {clock.now_us()}
            assert len(epoch.progress.clocks) <= train
            yield epoch
            clock.move_s(1)

    with mock.patch.object(intake, "_CHUNK_TUPLES", chunk):
        found = taken_by(moving(), names)
    assert [(stream, row) for stream, row, _ in found] == [(s, r) for s, size in enumerate(sizes) for r in range(size)]
    assert not found or found[0][2] == 5


@pytest.mark.parametrize("clock", [None, "t"])
def test_only_the_last_train_is_shorter(clock: str | None) -> None:
    """Reading ends between trains, not inside of one."""
    schema = Schema.of(t="int")
    sources = {"s": FrameSource([{"t": i} for i in range(47)], schema)}
    size = FixedTrain(5)
    with mock.patch.object(intake, "_CHUNK_TUPLES", 23):
        epochs = (
            by_arrival(sources, size, ManualClock(5))
            if clock is None
            else by_column(sources, {"s": schema}, clock, size)
        )
        lengths = [len(epoch.trains["s"]) for epoch in epochs]
    assert lengths == [5] * 9 + [2]
