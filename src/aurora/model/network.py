"""The network: streams, boxes, outputs and the other elements, in the order they were declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from aurora.errors import NetworkError, Report
from aurora.model.arc import Arc, arc_name
from aurora.model.box import KINDS, Box
from aurora.model.connectors import Sink, sink_declaration, source_declaration
from aurora.model.connectors import Source as SourceDeclaration
from aurora.model.declare import declare
from aurora.model.element import Element
from aurora.model.elements import ConnectionPoint, Output, Stream, Superbox, check_connection_point, read_schema
from aurora.model.naming import check_name, suggestion
from aurora.model.places import ELEMENTS, Places
from aurora.model.qos import QoS
from aurora.model.quantities import Duration, Tuples
from aurora.model.schema import Schema

E = TypeVar("E", bound=Element)

Source = Arc | str
"""An arc, or its name: a stream, a box, or ``box.port``."""


_READABLE = ("streams", "boxes", "connection_points")
SHARED_NAMES = {
    "streams": _READABLE,
    "boxes": (*_READABLE, "superboxes"),
    "outputs": ("outputs",),
    "superboxes": ("boxes", "superboxes"),
    "connection_points": _READABLE,
    "sources": ("sources",),
    "sinks": ("sinks",),
}
"""For each section, those whose names must differ from its own: all that a box can read, all that a superbox holds."""


class Network:
    """Boxes and arrows over streams.

    Builder methods refuse wrong parameters at once with a NetworkError. What only the whole network shows (a cycle,
    columns that do not fit) is found by ``check`` and ``typecheck``.

    >>> net = Network("demo")
    >>> ticks = net.stream("ticks", ticker="string", price="double")
    >>> net.output("all", ticks, qos=QoS(latency=[("0s", 1), ("5s", 0)])).source
    'ticks'
    """

    def __init__(
        self,
        name: str,
        *,
        description: str = "",
        tags: Sequence[str] = (),
        manual: str = "",
        places: Places | None = None,
    ) -> None:
        report = Report("network")
        check_name(name, report.at("network"))
        header = declare(Element, name, {"description": description, "tags": tags, "manual": manual}, report)
        if report.problems or header is None:
            raise NetworkError(report.problems)
        self.name = header.name
        self.description = header.description
        self.tags = header.tags
        self.manual = header.manual
        self.places = places or Places()
        self.streams: dict[str, Stream] = {}
        self.boxes: dict[str, Box] = {}
        self.outputs: dict[str, Output] = {}
        self.superboxes: dict[str, Superbox] = {}
        self.connection_points: dict[str, ConnectionPoint] = {}
        self.sources: dict[str, SourceDeclaration] = {}
        self.sinks: dict[str, Sink] = {}

    def sections(self) -> dict[str, Mapping[str, Element]]:
        """The elements by section of the document, each section in the order of declaration."""
        return {section: getattr(self, section) for section in ELEMENTS}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return bool(_in_order(self.to_document()) == _in_order(other.to_document()))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Network({self.name!r}, {len(self.streams)} streams, {len(self.boxes)} boxes)"

    # Builder

    def stream(
        self,
        name: str,
        /,
        *,
        schema: Schema | Mapping[str, str] | None = None,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
        **columns: str,
    ) -> Arc:
        """Declares an input. Columns are keyword arguments, or ``schema`` where a name is none of Python's."""
        report = self._new("streams", name)
        read = read_schema({**(_plain_schema(schema)), **columns}, report.at("schema"))
        _stop(report)
        given = {"schema": read, "tags": tags, "description": description, "manual": manual}
        self.streams[name] = _made(declare(Stream, name, given, report), report)
        return Arc(self, name)

    def box(self, kind: str, name: str, inputs: Source | Sequence[Source], /, **parameters: Any) -> Arc:
        """Declares a box of any kind. A parameter that is a word of Python's is written with a ``_`` after it."""
        report = self._new("boxes", name)
        declaration = box_declaration(kind, report.at("kind"))
        if declaration is None:
            raise NetworkError(report.problems)
        sources = [inputs] if isinstance(inputs, Arc | str) else inputs
        given = {**_python_words(declaration, parameters), "in": [self._source(source) for source in sources]}
        self.boxes[name] = _made(declare(declaration, name, given, report), report)
        return Arc(self, name)

    def output(
        self,
        name: str,
        arc: Source,
        /,
        *,
        qos: QoS | Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
    ) -> Output:
        """Declares where results leave the network, and what they are worth."""
        report = self._new("outputs", name)
        read = None if qos is None else QoS.read(qos, report.at("qos"))
        _stop(report)
        given = {"from": self._source(arc), "qos": read, "tags": tags, "description": description, "manual": manual}
        self.outputs[name] = _made(declare(Output, name, given, report), report)
        return self.outputs[name]

    def superbox(
        self,
        name: str,
        boxes: Sequence[Source | Superbox],
        /,
        *,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
    ) -> Superbox:
        """Groups boxes, and other superboxes, under one name."""
        report = self._new("superboxes", name)
        members = [_member(box) for box in boxes]
        given = {"boxes": members, "tags": tags, "description": description, "manual": manual}
        self.superboxes[name] = _made(declare(Superbox, name, given, report), report)
        return self.superboxes[name]

    def connection_point(
        self,
        name: str,
        /,
        *,
        on: Source | None = None,
        keep: str | Duration | Tuples | None = None,
        key: str | Sequence[str] = (),
        schema: Schema | Mapping[str, str] | None = None,
        file: str | None = None,
        tags: Sequence[str] = (),
        description: str = "",
        manual: str = "",
    ) -> Arc:
        """Declares a live connection point with ``on``, or a dangling one, static data, with ``schema``."""
        report = self._new("connection_points", name)
        read = None if schema is None else read_schema(schema, report.at("schema"))
        _stop(report)
        given = {
            "on": None if on is None else self._source(on),
            "keep": keep,
            "key": key,
            "schema": read,
            "file": file,
            "tags": tags,
            "description": description,
            "manual": manual,
        }
        point = _made(declare(ConnectionPoint, name, given, report), report)
        check_connection_point(point, report)
        _stop(report)
        self.connection_points[name] = point
        return Arc(self, name)

    def source(self, kind: str, name: str, into: Source, /, **parameters: Any) -> SourceDeclaration:
        """Declares what brings tuples to a stream, such as ``net.source("tcp", "feed", ticks, format="json", ...)``."""
        report = self._new("sources", name)
        declaration = source_declaration(kind, report.at("kind"))
        if declaration is None:
            raise NetworkError(report.problems)
        given = {**parameters, "into": self._source(into)}
        self.sources[name] = _made(declare(declaration, name, given, report), report)
        return self.sources[name]

    def sink(self, kind: str, name: str, output: Output | str, /, **parameters: Any) -> Sink:
        """Declares what takes the tuples of an output."""
        report = self._new("sinks", name)
        declaration = sink_declaration(kind, report.at("kind"))
        if declaration is None:
            raise NetworkError(report.problems)
        given = {**parameters, "from": output.name if isinstance(output, Output) else output}
        self.sinks[name] = _made(declare(declaration, name, given, report), report)
        return self.sinks[name]

    def _new(self, section: str, name: str) -> Report:
        """A report for an element that is about to be declared; refuses names that are wrong or taken."""
        report = Report(f"{ELEMENTS[section]} {name}", (section, name))
        check_name(name, report)
        for other in SHARED_NAMES[section]:
            if name in getattr(self, other):
                report.add("duplicate-name", f"there is a {ELEMENTS[other]} {name!r} already", "choose another name")
        _stop(report)
        return report

    def _source(self, source: Source) -> str:
        if isinstance(source, Arc) and source.network is not self:
            report = Report(f"arc {source}")
            report.add("foreign-arc", f"{source} belongs to another network", "use an arc of this network")
            raise NetworkError(report.problems)
        return arc_name(source)

    # Documents

    def to_document(self) -> dict[str, Any]:
        """The network as plain data: what its YAML and JSON say."""
        from aurora.model.document.writing import to_document

        return to_document(self)

    def to_yaml(self) -> str:
        from aurora.model.document.writing import to_yaml

        return to_yaml(self)

    def to_json(self) -> str:
        from aurora.model.document.writing import to_json

        return to_json(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any], places: Places | None = None) -> Network:
        """The network that plain data describes; raises NetworkError with all problems when parts are wrong."""
        from aurora.model.document import from_document

        return from_document(document, places)


def box_declaration(kind: object, report: Report) -> type[Box] | None:
    """The declaration of a kind of box; an unknown kind goes to ``report``."""
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]
    hint = suggestion(kind, KINDS, "use one of the choices")
    report.add("unknown-kind", f"there is no kind of box {kind!r}", hint, choices=sorted(KINDS))
    return None


def _in_order(value: Any) -> Any:
    """Plain data whose mappings are equal only if their keys stand in the same order: routes are tried in order."""
    if isinstance(value, dict):
        return [(key, _in_order(item)) for key, item in value.items()]
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _python_words(declaration: type[Box], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters under the names that documents use, for those which Python cannot write as keywords."""
    aliases = {name: field.alias for name, field in declaration.model_fields.items() if field.alias}
    del aliases["inputs"]
    aliases |= {f"{alias}_": alias for alias in aliases.values()}
    return {aliases.get(key, key): value for key, value in given.items()}


def _plain_schema(schema: Schema | Mapping[str, str] | None) -> dict[str, str]:
    return {} if schema is None else {name: str(kind) for name, kind in schema.items()}


def _member(box: Source | Superbox) -> str:
    return box.producer if isinstance(box, Arc) else box.name if isinstance(box, Superbox) else box


def _stop(report: Report) -> None:
    if report.problems:
        raise NetworkError(report.problems)


def _made(element: E | None, report: Report) -> E:
    _stop(report)
    assert element is not None
    return element
