"""A long run at changing rates: nothing is lost, queues stay short, memory stays flat.

    python -m benchmarks.soak [--seconds 600] [--processor local|spark] [--scheduler NAME] [--workers N]

Two threads enqueue tuples with running numbers, in quiet times, waves and bursts. One output passes every tuple on and
is checked tuple by tuple; windows, a join and timeouts run beside it, on Spark as branches among which the scheduler
chooses. Memory is that of the process and of those that it started, Spark's among them, as the system counts it, after
the first quarter and at the end. Exits with 1 if anything does not hold.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from aurora import Engine, Network, tuples
from aurora.engine.workplace import ProcessorName

RATE = 20_000
"""Tuples per second and stream, on average."""
PERIOD_S = 20.0
MOST_GROWTH = 1.15
MOST_QUEUED = 400_000


def network() -> Network:
    net = Network("soak")
    left = net.stream("left", n="int", key="int", x="double", t="timestamp")
    right = net.stream("right", n="int", key="int", x="double", t="timestamp")
    net.output("all", left.union("both", right).map("numbered", compute={"n": "n", "key": "key"}))
    window = {"size": "1s"}
    net.output("means", left.tumble("means", group_by="key", order_by="t", slack="200ms", window=window, m="avg(x)"))
    near = left.filter("high", "x > 0.9").join(
        "near",
        right,
        on="left.key = right.key",
        left_order_by="t",
        right_order_by="t",
        within="10ms",
        slack="50ms",
        compute={"a": "left.x", "b": "right.x"},
    )
    net.output("pairs", near)
    silent = right.filter("some", "key < 5").aggregate(
        "silent", group_by="key", window=tuples(2, advance=1, timeout="500ms"), alarm="timed_out()"
    )
    net.output("silences", silent.filter("alarms", "alarm"))
    return net


@dataclass
class Watch:
    """Checks the numbers of each side as they come out."""

    next_number: dict[int, int] = field(default_factory=lambda: {0: 0, 1: 0})
    wrong: int = 0
    delivered: int = 0

    def take(self, train: pl.DataFrame) -> None:
        numbers = train["n"].to_numpy()
        for side in (0, 1):
            own = numbers[numbers % 2 == side] // 2
            first = self.next_number[side]
            if len(own):
                self.wrong += int((own != np.arange(first, first + len(own))).sum())
                self.next_number[side] = int(own[-1]) + 1
        self.delivered += len(numbers)


def feed(engine: Engine, stream: str, side: int, until_s: float, sent: dict[str, int]) -> None:
    """Enqueues at a rate that rises and falls, with a burst now and then."""
    random = np.random.default_rng(side)
    number = 0
    began_s = last_s = time.monotonic()
    while (now_s := time.monotonic()) < until_s:
        phase = (now_s - began_s) / PERIOD_S
        rate = RATE * (1 + math.sin(2 * math.pi * phase))
        if phase % 1 > 0.9:
            rate *= 3
        count = int((now_s - last_s) * rate)
        if count:
            numbers = 2 * np.arange(number, number + count) + side
            times = np.full(count, time.time_ns() // 1000) - random.integers(0, 100_000, count)
            columns = {"n": numbers, "key": random.integers(0, 200, count), "x": random.random(count), "t": times}
            engine.enqueue(stream, pl.DataFrame(columns).with_columns(pl.col("t").cast(pl.Datetime("us", "UTC"))))
            number += count
            last_s = now_s
        time.sleep(0.005)
    sent[stream] = number


def resident_mb() -> float:
    """Of this process and all below it."""
    below: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            behind_name = (entry / "stat").read_text().rpartition(")")[2].split()
            pages[int(entry.name)] = int((entry / "statm").read_text().split()[1])
        except OSError:
            continue
        below.setdefault(int(behind_name[1]), []).append(int(entry.name))
    own = [os.getpid()]
    for process in own:
        own += below.get(process, [])
    return sum(pages.get(process, 0) for process in own) * os.sysconf("SC_PAGE_SIZE") / 2**20


def soak(seconds: float, processor: ProcessorName, scheduler: str | None, workers: int, console: Console) -> bool:
    watch = Watch()
    sent: dict[str, int] = {}
    counts = {"means": 0, "pairs": 0, "silences": 0}
    memory: list[float] = []
    queued: list[int] = []
    engine = Engine(
        network(), processor=processor, master="local[2]", scheduler=scheduler, workers=workers, memory="256MB"
    )
    with engine:
        engine.subscribe("all", watch.take)
        for name in counts:

            def count(train: pl.DataFrame, name: str = name) -> None:
                counts[name] += train.height

            engine.subscribe(name, count)
        until_s = time.monotonic() + seconds
        feeders = [
            threading.Thread(target=feed, args=(engine, name, side, until_s, sent))
            for side, name in enumerate(("left", "right"))
        ]
        for feeder in feeders:
            feeder.start()
        while any(feeder.is_alive() for feeder in feeders):
            time.sleep(min(1.0, seconds / 20))
            memory.append(resident_mb())
            reading = engine.stats()
            queued.append(sum(box.queue_tuples for box in reading.boxes.values()))
            if len(memory) % 10 == 0:
                line = f"{len(memory):4} samples, {watch.delivered:,} delivered, {queued[-1]:,} queued"
                console.print(f"[dim]{line}, {memory[-1]:.0f} MB[/]", highlight=False)
        engine.flush()
        final = engine.stats()
    total = sum(sent.values())
    quarter = max(len(memory) // 4, 1)
    early = float(np.median(memory[quarter : 2 * quarter] or memory))
    late = float(np.median(memory[-quarter:]))
    checks = {
        f"all of {total:,} tuples delivered": watch.delivered == total,
        "each in its place": watch.wrong == 0,
        f"windows {counts['means']:,}, pairs {counts['pairs']:,}, silences {counts['silences']:,}": all(
            counts.values()
        ),
        f"at most {max(queued):,} tuples queued (limit {MOST_QUEUED:,})": max(queued) <= MOST_QUEUED,
        f"memory {early:.0f} MB early, {late:.0f} MB late (limit {MOST_GROWTH:g} times)": late <= MOST_GROWTH * early,
    }
    shown = Table(box=SIMPLE_HEAD, title=f"{seconds:.0f} s at changing rates", title_justify="left")
    shown.add_column("what")
    shown.add_column("")
    for what, holds in checks.items():
        shown.add_row(what, "[green]holds[/]" if holds else "[red]does not hold[/]")
    console.print(shown)
    latency = final.outputs["all"].latency_s
    p50, p99 = ((latency.quantile(q) or 0) * 1e3 for q in (0.5, 0.99))
    console.print(f"latency of all: p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    return all(checks.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--processor", choices=["local", "spark"], default="local")
    parser.add_argument("--scheduler", default=None)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    held = soak(options.seconds, options.processor, options.scheduler, options.workers, Console())
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
