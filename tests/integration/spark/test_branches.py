"""On Spark what is urgent does not wait for what takes long on the same stream, and nothing is lost by it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator

import polars as pl
import pytest

from aurora import Engine, Network, QoS
from aurora.expressions.registry import FUNCTIONS, register_function

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timed, pytest.mark.timeout(300)]
FEW, TUPLES = 2_000, 20_000


def _dear(values: pl.Series) -> pl.Series:
    """About 100 µs of work for every tuple."""
    if len(values):
        hashlib.pbkdf2_hmac("sha256", b"", b"", 200 * len(values))
    return values


@pytest.fixture
def net() -> Iterator[Network]:
    register_function("dear", _dear, ["int"], "int")
    net = Network("urgent")
    s = net.stream("s", x="int")
    net.output("alarms", s.filter("hot", "x % 10 = 0"), qos=QoS(latency=[("0s", 1), ("100ms", 1), ("1s", 0)]))
    net.output("scores", s.map("scored", compute={"x": "dear(x)"}), qos=QoS(latency=[("0s", 1), ("1m", 1), ("2m", 0)]))
    yield net
    del FUNCTIONS["dear"]


def test_alarms_overtake_scores(net: Network) -> None:
    came: list[tuple[str, int]] = []
    got: dict[str, list[int]] = {"alarms": [], "scores": []}
    done = threading.Event()

    def take(output: str, train: pl.DataFrame) -> None:
        came.append((output, train.height))
        got[output] += train.get_column("x").to_list()
        if len(got["scores"]) == FEW + TUPLES:
            done.set()

    with Engine(net, processor="spark", master="local[2]") as engine:
        engine.subscribe("alarms", lambda train: take("alarms", train))
        engine.subscribe("scores", lambda train: take("scores", train))
        for start in range(0, FEW, 200):
            # So the engine learns what branches cost.
            engine.enqueue("s", pl.DataFrame({"x": range(start, start + 200)}))
            engine.drain()
        came.clear()
        engine.enqueue("s", pl.DataFrame({"x": range(FEW, FEW + TUPLES)}))
        assert done.wait(120)
        decisions = engine.decisions()
    assert got == {"alarms": list(range(0, FEW + TUPLES, 10)), "scores": list(range(FEW + TUPLES))}
    # When all alarms were there most of the scores were still to come.
    last = max(place for place, (output, _) in enumerate(came) if output == "alarms")
    assert sum(tuples for output, tuples in came[:last] if output == "scores") < TUPLES / 2
    assert any(line.startswith("box hot: ") for line in decisions)
    assert any(line.startswith("box scored: ") for line in decisions)
