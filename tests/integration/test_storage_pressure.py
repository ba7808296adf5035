"""Queues that exceed their memory many times over: the run completes, within the budget, with the right answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from aurora import Engine, Network

ROWS = 80_000
PIECE = 1_000
START_US = 1_767_225_600_000_000


def network() -> Network:
    net = Network("pressure")
    one = net.stream("one", key="int", x="double", t="timestamp")
    other = net.stream("other", key="int", x="double", t="timestamp")
    both = one.union("both", other)
    net.output("means", both.tumble("means", group_by="key", order_by="t", window={"size": "1s"}, mean="avg(x)"))
    high = one.filter("high", "x > 0.9")
    joined = high.join(
        "near",
        other,
        on="left.key = right.key and left.x > 0.99",
        left_order_by="t",
        right_order_by="t",
        within="5ms",
        compute={"a": "left.x", "b": "right.x"},
    )
    net.output("pairs", joined)
    net.output("counts", both.map("keys", compute={"key": "key"}).latch("counts", group_by="key", n="count(*)"))
    return net


def rows(seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    times = pl.Series(START_US + np.arange(ROWS) * 500).cast(pl.Datetime("us", "UTC"))
    return pl.DataFrame({"key": random.integers(0, 50, ROWS), "x": random.random(ROWS), "t": times})


def answers(tables: dict[str, pl.DataFrame], *, held: bool, **options: Any) -> tuple[dict[str, pl.DataFrame], int, int]:
    """What comes out, and the most that queues had in memory and on disk. ``held``: boxes come to little at first."""
    most = on_disk = 0
    got: dict[str, list[pl.DataFrame]] = {name: [] for name in network().outputs}
    with Engine(network(), processor="local", clock="t", paused=held, **options) as engine:
        for name, trains in got.items():
            engine.subscribe(name, trains.append)
        for start in range(0, ROWS, PIECE):
            for name, table in tables.items():
                engine.enqueue(name, table.slice(start, PIECE))
            if held:
                # What is taken waits in the queues of the arcs.
                engine.step()
                reading = engine.stats().engine
                most, on_disk = max(most, reading.memory_bytes), max(on_disk, reading.disk_bytes)
        engine.resume()
        engine.flush()
    return {name: pl.concat(trains) for name, trains in got.items()}, most, on_disk


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    return {"one": rows(1), "other": rows(2)}


@pytest.fixture(scope="module")
def wanted(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    return answers(tables, held=False)[0]


@pytest.mark.parametrize(("policy", "workers"), [("qos", 1), ("round_robin", 2), ("buckets", 1)])
def test_queues_twenty_times_as_large_as_memory(
    policy: str, workers: int, tables: dict[str, pl.DataFrame], wanted: dict[str, pl.DataFrame]
) -> None:
    budget = sum(int(table.estimated_size()) for table in tables.values()) // 20
    found, most, on_disk = answers(tables, held=True, scheduler=policy, workers=workers, memory=budget, train=100)
    assert on_disk > 10 * budget
    assert most <= 1.2 * budget
    for name, frame in wanted.items():
        assert frame.height
        assert found[name].equals(frame), name
