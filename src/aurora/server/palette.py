"""What can be drawn: every kind of element with its parameters, ports and meaning, and the functions of expressions.

All of it comes from the declarations and from the texts that stand beside them, so that a page that draws forms needs
to know no kind by name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import aurora.boxes
from aurora.connectors.converters.registry import converter_names
from aurora.drawing.summary import FAMILIES, IN_PORTS
from aurora.expressions import reference, registry
from aurora.model.box import KINDS, Box, Port
from aurora.model.connectors import SINKS, SOURCES, Connector
from aurora.model.element import Element
from aurora.model.elements import ConnectionPoint, Output, Stream, Superbox
from aurora.model.forms import form
from aurora.model.generators import NUMBERS, WAYS
from aurora.model.quantities import Duration, Tuples
from aurora.model.types import SCALARS

CATEGORIES = {
    "filter": "Select",
    "map": "Compute",
    "union": "Combine",
    "join": "Combine",
    "order": "Order",
    "window": "Windows",
    "table": "Tables",
    "python": "Your code",
    "other": "Other",
}
"""What families of boxes are called in a palette, in its order."""
_NETWORK = "Network"
_SOURCES = "Sources"
_SINKS = "Sinks"
_ORDER = (_NETWORK, *dict.fromkeys(CATEGORIES.values()), _SOURCES, _SINKS)

_ELEMENTS: tuple[tuple[str, type[Element], str, str], ...] = (
    ("streams", Stream, "Stream", "stream"),
    ("outputs", Output, "Output", "output"),
    ("connection_points", ConnectionPoint, "Connection point", "point"),
    ("connection_points", ConnectionPoint, "Static data", "static"),
    ("superboxes", Superbox, "Superbox", "superbox"),
)
"""Sections whose elements have no kinds. A connection point stands on an arc, or is static data of its own."""


def palette() -> dict[str, Any]:
    assert aurora.boxes, "importing the boxes fills KINDS"
    kinds = [*_elements(), *_boxes(), *_connectors("sources", SOURCES), *_connectors("sinks", SINKS)]
    notes = said_of_elements()["notes"]
    return {
        "categories": [category for category in _ORDER if any(kind["category"] == category for kind in kinds)],
        "kinds": sorted(kinds, key=lambda kind: _ORDER.index(kind["category"])),
        "notes": [_parameter(name, Element.model_fields[name], means) for name, means in notes.items()],
        "functions": list(_functions()),
        "types": list(SCALARS),
        "formats": converter_names(),
        "ways": {way: NUMBERS[way].strip("[]").split(", ") if way in NUMBERS else [] for way in WAYS},
    }


def _elements() -> Iterator[dict[str, Any]]:
    for section, declaration, title, family in _ELEMENTS:
        said = said_of_elements()[section]
        reads = family in ("output", "point")
        yield {
            "section": section,
            "kind": None,
            "title": title,
            "category": _NETWORK,
            "family": family,
            "inputs": {"least": 1, "most": 1, "names": [], "static": False} if reads else None,
            "ports": [{"name": "out"}] if family in ("stream", "static") else [],
            "manual": f"reference/document.md#{section}",
            "start": said.get(f"{family}_start", said.get("start", {})),
            **_documented(declaration),
            "parameters": _parameters(declaration, said["parameters"]),
        }


def _boxes() -> Iterator[dict[str, Any]]:
    texts = said_of_boxes()
    for kind, declaration in KINDS.items():
        said = texts["boxes"].get(kind, {})
        known = texts["parameters"] | said.get("parameters", {})
        family = FAMILIES.get(kind, "other")
        least, most = declaration.arity
        names = list(IN_PORTS.get(kind, ()))
        yield {
            "section": "boxes",
            "kind": kind,
            "title": said.get("title", _title(kind)),
            "category": CATEGORIES[family],
            "family": family,
            "inputs": {"least": least, "most": most, "names": names, "static": declaration.takes_static},
            "ports": [_port(port, declaration) for port in declaration.ports],
            "manual": f"reference/boxes/{kind}.md",
            "start": said.get("start", {}),
            "summary": box_summary(declaration),
            "parameters": _parameters(declaration, known, {"Window": texts["window"]}, declaration.registered()),
        }


def _connectors(section: str, kinds: Mapping[str, type[Connector]]) -> Iterator[dict[str, Any]]:
    texts = said_of_elements()
    for kind, declaration in kinds.items():
        said = texts[section].get(kind, {})
        known = texts["connectors"] | said.get("parameters", {})
        parameters = _parameters(declaration, known, texts["groups"])
        yield {
            "section": section,
            "kind": kind,
            "title": said.get("title", _title(kind)),
            "category": _SOURCES if section == "sources" else _SINKS,
            "family": section.removesuffix("s"),
            "inputs": None,
            "ports": [],
            "manual": f"reference/document.md#{kind}-{section.removesuffix('s')}",
            "start": said.get("start", {}),
            **_documented(declaration),
            # What is common to all stands first in the declaration, and is seldom given.
            "parameters": sorted(parameters, key=lambda one: (one["name"] in _COMMON, not one["required"])),
        }


_COMMON = ("options", "retry", "queue", "when_full")


def _title(kind: str) -> str:
    return kind.replace("_", " ").capitalize()


def box_summary(declaration: type[Box]) -> str:
    """The module's first line, which starts with the kind's name."""
    first = (inspect.getdoc(inspect.getmodule(declaration)) or "").partition("\n")[0]
    rest = first.removeprefix(f"{declaration.kind}: ")
    return code_marks(rest[:1].upper() + rest[1:])


def code_marks(text: str) -> str:
    """As Markdown writes code, which docstrings mark twice."""
    return re.sub(r"``(.+?)``", r"`\1`", text)


def _documented(declaration: type[Element]) -> dict[str, str]:
    summary, _, rest = code_marks(inspect.getdoc(declaration) or "").partition("\n\n")
    return {"summary": summary.replace("\n", " "), "prose": rest.strip()}


def _port(port: Port, declaration: type[Box]) -> dict[str, Any]:
    said = {name: getattr(port, name) for name in ("name", "when", "each", "named_by", "of") if getattr(port, name)}
    for name in said.keys() - {"name"}:
        said[name] = declaration.model_fields[said[name]].alias or said[name]
    return said


def _parameters(
    declaration: type[BaseModel],
    known: Mapping[str, str],
    groups: Mapping[str, Mapping[str, str]] | None = None,
    code: Mapping[str, tuple[str, ...]] | None = None,
) -> list[dict[str, Any]]:
    return [
        _parameter(name, field, known.get(field.alias or name, ""), groups or {}, code or {})
        for name, field in declaration.model_fields.items()
        if name not in Element.model_fields
    ]


def _parameter(
    name: str,
    field: FieldInfo,
    means: str,
    groups: Mapping[str, Mapping[str, str]] | None = None,
    code: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, Any]:
    drawn = form(field.annotation, field.metadata)
    if drawn["form"] == "group":
        within = drawn.pop("of")
        drawn["fields"] = _parameters(within, (groups or {}).get(within.__name__, {}))
    elif drawn["form"] == "code":
        drawn["ports"] = {one: list(ports) for one, ports in (code or {}).items()}
    default = None if field.is_required() else _plain(field.get_default(call_default_factory=True))
    if drawn["form"] == "size" and isinstance(default, int):
        default = _size(default)
    return {
        "name": field.alias or name,
        "form": drawn,
        "required": field.is_required(),
        "default": default,
        "means": means,
    }


def _plain(default: Any) -> Any:
    """A default as a document would write it; None where there is nothing to write."""
    if isinstance(default, Duration | Tuples):
        return str(default)
    return default if isinstance(default, bool | int | float | str) and default != "" else None


def _size(n_bytes: int) -> str | int:
    return next((f"{n_bytes >> shift}{unit}" for unit, shift in _UNITS if n_bytes % (1 << shift) == 0), n_bytes)


_UNITS = (("GiB", 30), ("MiB", 20), ("KiB", 10))


def _functions() -> Iterator[dict[str, Any]]:
    scopes = {"aggregates": "aggregate", "windows": "window"}
    for entry in reference():
        yield {
            "name": entry.name,
            "aliases": list(entry.aliases),
            "group": entry.group,
            "scope": scopes.get(entry.group, "scalar"),
            "signatures": list(entry.signatures),
            "meaning": entry.meaning,
            "example": entry.example,
        }
    for function in registry.FUNCTIONS.values():
        arguments = ", ".join(map(str, function.arguments))
        yield _own(function.name, "scalar", f"{function.name}({arguments}) -> {function.returns}")
    for aggregate in registry.AGGREGATES.values():
        argument = aggregate.argument or "x"
        yield _own(aggregate.name, "aggregate", f"{aggregate.name}({argument}) -> {aggregate.returns}")


def _own(name: str, scope: str, signature: str) -> dict[str, Any]:
    meaning = "Registered on this server."
    return {
        "name": name,
        "aliases": [],
        "group": "your own",
        "scope": scope,
        "signatures": [signature],
        "meaning": meaning,
        "example": "",
    }


@cache
def said_of_boxes() -> dict[str, Any]:
    return _texts("aurora.boxes", "boxes.yaml")


@cache
def said_of_elements() -> dict[str, Any]:
    return _texts("aurora.model", "elements.yaml")


def _texts(package: str, file: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(resources.files(package).joinpath(file).read_text(encoding="utf-8"))
    return read
