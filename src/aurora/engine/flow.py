"""How tuples get from the inputs to the outputs: all boxes at once, or as the scheduler says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from aurora.clock import Clock
from aurora.engine.delivery import Delivery
from aurora.engine.live_statistics import LiveStatistics
from aurora.engine.metrics import Statistics
from aurora.engine.statistics import RunStatistics
from aurora.model.train import Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.plan import BoxCost, Execution, FileRows, Processor, Trains

FIFO = "fifo"
"""The name of the flow that runs all boxes on every train as it comes."""

Given = Mapping[Producer, Train | FileRows]


@dataclass(frozen=True)
class Parts:
    """What every flow is made of. ``position`` and ``clock`` are those of the last tuple taken before, -1 for none.

    ``measured`` is there where somebody looks at an engine while it works; else only totals are counted.
    """

    typed: TypedNetwork
    processor: Processor
    delivery: Delivery
    statistics: RunStatistics
    measured: LiveStatistics | None
    wall: Clock
    position: int
    clock: int


class Flow(Protocol):
    """Takes what has entered and sees to it that boxes run on it.

    With ``queues`` tuples wait between boxes. Without, they are run as they are put.
    """

    processor: Processor
    queues: bool

    def put(self, trains: Given, progress: Progress) -> None:
        """Tuples have entered, and with them everything up to ``progress.seq``."""

    def bare(self, streams: Collection[str]) -> Collection[str]:
        """Of streams whose tuples need no numbers, those that may come without just now."""

    def step(self) -> bool:
        """Runs some boxes; False when there is nothing to run."""

    def drain(self) -> None:
        """Runs boxes until everything that has entered has been taken by all of them."""

    def pass_time(self, progress: Progress) -> None:
        """Word without tuples, for all boxes, of a clock that moved on or of the end. All has been drained before."""

    def reading(self) -> Statistics | None:
        """Everything that is measured, as it is now; None where nobody asked for it to be."""

    def decisions(self) -> list[str]:
        """Why what ran lately was chosen, the latest last."""

    def close(self) -> None: ...


def run_whole(parts: Parts, processor: Processor, trains: Given, progress: Progress) -> None:
    """Runs all boxes one after the other, and delivers what comes out."""
    (result,) = processor.run([Execution(parts.typed.order, trains, progress)])
    for number, name in enumerate(parts.typed.order):
        note_cost(parts, number, result.costs[name], result.trains)
    parts.delivery.reject(result.rejected)
    for name, producer in parts.typed.outputs.items():
        train = result.trains.get(producer)
        if train is not None:
            parts.delivery.deliver(name, train)


def note_cost(parts: Parts, box: int, cost: BoxCost, trains: Trains) -> None:
    """Notes what a box did; ``trains`` has what came out of it, if it has several ports."""
    parts.statistics.boxes[parts.typed.order[box]].add(cost)
    if parts.measured is not None:
        name = parts.typed.order[box]
        ports = parts.typed.network.boxes[name].output_ports()
        out: int | list[int] = cost.tuples_out
        if len(ports) > 1:
            made = [trains.get(Producer(name, port)) for port in ports]
            out = [0 if train is None else len(train) for train in made]
        parts.measured.note_call(box, cost.tuples_in, out, cost.cost_s, parts.wall.now_us())


class AtOnce:
    """The whole network is one superbox, run on every train as it enters: the least work per tuple."""

    queues = False

    def __init__(self, parts: Parts) -> None:
        self.processor = parts.processor
        self._parts = parts

    def put(self, trains: Given, progress: Progress) -> None:
        run_whole(self._parts, self.processor, trains, progress)

    def bare(self, streams: Collection[str]) -> Collection[str]:
        return streams

    def step(self) -> bool:
        return False

    def drain(self) -> None:
        """Nothing waits."""

    def pass_time(self, progress: Progress) -> None:
        self.put({}, progress)

    def reading(self) -> Statistics | None:
        if self._parts.measured is None:
            return None
        with self._parts.delivery.lock:
            return self._parts.measured.read(self._parts.wall.now_us())

    def decisions(self) -> list[str]:
        return []

    def close(self) -> None:
        """Nothing is open."""


FlowMaker = Callable[[Parts], Flow]
