"""From plain data to a network: makes the elements that are right and collects what is wrong with the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from aurora.errors import Place, Problem, Report
from aurora.model.box import KINDS
from aurora.model.connectors import SINKS, SOURCES, sink_declaration, source_declaration
from aurora.model.declare import declare
from aurora.model.document import json_text, yaml_text
from aurora.model.document.tree import MalformedError, Tree, build
from aurora.model.element import Element
from aurora.model.elements import ConnectionPoint, Output, Stream, Superbox, check_connection_point, read_schema
from aurora.model.naming import check_name, shown, suggestion
from aurora.model.network import SHARED_NAMES, Network, box_declaration
from aurora.model.places import ELEMENTS, Places
from aurora.model.qos import QoS
from aurora.model.schema import Schema
from aurora.model.types import INT

VERSION = 1
MAX_BYTES = 4_000_000
_HEADER = ("aurora", "network", "description", "tags", "manual")
_NAMELESS = "unnamed"
_ANY_SCHEMA = Schema({"any": INT})

E = TypeVar("E", bound=Element)


@dataclass
class Draft:
    """What could be made of a document.

    ``broken`` holds the names, by section, of elements that are declared but could not be made: they exist, so that
    naming them is no mistake, but nothing is known of them. ``mentions`` are the names that broken elements read.
    ``opaque`` says that a whole part could not be read, so that nobody knows what it names.
    """

    network: Network
    problems: list[Problem] = field(default_factory=list)
    broken: dict[str, set[str]] = field(default_factory=lambda: {section: set() for section in ELEMENTS})
    mentions: set[str] = field(default_factory=set)
    opaque: bool = False

    @property
    def complete(self) -> bool:
        return not any(problem.severity == "error" for problem in self.problems)


def read_file(path: str | Path) -> Draft:
    file = str(path)
    try:
        with open(path, "rb") as opened:
            content = opened.read(MAX_BYTES + 1)
        _check_size(len(content))
        text = content.decode("utf-8-sig")
    except OSError as error:
        found = f"cannot read {file}: {error.strerror or error}"
        return _nothing(Problem("unreadable-file", found, "give the path of a network document", "network"), file)
    except ValueError as error:
        line = error.object[: error.start].count(b"\n") + 1 if isinstance(error, UnicodeDecodeError) else None
        found, way_out = "the text is not UTF-8", "save the file as UTF-8"
        return _nothing(Problem("malformed-document", found, way_out, "network", place=Place(None, line)), file)
    except MalformedError as error:
        return _nothing(error.problem, file)
    return read_text(text, format="json" if file.lower().endswith(".json") else "yaml", file=file)


def read_text(text: str, *, format: Literal["yaml", "json"], file: str | None = None) -> Draft:
    try:
        tree = _tree(text, format)
    except MalformedError as error:
        return _nothing(error.problem, file)
    return _read(tree, tree.places(file))


def read_plain(text: str) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The plain data of a document, YAML or JSON, with whatever is wrong with it; None if it is no document at all."""
    try:
        tree = _tree(text, "yaml")
    except MalformedError as error:
        return None, [error.problem]
    if not isinstance(tree.data, dict):
        return None, _read(tree, tree.places(None)).problems
    return tree.data, tree.doubles


def _tree(text: str, format: Literal["yaml", "json"]) -> Tree:
    try:
        _check_size(len(text.encode()))
    except UnicodeEncodeError:
        raise MalformedError("malformed-document", "half of a surrogate pair in the text", "write UTF-8") from None
    return build((json_text if format == "json" else yaml_text).events(text))


def read_document(document: Any, places: Places | None = None) -> Draft:
    return _read(Tree(document), places or Places())


def _check_size(n_bytes: int) -> None:
    if n_bytes > MAX_BYTES:
        found = f"the document is larger than {MAX_BYTES // 1_000_000} MB"
        raise MalformedError("document-too-big", found, "give a network document, not data; or split the network")


def _nothing(problem: Problem, file: str | None) -> Draft:
    place = Place(file, problem.place.line)
    return Draft(Network(_NAMELESS), [replace(problem, place=place)], opaque=True)


def _read(tree: Tree, places: Places) -> Draft:
    report = Report("network")
    doubles = [replace(double, place=Place(places.file, double.place.line)) for double in tree.doubles]
    report.problems.extend(doubles)
    document = tree.data
    if not isinstance(document, Mapping):
        found = "the document is empty" if document is None else f"the document is {shown(document)}, not a mapping"
        report.add("not-a-mapping", found, "start it with 'aurora: 1' and 'network: NAME'")
        return Draft(Network(_NAMELESS, places=places), places.locate(report.problems), opaque=True)
    _check_version(document, report)
    draft = Draft(_header(document, places, report), report.problems)
    for key in document:
        if key not in _HEADER and key not in ELEMENTS:
            legal = (*_HEADER, *ELEMENTS)
            way_out = suggestion(key, legal, "remove it")
            report.at(key).add("unknown-section", f"documents have no section {shown(key)}", way_out, choices=legal)
            draft.opaque = True
    for section in ELEMENTS:
        _read_section(section, document.get(section), draft, report)
    _check_shared_names(draft, places, report)
    draft.problems = places.locate(report.problems)
    return draft


def _check_version(document: Mapping[Any, Any], report: Report) -> None:
    if "aurora" not in document:
        report.add("missing-version", "the document does not say its version", f"add 'aurora: {VERSION}' at the top")
    elif document["aurora"] != VERSION or isinstance(document["aurora"], bool):
        found = f"version {shown(document['aurora'])} of the document is unknown"
        report.at("aurora").add("unknown-version", found, f"write 'aurora: {VERSION}'", choices=[str(VERSION)])


def _header(document: Mapping[Any, Any], places: Places, report: Report) -> Network:
    name = document.get("network")
    if name is None:
        report.add("missing-parameter", "'network' is not given", "add 'network: NAME' at the top", choices=_HEADER)
    elif check_name(name, report.at("network")):
        notes = {key: document[key] for key in ("description", "tags", "manual") if key in document}
        header = declare(Element, name, notes, report)
        if header is not None:
            return Network(name, description=header.description, tags=header.tags, manual=header.manual, places=places)
    return Network(_NAMELESS, places=places)


def _read_section(section: str, data: Any, draft: Draft, report: Report) -> None:
    if data is None:
        return
    if not isinstance(data, Mapping):
        found = f"{section} is {shown(data)}, not a mapping of names"
        report.at(section).add("not-a-mapping", found, f"write every {ELEMENTS[section]} as NAME: {{...}}")
        draft.opaque = True
        return
    for name, body in data.items():
        here = report.at(section, name, element=f"{ELEMENTS[section]} {name}")
        named = check_name(name, here)
        element = _element(section, str(name), body, here)
        if element is not None and named:
            getattr(draft.network, section)[name] = element
        else:
            draft.broken[section].add(str(name))
            draft.mentions.update(_mentioned(body))


def _element(section: str, name: str, body: Any, report: Report) -> Element | None:
    if body is None:
        body = {}
    if not isinstance(body, Mapping):
        found = f"{name} is {shown(body)}, not a mapping of parameters"
        report.add("not-a-mapping", found, f"write the {ELEMENTS[section]}'s parameters as {{...}}")
        return None
    if section == "streams":
        return _with_schema(Stream, name, body, report)
    if section == "boxes":
        return _box(name, body, report)
    if section == "outputs":
        return _output(name, body, report)
    if section == "superboxes":
        return declare(Superbox, name, body, report)
    if section in ("sources", "sinks"):
        return _connector(section, name, body, report)
    before = len(report.problems)
    point = _with_schema(ConnectionPoint, name, body, report)
    if point is not None:
        check_connection_point(point, report)
    return point if len(report.problems) == before else None


def _box(name: str, body: Mapping[Any, Any], report: Report) -> Element | None:
    if "kind" not in body:
        report.add("missing-parameter", "'kind' is not given", "add 'kind'", choices=sorted(KINDS))
        return None
    declaration = box_declaration(body["kind"], report.at("kind"))
    given = {key: value for key, value in body.items() if key != "kind"}
    return None if declaration is None else declare(declaration, name, given, report)


def _connector(section: str, name: str, body: Mapping[Any, Any], report: Report) -> Element | None:
    if "kind" not in body:
        kinds = sorted(SOURCES if section == "sources" else SINKS)
        report.add("missing-parameter", "'kind' is not given", "add 'kind'", choices=kinds)
        return None
    given = {key: value for key, value in body.items() if key != "kind"}
    if section == "sources":
        source = source_declaration(body["kind"], report.at("kind"))
        return None if source is None else declare(source, name, given, report)
    sink = sink_declaration(body["kind"], report.at("kind"))
    return None if sink is None else declare(sink, name, given, report)


def _with_schema(declaration: type[E], name: str, body: Mapping[Any, Any], report: Report) -> E | None:
    """Reads the schema first, column by column; a stand-in then lets the other parameters be checked as well."""
    if body.get("schema") is None:
        given = {key: value for key, value in body.items() if key != "schema"}
        return declare(declaration, name, given, report)
    schema = read_schema(body["schema"], report.at("schema"))
    element = declare(declaration, name, {**body, "schema": schema or _ANY_SCHEMA}, report)
    return None if schema is None else element


def _output(name: str, body: Mapping[Any, Any], report: Report) -> Output | None:
    if body.get("qos") is None:
        return declare(Output, name, body, report)
    qos = QoS.read(body["qos"], report.at("qos"))
    output = declare(Output, name, {**body, "qos": qos}, report)
    return None if qos is None else output


def _mentioned(body: Any) -> set[str]:
    """The names that an element reads, as far as they can be told from one that is wrong."""
    names: set[str] = set()
    if isinstance(body, Mapping):
        for key in ("in", "from", "on", "boxes"):
            value = body.get(key)
            for name in value if isinstance(value, list | tuple) else [value]:
                if isinstance(name, str):
                    names.add(name.partition(".")[0])
    return names


def _check_shared_names(draft: Draft, places: Places, report: Report) -> None:
    """Reports names that a section before has taken."""
    names = {section: {*elements, *draft.broken[section]} for section, elements in draft.network.sections().items()}
    before: list[str] = []
    for section in ELEMENTS:
        for other in before:
            for name in sorted(names[section] & names[other]) if other in SHARED_NAMES[section] else []:
                line = places.of((other, name)).line
                found = f"there is a {ELEMENTS[other]} {name!r} already" + (f", on line {line}" if line else "")
                here = report.at(section, name, element=f"{ELEMENTS[section]} {name}")
                here.add("duplicate-name", found, "rename one of them")
        before.append(section)
