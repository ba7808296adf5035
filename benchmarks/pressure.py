"""Queues larger than their memory: how much slower a run gets when they have to go to disk.

    python -m benchmarks.pressure [--quick]

A backlog of two streams is taken into the queues of a live engine, then run off, once with memory for all of it and
then with a half, a fifth and a twentieth of that. Answers are compared. Prints the processor time of each run as a
multiple of the first, and the most bytes that queues had in memory and on disk.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from aurora import Engine, Network

SHARES = (2.0, 1 / 2, 1 / 5, 1 / 20)
"""Memory, as a share of the backlog's bytes."""
PIECE = 5_000
START_US = 1_767_225_600_000_000


def network() -> Network:
    net = Network("pressure")
    one = net.stream("one", key="int", x="double", t="timestamp")
    other = net.stream("other", key="int", x="double", t="timestamp")
    both = one.union("both", other)
    net.output("means", both.tumble("means", group_by="key", order_by="t", window={"size": "1s"}, mean="avg(x)"))
    high = one.filter("high", "x > 0.9")
    net.output("high", high.map("scaled", compute={"x": "x * 100", "t": "t"}))
    near = high.join(
        "near",
        other,
        on="left.key = right.key and left.x > 0.99",
        left_order_by="t",
        right_order_by="t",
        within="5ms",
        compute={"a": "left.x", "b": "right.x"},
    )
    net.output("pairs", near)
    return net


@dataclass
class Outcome:
    """One run: its processor time, and the most that queues took."""

    seconds: float
    memory: int
    disk: int
    answers: dict[str, pl.DataFrame]


def tables(rows: int) -> dict[str, pl.DataFrame]:
    times = pl.Series(START_US + np.arange(rows) * 500).cast(pl.Datetime("us", "UTC"))
    made = {}
    for seed, name in enumerate(("one", "other")):
        random = np.random.default_rng(seed)
        made[name] = pl.DataFrame({"key": random.integers(0, 50, rows), "x": random.random(rows), "t": times})
    return made


def run(data: dict[str, pl.DataFrame], memory: int, piece: int = PIECE, **options: Any) -> Outcome:
    """Takes a piece of each stream after the other into the queues while boxes come to little; then runs all off."""
    kept: dict[str, list[pl.DataFrame]] = {name: [] for name in network().outputs}
    most = on_disk = 0
    chosen = {"clock": "t", "memory": memory, "train": piece // 5, "paused": True, **options}
    with Engine(network(), processor="local", **chosen) as engine:
        for name, trains in kept.items():
            engine.subscribe(name, trains.append)
        began_s = time.process_time()
        for start in range(0, data["one"].height, piece):
            for name, table in data.items():
                engine.enqueue(name, table.slice(start, piece))
            engine.step()
            reading = engine.stats().engine
            most, on_disk = max(most, reading.memory_bytes), max(on_disk, reading.disk_bytes)
        engine.flush()
        seconds = time.process_time() - began_s
    return Outcome(seconds, most, on_disk, {name: pl.concat(trains) for name, trains in kept.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of the tuples")
    options = parser.parse_args()
    data = tables(100_000 if options.quick else 1_000_000)
    total = sum(int(table.estimated_size()) for table in data.values())
    # On their way tuples also carry their number, clock and arrival time.
    total *= 2
    console = Console()
    shown = Table(box=SIMPLE_HEAD, title=f"A backlog of {total / 1e6:.0f} MB", title_justify="left")
    for heading in ("memory allowed", "most in memory", "most on disk", "processor time", "times"):
        shown.add_column(heading, justify="right")
    first: Outcome | None = None
    for share in SHARES:
        found = run(data, int(total * share))
        first = first or found
        for name, frame in first.answers.items():
            if not found.answers[name].equals(frame):
                raise SystemExit(f"output {name} differs with memory for {share:g} of the backlog")
        shown.add_row(
            f"{total * share / 1e6:.1f} MB",
            f"{found.memory / 1e6:.1f} MB",
            f"{found.disk / 1e6:.1f} MB",
            f"{found.seconds:.1f} s",
            f"{found.seconds / first.seconds:.2f}",
        )
        console.print(f"[dim]memory for {share:g} of the backlog: done[/]")
    console.print(shown)


if __name__ == "__main__":
    main()
