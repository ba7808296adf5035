"""Tuples made by hand: on streams and, where arcs have queues, on any arc as if its box had made them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from aurora import Engine, InputError, Network, StateError
from aurora.clock import ManualClock
from oracle.parts import in_parts


def network() -> Network:
    net = Network("by_hand")
    s = net.stream("s", g="string", x="int")
    r = net.stream("r", g="string", x="int")
    some = s.filter("some", "x > 0")
    net.output("sums", some.union("both", r).latch("sums", group_by="g", total="sum(x)"))
    net.output("seen", some)
    return net


def rows(*xs: int) -> list[dict[str, Any]]:
    return [{"g": "ab"[x % 2], "x": x} for x in xs]


def engine(net: Network | None = None, **options: Any) -> Engine:
    options = {"processor": "local", "wall": ManualClock(1_000_000), "shedding": "off", **options}
    return Engine(net or network(), **options)


def values(running: Engine, output: str) -> list[Any]:
    return [row[-1] for train in running.dequeue(output) for row in train.rows()]


@pytest.mark.parametrize("workers", [1, 3])
def test_tuples_on_an_inner_arc_stand_behind_what_entered_before(workers: int) -> None:
    seen: list[pl.DataFrame] = []
    with engine(workers=workers) as running:
        running.tap("some", seen.append)
        running.enqueue("s", rows(1, 0, 2))
        assert running.inject("some", rows(-3, 5)) == 2
        running.enqueue("s", rows(4))
        running.drain()
        # The filter did not see them, and all behind it did.
        assert values(running, "seen") == [1, 2, -3, 5, 4]
        assert values(running, "sums") == [1, 2, -2, 3, 6]
        assert pl.concat(seen)["x"].to_list() == [1, 2, -3, 5, 4]
        assert running.stats().boxes["some"].tuples_in == 4


def test_on_a_stream_they_are_enqueued_and_a_paused_engine_takes_them() -> None:
    with engine(paused=True) as running:
        assert running.inject("s", rows(1, 2)) == 2
        assert running.describe()["queued"]["s"] == 2
        running.resume()
        assert values(running, "seen") == [1, 2]


def test_a_paused_engine_refuses_as_long_as_something_would_come_before_them() -> None:
    with engine(paused=True) as running:
        running.enqueue("s", rows(1))
        with pytest.raises(StateError, match="tuples wait before some that come before yours on some"):
            running.inject("some", rows(7))
        running.step("some")
        running.inject("some", rows(7))
        assert running.stats().boxes["both"].tuples_in == 0
        running.resume()
        assert values(running, "sums") == [1, 8]


def test_they_stop_at_a_break_point_as_all_tuples_do() -> None:
    with engine() as running:
        running.break_at("some", "x = 7")
        running.inject("some", rows(6, 7))
        while running._looping.wait():
            pass
        assert [hit.tuples["x"].to_list() for hit in running.hits()] == [[7]]
        assert values(running, "sums") == []
        running.resume()
        running.drain()
        assert values(running, "sums") == [6, 7]


def test_a_window_behind_the_arc_takes_them_and_one_before_it_is_not_disturbed() -> None:
    net = Network("timed")
    s = net.stream("s", x="int")
    pairs = s.aggregate("pairs", window={"size": "2 tuples", "advance": "2 tuples"}, compute={"x": "sum(x)"})
    again = pairs.aggregate("again", window={"size": "2 tuples", "advance": "2 tuples"}, compute={"x": "sum(x)"})
    net.output("again", again)
    with engine(net) as running:
        running.enqueue("s", [{"x": 1}])
        running.inject("pairs", [{"x": 100}])
        running.enqueue("s", [{"x": 2}])
        running.drain()
        assert values(running, "again") == [103]


def test_what_does_not_fit_is_refused_and_harms_nothing() -> None:
    with engine() as running:
        with pytest.raises(InputError, match="cannot put tuples on some"):
            running.inject("some", [{"x": "word"}])
        with pytest.raises(InputError, match="did you mean 'some'"):
            running.inject("smoe", rows(1))
        assert running.inject("some", []) == 0
        running.flush()
        with pytest.raises(StateError, match="ended with a flush"):
            running.inject("some", rows(1))


def test_where_boxes_run_in_tasks_only_streams_can_be_given_tuples() -> None:
    with in_parts(2), engine(processor="spark") as running:
        with pytest.raises(StateError, match="put your tuples on a stream"):
            running.inject("some", rows(1))
        running.inject("s", rows(1))
        assert values(running, "sums") == [1]
