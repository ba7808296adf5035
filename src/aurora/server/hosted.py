"""One network on the server: its engine, and who reads its arcs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

import polars as pl

from aurora.clock import WallClock
from aurora.connectors.frames import Table, table_frame
from aurora.connectors.live.manager import Feeds
from aurora.connectors.live.rates import Rate
from aurora.connectors.live.state import Status
from aurora.connectors.sources.http import Received
from aurora.engine.delivery import rejected_by
from aurora.engine.engine import Engine
from aurora.engine.metrics import Statistics
from aurora.engine.workplace import fingerprint
from aurora.errors import AuroraError, InputError, StateError, did_you_mean
from aurora.model.check import typecheck
from aurora.model.network import Network
from aurora.model.schema import Schema
from aurora.model.typed import TypedNetwork
from aurora.processors.poison import REJECTED, runs_user_code
from aurora.server.debugging import Debugging
from aurora.server.events import Events
from aurora.server.fanout import Fanout, Subscription, WhenBehind
from aurora.server.feeding import check_changed, check_feeds, make_feeds
from aurora.server.history import History
from aurora.server.picture import RememberedPicture
from aurora.server.settings import EngineSettings, Limits

_LONGEST_NAME = 200

Stage = Literal["running", "paused", "stopped", "failed"]


class UnknownNameError(InputError):
    """There is nothing of that name."""


def unknown(what: str, name: str, legal: list[str]) -> UnknownNameError:
    hint = did_you_mean(name, legal)
    there = ", ".join(legal) or "none"
    return UnknownNameError(f"there is no {what} {name!r}; there is {there}" + (f"; {hint}" if hint else ""))


class Hosted:
    """A network with an engine that can be stopped and started again. Methods may be called from any thread."""

    def __init__(self, network: Network, settings: EngineSettings, limits: Limits, *, own: bool = False) -> None:
        """``own`` says that the network is the operator's, not a client's."""
        self._settings = settings
        self._limits = limits
        if len(network.name.encode()) > _LONGEST_NAME:
            # It becomes the name of a folder.
            raise InputError(f"the network's name is longer than {_LONGEST_NAME} bytes; give it a shorter one")
        self._own = own
        self.picture = RememberedPicture()
        self.history = History()
        self.events = Events(WallClock())
        self.debugging = Debugging(self)
        self._typed = typecheck(network)
        self.revision = fingerprint(network)
        """Another one after every change; who changes something can say which one he knows."""
        check_feeds(network, own=own, files=settings.files)
        self._engine: Engine | None = None
        self._feeds: Feeds | None = None
        self._fanouts: dict[str, Fanout] = {}
        self._taps: dict[Fanout, Engine] = {}
        """Who looks at arcs inside the network, each alone, and the engine in which it does."""
        self._stage: Stage = "stopped"
        self._why = "it has not been started"
        self._lock = threading.RLock()
        """Held by who starts, stops or changes the network; never by who brings or takes tuples."""

    # Its life

    @property
    def name(self) -> str:
        return self._typed.network.name

    @property
    def network(self) -> Network:
        return self._typed.network

    @property
    def typed(self) -> TypedNetwork:
        return self._typed

    @property
    def stage(self) -> Stage:
        """What it does just now. An engine that has failed is found out here."""
        failure = "" if self._engine is None else self._engine.failure
        if self._engine is not None and self._stage in ("running", "paused"):
            self._stage = "paused" if self._engine.paused else "running"
            if failure:
                self._stage, self._why = "failed", failure
        return self._stage

    @property
    def why(self) -> str:
        """Why it does not run; empty if it does."""
        return self._why if self.stage in ("stopped", "failed") else ""

    def start(self) -> None:
        with self._lock:
            if self.stage in ("running", "paused"):
                raise StateError(f"the network {self.name!r} is running already; stop it first")
            self._stop_feeds()
            self._end_readers("the network was started anew; subscribe again")
            if self._engine is not None:
                self._engine.shutdown(drain=False)
            settings = self._settings
            engine = Engine(
                self.network,
                processor=settings.processor,
                master=settings.master,
                clock=settings.clock,
                scheduler=settings.scheduler,
                workers=settings.workers,
                headroom=settings.headroom,
                memory=settings.memory,
                disk=settings.disk,
                when_full=settings.when_full,
                shedding=settings.shedding,
                state=None if settings.state is None else f"{settings.state.rstrip('/')}/{self.name}",
                statics=settings.statics.get(self.name),
            )
            engine.start()
            self._engine = engine
            self._connect(self._outputs())
            self._stage, self._why = "running", ""
            self.debugging.attach(engine)
            self.events.note("started", "Started")
            self._feeds = make_feeds(self, own=self._own, files=settings.files)
            self._feeds.start()

    def stop(self, *, drain: bool = True) -> None:
        """Takes what is enqueued unless told not to, and with a state folder commits; what came out can be dequeued."""
        with self._lock:
            if self._engine is None or self.stage == "stopped":
                return
            drain = drain and self._stage != "failed"
            try:
                if self._feeds is not None:
                    self._feeds.stop_sources()
                # From here on nothing is taken in; what is under way still finds the sinks and those who read.
                self._stage, self._why = "stopped", "it was stopped"
                self._engine.shutdown(drain=drain)
                self.events.note("stopped", "Stopped")
            except AuroraError as error:
                self._stage, self._why = "failed", str(error)
                raise
            finally:
                self._stop_feeds()
                self._end_readers("the network was stopped")

    def _stop_feeds(self) -> None:
        if self._feeds is not None:
            self._feeds.stop()
            self._feeds = None

    def pause(self) -> None:
        with self._lock:
            self.engine.pause()
            self._stage = "paused"
            self.events.note("paused", "Paused")

    def resume(self) -> None:
        with self._lock:
            self.engine.resume()
            self._stage = "running"
            self.debugging.resumed()
            self.events.note("resumed", "Resumed")

    def modify(self, network: Network, *, why: str = "", revision: str | None = None) -> dict[str, Any]:
        """Puts a changed network in the place of this one, all of it or nothing; what became of it, as plain values.

        StateError if this one is not of the ``revision`` that is given.
        """
        with self._lock:
            if revision not in (None, self.revision):
                who = f"somebody else changed {self.name!r} in the meantime"
                raise StateError(f"{who}; look at what runs now, and bring the change anew")
            typed = self._check_change(network)
            report: dict[str, Any] = {"applied": "at the next start"}
            if self.stage in ("running", "paused"):
                report = self.engine.modify(network).to_dict()
            before, self._typed, self.revision = self._outputs(), typed, fingerprint(network)
            after = self._outputs()
            for name in [name for name in before if before[name] != after.get(name)]:
                fanout = self._fanouts.pop(name, None)
                if fanout is not None:
                    kind = "has other columns now; subscribe again" if name in after else "was removed"
                    fanout.end(f"the output {name} {kind}")
            if self.stage in ("running", "paused"):
                self._connect({name: schema for name, schema in after.items() if name not in self._fanouts})
            self._end_taps("the network was changed; subscribe again")
            if self._feeds is not None:
                self._feeds.replace(network)
            self.events.note("modified", f"Changed: {why}" if why else "Changed")
            return report

    def foresee(self, network: Network) -> dict[str, Any]:
        """What ``modify`` would answer, without changing anything."""
        with self._lock:
            self._check_change(network)
            if self.stage in ("running", "paused"):
                return self.engine.foresee(network).to_dict()
            return {"applied": "at the next start"}

    def _check_change(self, network: Network) -> TypedNetwork:
        typed = typecheck(network)
        check_feeds(network, own=self._own, files=self._settings.files)
        check_changed(self.network, network, own=self._own)
        return typed

    @property
    def engine(self) -> Engine:
        """The engine that runs; StateError if none does."""
        if self.stage in ("stopped", "failed") or self._engine is None:
            raise StateError(f"the network {self.name!r} does not run: {self._why}; start it")
        return self._engine

    # Tuples

    def stream_schema(self, stream: str) -> Schema:
        if stream not in self.network.streams:
            raise unknown("stream", stream, list(self.network.streams))
        return self._typed.arcs[stream].schema

    def arc_schema(self, arc: str, *, inside: bool = False) -> Schema:
        """Of an output, or of any arc; where both have the name it is the output's, unless it is to be ``inside``."""
        outputs = {} if inside else self._outputs()
        if arc in outputs:
            return outputs[arc]
        if arc in self._typed.arcs:
            return self._typed.arcs[arc].schema
        raise unknown("output or arc", arc, list(dict.fromkeys([*outputs, *self._typed.arcs])))

    def enqueue(self, stream: str, table: Table) -> int:
        """Adds tuples to an input, and tells how many. Waits while there is no room, or a reader holds it up."""
        schema = self.stream_schema(stream)
        engine = self.engine
        try:
            frame = table_frame(table, schema)
        except InputError as error:
            raise InputError(f"cannot enqueue to {stream}: {error}") from error
        for fanout in list(self._fanouts.values()):
            fanout.wait_for_room()
        engine.enqueue(stream, frame)
        return frame.height

    def dequeue(
        self, output: str, *, most: int | None = None, wait_s: float = 0.0, drain: bool = False
    ) -> pl.DataFrame:
        """What has come out and nobody has taken. Where somebody subscribes, that reader gets all of it."""
        schema = self._output_schema(output)
        if drain and self.stage == "running":
            self.engine.drain()
        fanout = self._fanouts.get(output)
        limit = self._limits.dequeued_tuples if most is None else most
        frames = [] if fanout is None else fanout.take(limit, wait_s)
        return pl.concat([pl.DataFrame(schema=schema.to_polars()), *frames])

    def subscribe(
        self,
        arc: str,
        when_behind: WhenBehind = "drop",
        limit_bytes: int | None = None,
        *,
        consume: bool = True,
        inside: bool = False,
    ) -> Subscription:
        """A reader of an output or of any arc from now on; the first reader of an output gets what waits.

        ``inside`` means the arc where an output has the same name.
        """
        schema = self.arc_schema(arc, inside=inside)
        if sum(fanout.readers for fanout in (*self._fanouts.values(), *list(self._taps))) >= self._limits.subscribers:
            raise StateError(
                f"the network {self.name!r} has {self._limits.subscribers} readers already; close one, or try later"
            )
        size = self._limits.subscriber_bytes if limit_bytes is None else limit_bytes
        fanout = None if inside else self._fanouts.get(arc)
        if fanout is None and when_behind == "hold":
            raise InputError(f"{arc} is inside the network, where one may only look on; ask for drop or disconnect")
        if fanout is None:
            return self._tap(arc, schema, size, when_behind)
        return fanout.subscribe(size, when_behind, consume=consume)

    def _tap(self, arc: str, schema: Schema, size: int, when_behind: WhenBehind) -> Subscription:
        """Every reader looks at the arc by itself, and when it has gone nobody does."""
        fanout = Fanout(arc, schema, backlog_bytes=0, patience_s=self._limits.patience_s, left=self._untap)
        subscription = fanout.subscribe(size, when_behind)
        with self._lock:
            engine = self.engine
            fanout.schema = engine.tap(arc, fanout)
            self._taps[fanout] = engine
        return subscription

    def _untap(self, fanout: Fanout) -> None:
        engine = self._taps.pop(fanout, None)
        if engine is not None:
            with suppress(InputError):  # the arc may be gone
                engine.untap(fanout.arc, fanout)

    def inject(self, arc: str, table: Table) -> int:
        """Puts tuples on any arc, as if its box had made them; tells how many."""
        return self.enqueue(arc, table) if arc in self.network.streams else self.engine.inject(arc, table)

    def attach(self, output: str, callback: Callable[[pl.DataFrame], None]) -> None:
        """Calls ``callback`` with every train of an output, in the thread that ran the boxes."""
        self._output_schema(output)
        self._fanouts[output].attach(callback)

    def detach(self, output: str, callback: Callable[[pl.DataFrame], None]) -> None:
        """The callback is called no more."""
        fanout = self._fanouts.get(output)
        if fanout is not None:
            fanout.detach(callback)

    def receive(self, source: str, body: bytes) -> Received:
        """Hands a body that was pushed to a source of the kind ``http``."""
        return self._running_feeds(source).receive(source, body)

    def rates(self) -> list[Rate]:
        """How fast sources are that make their tuples up; none if the network does not run."""
        feeds = self._feeds
        return [] if feeds is None else feeds.rates()

    def set_factor(self, factor: float, source: str | None = None) -> None:
        """Has these sources, or one of them, make so many times the tuples that they declare."""
        self._running_feeds(source).set_factor(factor, source)

    def _running_feeds(self, source: str | None) -> Feeds:
        if source is not None and source not in self.network.sources:
            raise unknown("source", source, list(self.network.sources))
        if self._feeds is None:
            raise StateError(f"the network {self.name!r} does not run: {self._why}; start it")
        return self._feeds

    # What it knows

    def connectors(self) -> list[dict[str, Any]]:
        """How every source and sink is doing."""
        return [status.to_plain() for status in self.statuses()]

    def statuses(self) -> list[Status]:
        feeds = self._feeds
        return [] if feeds is None else feeds.statuses()

    @property
    def settings(self) -> EngineSettings:
        return self._settings

    def stats(self) -> Statistics:
        if self._engine is None:
            raise StateError(f"the network {self.name!r} has not been started, and so has no statistics; start it")
        return self._engine.stats()

    def describe(self) -> dict[str, Any]:
        """The document, what it does, what waits, and the columns of every arc."""
        known: dict[str, Any] = {} if self._engine is None else self._engine.describe()
        known.pop("waiting", None)
        return {
            "name": self.name,
            "revision": self.revision,
            "stage": self.stage,
            "why": self.why,
            "processor": self._settings.processor,
            "queued": {},
            "drops": [],
            **known,
            "network": self.network.to_document(),
            "streams": {name: columns(self._typed.arcs[name].schema) for name in self.network.streams},
            "outputs": {name: self._described(name, schema) for name, schema in self._outputs().items()},
            "arcs": {arc: columns(kind.schema) for arc, kind in self._typed.arcs.items()},
        }

    def _described(self, output: str, schema: Schema) -> dict[str, Any]:
        fanout = self._fanouts.get(output)
        counts = {"waiting": 0, "readers": 0, "dropped": 0, "let_go": 0}
        if fanout is not None:
            counts = {
                "waiting": fanout.waiting,
                "readers": fanout.readers,
                "dropped": fanout.dropped,
                "let_go": fanout.let_go,
            }
        return {"columns": columns(schema), **counts}

    # Inside

    def _outputs(self) -> dict[str, Schema]:
        """What can be dequeued: the outputs, and of boxes that run the operator's code what they rejected."""
        schemas = {name: self._typed.arcs[producer].schema for name, producer in self._typed.outputs.items()}
        users = [name for name, box in self.network.boxes.items() if runs_user_code(box)]
        return schemas | {rejected_by(name): REJECTED for name in users}

    def _output_schema(self, output: str) -> Schema:
        outputs = self._outputs()
        if output not in outputs:
            raise unknown("output", output, list(outputs))
        return outputs[output]

    def _connect(self, outputs: Mapping[str, Schema]) -> None:
        assert self._engine is not None
        limits = self._limits
        for name, schema in outputs.items():
            fanout = Fanout(name, schema, backlog_bytes=limits.backlog_bytes, patience_s=limits.patience_s)
            self._fanouts[name] = fanout
            self._engine.subscribe(name, fanout)

    def _end_readers(self, reason: str) -> None:
        for fanout in self._fanouts.values():
            fanout.end(reason)
        self._end_taps(reason)

    def _end_taps(self, reason: str) -> None:
        for tapped in list(self._taps):
            tapped.end(reason)
            self._untap(tapped)


def columns(schema: Schema) -> dict[str, str]:
    return {name: str(kind) for name, kind in schema.items()}
