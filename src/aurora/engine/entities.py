"""Everything that a network consists of, as plain values."""

from __future__ import annotations

from typing import Any

from aurora.model.places import ELEMENTS
from aurora.model.typed import TypedNetwork


def entities(typed: TypedNetwork) -> list[dict[str, Any]]:
    """Every stream, box, output and so on with its section, kind, description, tags, and the columns of its arcs."""
    found = []
    for section, elements in typed.network.sections().items():
        for name, element in elements.items():
            what = ELEMENTS[section]
            if section == "outputs":
                arcs = [str(typed.outputs[name])]
            else:
                arcs = [arc for arc in typed.arcs if arc.partition(".")[0] == name and section in _WITH_ARCS]
            found.append(
                {
                    "section": what,
                    "name": name,
                    "kind": getattr(element, "kind", what),
                    "description": element.description,
                    "tags": list(element.tags),
                    "arcs": {
                        arc: {column: str(kind) for column, kind in typed.arcs[arc].schema.items()} for arc in arcs
                    },
                }
            )
    return found


_WITH_ARCS = ("streams", "boxes", "connection_points")
