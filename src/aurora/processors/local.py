"""The local processor: kernels in this process, no cluster needed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import polars as pl
import pyarrow as pa

from aurora.boxes.kernel import BaseKernel
from aurora.boxes.thinned import Rule
from aurora.errors import InputError, StateError, UserCodeError
from aurora.model.box import Kernel
from aurora.model.train import Emission, Progress, Train
from aurora.model.typed import Producer, TypedNetwork
from aurora.processors.allocation import keep_freed_memory
from aurora.processors.plan import BoxCost, Execution, FileRows, Result
from aurora.processors.poison import (
    EVALUATION_FAILURES,
    RejectedTuple,
    given,
    runs_user_code,
    sample,
    without_poison,
)
from aurora.processors.sieve import Sieving, Sifter
from aurora.storage.states import StateStore, state_name


@runtime_checkable
class Thinnable(Protocol):
    """A kernel that can drop by itself."""

    def thin(self, rule: Rule | None) -> None:
        """From now on the rule holds; None for none."""


class LocalProcessor:
    """Runs the kernels of one network, or of some of its boxes.

    ``statics`` holds the data of dangling connection points by name; checkpoints are kept in ``states``. With
    ``ranked`` the boxes get parts of streams that are split.
    """

    kind = "local"

    def __init__(
        self,
        typed: TypedNetwork,
        statics: Mapping[str, pl.DataFrame] | None = None,
        boxes: Sequence[str] | None = None,
        states: StateStore | None = None,
        *,
        ranked: bool = False,
    ) -> None:
        keep_freed_memory()
        self._typed = typed
        self._states = states
        self._run_id = uuid.uuid4().hex[:12]
        self._version = 0
        self._statics = statics or {}
        self._ranked = ranked
        self._rules: dict[str, Rule] = {}
        self._sieving = Sieving(typed)
        self._kernels = {name: self._fresh(name) for name in (typed.order if boxes is None else boxes)}
        self._guarded = {name for name in self._kernels if runs_user_code(typed.network.boxes[name])}

    def _fresh(self, name: str) -> Kernel:
        kernel = _kernel(self._typed, name, self._statics)
        if self._ranked:
            kernel.rank()
        if name in self._rules:
            _tell(kernel, self._rules[name])
        return kernel

    def run(self, plan: Sequence[Execution]) -> list[Result]:
        return [self._execute(execution) for execution in plan]

    def _execute(self, execution: Execution) -> Result:
        trains = {p: t.open() if isinstance(t, FileRows) else t for p, t in execution.trains.items()}
        costs: dict[str, BoxCost] = {}
        rejected: list[RejectedTuple] = []
        sifter = self._sifter(execution, trains)
        for name in execution.boxes:
            with _naming(name):
                inputs = {port: trains[p] for port, p in enumerate(self._typed.inputs[name]) if p in trains}
                if sifter is not None:
                    sifter.before(name, inputs)
                cost = costs[name] = self._run_box(name, inputs, trains, execution.progress, rejected)
                if sifter is None and cost.shed:
                    # Windows that were open under a rule end under it, also when it is gone.
                    sifter = Sifter(self._typed, None, trains)
                if sifter is not None:
                    sifter.behind(name, cost.shed)
        if sifter is None:
            return Result(trains, costs, rejected)
        return Result(trains, costs, rejected, sifter.tally, sifter.tally.seconds)

    def _sifter(self, execution: Execution, trains: dict[Producer, Train]) -> Sifter | None:
        """What drops tuples in an execution; None where nothing does, which should cost nothing."""
        if execution.rules or self._rules:
            for name in execution.boxes:
                self._obey(name, execution.rules.get(name))
        if not execution.sieves:
            return Sifter(self._typed, None, trains) if execution.rules else None
        # Several threads may run different boxes of a network.
        sieving = self._sieving = self._sieving.renewed(execution.sieves)
        sifter = Sifter(self._typed, sieving, trains)
        if not execution.sifted:
            sifter.enter(execution.boxes)
        return sifter

    def _obey(self, name: str, rule: Rule | None) -> None:
        if rule != self._rules.get(name):
            _tell(self._kernels[name], rule)
            if rule is None:
                del self._rules[name]
            else:
                self._rules[name] = rule

    def _run_box(
        self,
        name: str,
        inputs: dict[int, Train],
        trains: dict[Producer, Train],
        progress: Progress,
        rejected: list[RejectedTuple],
    ) -> BoxCost:
        cost = BoxCost()
        began = time.perf_counter()
        cost.tuples_in = sum(map(len, inputs.values()))
        cost.calls = len(inputs)
        run = self._run_guarded if name in self._guarded else self._run_trusted
        emissions, found = run(name, inputs, progress)
        cost.rejected += len(found)
        rejected += found
        self._collect(name, emissions, trains, cost)
        cost.tuples_in -= cost.shed
        cost.cost_s = time.perf_counter() - began
        return cost

    def _run_guarded(
        self, name: str, inputs: dict[int, Train], progress: Progress
    ) -> tuple[list[Emission], list[RejectedTuple]]:
        """Code of the operator's may fail on a tuple: then it is given each suspect alone, and goes on without it."""
        before = self._kernels[name].snapshot()
        try:
            return given(self._kernels[name], inputs, progress), []
        except UserCodeError as error:
            clean, rejected = without_poison(name, lambda: self._fresh(name), inputs, progress)
            if not rejected:
                # Every tuple passes by itself, so it is no tuple's fault.
                raise UserCodeError(f"{_plain(error)}{sample(inputs)}") from error
        self._kernels[name] = self._fresh(name)
        self._restore(name, before)
        return given(self._kernels[name], clean, progress), rejected

    def _run_trusted(
        self, name: str, inputs: dict[int, Train], progress: Progress
    ) -> tuple[list[Emission], list[RejectedTuple]]:
        """No state is taken beforehand, as none of the operator's code runs. If evaluation fails all the same, a box
        without state can go on without the tuples that it failed on."""
        kernel = self._kernels[name]
        try:
            return given(kernel, inputs, progress), []
        except EVALUATION_FAILURES:
            if not isinstance(kernel, BaseKernel) or kernel.state():
                raise
            clean, rejected = without_poison(name, lambda: self._fresh(name), inputs, progress)
            if not rejected:
                raise
        return given(kernel, clean, progress), rejected

    def _collect(self, name: str, emissions: Sequence[Emission], trains: dict[Producer, Train], cost: BoxCost) -> None:
        found: dict[str, list[Train]] = {}
        for emission in emissions:
            cost.late += emission.late
            cost.nulled += emission.nulled
            cost.rejected += emission.rejected
            cost.shed += emission.shed
            cost.estimated += emission.estimated
            cost.error += emission.error
            for port, train in emission.trains.items():
                if len(train):
                    found.setdefault(port, []).append(train)
        for port, parts in found.items():
            train = Train.concat(parts)
            cost.tuples_out += len(train)
            trains[Producer(name, port)] = train

    def modified(
        self, typed: TypedNetwork, statics: Mapping[str, pl.DataFrame], kept: Mapping[str, str]
    ) -> LocalProcessor:
        """One for another network, with fresh kernels for all boxes but those in ``kept``; see ``take_over``."""
        return LocalProcessor(typed, statics, [name for name in typed.order if name not in kept], self._states)

    def take_over(self, old: LocalProcessor, kept: Mapping[str, str]) -> None:
        """Goes on with kernels of another processor, which runs no more: ``kept`` has by new names the old ones."""
        kernels = self._kernels | {name: old._kernels[was] for name, was in kept.items()}
        self._kernels = {name: kernels[name] for name in self._typed.order}
        self._guarded = {name for name in self._kernels if runs_user_code(self._typed.network.boxes[name])}
        self._rules = {name: old._rules[was] for name, was in kept.items() if was in old._rules}

    def snapshot(self) -> dict[str, pa.Table]:
        """The state of every kernel."""
        states = {}
        for name, kernel in self._kernels.items():
            with _naming(name):
                states[name] = kernel.snapshot()
        return states

    def state_rows(self, name: str) -> dict[str, int]:
        """How many rows the parts of a box's state have, as far as its kernel tells."""
        kernel = self._kernels[name]
        return {part: rows.height for part, rows in kernel.state().items()} if isinstance(kernel, BaseKernel) else {}

    def restore(self, states: Mapping[str, pa.Table]) -> None:
        if states.keys() != self._kernels.keys():
            raise StateError(
                f"the snapshot is of the boxes {', '.join(states)}, but the network has {', '.join(self._kernels)}; "
                "restore it into the network that it was taken from"
            )
        for name, state in states.items():
            with _naming(name):
                self._restore(name, state)

    def _restore(self, name: str, state: pa.Table) -> None:
        kernel = self._kernels[name]
        kernel.restore(state)
        if isinstance(kernel, Thinnable):
            # A state has the rule that held when it was taken.
            kernel.thin(self._rules.get(name))

    def checkpoint(self) -> dict[str, Any]:
        if self._states is None:
            raise StateError("this processor has no place for checkpoints; give it one")
        self._version += 1
        name = state_name(f"local-{self._run_id}", 0, self._version)
        self._states.write(name, self.snapshot())
        return {"state": name}

    def resume(self, checkpoint: Mapping[str, Any]) -> None:
        if self._states is None:
            raise StateError("this processor has no place for checkpoints; give it one")
        self.restore(self._states.read(checkpoint["state"]))

    def forget(self, kept: Sequence[Mapping[str, Any]]) -> None:
        if self._states is not None:
            self._states.retain([checkpoint["state"] for checkpoint in kept])

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Says in errors of state and of the operator's code which box it was."""
    try:
        yield
    except (StateError, UserCodeError) as error:
        raise type(error)(f"in box {name}: {_plain(error)}") from error


def _tell(kernel: Kernel, rule: Rule | None) -> None:
    if isinstance(kernel, Thinnable):
        kernel.thin(rule)


def _plain(error: Exception) -> str:
    """Polars adds the expression to what a function raises inside it; people do not know that expression."""
    return str(error).partition("\n\nThis error occurred")[0]


def _kernel(typed: TypedNetwork, name: str, statics: Mapping[str, pl.DataFrame]) -> Kernel:
    types = typed.input_types(name)
    producers = typed.inputs[name]
    static = {port: producers[port].name for port, arc in enumerate(types) if arc.static}
    missing = [point for point in static.values() if point not in statics]
    if missing:
        raise InputError(f"box {name} needs the data of the connection point {', '.join(missing)}; give it a table")
    with _naming(name):
        return typed.network.boxes[name].kernel(types, {port: statics[point] for port, point in static.items()})
