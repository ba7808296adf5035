"""The local processor: kernels in this process, no cluster needed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl
import pyarrow as pa

from aurora.errors import UserCodeError
from aurora.model.box import Kernel
from aurora.model.train import Emission, Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.plan import BoxCost, Execution, Result


class LocalProcessor:
    """Runs the kernels of one network. ``statics`` holds the data of dangling connection points by name."""

    def __init__(self, typed: TypedNetwork, statics: Mapping[str, pl.DataFrame] | None = None) -> None:
        self._typed = typed
        self._kernels = {name: _kernel(typed, name, statics or {}) for name in typed.order}

    def run(self, plan: Sequence[Execution]) -> list[Result]:
        return [self._execute(execution) for execution in plan]

    def _execute(self, execution: Execution) -> Result:
        trains = dict(execution.trains)
        costs: dict[str, BoxCost] = {}
        for name in execution.boxes:
            try:
                costs[name] = self._run_box(name, trains, execution.progress)
            except UserCodeError as error:
                raise UserCodeError(f"in box {name}: {error}") from error
        return Result(trains, costs)

    def _run_box(self, name: str, trains: dict[Producer, Train], progress: Progress) -> BoxCost:
        kernel, cost = self._kernels[name], BoxCost()
        began = time.perf_counter()
        emissions: list[Emission] = []
        for port, producer in enumerate(self._typed.inputs[name]):
            train = trains.get(producer)
            if train is not None:
                cost.tuples_in += len(train)
                cost.calls += 1
                emissions.append(kernel.process(port, train))
        if progress.end:
            # What upstream boxes flushed is taken in like any train before the box itself is flushed.
            emissions.append(kernel.advance(replace(progress, end=False)))
        emissions.append(kernel.advance(progress))
        self._collect(name, emissions, trains, cost)
        cost.cost_s = time.perf_counter() - began
        return cost

    def _collect(self, name: str, emissions: Sequence[Emission], trains: dict[Producer, Train], cost: BoxCost) -> None:
        found: dict[str, list[Train]] = {}
        for emission in emissions:
            cost.late += emission.late
            cost.nulled += emission.nulled
            cost.rejected += emission.rejected
            for port, train in emission.trains.items():
                if len(train):
                    found.setdefault(port, []).append(train)
        for port, parts in found.items():
            train = Train.concat(parts)
            cost.tuples_out += len(train)
            trains[Producer(name, port)] = train

    def snapshot(self) -> dict[str, pa.Table]:
        """The state of every kernel."""
        return {name: kernel.snapshot() for name, kernel in self._kernels.items()}

    def restore(self, states: Mapping[str, pa.Table]) -> None:
        for name, state in states.items():
            self._kernels[name].restore(state)


def _kernel(typed: TypedNetwork, name: str, statics: Mapping[str, pl.DataFrame]) -> Kernel:
    types = typed.input_types(name)
    producers = typed.inputs[name]
    own = {port: statics[producers[port].name] for port, arc in enumerate(types) if arc.static}
    return typed.network.boxes[name].kernel(types, own)
