"""What it costs to measure: the share of a live run that goes into statistics.

    python -m benchmarks.statistics_cost

Runs chains of filters in a live engine on the local processor, the least work per call that there is, with trains of
several sizes. Every note is timed where it is made; what a timer itself takes is measured by notes that do nothing, and
taken off. Prints the share of the run's processor time; the goal is below 2%.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from aurora import Engine, Network, QoS
from aurora.engine.live_statistics import LiveStatistics

GOAL = 0.02
NOTES = ("note_call", "note_arrival", "note_delivery", "note_overhead")
SIZES = {1: 2_000, 100: 2_000, 1_000: 1_000, 10_000: 300, 50_000: 60}
"""Tuples in a train, and how many trains."""


def network() -> Network:
    net = Network("chains")
    ticks = net.stream("ticks", x="int", y="double")
    for chain in range(2):
        arc = ticks
        for box in range(5):
            arc = arc.filter(f"filter_{chain}_{box}", "x >= 0")
        net.output(f"out_{chain}", arc, qos=QoS(latency=[("0s", 1), ("10ms", 1), ("1s", 0)]))
    return net


def run(size: int, trains: int) -> float:
    """The processor time of a run, on one thread and without waiting."""
    frame = pl.DataFrame({"x": np.arange(size), "y": np.random.default_rng(0).random(size)})
    with Engine(network(), processor="local", paused=True) as engine:
        for name in ("out_0", "out_1"):
            engine.subscribe(name, lambda train: None)
        began_s = time.process_time()
        for _ in range(trains):
            engine.enqueue("ticks", frame)
            while engine.step():
                pass
        return time.process_time() - began_s


def noted(size: int, trains: int) -> dict[str, list[float]]:
    """How long each note took; ``timer`` has how long it takes to time nothing."""
    times: dict[str, list[float]] = {name: [] for name in (*NOTES, "timer")}
    plain = {name: getattr(LiveStatistics, name) for name in NOTES}

    def timed(name: str, note: Callable[..., None]) -> Callable[..., None]:
        kept, empty = times[name], times["timer"]

        def nothing(*_: Any) -> None:
            return

        def wrapped(*arguments: Any) -> None:
            began_s = time.perf_counter()
            note(*arguments)
            middle_s = time.perf_counter()
            nothing(*arguments)
            empty.append(time.perf_counter() - middle_s)
            kept.append(middle_s - began_s)

        return wrapped

    try:
        for name in NOTES:
            setattr(LiveStatistics, name, timed(name, plain[name]))
        run(size, trains)
    finally:
        for name in NOTES:
            setattr(LiveStatistics, name, plain[name])
    return times


def main() -> None:
    console = Console()
    shown = Table(box=SIMPLE_HEAD, title="Statistics, as a share of the run", title_justify="left")
    for heading in ("tuples in a train", "per call of a box", "share", "goal", ""):
        shown.add_column(heading, justify="left" if heading == "" else "right")
    run(100, 100)
    for size, trains in SIZES.items():
        whole_s = min(run(size, trains) for _ in range(3))
        times = noted(size, trains)
        timer_s = float(np.median(times["timer"]))
        # A note that was interrupted by something else says nothing about notes.
        spent_s = sum((np.clip(times[name], None, 20 * np.median(times[name])) - timer_s).sum() for name in NOTES)
        share = float(spent_s) / whole_s
        calls = len(times["note_call"])
        verdict = "[green]holds[/]" if share < GOAL else "[red]missed[/]"
        shown.add_row(
            f"{size:,}",
            f"{spent_s / calls * 1e6:.1f} of {whole_s / calls * 1e6:.0f} µs",
            f"{share:.2%}",
            f"< {GOAL:.0%}",
            verdict,
        )
    console.print(shown)


if __name__ == "__main__":
    main()
