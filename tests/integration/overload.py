"""An engine that gets more than it can do: the same network and the same senders on every processor.

What a tuple costs is fixed by a function that waits, so that the machine and what else it does hardly matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from aurora import Engine, Network, register_function
from aurora.expressions import unregister

TUPLE_S = 40e-6
"""What the dear box needs for a tuple."""
TABLE_S = 0.02
"""How long a table's worth of time is, for the senders."""


def slowly(x: pl.Series) -> pl.Series:
    time.sleep(len(x) * TUPLE_S)
    return x


def network() -> Network:
    """``cheap`` can spare tuples but takes a lot of work; ``vital`` takes little and cannot spare any."""
    register_function("slowly", slowly, ["int"], "int")
    on_time: dict[str, Any] = {"latency": [["0s", 1], ["500ms", 1], ["3s", 0]]}
    net = Network("overload")
    s = net.stream("s", x="int")
    net.output("cheap", s.map("slow", compute={"x": "slowly(x)"}), qos={**on_time, "loss": [[100, 1], [0, 0]]})
    vital = s.filter("tenth", "x % 10 = 0")
    net.output("vital", vital, qos={**on_time, "loss": [[100, 1], [99.99, 0]]})
    return net


class Sender:
    """Sends numbers in order, some times as many as the dear box can take, and takes what comes out."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.sent = 0
        self.got: dict[str, list[int]] = {"cheap": [], "vital": []}

    def send(self, times: float, most_s: float, until: Callable[[], bool] = lambda: False) -> float:
        """For so long, or until something is so; how long it was."""
        began = time.perf_counter()
        tables = 0
        while (passed := time.perf_counter() - began) < most_s and not until():
            if tables * TABLE_S <= passed:
                count = round(times * TABLE_S / TUPLE_S)
                self.engine.enqueue("s", pl.DataFrame({"x": np.arange(self.sent, self.sent + count)}))
                self.sent += count
                tables += 1
            else:
                time.sleep(0.002)
        return passed

    def wait(self, most_s: float, until: Callable[[], bool]) -> None:
        """Sends nothing."""
        began = time.perf_counter()
        while time.perf_counter() - began < most_s and not until():
            time.sleep(0.02)

    @property
    def drops(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.engine.describe()["drops"]
        return found

    def take(self) -> None:
        for output, numbers in self.got.items():
            for train in self.engine.dequeue(output):
                numbers += train["x"].to_list()


def forget() -> None:
    unregister("slowly")
