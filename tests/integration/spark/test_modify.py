"""On Spark, too, a network is changed while it runs: between two steps, with the state of the boxes that stay."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from aurora import Engine, Network, StateError

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


def network(least: int = 0, *, more: bool = False) -> Network:
    net = Network("live")
    s = net.stream("s", g="string", x="int", y="int")
    counts = s.latch("counts", group_by="g", n="count(*)")
    net.output("counts", counts.filter("some", "n > 0"))
    net.output("big", s.filter("above", f"x > {least}").map("only", compute={"x": "x"}))
    if more:
        net.output("sums", s.latch("sums", group_by="g", total="sum(y)"))
        net.output("t", net.stream("t", z="double"))
    return net


def rows(*xs: int) -> list[dict[str, object]]:
    return [{"g": "ab"[x % 2], "x": x, "y": 10 * x} for x in xs]


def answers(engine: Engine, output: str) -> list[tuple[object, ...]]:
    return [row for train in engine.dequeue(output) for row in train.rows()]


def test_boxes_in_parts_go_on_with_their_state_and_a_restart_needs_the_new_network(tmp_path: Path) -> None:
    state = tmp_path / "state"
    seen: list[pl.DataFrame] = []
    with Engine(network(), master="local[2]", state=state) as engine:
        engine.tap("s", seen.append)
        engine.enqueue("s", rows(1, 2, 3))
        report = engine.modify(network(2, more=True))
        assert report.boxes.added == ("sums",)
        assert report.streams.added == ("t",)
        assert report.boxes.changed == ("above",)
        assert report.restarted == ("only",)
        engine.enqueue("s", rows(4, 5, 2))
        engine.enqueue("t", [{"z": 0.5}])
        assert answers(engine, "counts") == [("b", 1), ("a", 1), ("b", 2), ("a", 2), ("b", 3), ("a", 3)]
        assert answers(engine, "big") == [(1,), (2,), (3,), (4,), (5,)]
        assert answers(engine, "sums") == [("a", 40), ("b", 50), ("a", 60)]
        assert answers(engine, "t") == [(0.5,)]
        assert pl.concat(seen)["x"].to_list() == [1, 2, 3, 4, 5, 2]
        engine.modify(network(2))
        engine.enqueue("s", rows(6))
        assert answers(engine, "counts") == [("a", 4)]
    with pytest.raises(StateError, match="was modified while it ran"):
        Engine(network(), master="local[2]", state=state).start()
    with Engine(network(2), master="local[2]", state=state) as engine:
        engine.enqueue("s", rows(7))
        assert answers(engine, "counts") == [("b", 4)]
