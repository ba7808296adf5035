"""The one object that everything on a server goes through: networks by name, and what can be done with them.

HTTP, WebSocket, Flight and the catalog's edits all call these methods, from any thread. What is wrong with a request
is an error of Aurora's own: UnknownNameError for names, NetworkError with all problems, InputError, StateError.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from types import TracebackType
from typing import Any

import polars as pl

import aurora.boxes
import aurora.connectors.live.checks  # noqa: F401  (lets checks know formats)
from aurora.catalog import Catalog
from aurora.catalog.checking import checked
from aurora.connectors.frames import Table
from aurora.connectors.sources.http import Received
from aurora.engine.metrics import Statistics
from aurora.errors import NetworkError, Problem, StateError
from aurora.model.network import Network
from aurora.model.schema import Schema
from aurora.server.fanout import Subscription, WhenBehind
from aurora.server.hosted import Hosted, UnknownNameError, columns, unknown
from aurora.server.settings import EngineSettings, Limits

__all__ = ["Host", "UnknownNameError"]

_LOG = logging.getLogger("aurora.server")


class Host:
    """Networks that run side by side, each with its own engine; with a ``catalog``, what is hosted is kept there.

    >>> net = Network("example")
    >>> ticks = net.stream("ticks", ticker="string", price="double")
    >>> _ = net.output("dear", ticks.filter("above", "price > 50"))
    >>> with Host(settings=EngineSettings(processor="local")) as host:
    ...     _ = host.add(net)
    ...     _ = host.enqueue("example", "ticks", [{"ticker": "MSF", "price": 60.0}])
    ...     host.dequeue("example", "dear", drain=True).rows()
    [('MSF', 60.0)]
    """

    def __init__(
        self, *, settings: EngineSettings | None = None, limits: Limits | None = None, catalog: Catalog | None = None
    ) -> None:
        self.settings = settings or EngineSettings()
        self.limits = limits or Limits()
        self.catalog = catalog
        self._networks: dict[str, Hosted] = {}
        self._lock = threading.Lock()
        self._closed = False

    # Networks

    def add(
        self, network: Network | str, *, start: bool = True, own: bool = False, why: str = "", author: str = ""
    ) -> Hosted:
        """Hosts one more network, given as a network or as a document's text, and starts it.

        ``own`` says that it is the operator's: its sources and sinks are then not confined as those of clients are.
        """
        hosted = self.take_in(self._checked(network), start=start, own=own)
        try:
            if self.catalog is not None:
                self.catalog.save(network, why, author=author)
        except BaseException:
            self.drop(hosted.name, drain=False)
            raise
        return hosted

    def take_in(self, network: Network, *, start: bool = True, own: bool = False) -> Hosted:
        """The same for a network that the catalog has already."""
        hosted = Hosted(network, self.settings, self.limits, own=own)
        with self._lock:
            if self._closed:
                raise StateError("the server is stopping, and takes no more networks")
            if network.name in self._networks:
                raise StateError(f"there is a network {network.name!r} already; modify it, or remove it first")
            self._networks[network.name] = hosted
        try:
            if start:
                hosted.start()
        except BaseException:
            with self._lock:
                del self._networks[network.name]
            raise
        return hosted

    def remove(self, name: str, *, drain: bool = True, why: str = "", author: str = "") -> None:
        """Stops a network and hosts it no more. The catalog keeps its history."""
        self.drop(name, drain=drain)
        if self.catalog is not None and self.catalog.current(name) is not None:
            self.catalog.remove(name, why, author=author)

    def drop(self, name: str, *, drain: bool = True) -> None:
        """The same for a network that the catalog has no more."""
        hosted = self.hosted(name)
        try:
            hosted.stop(drain=drain)
        finally:
            with self._lock:
                self._networks.pop(name, None)

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._networks)

    def hosted(self, name: str) -> Hosted:
        with self._lock:
            found = self._networks.get(name)
        if found is None:
            raise unknown("network", name, self.names())
        return found

    def __iter__(self) -> Iterator[Hosted]:
        with self._lock:
            return iter(list(self._networks.values()))

    # Control

    def start(self, network: str) -> None:
        """Starts a network that was stopped or has failed; with a state folder it goes on from there."""
        self.hosted(network).start()

    def stop(self, network: str, *, drain: bool = True) -> None:
        self.hosted(network).stop(drain=drain)

    def pause(self, network: str) -> None:
        self.hosted(network).pause()

    def resume(self, network: str) -> None:
        self.hosted(network).resume()

    def drain(self, network: str) -> None:
        """Comes back when everything that was enqueued has gone through all boxes."""
        self.hosted(network).engine.drain()

    def flush(self, network: str) -> None:
        """Ends the input: open windows are closed, and nothing can be enqueued any more."""
        self.hosted(network).engine.flush()

    def modify_network(
        self, name: str, network: Network | str, *, why: str = "", author: str = "", revision: str | None = None
    ) -> dict[str, Any]:
        """Changes a network while it runs, all of it or nothing; NetworkError with all reasons if it is not valid.

        With a ``revision``, as ``describe`` tells it, only if the network is still that one.
        """
        hosted = self.hosted(name)
        report = hosted.modify(self._checked(network, name), why=why, revision=revision)
        if self.catalog is not None:
            version = self.catalog.save(network, why, author=author)
            report["version"] = version.number
        return report

    def foresee(self, name: str, network: Network | str) -> dict[str, Any]:
        """What ``modify_network`` would answer, without changing anything; the same refusals."""
        return self.hosted(name).foresee(self._checked(network, name))

    def close(self, *, drain: bool = True) -> None:
        """Stops all networks: what is enqueued is taken, unless told not to, and state committed where it is kept."""
        with self._lock:
            self._closed = True
        for hosted in self:
            try:
                hosted.stop(drain=drain)
            except Exception:
                _LOG.exception("the network %s did not stop cleanly", hosted.name)

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(drain=kind is None)

    # Tuples

    def stream_schema(self, network: str, stream: str) -> Schema:
        return self.hosted(network).stream_schema(stream)

    def arc_schema(self, network: str, arc: str) -> Schema:
        """The columns of an output or of any arc."""
        return self.hosted(network).arc_schema(arc)

    def enqueue(self, network: str, stream: str, table: Table) -> int:
        """Adds tuples to an input, and tells how many. It waits while there is no room: that is back-pressure."""
        if self._closed:
            raise StateError(
                "the server is stopping, and takes no more tuples; come again when it has been started anew"
            )
        return self.hosted(network).enqueue(stream, table)

    def dequeue(
        self, network: str, output: str, *, most: int | None = None, wait_s: float = 0.0, drain: bool = False
    ) -> pl.DataFrame:
        """What has come out on an output and waits there, up to ``most`` tuples; it is handed out once.

        With ``wait_s`` it waits so long for the first; with ``drain`` until all that was enqueued has come through.
        While somebody subscribes to the output, nothing waits.
        """
        return self.hosted(network).dequeue(output, most=most, wait_s=wait_s, drain=drain)

    def receive(self, network: str, source: str, body: bytes) -> Received:
        """Hands a body that was pushed to a source of the kind ``http``."""
        return self.hosted(network).receive(source, body)

    def subscribe(
        self,
        network: str,
        arc: str,
        *,
        when_behind: WhenBehind = "drop",
        limit_bytes: int | None = None,
        consume: bool = True,
        inside: bool = False,
    ) -> Subscription:
        """A live stream of an output or of any arc. ``when_behind`` says what happens to a reader that is too slow.

        The first reader of an output gets what waits there. With ``consume`` False it only looks on: what it sees still
        waits for a reader. ``inside`` means the arc where an output has the same name.
        """
        return self.hosted(network).subscribe(arc, when_behind, limit_bytes, consume=consume, inside=inside)

    # What it knows

    def typecheck(self, document: Network | str) -> dict[str, Any]:
        """All problems of a document, and the columns of every arc that is known in spite of them."""
        result = checked(document if isinstance(document, str) else document.to_yaml())
        arcs = {arc: columns(kind.schema) for arc, kind in result.arcs.items()}
        return {"valid": result.typed is not None, "problems": problems(result.problems), "arcs": arcs}

    def describe(self, network: str) -> dict[str, Any]:
        return self.hosted(network).describe()

    def list_entities(self, network: str | None = None, kind: str | None = None) -> list[dict[str, Any]]:
        """Every stream, box, output, superbox and connection point: of one network or of all, of one kind or of any.

        ``kind`` is a kind of box, or ``box``, ``stream``, ``output`` and so on.
        """
        hosts = list(self) if network is None else [self.hosted(network)]
        found = [entity for hosted in hosts for entity in _entities(hosted)]
        return [entity for entity in found if kind is None or kind in (entity["kind"], entity["section"])]

    def get_perf_stats(self, network: str) -> Statistics:
        return self.hosted(network).stats()

    # Inside

    def _checked(self, network: Network | str, name: str | None = None) -> Network:
        """The network, if it is valid and, where one is to be changed, has its ``name``."""
        if isinstance(network, Network):
            made = network
        else:
            result = checked(network)
            if result.typed is None:
                raise NetworkError(result.errors)
            made = result.typed.network
        if name is not None and made.name != name:
            found = f"the document is of network {made.name!r}, but {name!r} is to be changed"
            raise NetworkError([Problem("other-network", found, "give both the same name", "network", ("network",))])
        return made


def problems(found: Any) -> list[dict[str, Any]]:
    """Problems as plain values."""
    return [{**asdict(problem), "path": list(problem.path), "text": str(problem)} for problem in found]


_SECTIONS: Mapping[str, str] = {
    "streams": "stream",
    "boxes": "box",
    "outputs": "output",
    "superboxes": "superbox",
    "connection_points": "connection_point",
    "sources": "source",
    "sinks": "sink",
}


def _entities(hosted: Hosted) -> Iterator[dict[str, Any]]:
    network = hosted.network
    for section, one in _SECTIONS.items():
        for name, element in getattr(network, section).items():
            if one in ("source", "sink"):
                arcs = []
            elif one == "output":
                arcs = [str(hosted.typed.outputs[name])]
            else:
                arcs = [arc for arc in hosted.typed.arcs if arc.partition(".")[0] == name]
            yield {
                "network": network.name,
                "section": one,
                "name": name,
                "kind": getattr(element, "kind", one),
                "description": getattr(element, "description", ""),
                "tags": list(getattr(element, "tags", ())),
                "arcs": {arc: columns(hosted.typed.arcs[arc].schema) for arc in arcs if arc in hosted.typed.arcs},
            }
