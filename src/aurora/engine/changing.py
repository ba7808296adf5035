"""A running engine gets another network: checked as a whole first, then drained where it has to be, then swapped.

What was enqueued before goes through the old network. Until the boxes that the change concerns have taken it, tuples
for them wait where they were enqueued; all else goes on. The swap itself is done while no box runs: the new flow gets
the kernels and queues of the boxes that stay.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from aurora.connectors.frames import Table, table_frame
from aurora.engine.intake import check_clock
from aurora.engine.modified import Modified, compare
from aurora.engine.modify import Plan, own_copy, plan_change
from aurora.engine.outputs import output_schemas
from aurora.engine.run import Run
from aurora.errors import AuroraError, InputError, NetworkError, Problem, Report, StateError
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.typed import TypedNetwork
from aurora.processors.plan import Modifiable

if TYPE_CHECKING:
    from aurora.engine.engine import Engine

_SLICE_S = 0.005
"""So long boxes are drained before somebody else gets a turn."""


def change(engine: Engine, network: Network, statics: Mapping[str, Table]) -> Modified:
    """Does it all. The caller sees to it that there is one change at a time."""
    new, given, plan, report = _prepared(engine, network, statics)
    if plan.quiet:
        engine._statics = given
        return replace(report, swap_s=_rename(engine, new))
    running = engine._check_started()
    if not isinstance(running.processor, Modifiable):
        raise StateError(
            f"the processor {running.processor.kind} cannot change its network; shut the engine down first"
        )
    processor = running.processor.modified(new, given, plan.kept)
    began_s = time.perf_counter()
    try:
        with engine._breakpoints.passed():
            running.flow.go_on(alone=engine._looping.paused)
            _take_in(engine, plan)
            swap_s, error = _drain_and_swap(engine, running, processor, new, given, plan)
    finally:
        engine._queued.release()
        engine._unbarred.set()
        engine._looping.wake()
    if error is not None:
        raise error
    return replace(report, drain_s=time.perf_counter() - began_s - swap_s, swap_s=swap_s)


def foresee(engine: Engine, network: Network) -> Modified:
    """What ``change`` would do, without doing it; the same refusals."""
    return _prepared(engine, network, {})[3]


# Before


def _prepared(
    engine: Engine, network: Network, statics: Mapping[str, Table]
) -> tuple[TypedNetwork, dict[str, pl.DataFrame], Plan, Modified]:
    """The new network, its static tables, and what is to be done; NetworkError if the engine cannot take it."""
    old = engine._typed
    new = typecheck(own_copy(network))
    tables, problems = _tables(new, statics)
    points = old.network.connection_points
    given = {
        name: engine._statics[name]
        for name, point in new.network.connection_points.items()
        if name in engine._statics and points[name].schema == point.schema
    } | tables
    problems += _refusals(engine, new, given)
    if problems:
        raise NetworkError(problems)
    plan = plan_change(old, new, list(tables))
    return new, given, plan, compare(old, new, plan)


def _tables(new: TypedNetwork, statics: Mapping[str, Table]) -> tuple[dict[str, pl.DataFrame], list[Problem]]:
    report = Report("network")
    tables = {}
    for name, table in statics.items():
        point = new.network.connection_points.get(name)
        here = report.at("connection_points", name, element=f"connection point {name}")
        if point is None or not point.dangling:
            here.add("unknown-point", f"there is no static connection point {name!r}", "leave its table out")
            continue
        try:
            tables[name] = table_frame(table, new.arcs[name].schema)
        except InputError as error:
            here.add("wrong-table", f"the table does not fit: {error}", "give a table with the point's columns")
    return tables, report.problems


def _refusals(engine: Engine, new: TypedNetwork, tables: Mapping[str, pl.DataFrame]) -> list[Problem]:
    """Why the engine cannot take the network, though it is a valid one."""
    old, network = engine._typed, new.network
    report = Report("network")
    if network.name != old.network.name:
        found = f"the network is called {network.name!r}, and {old.network.name!r} runs"
        report.at("network").add("other-network", found, "give both the same name")
    for name in engine._feeds:
        stream = network.streams.get(name)
        if stream is None or stream.schema != old.network.streams[name].schema:
            here = report.at("streams", name, element=f"stream {name}")
            here.add("stream-is-fed", "a streaming DataFrame feeds it as it is", "leave it, or shut the engine down")
    schemas = output_schemas(new)
    for name, schema in engine._outputs.schemas.items():
        if engine._outputs.is_published(name) and name in schemas and schemas[name] != schema:
            here = report.at("outputs", name, element=f"output {name}")
            here.add("output-is-published", "its log has the columns it has now", "give the new output another name")
    for name, point in network.connection_points.items():
        if point.dangling and name not in tables and any(arc.name == name for i in new.inputs.values() for arc in i):
            here = report.at("connection_points", name, element=f"connection point {name}")
            here.add("no-table", "it is static data, and there is none", "give its table with the new network")
    if engine._clock is not None:
        for name, stream in network.streams.items():
            try:
                check_clock({name: stream.schema}, engine._clock)
            except InputError as error:
                report.at("streams", name, element=f"stream {name}").add("no-clock", str(error), "give it that column")
    return report.problems


# The change


def _rename(engine: Engine, new: TypedNetwork) -> float:
    """Nothing that runs changes, only what people see of it."""
    began_s = time.perf_counter()
    if engine._recovery is None:
        engine._network, engine._typed = new.network, new
    else:
        with engine._exclusive():
            engine._network, engine._typed = new.network, new
            engine._workplace.modified(engine._recovery, new.network, engine._options)
            engine._check_started().commit()
    return time.perf_counter() - began_s


def _take_in(engine: Engine, plan: Plan) -> None:
    """What is enqueued by now is for the old network."""
    with engine._exclusive():
        running = engine._check_started()
        engine._unbarred.clear()
        wanted = running.taken + engine._queued.bar(plan.barred)
    while True:
        _check_going(engine)
        with engine._exclusive():
            if running.taken >= wanted or next(running.epochs(), None) is None:
                engine._queued.hold(plan.held)
                return


def _drain_and_swap(
    engine: Engine,
    running: Run,
    processor: Modifiable,
    new: TypedNetwork,
    statics: dict[str, pl.DataFrame],
    plan: Plan,
) -> tuple[float, AuroraError | None]:
    """How long the engine stood still, and what the processor failed with, if that left all as it was."""
    while True:
        _check_going(engine)
        with engine._exclusive():
            if not engine._looping.paused:
                # All else goes on meanwhile.
                running.turn()
            if not running.settle(plan.drained, _SLICE_S):
                continue
            began_s = time.perf_counter()
            if engine._recovery is not None:
                # A commit needs boxes between which nothing waits.
                running.drain()
            resumed = running.halt()
            try:
                processor.take_over(running.processor, plan.kept)
            except AuroraError as error:
                engine._go_on(running.typed, running.processor, running, resumed, _unchanged(running.typed))
                return time.perf_counter() - began_s, error
            engine._network, engine._typed, engine._statics = new.network, new, statics
            engine._outputs.follow(new)
            engine._queued.follow({name: new.arcs[name].schema for name in new.network.streams})
            engine._room.follow(list(new.network.streams))
            engine._go_on(new, processor, running, resumed, plan)
            if engine._recovery is not None:
                engine._workplace.modified(engine._recovery, new.network, engine._options)
                engine._check_started().commit()
            return time.perf_counter() - began_s, None


def _check_going(engine: Engine) -> None:
    if engine._stopping:
        raise StateError("the engine is being shut down, and its network was not modified")


def _unchanged(typed: TypedNetwork) -> Plan:
    return plan_change(typed, typed)
