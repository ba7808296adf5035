"""Figure 3: a thread per box against Aurora, as the number of boxes grows."""

from __future__ import annotations

import queue
import threading
import time

import numpy as np
import polars as pl

from aurora.model.box import OUT, Kernel
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.train import ARRIVAL, Train
from aurora.scheduler.settings import SchedulerSettings
from benchmarks.experiments.figure import Effort, Experiment, Finding, Measured, median
from benchmarks.experiments.harness import Bench, WallRunClock
from benchmarks.experiments.plots import Axis, line_chart
from benchmarks.experiments.workload import Arrivals, Workload, evenly

CHAIN = 5
BOXES = (5.0, 50.0, 100.0, 200.0, 400.0, 600.0, 800.0, 1000.0)
RATE_PER_S = 20.0
"""Of every query."""
AURORA, THREADS = "Aurora", "thread per box"
STOP = None
Inbox = queue.SimpleQueue[Train | None]


def filters(boxes: int) -> Workload:
    """Queries of five filters; what one costs is not known beforehand."""
    net = Network("filters")
    streams = tuple(f"s{number}" for number in range(boxes // CHAIN))
    for number, stream in enumerate(streams):
        arc = net.stream(stream, x="int")
        for place in range(CHAIN):
            arc = arc.filter(f"f{number}_{place}", f"x >= -{place}")
        net.output(f"app{number}", arc)
    typed = typecheck(net)
    return Workload(typed, streams, (0.0,) * len(streams), dict.fromkeys(typed.order, 0.0))


def aurora_latency_s(workload: Workload, arrivals: Arrivals, most_s: float) -> float:
    with Bench(workload, SchedulerSettings("applications", traversal="min_cost"), WallRunClock()) as bench:
        return bench.outcome(*bench.feed(arrivals, most_s=most_s)).latency_s


def threads_latency_s(workload: Workload, arrivals: Arrivals, most_s: float) -> float:
    """The same kernels, each in a thread that waits for its queue; the operating system schedules them."""
    latencies: list[float] = []
    firsts: list[Inbox] = []
    threads: list[threading.Thread] = []
    began = time.perf_counter()
    stopped = threading.Event()

    def box(
        kernel: Kernel, inbox: queue.SimpleQueue[Train | None], after: queue.SimpleQueue[Train | None] | None
    ) -> None:
        while (train := inbox.get()) is not STOP and not stopped.is_set():
            made = kernel.process(0, train).trains.get(OUT)
            if made is None or not len(made):
                continue
            if after is not None:
                after.put(made)
            else:
                now_us = (time.perf_counter() - began) * 1e6
                latencies.extend(((now_us - made.hidden(ARRIVAL)) / 1e6).tolist())
        if after is not None:
            after.put(STOP)

    typed = workload.typed
    for number in range(len(workload.streams)):
        inboxes: list[Inbox] = [queue.SimpleQueue() for _ in range(CHAIN)]
        firsts.append(inboxes[0])
        for place in range(CHAIN):
            name = f"f{number}_{place}"
            kernel = typed.network.boxes[name].kernel(typed.input_types(name), {})
            after = inboxes[place + 1] if place + 1 < CHAIN else None
            threads.append(threading.Thread(target=box, args=(kernel, inboxes[place], after), daemon=True))
    for thread in threads:
        thread.start()
    numbers = np.arange(arrivals.total)
    whole = Train.of(pl.DataFrame({"x": numbers}), 2 * numbers + 1, arrivals.at_us, arrivals.at_us).frame
    began = time.perf_counter()
    for number, (at_us, stream) in enumerate(zip(arrivals.at_us.tolist(), arrivals.stream.tolist(), strict=True)):
        wait_s = at_us / 1e6 - (time.perf_counter() - began)
        if wait_s > 0:
            time.sleep(wait_s)
        firsts[stream].put(Train(whole.slice(number, 1)))
    for first in firsts:
        first.put(STOP)
    for thread in threads:
        thread.join(max(most_s - (time.perf_counter() - began), 0.0))
    stopped.set()
    for thread in threads:
        thread.join()
    # Tuples that had not come out when patience ended are at least this late.
    lost = arrivals.total - len(latencies)
    waited_s = time.perf_counter() - began - arrivals.span_s / 2
    return (sum(latencies) + lost * waited_s) / arrivals.total


def measure(effort: Effort) -> Measured:
    seconds = effort.seconds(2.0)
    lines: dict[str, list[tuple[float, float]]] = {AURORA: [], THREADS: []}
    for boxes in effort.some(BOXES):
        effort.say(f"{boxes:g} boxes")
        workload = filters(int(boxes))
        arrivals = evenly(len(workload.streams), RATE_PER_S * len(workload.streams), seconds)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(min(effort.repeats, 2)):
            ours.append(aurora_latency_s(workload, arrivals, 3 * seconds))
            theirs.append(threads_latency_s(workload, arrivals, 3 * seconds))
        lines[AURORA].append((boxes, median(ours) * 1e3))
        lines[THREADS].append((boxes, median(theirs) * 1e3))
    first, last = (dict(line) for line in (lines[AURORA], lines[THREADS]))
    few, many = min(first), max(first)
    growth = {AURORA: first[many] / first[few], THREADS: last[many] / last[few]}
    picture = line_chart(
        "Figure 3: a thread per box against Aurora",
        f"queries of 5 filters, {RATE_PER_S:g} tuples/s each; mean latency",
        Axis("number of boxes"),
        Axis("latency (ms)", log=True),
        lines,
    )
    return Measured(
        {"latency_ms": lines},
        {"figure_03": picture},
        (
            Finding(
                f"From {few:g} to {many:g} boxes latency grows {growth[AURORA]:,.0f}-fold in Aurora and "
                f"{growth[THREADS]:,.0f}-fold with a thread per box.",
                growth[THREADS] > 3 * growth[AURORA],
            ),
            Finding(
                f"At {many:g} boxes it is {first[many]:,.1f} ms in Aurora and {last[many]:,.1f} ms with a thread per "
                "box.",
                last[many] > 2 * first[many],
            ),
        ),
    )


EXPERIMENT = Experiment(
    "3",
    "Execution models",
    "Latency grows with the number of boxes in both models, but nearly linearly in Aurora and exponentially with a "
    "thread per box.",
    "Queries of five filters each, every query with an input of its own at the same rate, so that load grows with "
    "the number of boxes. The baseline has one Python thread per box with a queue in front, and runs the same "
    "kernels on each tuple as it comes. Both are measured on the wall clock.",
    "Python's threads take turns at one interpreter lock, so they pay for switching earlier than the paper's did; "
    "the machine's second core hardly helps them. What makes the difference is the same: under load our queues are "
    "taken as trains.",
    measure,
)
