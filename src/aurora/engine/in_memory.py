"""Runs over tables in memory: what a Python program calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from aurora.clock import Clock
from aurora.connectors.frames import FrameSink, FrameSource, Table, table_frame
from aurora.engine.run import AtEnd, Run
from aurora.engine.statistics import RunStatistics
from aurora.errors import InputError
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.typed import TypedNetwork
from aurora.processors.plan import Processor

ProcessorMaker = Callable[[TypedNetwork, Mapping[str, pl.DataFrame]], Processor]


@dataclass(frozen=True)
class RunResult:
    """What came out of a run: a frame per output, and the statistics."""

    outputs: Mapping[str, pl.DataFrame]
    statistics: RunStatistics

    def rows(self, output: str) -> list[tuple[Any, ...]]:
        """The output's tuples."""
        if output not in self.outputs:
            raise InputError(f"there is no output {output!r}; there is {', '.join(self.outputs)}")
        return self.outputs[output].rows()

    @property
    def late(self) -> dict[str, int]:
        """How many tuples each box discarded because they came out of order."""
        return {name: box.late for name, box in self.statistics.boxes.items()}


def run(
    network: Network,
    inputs: Mapping[str, Table],
    *,
    clock: str | None = None,
    train: int | None = None,
    at_end: AtEnd = "flush",
    wall: Clock | None = None,
    on_epoch: Callable[[Run], None] | None = None,
    processor: ProcessorMaker | None = None,
) -> RunResult:
    """Runs a network over tables to their end and gives back what every output delivered.

    ``clock`` names the column that drives time; the result then depends on the tables alone. A table for a dangling
    connection point is its data. ``on_epoch`` is called after every train with the run so far. ``processor`` makes what
    the boxes run on; without it they run in this process.
    """
    typed = typecheck(network)
    points = [name for name, point in network.connection_points.items() if point.dangling]
    unknown = [name for name in inputs if name not in network.streams and name not in points]
    if unknown:
        known = ", ".join([*network.streams, *points])
        raise InputError(f"the network has no stream or static data {', '.join(unknown)}; it has {known}")
    sources = {name: FrameSource(inputs.get(name, []), typed.arcs[name].schema) for name in network.streams}
    statics = {name: table_frame(table, typed.arcs[name].schema) for name, table in inputs.items() if name in points}
    sinks = {name: FrameSink(typed.arcs[producer].schema) for name, producer in typed.outputs.items()}
    made = None if processor is None else processor(typed, statics)
    running = Run(typed, sources, sinks, statics=statics, train=train, clock=clock, wall=wall, processor=made)
    try:
        running.to_end(at_end, None if on_epoch is None else lambda _: on_epoch(running))
    finally:
        running.processor.close()
    return RunResult({name: sink.frame for name, sink in sinks.items()}, running.statistics)
