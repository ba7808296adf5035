"""From a network to plain data and to text: what is written says nothing that a reader would assume anyway."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aurora.model.box import Box
from aurora.model.connectors import Sink, Source
from aurora.model.document import yaml_text
from aurora.model.element import Element

if TYPE_CHECKING:
    from aurora.model.network import Network


def to_document(network: Network) -> dict[str, Any]:
    notes = {"description": network.description, "tags": list(network.tags), "manual": network.manual}
    document: dict[str, Any] = {"aurora": 1, "network": network.name}
    document |= {key: value for key, value in notes.items() if value}
    for section, elements in network.sections().items():
        if elements:
            document[section] = {name: _element(element) for name, element in elements.items()}
    return document


def _element(element: Element) -> dict[str, Any]:
    """The parameters that differ from their defaults; what an element is first, then what people note about it."""
    plain = element.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"name"})
    if isinstance(element, Box):
        plain = {"kind": element.kind, "in": plain.pop("in"), **plain}
    elif isinstance(element, Source | Sink):
        stream = "into" if isinstance(element, Source) else "from"
        plain = {"kind": element.kind, stream: plain.pop(stream), **plain}
    notes = {key: plain.pop(key) for key in ("description", "tags", "manual") if key in plain}
    return plain | notes


def to_yaml(network: Network) -> str:
    return yaml_text.dump(to_document(network))


def to_json(network: Network) -> str:
    return json.dumps(to_document(network), indent=2, ensure_ascii=False) + "\n"
