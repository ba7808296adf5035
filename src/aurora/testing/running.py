"""Running a network over rows in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from aurora.clock import Clock, ManualClock
from aurora.engine.run import DEFAULT_TRAIN, AtEnd, Run
from aurora.engine.statistics import RunStatistics
from aurora.model.check import typecheck
from aurora.model.document import loads
from aurora.model.network import Network
from aurora.processors.local import LocalProcessor
from aurora.testing.memory import ListSink, ListSource, Rows


@dataclass(frozen=True)
class RunResult:
    """What came out: a frame per output, and the statistics."""

    outputs: Mapping[str, pl.DataFrame]
    statistics: RunStatistics

    def rows(self, output: str) -> list[tuple[Any, ...]]:
        return self.outputs[output].rows()

    @property
    def late(self) -> dict[str, int]:
        return {name: box.late for name, box in self.statistics.boxes.items()}


def run_rows(
    network: Network | Mapping[str, Any] | str,
    inputs: Mapping[str, Rows],
    *,
    clock: str | None = None,
    train: int | None = None,
    at_end: AtEnd = "flush",
    snapshot_at: int | None = None,
    wall: Clock | None = None,
) -> RunResult:
    """Runs a network (a model, a document, or YAML text) over rows and gives back everything it put out.

    Without a clock column time stands still, at zero, unless ``wall`` is given. Rows for a dangling connection point are
    its data. With ``snapshot_at``, after so many trains every kernel's state is moved into a fresh kernel.
    """
    if isinstance(network, str):
        network = loads(network)
    elif not isinstance(network, Network):
        network = Network.from_document(dict(network))
    typed = typecheck(network)
    sources = {name: ListSource(inputs.get(name, []), typed.arcs[name].schema) for name in network.streams}
    tables = {
        name: ListSource(rows, typed.arcs[name].schema).frame
        for name, rows in inputs.items()
        if name not in network.streams
    }
    sinks = {name: ListSink(typed.arcs[producer].schema) for name, producer in typed.outputs.items()}
    wall = wall or ManualClock()
    run = Run(typed, sources, sinks, statics=tables, train=train or DEFAULT_TRAIN, clock=clock, wall=wall)
    for number, _ in enumerate(run.epochs(), start=1):
        if number == snapshot_at:
            states = run.processor.snapshot()
            run.processor = LocalProcessor(typed, tables)
            run.processor.restore(states)
    if at_end == "flush":
        run.flush()
    return RunResult({name: sink.frame for name, sink in sinks.items()}, run.statistics)
