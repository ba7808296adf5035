"""A run over finite inputs: read, process, deliver, to the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import polars as pl

from aurora.clock import Clock, WallClock
from aurora.connectors.slices import FileSlices
from aurora.connectors.source import Sink
from aurora.engine.delivery import Delivery, Watcher
from aurora.engine.enqueued import Enqueued
from aurora.engine.flow import AtOnce, Flow, FlowMaker, Parts
from aurora.engine.intake import Epoch, Input, Position, by_arrival, by_column
from aurora.engine.live_statistics import LiveStatistics
from aurora.engine.metrics import Statistics
from aurora.engine.recovery import Committed, Recovery, Stage
from aurora.engine.samples import Sample
from aurora.engine.shedder import LoadShedder, ShedderMaker
from aurora.engine.statistics import InputStatistics, OutputStatistics, RunStatistics
from aurora.errors import InputError
from aurora.model.train import Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import BoxCost, Processor
from aurora.scheduler.standing import Standing
from aurora.scheduler.trains import FixedTrain, GrowingTrain, TrainSize

AtEnd = Literal["flush", "hold"]
DEFAULT_TRAIN = 50_000
LONGEST_TRAIN = 8_000_000
STEP_S = 0.5
"""Where a step costs something whatever it carries, trains grow until a step takes about as long as this."""


def train_size(train: int | None, processor: Processor, *, pulled: bool = False) -> TrainSize:
    """The size that was asked for, else the one that suits the processor.

    Where workers read the inputs themselves nobody waits for the first answer, so trains are long from the start.
    """
    if train is not None:
        if train < 1:
            raise InputError(f"a train of {train} tuples is not possible; give 1 or more")
        return FixedTrain(train)
    if isinstance(processor, LocalProcessor):
        return FixedTrain(DEFAULT_TRAIN)
    return GrowingTrain(DEFAULT_TRAIN, LONGEST_TRAIN, seconds=STEP_S, start=LONGEST_TRAIN if pulled else None)


class Run:
    """One run of a network over its inputs. ``to_end`` runs it; ``epochs`` and ``flush`` do so step by step.

    Sources are read to their end; of what is enqueued ``epochs`` takes what there is, and may be called again.
    ``clock`` names the column that drives time; without it time is that of ``wall``. What comes out goes to
    ``outputs``; an output without a sink is only counted. So are tuples that a box rejects, if there is no sink
    ``BOX.rejected``. With ``recovery`` the run commits how far it has come, and
    goes on from ``resumed``, to which processor, sources and sinks have been brought; if that was ``finished`` nothing
    is left to do. With ``shedder`` tuples are dropped when more are enqueued than can be processed.
    """

    def __init__(
        self,
        typed: TypedNetwork,
        inputs: Mapping[str, Input] | Enqueued,
        outputs: Mapping[str, Sink],
        *,
        statics: Mapping[str, pl.DataFrame] | None = None,
        train: int | None = None,
        clock: str | None = None,
        wall: Clock | None = None,
        processor: Processor | None = None,
        recovery: Recovery | None = None,
        resumed: Committed | None = None,
        flow: FlowMaker = AtOnce,
        capacity: float = 1.0,
        shedder: ShedderMaker | None = None,
        at_end: AtEnd = "hold",
    ) -> None:
        self._typed = typed
        self._statics = statics
        self._sinks = outputs
        self._column_clock = clock is not None
        self.waits_for_time = any(typed.network.boxes[name].keeps_time() for name in typed.order)
        """Whether some box may have something to say without a tuple."""
        self._wall = wall or WallClock()
        self._began_s = time.perf_counter()
        streams = list(inputs.schemas if isinstance(inputs, Enqueued) else inputs)
        self._arcs = {name: Producer(name) for name in streams}
        self.processor = processor or LocalProcessor(typed, statics)
        pulled = not isinstance(inputs, Enqueued) and all(isinstance(i, FileSlices) for i in inputs.values())
        self._size = train_size(train, self.processor, pulled=pulled)
        self.statistics = RunStatistics(
            processor=self.processor.kind,
            train=self._size.most,
            boxes={name: BoxCost() for name in typed.order},
            inputs={name: InputStatistics() for name in streams},
            outputs={name: OutputStatistics() for name in typed.outputs},
        )
        self._recovery = recovery
        self._lengths: dict[str, int] = {}
        self._position = Position() if resumed is None else resumed.position
        self._feeds = {} if resumed is None else dict(resumed.feeds)
        self._in_batch = self._stepwise = False
        self._flushed = resumed is not None and resumed.stage != "running"
        self.finished = resumed is not None and resumed.stage == "finished"
        self._progress = Progress.standing(self._position.seq - 1, self._position.clock if resumed else 0)
        if resumed is not None:
            self.statistics.restore(resumed.statistics)
        self._earlier_s = self.statistics.wall_s
        self._queue = inputs if isinstance(inputs, Enqueued) else None
        self._at_end = at_end
        self.measured: LiveStatistics | None = None
        if self._queue is not None or flow is not AtOnce:
            self.measured = LiveStatistics(typed, self.statistics, self._wall.now_us())
            self.measured.capacity = capacity
        watchers: list[Watcher] = [self.statistics, *([] if self.measured is None else [self.measured])]
        self.delivery = self._delivery = Delivery(outputs, self._wall, watchers, column_clock=self._column_clock)
        seq, at = self._progress.seq, self._progress.clock
        parts = Parts(typed, self.processor, self._delivery, self.statistics, self.measured, self._wall, seq, at)
        self._flow = flow(parts)
        self._busy_s = 0.0
        self._turn_began_s: float | None = None
        self._shedder: LoadShedder | None = None
        if shedder is not None and self._queue is not None:
            self._shedder = shedder(parts, self._flow, self._queue)
        self._rows: dict[str, int] = {}
        if pulled and not isinstance(inputs, Enqueued) and not self._flow.queues:
            self._rows = {name: some.rows for name, some in inputs.items() if isinstance(some, FileSlices)}
        bare = {name for name in streams if not typed.asked_for_hidden(name)}
        self._intake: Callable[[], Iterator[Epoch]]
        if isinstance(inputs, Enqueued):
            queue = inputs
            runs = self._flow.queues
            self._intake = lambda: queue.epochs(self._size, self._flow.bare(bare), self._position, runs=runs)
            return
        if clock is None:
            epochs = by_arrival(inputs, self._size, self._wall, self._flow.bare(bare), self._position)
        else:
            schemas = {name: typed.arcs[name].schema for name in streams}
            epochs = by_column(inputs, schemas, clock, self._size, self._flow.bare(bare), self._position)
        self._intake = lambda: epochs

    def to_end(self, at_end: AtEnd = "flush", on_epoch: Callable[[RunStatistics], None] | None = None) -> RunStatistics:
        """Takes everything that the inputs have. What ``on_epoch``, called after every train, raises ends the run."""
        self._at_end = at_end
        for statistics in self.epochs():
            if on_epoch is not None:
                on_epoch(statistics)
        if at_end == "flush":
            self.flush()
        return self.statistics

    def _is_last(self, position: Position) -> bool:
        """Whether the inputs are known to end there."""
        return bool(self._rows) and all(position.read.get(name, 0) == rows for name, rows in self._rows.items())

    def epochs(self) -> Iterator[RunStatistics]:
        """Takes a train at a time."""
        if self._flushed:
            return
        for epoch in self._intake():
            self._take(epoch)
            yield self.statistics

    def _take(self, epoch: Epoch) -> None:
        self._progress = epoch.progress
        began_s = time.perf_counter()
        tuples = 0
        for name, train in epoch.trains.items():
            self.statistics.inputs[name].tuples += len(train)
            if self.measured is not None:
                with self._delivery.lock:
                    self.measured.note_arrival(name, len(train), self._wall.now_us())
            if self._shedder is not None:
                self._shedder.note_arrival(name, train)
            tuples += len(train)
        position = self._position.after(epoch)
        # The end is told with the last train where it is known to be the last: a step less, which on Spark costs.
        end = self._at_end == "flush" and self._is_last(position)
        progress = replace(epoch.progress, end=True) if end else epoch.progress
        self._flow.put({self._arcs[name]: train for name, train in epoch.trains.items()}, progress)
        if self._queue is None:
            self._flow.drain()
        self._elapsed()
        self._position = position
        self._flushed = end
        self._size.note(tuples, time.perf_counter() - began_s)
        if self._flow.recorder is not None:
            self._flow.recorder.entered({self._arcs[name]: train for name, train in epoch.trains.items()})
        if self._recovery is not None and self._recovery.due and not self._in_batch and not self._stepwise:
            self.commit()

    @contextmanager
    def stepwise(self) -> Iterator[None]:
        """Inside, nothing is committed on the way: a commit lets all boxes run."""
        self._stepwise = True
        try:
            yield
        finally:
            self._stepwise = False

    def inject(self, arc: Producer, frame: pl.DataFrame, *, move_clock: bool) -> None:
        """Puts tuples on an arc as if its box had made them just now, each of a tuple of its own.

        The boxes upstream must have taken all that entered. None of them may wait for time if the clock is to move.
        """
        assert self._queue is not None
        now_us = self._queue.tick_us() if move_clock and not self._column_clock else None
        clock = self._progress.clock if now_us is None else max(self._progress.clock, now_us)
        first, last = self._position.seq, self._position.seq + frame.height - 1
        clocks = np.full(frame.height, clock)
        arrivals = clocks if self._column_clock else np.full(frame.height, self._wall.now_us())
        self._progress = Progress(last, clock, first, clocks)
        self._flow.put({arc: Train.of(frame, 2 * np.arange(first, last + 1) + 1, clocks, arrivals)}, self._progress)
        self._position = replace(self._position, seq=last + 1, clock=clock)

    def turn(self, box: str | None = None, tuples: int | None = None) -> bool:
        """Takes what waits, if anything does, and lets some boxes run; False if there was nothing to do.

        With ``tuples`` one box runs on about so many, which ``box`` may name; where all boxes run at once, so many are
        taken. If somebody who looks on stops the flow, nothing more is done.
        """
        began_s = self._turn_began_s = time.perf_counter()
        # What has come in since is left for the next turn, so that boxes get theirs.
        whole = self._queue is not None and self._flow.waits and (tuples is None or self._flow.queues)
        wanted = len(self._queue) if whole and self._queue is not None else 1
        before = self._position.seq
        usual = self._size
        if tuples is not None and not self._flow.queues:
            self._size = FixedTrain(tuples)
        while self._position.seq - before < wanted and next(self.epochs(), None) is not None:
            if self._flow.stopped:
                break
        self._size = usual
        worked = self._position.seq > before
        if not self._flow.stopped:
            worked = self._flow.step(box, tuples) or worked
        self._turn_began_s = None
        if worked:
            self._busy_s += time.perf_counter() - began_s
        self.look()
        return worked

    @property
    def has_plenty(self) -> bool:
        """Whether what waits to be taken fills a train."""
        return self._queue is not None and len(self._queue) >= self._size.now()

    def look(self) -> None:
        """Sees whether there is too much to do, if it is time to. Any thread may ask, also while boxes run."""
        if self._shedder is not None:
            self._shedder.look(self._busy)

    def _busy(self) -> float:
        """For how long the engine has been at work."""
        began_s = self._turn_began_s
        return self._busy_s + (0.0 if began_s is None else time.perf_counter() - began_s)

    def drain(self) -> None:
        """Takes all that waits, and lets boxes run until nothing does, or somebody who looks on stops the flow."""
        if self._flow.stopped:
            return
        for _ in self.epochs():
            if self._flow.stopped:
                return
        self._flow.drain()

    @property
    def flow(self) -> Flow:
        return self._flow

    @property
    def in_batch(self) -> bool:
        """Whether what is done just now must be done as a whole."""
        return self._in_batch and self._recovery is not None

    def reading(self) -> Statistics:
        """Everything that is measured of an engine at work."""
        reading = self._flow.reading()
        assert reading is not None
        return reading

    def sample(self) -> Sample:
        """What a history keeps of it."""
        sample = self._flow.sample()
        assert sample is not None
        return sample

    def standing(self) -> Standing | None:
        """What the scheduler sees just now; None where it has no choice."""
        return self._flow.standing()

    def decisions(self) -> list[str]:
        """Why what ran lately was chosen, the latest last; and behind that why tuples were dropped."""
        return self._flow.decisions() + ([] if self._shedder is None else self._shedder.decisions())

    @property
    def sheds(self) -> bool:
        """Whether the load shedder drops something just now."""
        return self._shedder is not None and self._shedder.active

    @property
    def drops(self) -> list[dict[str, Any]]:
        """What the load shedder drops just now."""
        return [] if self._shedder is None else self._shedder.drops()

    def shed(self, stream: str, tuples: int) -> None:
        """Tuples of an input were not let in, because there was no room for them."""
        assert self.measured is not None
        with self._delivery.lock:
            self.measured.note_shed(stream, "no room", tuples)

    def last_batch(self, stream: str, feeder: str) -> int:
        """The number of the last batch of a stream that was taken from a feeder; -1 before the first."""
        known, number = self._feeds.get(stream, ("", -1))
        return number if known == feeder else -1

    @contextmanager
    def batch(self, stream: str, feeder: str, number: int) -> Iterator[None]:
        """What is taken inside is committed together with the batch's number, or not at all.

        So with state it is run as a whole, and stops at no break-point before the end.
        """
        self._in_batch = True
        if self.in_batch and self._flow.stopped:
            self._flow.go_on(alone=True)
        try:
            yield
            self._feeds[stream] = (feeder, number)
            self.commit()
        finally:
            self._in_batch = False

    def tick(self) -> None:
        """Lets time pass without a tuple, where the wall drives it and some box waits for time."""
        if self._flushed or self._column_clock or not self.waits_for_time:
            return
        now_us = self._wall.now_us() if self._queue is None else self._queue.tick_us()
        if now_us is not None and now_us > self._progress.clock:
            seq = self._progress.seq
            self._progress = Progress(seq, now_us, seq + 1, np.array([now_us]))
            self._position = replace(self._position, clock=now_us)
            self._flow.pass_time(self._progress)
            self._elapsed()

    def move_state(self) -> None:
        """Moves the state of every kernel into a fresh one, as a restart does."""
        if isinstance(self.processor, LocalProcessor):
            states = self.processor.snapshot()
            self.processor = self._flow.processor = LocalProcessor(self._typed, self._statics)
            self.processor.restore(states)

    def flush(self) -> None:
        """Closes open value windows and empties sort buffers, box after box."""
        if not self._flushed:
            self._flow.drain()
            if self._flow.stopped:
                return
            self._flow.pass_time(Progress.standing(self._progress.seq, self._progress.clock, end=True))
            self._elapsed()
            self._flushed = True

    def close(self) -> None:
        """Lets go of what waits between boxes."""
        self._flow.close()

    # The network changes

    @property
    def typed(self) -> TypedNetwork:
        return self._typed

    @property
    def ended(self) -> bool:
        """Whether the end of the input has been told."""
        return self._flushed

    @property
    def taken(self) -> int:
        """How many tuples have been taken."""
        return self._position.seq

    def settle(self, boxes: Collection[str], seconds: float) -> bool:
        """Runs these boxes, for about so long, on what was taken; whether they are done with it."""
        return self._flow.settle(boxes, seconds)

    def halt(self) -> Committed:
        """Runs nothing any more. Gives what another run goes on from, which then takes over."""
        if self._shedder is not None:
            self._shedder.close()
            self._shedder = None
        self._flow.halt()
        self._elapsed()
        stage: Stage = "flushed" if self._flushed else "running"
        return Committed(self._position, {}, {}, self.statistics.to_commit(), stage, dict(self._feeds))

    def take_over(self, old: Run, kept: Mapping[str, str], arcs: Mapping[Producer, Producer]) -> None:
        """Goes on from a run of another network that was halted: with boxes and arcs, by new names the old ones."""
        self._flow.take_over(old._flow, kept)
        self._delivery.take_over(old._delivery, arcs)
        if self.measured is not None and old.measured is not None:
            self.measured.take_over(old.measured, kept, arcs)

    def commit(self, stage: Stage | None = None) -> None:
        """Makes this the point from which a later run goes on."""
        stage = stage or ("flushed" if self._flushed else "running")
        if self._recovery is not None:
            self._flow.drain()
            if self._flow.stopped:
                # Something waits between boxes. The next commit that is due takes its place.
                return
            if stage != "finished":
                self._lengths = {name: sink.position(durable=True) for name, sink in self._sinks.items()}
            statistics = self.statistics.to_commit()
            state = self.processor.checkpoint()
            committed = Committed(
                self._position, self._lengths, state, statistics, stage, dict(self._feeds), self.drops
            )
            self._recovery.commit(committed, self.processor)
            self.finished = stage == "finished"

    def _elapsed(self) -> None:
        self.statistics.wall_s = self._earlier_s + time.perf_counter() - self._began_s
