"""Converters by name: Aurora's own, and those that installed packages offer by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from aurora.connectors.converters.base import Converter
from aurora.errors import InputError, did_you_mean
from aurora.model.schema import Schema

GROUP = "aurora.converters"

OWN = {
    "arrow": "aurora.connectors.converters.arrow:ArrowConverter",
    "avro": "aurora.connectors.converters.avro:AvroConverter",
    "binary": "aurora.connectors.converters.binary:BinaryConverter",
    "csv": "aurora.connectors.converters.csv:CsvConverter",
    "json": "aurora.connectors.converters.json:JsonConverter",
    "xml": "aurora.connectors.converters.xml:XmlConverter",
}
"""Declared as entry points too; here they are found even where Aurora runs from its sources."""

Maker = Callable[[Schema, Mapping[str, Any]], Converter]


def converter(name: str, schema: Schema, options: Mapping[str, Any] | None = None) -> Converter:
    """The converter of this name; raises InputError if there is none, or if the options are wrong.

    >>> converter("json", Schema.of(x="int")).decode(b'{"x": 1}').frame["x"].to_list()
    [1]
    """
    return _maker(name)(schema, {} if options is None else options)


def converter_names() -> list[str]:
    """What can be asked for, sorted."""
    return sorted({*OWN, *_plugins()})


@cache
def _plugins() -> dict[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=GROUP):
        if OWN.get(point.name) != point.value:
            found[point.name] = (*found.get(point.name, ()), point)
    return found


def _maker(name: str) -> Maker:
    points = _plugins().get(name, ())
    if len(points) + (name in OWN) > 1:
        offered = ", ".join(repr(point.value) for point in points)
        raise InputError(
            f"there are several converters {name!r}: {offered}{' and the built-in one' if name in OWN else ''}; "
            f"uninstall all but one of the packages that offer them"
        )
    if name in OWN:
        module, _, attribute = OWN[name].partition(":")
        own: Maker = getattr(import_module(module), attribute)
        return own
    if not points:
        names = converter_names()
        hint = did_you_mean(name, names)
        raise InputError(
            f"there is no converter {name!r}; use one of {', '.join(names)}"
            + (f", {hint}" if hint else f", or install a package that offers it by the entry point group {GROUP}")
        )
    try:
        maker: Maker = points[0].load()
    except Exception as error:
        raise InputError(
            f"the converter {name!r} ({points[0].value}) cannot be loaded: {type(error).__name__}: {error}; "
            f"repair or uninstall the package that offers it"
        ) from error
    return maker
