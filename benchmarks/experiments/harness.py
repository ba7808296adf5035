"""Runs a workload on the engine, on one worker, with tuples that arrive whether it is ready or not.

Tuples are put on the queues by the thread that runs the boxes, between two superboxes, so that feeding takes nothing
from anybody. They are made beforehand, and carry the time at which they were due: if the engine is late to take them,
that counts as latency.

Time is the processor time of that thread, and the time in which it has nothing to do. On a machine of its own that is
the time on the wall; on a shared one it leaves out what others do meanwhile. Waiting is not waited out: the clock is
moved on to the next arrival.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from unittest import mock

import numpy as np
import polars as pl

from aurora.clock import WallClock
from aurora.engine.enqueued import Enqueued
from aurora.engine.flow import Flow, Parts
from aurora.engine.metrics import Statistics
from aurora.engine.room import Room
from aurora.engine.run import Run
from aurora.engine.scheduled import make_flow
from aurora.model.train import Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import Execution, Result
from aurora.scheduler.settings import SchedulerSettings
from benchmarks.experiments.workload import Arrivals, Workload

_LEAD_US = 200_000
"""A load begins so long after it has been asked for: there is time to make its tuples."""


class RunClock:
    """Microseconds of processor time and of skipped waits. It never goes back."""

    def __init__(self) -> None:
        self._zero_ns = time.thread_time_ns()

    def skip_us(self, microseconds: int) -> None:
        self._zero_ns -= 1000 * max(microseconds, 0)

    def now_us(self) -> int:
        return (time.thread_time_ns() - self._zero_ns) // 1000


class WallRunClock(RunClock):
    """Microseconds on the wall, where waits are waited out: for comparison with what the clock above cannot measure."""

    def __init__(self) -> None:
        self._zero_ns = time.perf_counter_ns()

    def skip_us(self, microseconds: int) -> None:
        time.sleep(max(microseconds, 0) / 1e6)

    def now_us(self) -> int:
        return (time.perf_counter_ns() - self._zero_ns) // 1000


@contextmanager
def processor_time() -> Iterator[None]:
    """Lets the engine and the boxes measure with the same clock; inside, nothing else may run."""
    with mock.patch.object(time, "perf_counter", time.thread_time):
        yield


class CountingProcessor(LocalProcessor):
    """Counts box calls, and can note after each of them how many tuples wait inside the network."""

    def __init__(self, typed: TypedNetwork, clock: RunClock) -> None:
        super().__init__(typed)
        self.calls = 0
        self.waiting = 0
        self.history: list[tuple[int, int]] | None = None
        self._clock = clock
        self._last = set(typed.outputs.values())

    def run(self, plan: Sequence[Execution]) -> list[Result]:
        results = super().run(plan)
        self.calls += 1
        if self.history is not None:
            for result in results:
                # What an output box made has left the network.
                made = sum(cost.tuples_out for cost in result.costs.values())
                if any(producer.name in result.costs for producer in self._last):
                    made = 0
                self.waiting += made - sum(cost.tuples_in for cost in result.costs.values())
            self.history.append((self._clock.now_us(), self.waiting))
        return results


@dataclass(frozen=True)
class Totals:
    """What has been counted up to some moment; ``gained`` is the sum of the utilities of the tuples of each output."""

    scheduler_s: float = 0.0
    storage_s: float = 0.0
    processing_s: float = 0.0
    calls: int = 0
    tuples: int = 0
    late_s: float = 0.0
    delivered: Mapping[str, int] = field(default_factory=dict)
    gained: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, workload: Workload, reading: Statistics, calls: int) -> Totals:
        outputs = reading.outputs
        utilities = {name: output.utility["run"].latency for name, output in outputs.items()}
        return cls(
            reading.parts["scheduler"].seconds,
            reading.parts["storage"].seconds,
            sum(box.tuples_in * workload.costs_s[name] for name, box in reading.boxes.items()),
            calls,
            sum(box.tuples_in for box in reading.boxes.values()),
            sum((output.mean_latency_s or 0.0) * output.tuples for output in outputs.values()),
            {name: output.tuples for name, output in outputs.items()},
            {name: u * outputs[name].tuples for name, u in utilities.items() if u is not None},
        )


@dataclass(frozen=True)
class Outcome:
    """What a run gave. ``busy_s`` is without the time in which there was nothing to do.

    ``processing_s`` is what the boxes were told to spend on their tuples; the rest of ``busy_s`` is overhead: that of
    the scheduler and of storage as the engine measures them, and what is left, which is the worker's. ``latency_s`` is
    the mean over output tuples, ``utility`` the mean over the applications that got any.
    """

    wall_s: float
    busy_s: float
    processing_s: float
    scheduler_s: float
    storage_s: float
    calls: int
    tuples: int
    delivered: int
    latency_s: float
    utility: float

    @classmethod
    def between(cls, before: Totals, after: Totals, wall_s: float, busy_s: float) -> Outcome:
        delivered = {name: count - before.delivered.get(name, 0) for name, count in after.delivered.items()}
        total = sum(delivered.values())
        utilities = [
            (gained - before.gained.get(name, 0.0)) / delivered[name]
            for name, gained in after.gained.items()
            if delivered[name]
        ]
        return cls(
            wall_s,
            busy_s,
            after.processing_s - before.processing_s,
            after.scheduler_s - before.scheduler_s,
            after.storage_s - before.storage_s,
            after.calls - before.calls,
            after.tuples - before.tuples,
            total,
            (after.late_s - before.late_s) / total if total else float("nan"),
            sum(utilities) / len(utilities) if utilities else float("nan"),
        )

    @property
    def overhead_s(self) -> float:
        return self.busy_s - self.processing_s

    @property
    def worker_s(self) -> float:
        return max(self.overhead_s - self.scheduler_s - self.storage_s, 0.0)

    @property
    def decision_s(self) -> float:
        """What the scheduler spent on each box that it scheduled."""
        return self.scheduler_s / max(self.calls, 1)

    def to_dict(self) -> dict[str, float]:
        return {**asdict(self), "worker_s": self.worker_s}


class Bench:
    """An engine's queues, scheduler and local processor, fed by hand; in a with statement, in ``processor_time``."""

    def __init__(self, workload: Workload, settings: SchedulerSettings, clock: RunClock | None = None) -> None:
        self.workload = workload
        self.clock = clock or RunClock()
        self.processor = CountingProcessor(workload.typed, self.clock)
        schemas = {name: workload.typed.arcs[name].schema for name in workload.streams}
        room = Room("1GiB", "1GiB", "block", list(workload.streams))
        make = make_flow("local", settings, 1, room)

        def flow(parts: Parts) -> Flow:
            self._flow = make(parts)
            return self._flow

        queue = Enqueued(schemas, WallClock(), None)
        self._run = Run(workload.typed, queue, {}, wall=self.clock, processor=self.processor, flow=flow)
        self._producers = [Producer(name) for name in workload.streams]
        self._taken = 0
        self._before = Totals()
        self.began_us = 0
        """When the last load began, on the bench's clock."""

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._run.close()

    def feed(self, arrivals: Arrivals, *, most_s: float = float("inf")) -> tuple[float, float]:
        """Lets tuples arrive, and runs until all have come through or so long; seconds in all, and at work."""
        flow, clock, producers = self._flow, self.clock, self._producers
        self.began_us = clock.now_us() + _LEAD_US
        trains = self._trains(arrivals, self.began_us)
        due = (arrivals.at_us + self.began_us).tolist()
        patience_us = self.began_us + most_s * 1e6
        idle_us = 0
        at, groups = 0, len(due)
        clock.skip_us(self.began_us - clock.now_us())
        while True:
            now_us = clock.now_us()
            while at < groups and due[at] <= now_us:
                stream, train, last = trains[at]
                flow.put({producers[stream]: train}, Progress(last, due[at], last + 1, _NO_CLOCKS))
                at += 1
            if flow.step():
                if now_us > patience_us:
                    break
                continue
            if at == groups:
                break
            wait_us = max(due[at] - clock.now_us(), 0)
            clock.skip_us(wait_us)
            idle_us += wait_us
        took_us = clock.now_us() - self.began_us
        return took_us / 1e6, (took_us - idle_us) / 1e6

    def warm_up(self, arrivals: Arrivals) -> None:
        """A load that does not count: from it the engine learns what boxes cost."""
        self.feed(arrivals)
        self._before = self._totals()

    def outcome(self, wall_s: float, busy_s: float) -> Outcome:
        """Everything that was measured since the bench was made, or warm."""
        return Outcome.between(self._before, self._totals(), wall_s, busy_s)

    def _totals(self) -> Totals:
        reading = self._flow.reading()
        assert reading is not None
        return Totals.of(self.workload, reading, self.processor.calls)

    def _trains(self, arrivals: Arrivals, began_us: int) -> list[tuple[int, Train, int]]:
        """Of every group the stream, its train, and the number of the last tuple."""
        total, first = arrivals.total, self._taken
        arrived = np.repeat(arrivals.at_us + began_us, arrivals.tuples)
        numbers = np.arange(first, first + total)
        whole = Train.of(pl.DataFrame({"x": numbers}), 2 * numbers + 1, arrived, arrived).frame
        self._taken += total
        ends = np.cumsum(arrivals.tuples)
        starts = ends - arrivals.tuples
        return [
            (stream, Train(whole.slice(start, end - start)), first + end - 1)
            for stream, start, end in zip(arrivals.stream.tolist(), starts.tolist(), ends.tolist(), strict=True)
        ]


_NO_CLOCKS = np.empty(0, np.int64)


def run(
    workload: Workload,
    settings: SchedulerSettings,
    arrivals: Arrivals,
    *,
    most_s: float = 60.0,
    warm_up: Arrivals | None = None,
) -> Outcome:
    """One run from nothing to nothing, or to the end of patience."""
    with processor_time(), Bench(workload, settings) as bench:
        if warm_up is not None:
            bench.warm_up(warm_up)
        return bench.outcome(*bench.feed(arrivals, most_s=most_s))
