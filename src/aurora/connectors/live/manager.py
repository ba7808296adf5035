"""Starts and stops the sources and sinks that a network declares, and knows how each of them is doing."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import TracebackType

import polars as pl

from aurora.clock import Clock, WallClock
from aurora.connectors.live.backoff import BackOff
from aurora.connectors.live.halt import Halt
from aurora.connectors.live.inlet import Inlet, Target
from aurora.connectors.live.making import Surroundings, make_sink, make_source
from aurora.connectors.live.outflow import Outflow
from aurora.connectors.live.rates import Rate, check_factor
from aurora.connectors.live.state import Meter, Status
from aurora.connectors.live.worker import Worker
from aurora.connectors.rejected import OnReject, Rejected
from aurora.connectors.sources.generator import Pace
from aurora.connectors.sources.http import HttpSource, Received
from aurora.errors import AuroraError, InputError, StateError, did_you_mean
from aurora.model.check import typecheck
from aurora.model.connectors import Connector, Sink, Source
from aurora.model.network import Network
from aurora.model.schema import Schema
from aurora.model.source_kinds import GeneratorSource

DRAIN_S = 5.0
_LOG = logging.getLogger("aurora.connectors")


@dataclass
class _Running:
    """One source or sink. ``thread`` is None before it has been started."""

    declared: Connector
    schema: Schema
    meter: Meter
    halt: Halt
    worker: Worker | None = None
    inlet: Inlet | None = None
    outflow: Outflow | None = None
    taking: Callable[[pl.DataFrame], None] | None = None
    """What the engine calls with what comes out, for a sink."""
    thread: threading.Thread | None = field(default=None)


class Feeds:
    """The sources and sinks of a network, against anything that has ``enqueue`` and ``subscribe``.

    Sinks start first and stop last, so that what sources bring is not missed. A failure of one is noted in its status,
    and goes no further. ``folder`` is where relative paths begin: by default that of the document, else the current
    one. ``confined`` is for documents of others (``Surroundings``). ``on_reject`` gets what was no tuple, in the
    threads of the sources.
    """

    def __init__(
        self,
        network: Network,
        target: Target,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        confined: bool = False,
        on_reject: OnReject | None = None,
    ) -> None:
        self._target = target
        self._clock = clock or WallClock()
        self._random = random or Random()
        self._on_reject = on_reject
        self._environment = os.environ if environment is None else environment
        self._given_folder = folder
        self._confined = confined
        self._network = network
        self._running: dict[tuple[str, str], _Running] = {}
        self._leaving: list[Worker] = []
        """Workers of sources that were stopped; they may still keep something until what they brought is safe."""
        self._lock = threading.RLock()
        self._started = False

    # Its life

    def start(self) -> None:
        with self._lock:
            if self._started:
                raise StateError("the sources and sinks have been started before; stop them first")
            self._started = True
            self._begin(self._network, set(self._declared(self._network)))

    def stop(self, *, drain_s: float = DRAIN_S) -> None:
        """Stops the sources, drains the engine, then stops the sinks; those may send for so long what they have."""
        with self._lock:
            self._end({key for key in self._running if key[0] == "sources"}, drain_s)
            if self._running:
                # What sources brought last is to reach the sinks.
                self._attempt("what was under way at the end did not all reach the sinks", self._target.drain)
            self._end(set(self._running), drain_s)
            self._release()
            self._started = False

    def stop_sources(self, *, wait_s: float = DRAIN_S) -> None:
        """Stops the sources alone; sinks go on until ``stop``, so that what is under way still reaches them."""
        with self._lock:
            self._end({key for key in self._running if key[0] == "sources"}, wait_s)

    def replace(self, network: Network, *, drain_s: float = DRAIN_S) -> None:
        """Goes on with another network: what it declares alike runs on undisturbed, the rest is stopped or started.

        Call it when the target knows the new streams and outputs.
        """
        with self._lock:
            before, after = self._declared(self._network), self._declared(network)
            changed = {key for key in before if after.get(key) != before[key]}
            if self._started:
                self._end(changed & self._running.keys(), drain_s)
                self._release()
                self._begin(network, {key for key in after if before.get(key) != after[key]})
            self._network = network

    def __enter__(self) -> Feeds:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # What it knows

    def statuses(self) -> list[Status]:
        """Of all sources, then of all sinks, in the order of the document."""
        with self._lock:
            running = sorted(self._running.items(), key=lambda entry: entry[0][0] == "sinks")
        return [one.meter.status() for _, one in running]

    def status(self, name: str) -> Status:
        """Of the source of this name, or the sink."""
        for status in self.statuses():
            if status.name == name:
                return status
        known = [status.name for status in self.statuses()]
        hint = did_you_mean(name, known)
        raise InputError(
            f"there is no source or sink {name!r} running; there are {', '.join(known) or 'none'}"
            + (f"; {hint}" if hint else "")
        )

    def rejections(self, source: str) -> list[Rejected]:
        """The latest of what a source brought and what was no tuple."""
        return list(self._source(source).meter.rejections)

    def receive(self, source: str, body: bytes) -> Received:
        """Hands a pushed body to a source of the kind ``http``, in the caller's thread.

        Raises InputError if there is no such source or the body is too long, StateError if it does not run.
        """
        running = self._source(source)
        worker = running.worker
        if worker is None or running.declared.kind != "http":
            raise InputError(f"the source {source!r} is of the kind {running.declared.kind}; push to one of kind http")
        if not isinstance(worker.source, HttpSource):
            raise StateError(f"the source {source!r} is not running; try again when it is")
        return worker.source.receive(body)

    # How fast

    def rates(self) -> list[Rate]:
        """Of all sources whose rate can be changed: those that make their tuples up."""
        with self._lock:
            running = list(self._running.values())
        return [
            Rate(one.declared.name, one.declared.into, Pace.of(one.declared).mean_per_s, one.inlet.factor)
            for one in running
            if isinstance(one.declared, GeneratorSource) and one.inlet is not None
        ]

    def set_factor(self, factor: float, source: str | None = None) -> None:
        """From now on a source, or every one that can, makes so many times the tuples per second that it declares."""
        check_factor(factor)
        changeable = [rate.source for rate in self.rates()]
        if source is not None and source not in changeable:
            kind = self._source(source).declared.kind
            raise InputError(f"the source {source!r} is of the kind {kind}, which sends at a pace of its own")
        if not changeable:
            raise InputError("no source of the network makes its tuples up, so there is no rate to change")
        for name in changeable if source is None else [source]:
            inlet = self._source(name).inlet
            assert inlet is not None
            inlet.factor = factor

    # Inside

    def _source(self, name: str) -> _Running:
        with self._lock:
            running = self._running.get(("sources", name))
            known = [key for section, key in self._running if section == "sources"]
        if running is None:
            hint = did_you_mean(name, known)
            raise InputError(
                f"there is no source {name!r} running; there are {', '.join(known) or 'none'}"
                + (f"; {hint}" if hint else "")
            )
        return running

    def _declared(self, network: Network) -> dict[tuple[str, str], tuple[Connector, Schema]]:
        """Every declaration with the schema of its stream or output; it is another if either changes."""
        typed = typecheck(network)
        sources: dict[tuple[str, str], tuple[Connector, Schema]] = {
            ("sources", name): (source, network.streams[source.into].schema) for name, source in network.sources.items()
        }
        return sources | {
            ("sinks", name): (sink, typed.arcs[typed.outputs[sink.output]].schema)
            for name, sink in network.sinks.items()
        }

    def _begin(self, network: Network, keys: set[tuple[str, str]]) -> None:
        around = self._surroundings(network)
        declared = self._declared(network)
        for key in sorted(keys, key=lambda key: (key[0] == "sources", list(declared).index(key))):
            connector, schema = declared[key]
            if isinstance(connector, Sink):
                self._running[key] = self._begin_sink(connector, schema, around)
            elif isinstance(connector, Source):
                self._running[key] = self._begin_source(connector, schema, around)

    def _surroundings(self, network: Network) -> Surroundings:
        file = network.places.file
        folder = self._given_folder or (Path(file).parent if file is not None else Path())
        return Surroundings(network.name, folder, self._environment, self._clock, self._confined)

    def _backoff(self, declared: Connector) -> BackOff:
        chance = Random(self._random.random())
        return BackOff(declared.retry.first.seconds, declared.retry.most.seconds, chance)

    def _begin_source(self, declared: Source, schema: Schema, around: Surroundings) -> _Running:
        meter = Meter(declared.name, "source", declared.kind, declared.into, self._clock)
        halt = Halt()
        inlet = Inlet(declared.into, self._target, meter, halt, self._clock, self._on_reject)
        worker = Worker(lambda: make_source(declared, schema, around), inlet, self._backoff(declared))
        return _Running(declared, schema, meter, halt, worker=worker, inlet=inlet, thread=worker.start())

    def _begin_sink(self, declared: Sink, schema: Schema, around: Surroundings) -> _Running:
        meter = Meter(declared.name, "sink", declared.kind, declared.output, self._clock)
        halt = Halt()
        outflow = Outflow(
            lambda: make_sink(declared, schema, around, meter, halt),
            meter,
            halt,
            self._backoff(declared),
            declared.queue,
            block=declared.when_full == "block",
        )
        thread = outflow.start()
        taking = _hand_to(outflow)
        self._target.subscribe(declared.output, taking)
        return _Running(declared, schema, meter, halt, outflow=outflow, taking=taking, thread=thread)

    def _end(self, keys: set[tuple[str, str]], drain_s: float) -> None:
        sources = [self._running[key] for key in keys if key[0] == "sources"]
        sinks = [self._running[key] for key in keys if key[0] == "sinks"]
        for running in sources:
            running.halt.stop()
        for running in sources:
            _join(running, drain_s)
            if running.worker is not None:
                self._leaving.append(running.worker)
        for running in sinks:
            self._unsubscribe(running)
            if running.outflow is not None:
                running.outflow.waiting.close()
        for running in sinks:
            _join(running, drain_s)
            running.halt.stop()
            _join(running, drain_s)
        for key in keys:
            del self._running[key]

    def _unsubscribe(self, running: _Running) -> None:
        """From now on what comes out is for others, or waits. The output may be gone, or the engine."""
        if isinstance(running.declared, Sink) and running.taking is not None:
            with suppress(AuroraError):
                self._target.unsubscribe(running.declared.output, running.taking)

    def _release(self) -> None:
        """Lets sources go that have been stopped. They then confirm to their senders what is safe."""
        if any(worker.keeps for worker in self._leaving):
            failure = "the last commit failed; senders will send again what was not confirmed"
            self._attempt(failure, self._target.drain, self._target.commit)
        for worker in self._leaving:
            worker.release()
        self._leaving.clear()

    def _attempt(self, failure: str, *steps: Callable[[], object]) -> None:
        """The last things asked of an engine. One that has stopped did them at its end; one that failed has said so."""
        try:
            for step in steps:
                step()
        except AuroraError:
            pass
        except Exception:
            _LOG.exception(failure)


def _join(running: _Running, wait_s: float) -> None:
    if running.thread is not None:
        running.thread.join(wait_s)


def _hand_to(outflow: Outflow) -> Callable[[pl.DataFrame], None]:
    """What the engine calls. A sink that has been stopped takes nothing more; its output may have other readers."""

    def take(frame: pl.DataFrame) -> None:
        if not outflow.waiting.closed:
            outflow.waiting.put(frame)

    return take
