"""A network whose arcs all have their types: what the engine runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from aurora.errors import NetworkError, Report
from aurora.model.box import OUT
from aurora.model.naming import suggestion
from aurora.model.network import Network
from aurora.model.schema import ArcType

ENOUGH_PROBLEMS = 100
"""Beyond it names are no longer compared with all others: in a large document that takes minutes and helps nobody."""


class Producer(NamedTuple):
    """Where an arc comes from: a box and its port, or a stream or connection point, whose port is ``out``."""

    name: str
    port: str = OUT

    def __str__(self) -> str:
        return self.name if self.port == OUT else f"{self.name}.{self.port}"


class Consumer(NamedTuple):
    """A box that reads an arc, and the number of the input it reads it at."""

    box: str
    port: int


def resolve(network: Network, source: str) -> Producer:
    """The producer of the arc of that name; raises NetworkError when there is none.

    >>> net = Network("demo")
    >>> _ = net.stream("ticks", price="double")
    >>> resolve(net, "ticks")
    Producer(name='ticks', port='out')
    """
    report = Report("network")
    found = find_producer(network, source, report)
    if found is None:
        raise NetworkError(report.problems)
    return found


def find_producer(
    network: Network, source: str, report: Report, *, unknown: frozenset[str] = frozenset()
) -> Producer | None:
    """The producer of an arc, or None; what is wrong with the name goes to ``report``.

    ``unknown`` names things that exist but could not be read; they have no producer, and that is no new mistake.
    """
    name, dot, port = source.partition(".")
    if name in unknown:
        return None
    if name in network.boxes:
        ports = network.boxes[name].output_ports()
        if not dot and ports:
            return Producer(name, ports[0])
        if port in ports:
            return Producer(name, port)
        hint = suggestion(port, ports, "use one of the choices")
        found = f"box {name!r} has no output port {port!r}"
        report.add("unknown-port", found, hint, choices=[f"{name}.{p}" for p in ports])
        return None
    if name in network.streams or name in network.connection_points:
        if not dot:
            return Producer(name)
        what = "stream" if name in network.streams else "connection point"
        report.add("unknown-port", f"{what} {name!r} has no ports", f"write {name!r}", choices=[name])
        return None
    legal = [*network.streams, *network.boxes, *(n for n, p in network.connection_points.items() if p.dangling)]
    if len(report.problems) > ENOUGH_PROBLEMS:
        legal = []
    hint = suggestion(name, legal, "name a stream or a box, or declare it")
    report.add("unknown-arc", f"there is no stream or box {name!r}", hint, choices=legal)
    return None


class Arcs(Mapping[str, ArcType]):
    """The type of every arc. ``late`` and ``late.out`` name the same arc; so do a box and its first port.

    Iteration gives each arc once, as ``name`` for streams and ports called ``out``, else as ``name.port``.
    """

    def __init__(self, types: Mapping[Producer, ArcType], first_ports: Mapping[str, str]) -> None:
        self._types = dict(types)
        self._first_ports = dict(first_ports)

    def producer(self, arc: str | tuple[str, str]) -> Producer:
        if not isinstance(arc, str):
            return Producer(*arc)
        name, dot, port = arc.partition(".")
        return Producer(name, port if dot else self._first_ports.get(name, OUT))

    def __getitem__(self, arc: str | tuple[str, str]) -> ArcType:
        return self._types[self.producer(arc)]

    def __contains__(self, arc: object) -> bool:
        return isinstance(arc, str | tuple) and self.producer(arc) in self._types

    def __iter__(self) -> Iterator[str]:
        return (str(producer) for producer in self._types)

    def __len__(self) -> int:
        return len(self._types)


@dataclass(frozen=True)
class TypedNetwork:
    """``order`` names the boxes so that each comes after those it reads from; ``inputs`` and ``outputs`` are resolved.

    ``inputs`` has the arcs of every box in port order, ``outputs`` the arc of every output.
    """

    network: Network
    arcs: Arcs
    order: tuple[str, ...]
    inputs: Mapping[str, tuple[Producer, ...]]
    outputs: Mapping[str, Producer]

    def input_types(self, box: str) -> tuple[ArcType, ...]:
        """What the box reads, in port order: what its ``derive`` and ``kernel`` take."""
        return tuple(self.arcs[producer] for producer in self.inputs[box])

    def consumers(self, arc: str | tuple[str, str]) -> tuple[Consumer, ...]:
        """The boxes that read the arc, in topological order."""
        return self._consumers.get(self.arcs.producer(arc), ())

    def delivered_to(self, arc: str | tuple[str, str]) -> tuple[str, ...]:
        """The outputs that deliver the arc."""
        wanted = self.arcs.producer(arc)
        return tuple(name for name, producer in self.outputs.items() if producer == wanted)

    def asked_for_hidden(self, arc: str | tuple[str, str]) -> bool:
        """Whether some box downstream of the arc reads hidden columns."""
        return self.arcs.producer(arc) in self._asked_for_hidden

    @cached_property
    def _asked_for_hidden(self) -> frozenset[Producer]:
        asked: set[Producer] = set()
        for box in reversed(self.order):
            declaration = self.network.boxes[box]
            if declaration.asks_hidden() or any(Producer(box, port) in asked for port in declaration.output_ports()):
                asked.update(self.inputs[box])
        return frozenset(asked)

    @cached_property
    def _consumers(self) -> dict[Producer, tuple[Consumer, ...]]:
        found: dict[Producer, list[Consumer]] = {}
        for box in self.order:
            for port, producer in enumerate(self.inputs[box]):
                found.setdefault(producer, []).append(Consumer(box, port))
        return {producer: tuple(consumers) for producer, consumers in found.items()}
