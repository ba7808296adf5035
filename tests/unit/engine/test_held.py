"""Tuples that wait before the network while it is changed."""

from __future__ import annotations

import polars as pl

from aurora.clock import ManualClock
from aurora.engine.enqueued import Enqueued
from aurora.engine.intake import Position
from aurora.model.schema import Schema
from aurora.model.train import ARRIVAL, Train
from aurora.processors.plan import FileRows
from aurora.scheduler.trains import FixedTrain

X = Schema.of(x="int")


def queue(clock: ManualClock, column: str | None = None) -> Enqueued:
    return Enqueued({"s": X, "t": X}, clock, column)


def frame(*xs: int) -> pl.DataFrame:
    return pl.DataFrame({"x": xs}, schema=X.to_polars())


def taken(queued: Enqueued, seq: int = 0) -> list[tuple[str, list[int], list[int]]]:
    """Stream, values and clocks of every train."""
    epochs = queued.epochs(FixedTrain(1), (), Position(seq=seq))
    return [
        (name, _values(train), epoch.progress.clocks.tolist())
        for epoch in epochs
        for name, train in epoch.trains.items()
    ]


def _values(train: Train | FileRows) -> list[int]:
    assert isinstance(train, Train)
    return train.visible["x"].to_list()


def test_what_is_held_stays_and_others_overtake_it() -> None:
    clock = ManualClock(10)
    queued = queue(clock)
    queued.put("s", frame(1))
    queued.hold(["s"])
    clock.move_s(10e-6)
    queued.put("s", frame(2))
    queued.put("t", frame(3))
    assert taken(queued) == [("t", [3], [20])]
    assert queued.waiting("s") == 2
    clock.move_s(10e-6)
    queued.put("t", frame(4))
    queued.release()
    # In the order of their arrival; but the clock does not go back.
    assert taken(queued) == [("s", [1], [20]), ("s", [2], [20]), ("t", [4], [30])]


def test_where_a_column_is_the_clock_nothing_overtakes() -> None:
    queued = queue(ManualClock(), "x")
    queued.put("s", frame(1))
    queued.hold(["s"])
    queued.put("t", frame(2))
    assert taken(queued) == []
    queued.release()
    assert [(name, xs) for name, xs, _ in taken(queued)] == [("s", [1]), ("t", [2])]


def test_time_does_not_pass_what_is_held() -> None:
    queued = queue(ManualClock(10))
    queued.put("s", frame(1))
    queued.hold(["s"])
    assert queued.tick_us() is None


def test_a_barred_stream_takes_nothing() -> None:
    queued = queue(ManualClock())
    queued.put("s", frame(1, 2))
    assert queued.bar(["s"]) == 2
    assert not queued.put("s", frame(3))
    assert queued.put("t", frame(4))
    queued.release()
    assert queued.put("s", frame(5))


def test_a_table_of_an_earlier_version_is_not_taken() -> None:
    queued = queue(ManualClock())
    version = queued.version
    queued.follow({"s": Schema.of(x="double")})
    assert not queued.put("s", frame(1), version)
    assert queued.put("s", frame(1).cast({"x": pl.Float64}), queued.version)
    assert queued.counts() == {"s": 1}


def test_what_is_held_is_forgotten_with_the_rest() -> None:
    queued = queue(ManualClock())
    queued.put("s", frame(1))
    queued.hold(["s"])
    queued.clear()
    queued.release()
    assert taken(queued) == []
    assert len(queued) == 0


def test_tables_that_waited_together_keep_the_times_at_which_they_came() -> None:
    """Without numbers too, where who takes them can tell."""
    clock = ManualClock(10)
    queued = queue(clock)
    for xs in ((1, 2), (3,), (4, 5, 6)):
        queued.put("s", frame(*xs))
        clock.move_s(10e-6)
    queued.put("t", frame(7))
    (epoch,) = queued.epochs(FixedTrain(100), ["s", "t"], Position(), runs=True)
    trains = [train for train in epoch.trains.values() if isinstance(train, Train)]
    assert [train.frame.columns for train in trains] == [["x"], ["x"]]
    assert [train.arrivals_us().tolist() for train in trains] == [[10, 10, 20, 30, 30, 30], [40]]
    for xs in ((1,), (2,)):
        queued.put("s", frame(*xs))
        clock.move_s(10e-6)
    (epoch,) = queued.epochs(FixedTrain(100), ["s", "t"], Position())
    numbered = epoch.trains["s"]
    assert isinstance(numbered, Train)
    assert numbered.hidden(ARRIVAL).tolist() == [40, 50]
