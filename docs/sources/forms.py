"""What a reader would call that which stands in a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "address": "`host:port`",
    "addresses": "`host:port`, or a list of them",
    "arc": "name",
    "arcs": "name or list of names",
    "boolean": "bool",
    "boxes": "name or list of names",
    "code": "name",
    "columns": "column or list of columns",
    "distance": "duration or number",
    "format": "name of a converter",
    "group": "mapping",
    "made": "expression or a way",
    "output": "name",
    "qos": "graphs",
    "scalar": "number or text",
    "schema": "mapping of column to type",
    "sql": "SQL",
    "stream": "name",
    "texts": "text or list of texts",
    "tuples": "number of tuples",
    "variable": "name of a variable",
}
"""Forms whose own name is not it."""


def type_of(form: Mapping[str, Any]) -> str:
    """
    >>> type_of({"form": "mapping", "key": "port", "value": {"form": "expression"}})
    'mapping of port to expression'
    """
    if form["form"] == "mapping":
        if form["value"]["form"] == "any":
            return "mapping"
        key = form["key"].removeprefix("new ")
        value = "new name" if (key, form["value"]["form"]) == ("column", "text") else type_of(form["value"])
        return f"mapping of {key} to {value}"
    if form["form"] == "choice":
        return " or ".join(f"`{choice}`" for choice in form["choices"])
    if form["form"] == "number":
        return "int" if form["whole"] else "number"
    return _NAMES.get(form["form"], str(form["form"]))
