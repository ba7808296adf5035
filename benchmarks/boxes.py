"""How much a box costs when a stream is cut into trains, against Polars over the whole batch at once.

    python -m benchmarks.boxes [--quick]

Measures, in one process: throughput of five queries at two train sizes as a share of Polars' own; the cost of a box
call on ten tuples; memory over the stream; and what a ten times longer window costs. The engine and Polars take
turns, so that a noisy machine disturbs both. Writes boxes.json and boxes.svg to the folder results beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from aurora.model.train import Progress as EngineProgress
from aurora.model.train import Train
from benchmarks import ticks
from benchmarks.box_queries import (
    QUERIES,
    MemorySink,
    Query,
    difference,
    resident_memory,
    run,
    run_polars,
    windowed,
)
from benchmarks.one_core import OneCore, one_core
from benchmarks.picture import Bar, bar_chart

RESULTS = Path(__file__).parent / "results"
SHARE_GOALS = {100_000: 1 / 3, 10_000: 1 / 6}
CALL_GOALS = {"filter": 5.0, "map": 5.0, "aggregate": 25.0, "join": 25.0}
LONG_WINDOW_GOAL = 2.0
MEMORY_GOAL = 1.1
SMALL_TRAIN = 10
BLOCK = 50
MEMORY_TICKS = 3_000_000
BUSY_LOAD = 0.7


@dataclass(frozen=True)
class Share:
    """Throughput of a query at a train size as a share of what Polars does in one go."""

    query: str
    title: str
    train: int
    tuples: int
    ours_s: float
    polars_s: float
    polars_one_core_s: float
    share: float
    share_of_one_core: float
    goal: float
    passed: bool
    difference: str


@dataclass(frozen=True)
class Limit:
    """A measured ratio that should stay at or below a goal."""

    name: str
    ratio: float
    goal: float
    passed: bool
    detail: str


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def shares(query: Query, data: pl.DataFrame, rounds: int, other: OneCore, step: Callable[[str], None]) -> list[Share]:
    """The engine at every train size, and Polars on all cores and on one, in turns."""
    inputs = query.inputs(data)
    tuples = sum(frame.height for frame in inputs.values())
    theirs_s: list[float] = []
    theirs_one_core_s: list[float] = []
    ours_s: dict[int, list[float]] = {train: [] for train in SHARE_GOALS}
    differences = {}
    for train in SHARE_GOALS:
        step(f"{query.name} answers at trains of {train:,}")
        sink = MemorySink()
        run(query, inputs, train, sink)
        differences[train] = difference(query, sink.frame(), run_polars(query, inputs))
    for number in range(rounds):
        step(f"{query.name} round {number + 1} of {rounds}")
        theirs_s.append(timed(lambda: run_polars(query, inputs)))
        for train, seconds in ours_s.items():
            seconds.append(other.seconds(query.name, train))
        theirs_one_core_s.append(other.seconds(query.name, None))
    result = []
    for train, goal in SHARE_GOALS.items():
        ours, theirs = statistics.median(ours_s[train]), statistics.median(theirs_s)
        one_core = statistics.median(theirs_one_core_s)
        passed = theirs / ours >= goal and not differences[train]
        result.append(
            Share(
                query.name,
                query.title,
                train,
                tuples,
                ours,
                theirs,
                one_core,
                theirs / ours,
                one_core / ours,
                goal,
                passed,
                differences[train],
            )
        )
    return result


def small_trains(frames: Sequence[pl.DataFrame], clock: int) -> Iterator[tuple[list[Train], EngineProgress]]:
    """Trains of ten tuples for every input in turn, with the word of progress that follows them."""
    seq = 0
    for start in range(0, frames[0].height - SMALL_TRAIN + 1, SMALL_TRAIN):
        trains = []
        for frame in frames:
            numbers = np.arange(seq, seq + SMALL_TRAIN, dtype=np.int64)
            now = np.full(SMALL_TRAIN, clock, np.int64)
            trains.append(Train.of(frame.slice(start, SMALL_TRAIN), 2 * numbers + 1, now, now))
            seq += SMALL_TRAIN
        count = len(trains) * SMALL_TRAIN
        yield trains, EngineProgress(seq - 1, clock, seq - count, np.full(count, clock, np.int64))
        clock += 1_000


def small_calls(data: pl.DataFrame, calls: int, step: Callable[[str], None]) -> list[Limit]:
    """The cost of a kernel's process and advance on ten tuples, in calls of one Polars filter on ten rows."""
    boxes = {"filter": (0, "dear"), "map": (0, "answer"), "aggregate": (1, "answer"), "join": (4, "answer")}
    result = []
    condition = pl.col("price") > 50
    for kind, (number, name) in boxes.items():
        step(f"{kind} on trains of {SMALL_TRAIN}")
        query = QUERIES[number]
        typed = query.typed
        box = typed.network.boxes[name]
        inputs = list(query.inputs(data.head(calls * SMALL_TRAIN)).values())
        feed = list(small_trains(inputs, clock=0))
        kernel = box.kernel(typed.input_types(name), {})
        plain = feed[0][0][0].frame
        ours_s: list[float] = []
        theirs_s: list[float] = []
        # In blocks that take turns: right after a costly call a Polars filter is dearer than it is by itself.
        for first in range(0, len(feed), BLOCK):
            block = feed[first : first + BLOCK]
            started = time.perf_counter()
            for trains, progress in block:
                for port, train in enumerate(trains):
                    kernel.process(port, train)
                kernel.advance(progress)
            ours_s.append((time.perf_counter() - started) / len(block) / len(inputs))
            plain.filter(condition)
            theirs_s.append(timed(lambda: [plain.filter(condition) for _ in range(BLOCK)]) / BLOCK)  # noqa: B023
        ours, theirs = statistics.median(ours_s[1:]), statistics.median(theirs_s[1:])
        ratio, goal = ours / theirs, CALL_GOALS[kind]
        detail = f"{ours * 1e6:.0f} µs; Polars {theirs * 1e6:.0f} µs"
        result.append(Limit(f"{kind} of {SMALL_TRAIN} tuples", ratio, goal, ratio <= goal, detail))
    return result


def memory(count: int, step: Callable[[str], None]) -> list[Limit]:
    """Resident memory late in the stream against its peak early on; each query in a process of its own."""
    result = []
    for query in QUERIES:
        step(f"{query.name} memory")
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            samples = pool.submit(resident_memory, query.name, count).result()
        third = len(samples) // 3
        early, late = max(samples[:third]), statistics.median(samples[-third:])
        detail = f"{early:.0f} MiB early, {late:.0f} MiB late"
        result.append(Limit(f"{query.name} memory", late / early, MEMORY_GOAL, late / early <= MEMORY_GOAL, detail))
    return result


def long_window(data: pl.DataFrame, rounds: int, step: Callable[[str], None]) -> Limit:
    """Q3 with windows of 600 s against 60 s, at the same advance."""
    short = QUERIES[2]
    long = Query("Q3", "600 s every 10 s", windowed("600s"), short.polars, short.keys)
    seconds: dict[str, list[float]] = {short.title: [], long.title: []}
    inputs = short.inputs(data)
    for number in range(rounds):
        step(f"Q3 with long windows, round {number + 1} of {rounds}")
        for query in (short, long):
            seconds[query.title].append(
                timed(lambda q=query: run(q, inputs, 100_000, MemorySink(keep=False)))  # type: ignore[misc]
            )
    medians = {title: statistics.median(values) for title, values in seconds.items()}
    ratio = medians[long.title] / medians[short.title]
    detail = f"{medians[long.title]:.2f} s; {medians[short.title]:.2f} s"
    return Limit("Q3 of 600 s to 60 s", ratio, LONG_WINDOW_GOAL, ratio <= LONG_WINDOW_GOAL, detail)


def verdict(passed: bool) -> str:
    return "[green]pass[/]" if passed else "[red]fail[/]"


def share_table(measured: Sequence[Share]) -> Table:
    table = Table(title="Million tuples/s, against Polars over the whole batch", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("query", no_wrap=True)
    for heading in ("train", "ours", "Polars", "ratio", "goal"):  # Polars on all cores, as people run it
        table.add_column(heading, justify="right")
    table.add_column("")
    table.add_column("ratio on one core", justify="right")
    table.add_column("answers")
    for row in measured:
        million = row.tuples / 1e6
        table.add_row(
            f"{row.query} {row.title}",
            f"{row.train // 1000}k",
            f"{million / row.ours_s:.1f}",
            f"{million / row.polars_s:.1f}",
            f"{row.share:.2f}",
            f"{row.goal:.2f}",
            verdict(row.passed),
            f"{row.share_of_one_core:.2f}",
            "differ" if row.difference else "equal",
        )
    return table


def limit_table(measured: Sequence[Limit]) -> Table:
    table = Table(title="Ratios that should stay small", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("what")
    table.add_column("ratio", justify="right")
    table.add_column("goal", justify="right")
    table.add_column("")
    table.add_column("measured")
    for row in measured:
        table.add_row(row.name, f"{row.ratio:.2f}", f"≤ {row.goal:g}", verdict(row.passed), row.detail)
    return table


def write_results(
    name: str, share_rows: Sequence[Share], limits: Sequence[Limit], tuples: int, load: float
) -> list[Path]:
    """The numbers as JSON and the shares as a picture; a quick run does not replace the results of a full one."""
    RESULTS.mkdir(exist_ok=True)
    machine = {"machine": platform.machine(), "python": platform.python_version(), "polars": pl.__version__}
    document: dict[str, Any] = {
        "ticks": tuples,
        "environment": {**machine, "threads": pl.thread_pool_size(), "load_before": load},
        "shares": [asdict(row) for row in share_rows],
        "limits": [asdict(row) for row in limits],
    }
    files = [RESULTS / f"{name}.json", RESULTS / f"{name}.svg"]
    files[0].write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    bars = [
        Bar(f"{row.query} {row.title}, {row.train // 1000}k", row.share, row.goal, row.passed) for row in share_rows
    ]
    note = f"share of Polars' throughput, by query and train size; {tuples:,} ticks"
    files[1].write_text(bar_chart("Boxes on trains against Polars in one go", note, bars), encoding="utf-8")
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description="The boxes against Polars over the same data.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the ticks, fewer rounds")
    parser.add_argument("--only", default="", help="queries, such as Q1,Q5; leaves the other measurements out")
    options = parser.parse_args()
    count, rounds, calls = (500_000, 3, 500) if options.quick else (5_000_000, 5, 2_000)
    wanted = [name for name in options.only.upper().split(",") if name]
    queries = [query for query in QUERIES if not wanted or query.name in wanted]
    console = Console()
    console.width = max(console.width, 100)
    load = os.getloadavg()[0]
    if load > BUSY_LOAD:
        console.print(
            f"[yellow]The machine is busy (load {load:.1f}); Polars uses all cores, so ratios will be off.[/]"
        )
    steps = len(queries) * (rounds + len(SHARE_GOALS)) + 1
    steps += 0 if wanted else len(CALL_GOALS) + len(QUERIES) + rounds
    columns = (TextColumn("{task.description:40}"), BarColumn(), TextColumn("{task.completed:.0f}/{task.total:.0f}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=steps)

        def step(what: str) -> None:
            progress.update(task, advance=1, description=what)

        step(f"making {count:,} ticks")
        data = ticks.ticks(count)
        with one_core(count) as other:
            share_rows = [row for query in queries for row in shares(query, data, rounds, other, step)]
        limits: list[Limit] = []
        if not wanted:
            limits += small_calls(data, calls, step)
            limits += memory(max(count, MEMORY_TICKS), step)
            limits.append(long_window(data, rounds, step))
    console.print(share_table(share_rows))
    for row in share_rows:
        if row.difference:
            console.print(f"[red]{row.query} at trains of {row.train:,}:[/] {row.difference}")
    if limits:
        console.print(limit_table(limits))
        for file in write_results("boxes-quick" if options.quick else "boxes", share_rows, limits, count, load):
            console.print(f"written: {file}", soft_wrap=True, highlight=False)


if __name__ == "__main__":
    main()
