"""Checks a network as a whole, and gives every arc its type.

One mistake is reported once: a box whose input is unknown, wrong or on a cycle is not typed, nor are those behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aurora.errors import NetworkError, Problem, Report
from aurora.model import topology
from aurora.model.connectors import check_connector
from aurora.model.document.reading import Draft, read_file
from aurora.model.elements import ConnectionPoint, Output
from aurora.model.naming import suggestion, usable
from aurora.model.network import Network
from aurora.model.schema import ArcType, Schema
from aurora.model.typed import ENOUGH_PROBLEMS, Arcs, Producer, TypedNetwork, find_producer

__all__ = ["Review", "TypedNetwork", "check", "check_draft", "review", "typecheck"]


@dataclass(frozen=True)
class Review:
    """What can be said of a draft: all problems, the type of every arc that is known in spite of them, and the whole.

    ``typed`` is there if none of the problems is an error.
    """

    problems: tuple[Problem, ...]
    arcs: Arcs
    typed: TypedNetwork | None


def check(network: Network | str | Path) -> list[Problem]:
    """Everything that is wrong with a network, or with the document at a path: errors first, each by line."""
    return check_draft(Draft(network) if isinstance(network, Network) else read_file(network))


def typecheck(network: Network) -> TypedNetwork:
    """The network with the type of every arc; raises NetworkError with all errors if there are any."""
    reviewed = review(Draft(network))
    if reviewed.typed is None:
        raise NetworkError([problem for problem in reviewed.problems if problem.severity == "error"])
    return reviewed.typed


def check_draft(draft: Draft) -> list[Problem]:
    return _Checker(draft).problems()


def review(draft: Draft) -> Review:
    checker = _Checker(draft)
    problems = tuple(checker.problems())
    wrong = any(problem.severity == "error" for problem in problems)
    return Review(problems, checker.arcs(), None if wrong else checker.typed())


class _Checker:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._net = draft.network
        self._report = Report("network", problems=list(draft.problems))
        self._unknown = frozenset(_unclear_names(draft))
        self._inputs: dict[str, tuple[Producer, ...]] = {}
        self._outputs: dict[str, Producer] = {}
        self._types: dict[Producer, ArcType] = {}
        self._order: tuple[str, ...] = ()
        self._read_names: set[str] = set(draft.mentions)
        self._check()

    def problems(self) -> list[Problem]:
        return self._net.places.locate(self._report.problems)

    def arcs(self) -> Arcs:
        first_ports = {name: ports[0] for name, box in self._net.boxes.items() if (ports := box.output_ports())}
        return Arcs(self._types, first_ports)

    def typed(self) -> TypedNetwork:
        return TypedNetwork(self._net, self.arcs(), self._order, self._inputs, self._outputs)

    def _check(self) -> None:
        self._resolve_inputs()
        self._sort()
        self._type()
        for name, output in self._net.outputs.items():
            self._check_output(output, self._report.at("outputs", name, element=f"output {name}"))
        for name, point in self._net.connection_points.items():
            report = self._report.at("connection_points", name, element=f"connection point {name}")
            self._check_connection_point(point, report)
        self._check_superboxes()
        self._check_sources_and_sinks()
        self._warn()

    def _producer(self, source: str, report: Report) -> Producer | None:
        self._read_names.add(source.partition(".")[0])
        if self._draft.opaque and not self._exists(source.partition(".")[0]):
            return None
        return find_producer(self._net, source, report, unknown=self._unknown)

    def _exists(self, name: str) -> bool:
        return name in self._net.streams or name in self._net.boxes or name in self._net.connection_points

    def _resolve_inputs(self) -> None:
        for name, box in self._net.boxes.items():
            report = self._report.at("boxes", name, element=f"box {name}")
            for port in box.output_ports():
                if not usable(port):
                    found = f"{port!r} cannot be the name of a port"
                    report.add("bad-name", found, "use letters, digits, _ and -; no dots and no spaces")
            least, most = box.arity
            count = len(box.inputs)
            if count < least or (most is not None and count > most):
                wanted = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
                found = f"a {box.kind} box reads {wanted} input{'' if wanted == '1' else 's'}, not {count}"
                report.at("in").add("wrong-input-count", found, f"give {wanted}")
            producers = []
            for index, source in enumerate(box.inputs):
                here = report.at("in", index)
                producer = self._producer(source, here)
                if producer is not None and self._readable(producer, box.takes_static, here):
                    producers.append(producer)
            if len(producers) == count and count >= least and (most is None or count <= most):
                self._inputs[name] = tuple(producers)

    def _readable(self, producer: Producer, takes_static: bool, report: Report) -> bool:
        """Whether a connection point, if that is what is read, may be read here."""
        point = self._net.connection_points.get(producer.name)
        if point is None:
            return True
        if point.on is not None:
            found = f"connection point {producer.name!r} is for boxes that come while the network runs"
            report.add("live-connection-point", found, f"read {point.on!r}, the arc that it stands on")
            return False
        if not takes_static:
            found = f"connection point {producer.name!r} is static data, which cannot flow in here"
            report.add("static-input", found, "join a stream with it")
            return False
        return True

    def _sort(self) -> None:
        reads = {
            name: [up for source in box.inputs if (up := source.partition(".")[0]) not in self._unknown]
            for name, box in self._net.boxes.items()
        }
        self._order = topology.order(reads)
        for cycle in topology.cycles(reads):
            report = self._report.at("boxes", cycle[0], "in", element=f"box {cycle[0]}")
            found = f"the boxes form a cycle: {' -> '.join((*cycle, cycle[0]))}"
            report.add("cycle", found, "let one of them read something that does not depend on it")

    def _type(self) -> None:
        for name, stream in self._net.streams.items():
            self._types[Producer(name)] = ArcType(stream.schema)
        for name, point in self._net.connection_points.items():
            if point.schema is not None:
                self._types.setdefault(Producer(name), ArcType(point.schema, static=True))
        for name in self._order:
            box = self._net.boxes[name]
            producers = self._inputs.get(name)
            if producers is None or not all(producer in self._types for producer in producers):
                continue
            report = self._report.at("boxes", name, element=f"box {name}")
            derived = box.derive([self._types[producer] for producer in producers], report)
            for port in box.output_ports():
                if port in derived:
                    self._types[Producer(name, port)] = derived[port]

    def _check_output(self, output: Output, report: Report) -> None:
        producer = self._producer(output.source, report.at("from"))
        if producer is None or not self._readable(producer, False, report.at("from")):
            return
        self._outputs[output.name] = producer
        arc = self._types.get(producer)
        if arc is not None and output.qos is not None and output.qos.value is not None:
            here = report.at("qos", "value", "on")
            column = output.qos.value.on
            if _has_column(column, arc.schema, here) and not arc.schema[column].numeric:
                numeric = [name for name, kind in arc.schema.items() if kind.numeric]
                found = f"column {column!r} is of type {arc.schema[column]}, not a number"
                here.add("not-numeric", found, "choose a numeric column", choices=numeric)

    def _check_connection_point(self, point: ConnectionPoint, report: Report) -> None:
        schema = point.schema
        if point.on is not None:
            producer = self._producer(point.on, report.at("on"))
            if producer is None or not self._readable(producer, False, report.at("on")):
                return
            arc = self._types.get(producer)
            schema = None if arc is None else arc.schema
        if schema is not None:
            for index, column in enumerate(point.key):
                _has_column(column, schema, report.at("key", index))

    def _check_superboxes(self) -> None:
        superboxes, broken = self._net.superboxes, self._draft.broken
        known = {*self._net.boxes, *superboxes, *broken["boxes"], *broken["superboxes"]}
        holders: dict[str, str] = {}
        for name, superbox in superboxes.items():
            for index, member in enumerate(superbox.boxes):
                report = self._report.at("superboxes", name, "boxes", index, element=f"superbox {name}")
                if member not in known and not self._draft.opaque:
                    legal = [*self._net.boxes, *(other for other in superboxes if other != name)]
                    if len(report.problems) > ENOUGH_PROBLEMS:
                        legal = []
                    hint = suggestion(member, legal, "name a box or another superbox")
                    report.add("unknown-box", f"there is no box or superbox {member!r}", hint, choices=legal)
                elif member in holders:
                    found = f"{member!r} is in superbox {holders[member]!r} already"
                    report.add("in-two-superboxes", found, "remove it from one of them")
                else:
                    holders[member] = name
        groups = {
            name: [member for member in superbox.boxes if member not in self._net.boxes]
            for name, superbox in superboxes.items()
        }
        for cycle in topology.cycles(groups):
            report = self._report.at("superboxes", cycle[0], "boxes", element=f"superbox {cycle[0]}")
            found = f"superboxes hold each other: {' in '.join((*cycle, cycle[0]))}"
            report.add("superbox-cycle", found, "take one of them out of the other")

    def _check_sources_and_sinks(self) -> None:
        broken = self._draft.broken
        for name, source in self._net.sources.items():
            report = self._report.at("sources", name, element=f"source {name}")
            stream = self._net.streams.get(source.into)
            if stream is not None:
                check_connector(source, stream.schema, report)
            elif source.into not in broken["streams"] and not self._draft.opaque:
                hint = suggestion(source.into, self._net.streams, "name a stream, or declare it")
                found = f"there is no stream {source.into!r}"
                report.at("into").add("unknown-stream", found, hint, choices=self._net.streams)
        for name, sink in self._net.sinks.items():
            report = self._report.at("sinks", name, element=f"sink {name}")
            if sink.output in self._net.outputs:
                producer = self._outputs.get(sink.output)
                arc = None if producer is None else self._types.get(producer)
                if arc is not None:
                    check_connector(sink, arc.schema, report)
            elif sink.output not in broken["outputs"] and not self._draft.opaque:
                hint = suggestion(sink.output, self._net.outputs, "name an output, or declare it")
                found = f"there is no output {sink.output!r}"
                report.at("from").add("unknown-output", found, hint, choices=self._net.outputs)

    def _warn(self) -> None:
        """What is legal but leads nowhere. Silent where a part of the document was not read."""
        if self._draft.opaque or any(problem.id == "duplicate-name" for problem in self._draft.problems):
            return
        if not self._net.outputs and not self._draft.broken["outputs"]:
            self._report.at("outputs").add(
                "no-outputs", "the network has no outputs", "add one, so that results can be had", severity="warning"
            )
        for section, what in (("streams", "stream"), ("boxes", "box")):
            for name in getattr(self._net, section):
                if name not in self._read_names:
                    self._report.at(section, name, element=f"{what} {name}").add(
                        f"unused-{what}",
                        f"nothing reads {what} {name!r}",
                        "let an output or a box read it, or remove it",
                        severity="warning",
                    )


def _unclear_names(draft: Draft) -> set[str]:
    """What exists but cannot be told: elements that could not be made, and names that two elements have."""
    net = draft.network
    unclear = draft.broken["streams"] | draft.broken["boxes"] | draft.broken["connection_points"]
    unclear |= net.streams.keys() & net.boxes.keys()
    return unclear | ((net.streams.keys() | net.boxes.keys()) & net.connection_points.keys())


def _has_column(column: str, schema: Schema, report: Report) -> bool:
    if column in schema:
        return True
    hint = suggestion(column, schema, "use one of the choices")
    report.add("unknown-column", f"there is no column {column!r}", hint, choices=schema)
    return False
