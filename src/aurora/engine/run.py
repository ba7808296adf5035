"""A run over finite inputs: read, process, deliver, to the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np
import polars as pl

from aurora.clock import Clock, WallClock
from aurora.connectors.source import Sink, Source
from aurora.engine.intake import Epoch, by_arrival, by_column
from aurora.engine.statistics import InputStatistics, OutputStatistics, RunStatistics
from aurora.errors import InputError
from aurora.model.train import ARRIVAL, CLOCK, Ints, Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import BoxCost, Execution

AtEnd = Literal["flush", "hold"]
DEFAULT_TRAIN = 50_000


class Run:
    """One run of a network over its inputs. ``to_end`` runs it; ``epochs`` and ``flush`` do so step by step.

    ``clock`` names the column that drives time; without it time is that of ``wall``. What comes out goes to
    ``outputs``; an output without a sink is only counted.
    """

    def __init__(
        self,
        typed: TypedNetwork,
        inputs: Mapping[str, Source],
        outputs: Mapping[str, Sink],
        *,
        statics: Mapping[str, pl.DataFrame] | None = None,
        train: int = DEFAULT_TRAIN,
        clock: str | None = None,
        wall: Clock | None = None,
    ) -> None:
        if train < 1:
            raise InputError(f"a train of {train} tuples is not possible; give 1 or more")
        self._typed = typed
        self._statics = statics
        self._sinks = outputs
        self._column_clock = clock is not None
        self._wall = wall or WallClock()
        self._began_s = time.perf_counter()
        self._progress = Progress.standing(-1, 0)
        self._arcs = {name: Producer(name) for name in inputs}
        self.processor = LocalProcessor(typed, statics)
        self.statistics = RunStatistics(
            processor="local",
            train=train,
            boxes={name: BoxCost() for name in typed.order},
            inputs={name: InputStatistics() for name in inputs},
            outputs={name: OutputStatistics() for name in typed.outputs},
        )
        schemas = {name: typed.arcs[name].schema for name in inputs}
        bare = {name for name in inputs if not typed.asked_for_hidden(name)}
        if clock is None:
            self._intake = by_arrival(inputs, train, self._wall, bare)
        else:
            self._intake = by_column(inputs, schemas, clock, train, bare)

    def to_end(self, at_end: AtEnd = "flush", on_epoch: Callable[[RunStatistics], None] | None = None) -> RunStatistics:
        """Takes everything that the inputs have. What ``on_epoch``, called after every train, raises ends the run."""
        for statistics in self.epochs():
            if on_epoch is not None:
                on_epoch(statistics)
        if at_end == "flush":
            self.flush()
        return self.statistics

    def epochs(self) -> Iterator[RunStatistics]:
        """Takes a train at a time."""
        for epoch in self._intake:
            self._take(epoch)
            yield self.statistics

    def _take(self, epoch: Epoch) -> None:
        self._progress = epoch.progress
        for name, train in epoch.trains.items():
            self.statistics.inputs[name].tuples += len(train)
        self._execute({self._arcs[name]: train for name, train in epoch.trains.items()}, epoch.progress)

    def move_state(self) -> None:
        """Moves the state of every kernel into a fresh one, as a restart does."""
        states = self.processor.snapshot()
        self.processor = LocalProcessor(self._typed, self._statics)
        self.processor.restore(states)

    def flush(self) -> None:
        """Closes open value windows and empties sort buffers, box after box."""
        self._execute({}, Progress.standing(self._progress.seq, self._progress.clock, end=True))

    def _execute(self, trains: Mapping[Producer, Train], progress: Progress) -> None:
        (result,) = self.processor.run([Execution(self._typed.order, trains, progress)])
        for name, cost in result.costs.items():
            self.statistics.boxes[name].add(cost)
        for name, producer in self._typed.outputs.items():
            train = result.trains.get(producer)
            if train is not None:
                self._deliver(name, train)
        self.statistics.wall_s = time.perf_counter() - self._began_s

    def _deliver(self, name: str, train: Train) -> None:
        output = self.statistics.outputs[name]
        output.tuples += len(train)
        output.latencies.note(self._latencies_us(train), len(train))
        if name in self._sinks:
            self._sinks[name].write(train.visible)

    def _latencies_us(self, train: Train) -> Ints:
        """The latency of every tuple, or one for all. On a column's clock it is how far that moved meanwhile."""
        if train.arrival_us is not None:
            return np.array([0 if self._column_clock else self._wall.now_us() - train.arrival_us])
        delivered = train.hidden(CLOCK) if self._column_clock else np.int64(self._wall.now_us())
        latencies: Ints = delivered - train.hidden(ARRIVAL)
        return latencies
