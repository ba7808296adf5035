"""How tuples get from the inputs to the outputs: all boxes at once, or as the scheduler says."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from aurora.clock import Clock
from aurora.engine.delivery import Delivery
from aurora.engine.live_statistics import LiveStatistics, Queued
from aurora.engine.metrics import Statistics
from aurora.engine.pace import Pace
from aurora.engine.samples import Sample
from aurora.engine.statistics import RunStatistics
from aurora.model.train import Progress, Train
from aurora.model.typed import Consumer, Producer, TypedNetwork
from aurora.processors.plan import BoxCost, Execution, FileRows, Processor, Result
from aurora.processors.sieve import NO_DROPS, Drops, Shed, Sieve
from aurora.scheduler.standing import Standing, Thinned

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


class Recorder(Protocol):
    """Who notes what boxes take and make, while somebody steps through a network."""

    def entered(self, trains: Given) -> None:
        """Tuples were taken from streams."""

    def before(self, box: str) -> None:
        """The box is about to run."""

    def after(self, box: str, taken: Mapping[Producer, Train], made: Mapping[Producer, Train], cost: BoxCost) -> None:
        """It has run, and this is what came in and out, by arc."""


class Flow(Protocol):
    """Takes what has entered and sees to it that boxes run on it.

    With ``queues`` tuples wait between boxes. Where they ``wait`` at all, all that has come may be put; elsewhere
    they are run as they are. A flow that has ``stopped`` runs no box until ``go_on``.
    """

    processor: Processor
    queues: bool
    waits: bool
    recorder: Recorder | None

    @property
    def stopped(self) -> bool: ...

    @property
    def pace(self) -> Pace | None:
        """Where all boxes run as one step: how much steps get done."""

    def put(self, trains: Given, progress: Progress) -> None:
        """Tuples have entered, and with them everything up to ``progress.seq``."""

    def bare(self, streams: Collection[str]) -> Collection[str]:
        """Of streams whose tuples need no numbers, those that may come without just now."""

    def step(self, box: str | None = None, most: int | None = None) -> bool:
        """Runs some boxes; False when there is nothing to run.

        With ``most`` one box runs on about so many tuples. ``box`` names it, where there is a choice.
        """

    def hold(self) -> None:
        """From now on boxes run only for who calls; comes back when nothing runs for others."""

    def stop(self) -> None:
        """No box is begun any more; whatever thread calls. What would have run waits."""

    def go_on(self, *, alone: bool = False) -> None:
        """Ends ``stop`` and, unless boxes are to run only for who calls, ``hold``."""

    def drain(self) -> None:
        """Runs boxes until everything that has entered has been taken by all of them."""

    def pass_time(self, progress: Progress) -> None:
        """Word without tuples, for all boxes, of a clock that moved on or of the end. All has been drained before."""

    def reading(self) -> Statistics | None:
        """Everything that is measured, as it is now; None where nobody asked for it to be."""

    def sample(self) -> Sample | None:
        """What a history keeps of it; None where nobody asked for it to be measured."""

    def decisions(self) -> list[str]:
        """Why what ran lately was chosen, the latest last."""

    def standing(self) -> Standing | None:
        """A copy of what the scheduler sees just now; None where there is nothing to choose."""

    def drop(self, drops: Drops) -> None:
        """From now on this is dropped, and nothing else."""

    def waiting(self) -> dict[Consumer, int]:
        """How many tuples wait before each reader before which some do."""

    def settle(self, boxes: Collection[str], seconds: float) -> bool:
        """Runs these boxes, for about so long, on what has entered; whether they have taken all of it."""

    def undone(self, boxes: Collection[str]) -> list[str]:
        """Those of the boxes that have not taken all that entered."""

    def halt(self) -> None:
        """Comes back when nothing runs, and nothing will: the flow is taken over by another."""

    def take_over(self, old: Flow, kept: Mapping[str, str]) -> None:
        """What waits in a flow that was halted goes on here, for the boxes in ``kept``: by new names the old ones."""

    def close(self) -> None: ...


def run_whole(
    parts: Parts,
    processor: Processor,
    trains: Given,
    progress: Progress,
    drops: Drops,
    recorder: Recorder | None = None,
) -> float:
    """Runs all boxes one after the other, and delivers what comes out; how long boxes and drops worked."""
    execution = Execution(parts.typed.order, trains, progress, drops.sieves, drops.rules)
    (result,) = run_together(parts, processor, [execution], recorder)
    return work_of(result)


def run_together(
    parts: Parts,
    processor: Processor,
    plan: Sequence[Execution],
    recorder: Recorder | None = None,
    *,
    streams: bool = True,
) -> list[Result]:
    """Runs executions, and delivers what comes out.

    Without ``streams`` their tuples have been delivered and shown before.
    """
    taps, typed = parts.delivery.taps, parts.typed
    if taps or recorder is not None:
        shown = _made_by(typed, None if recorder is not None else taps)
        plan = [replace(one, shown=[arc for arc in shown if arc.name in one.boxes]) for one in plan]
    results = processor.run(plan)
    with parts.delivery.lock:
        for number, name in enumerate(typed.order):
            for result in results:
                if name in result.costs:
                    note_cost(parts, number, result)
        for execution, result in zip(plan, results, strict=True):
            if execution.sieves or execution.rules:
                note_shed(parts, result.shed, result.sieve_s)
    for execution, result in zip(plan, results, strict=True):
        parts.delivery.reject(result.rejected)
        made = {arc: train for arc, train in result.trains.items() if streams or arc.name in execution.boxes}
        if taps:
            parts.delivery.show({**(_opened(execution.trains, taps) if streams else {}), **made})
        if recorder is not None:
            _record(recorder, typed, execution, result)
        for name, producer in typed.outputs.items():
            if producer in made:
                parts.delivery.deliver(name, made[producer])
    return results


def work_of(result: Result) -> float:
    """How long boxes and drops worked."""
    return math.fsum(cost.cost_s for cost in result.costs.values()) + result.sieve_s


def thinned_readers(typed: TypedNetwork, sieves: Sequence[Sieve]) -> list[Thinned]:
    """The boxes that get less than there is, because something is dropped before them."""
    numbers = {name: number for number, name in enumerate(typed.order)}
    return [
        Thinned(numbers[reader.box], str(sieve.place), None if sieve.where is not None else sieve.keep)
        for sieve in sieves
        for reader in ([sieve.place.reader] if sieve.place.reader else typed.consumers(sieve.place.arc))
    ]


def _made_by(typed: TypedNetwork, wanted: Collection[Producer] | None) -> list[Producer]:
    """The arcs that boxes make, or those of them that are wanted."""
    arcs = [Producer(name, port) for name in typed.order for port in typed.network.boxes[name].output_ports()]
    return arcs if wanted is None else [arc for arc in arcs if arc in wanted]


def _opened(trains: Given, wanted: Collection[Producer]) -> dict[Producer, Train]:
    return {arc: t.open() if isinstance(t, FileRows) else t for arc, t in trains.items() if arc in wanted}


def _record(recorder: Recorder, typed: TypedNetwork, execution: Execution, result: Result) -> None:
    trains = {**_opened(execution.trains, execution.trains), **result.trains}
    for name in execution.boxes:
        taken = {arc: trains[arc] for arc in typed.inputs[name] if arc in trains}
        ports = [Producer(name, port) for port in typed.network.boxes[name].output_ports()]
        recorder.after(name, taken, {arc: trains[arc] for arc in ports if arc in trains}, result.costs[name])


def note_cost(parts: Parts, box: int, result: Result) -> None:
    """Notes what a box did; the caller holds the lock."""
    name = parts.typed.order[box]
    cost = result.costs[name]
    parts.statistics.boxes[name].add(cost)
    if parts.measured is not None:
        ports = parts.measured.ports[name]
        out: int | list[int] = cost.tuples_out
        if len(ports) > 1:
            out = [_made(Producer(name, port), result) for port in ports]
        parts.measured.note_call(box, cost.tuples_in, out, cost.cost_s, parts.wall.now_us())


def _made(arc: Producer, result: Result) -> int:
    """How many tuples a box put on an arc, those included that were dropped from it at once."""
    train = result.trains.get(arc)
    dropped = sum(tuples for (place, _), tuples in result.shed.items() if place == (arc, None))
    return dropped if train is None else dropped + len(train)


def note_shed(parts: Parts, shed: Shed, seconds: float) -> None:
    """Notes what was dropped, and how long that took; the caller holds the lock."""
    if parts.measured is not None and (seconds or shed):
        parts.measured.note_overhead("drops", seconds)
        for (place, reason), tuples in shed.items():
            parts.measured.note_shed(place, reason, tuples)


class AtOnce:
    """The whole network is one superbox, run on every train as it enters: the least work per tuple."""

    queues = False
    waits = False

    def __init__(self, parts: Parts) -> None:
        self.processor = parts.processor
        self._parts = parts
        self._drops = NO_DROPS
        self.recorder: Recorder | None = None
        self.stopped = False
        self.pace = None if parts.measured is None else Pace(parts.wall.now_us())
        self._tuple_s = 0.0
        self._running: tuple[float, Mapping[Producer, int]] | None = None

    def put(self, trains: Given, progress: Progress) -> None:
        if self.pace is None:
            run_whole(self._parts, self.processor, trains, progress, self._drops, self.recorder)
            return
        tuples = {arc: len(train) for arc, train in trains.items()}
        began_s = time.perf_counter()
        self._running = (began_s, tuples)
        self.pace.begin()
        work_s = run_whole(self._parts, self.processor, trains, progress, self._drops, self.recorder)
        self.pace.end(work_s, self._parts.wall.now_us())
        self._running = None
        if tuples:
            self._tuple_s = (time.perf_counter() - began_s) / sum(tuples.values())

    def bare(self, streams: Collection[str]) -> Collection[str]:
        # Which tuples are dropped goes by their numbers.
        return () if self._drops.sieves else streams

    def step(self, box: str | None = None, most: int | None = None) -> bool:
        return False

    def hold(self) -> None:
        """Boxes run only for who puts tuples."""

    def stop(self) -> None:
        self.stopped = True

    def go_on(self, *, alone: bool = False) -> None:
        self.stopped = False

    def drain(self) -> None:
        """Nothing waits."""

    def pass_time(self, progress: Progress) -> None:
        self.put({}, progress)

    def reading(self) -> Statistics | None:
        if self._parts.measured is None:
            return None
        with self._parts.delivery.lock:
            return self._parts.measured.read(self._parts.wall.now_us(), self._queues())

    def sample(self) -> Sample | None:
        if self._parts.measured is None:
            return None
        with self._parts.delivery.lock:
            return self._parts.measured.sample(self._parts.wall.now_us(), self._queues())

    def _queues(self) -> dict[Consumer, Queued]:
        """What waits here, before each reader before which something does."""
        return {}

    def decisions(self) -> list[str]:
        return []

    def standing(self) -> Standing | None:
        return None

    def drop(self, drops: Drops) -> None:
        self._drops = drops

    def waiting(self) -> dict[Consumer, int]:
        """What of a train has not been done yet, if the tuples take as long as those of the last one did."""
        if self._running is None:
            return {}
        began_s, tuples = self._running
        expected_s = self._tuple_s * sum(tuples.values())
        left = max(0.0, 1 - (time.perf_counter() - began_s) / expected_s) if expected_s else 1.0
        consumers = self._parts.typed.consumers
        return {reader: int(left * count) for arc, count in tuples.items() for reader in consumers(arc)}

    def settle(self, boxes: Collection[str], seconds: float) -> bool:
        return True

    def undone(self, boxes: Collection[str]) -> list[str]:
        return []

    def halt(self) -> None:
        """Nothing runs between steps."""

    def take_over(self, old: Flow, kept: Mapping[str, str]) -> None:
        assert isinstance(old, AtOnce)
        pace, self.pace, self._tuple_s = self.pace, old.pace, old._tuple_s
        if pace is not None and self.pace is not None:
            self.pace.long_s = pace.long_s

    def close(self) -> None:
        """Nothing is open."""


FlowMaker = Callable[[Parts], Flow]
