"""Which part of an XML record is which column.

A record is every element at the path ``record``, such as ``orders/order``. In it a column is found by a path of element
names, ``quote/last``; by an attribute at the end of one, ``quote/@currency`` or ``@id``; or by ``.``, the record's own
text. Prefixes of names are ignored. ``tag[]`` makes a list of all elements of that name; otherwise a list is a JSON
array.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pydantic import Field

from aurora.connectors.converters.options import Options
from aurora.errors import InputError
from aurora.model.schema import Schema

_NAME = re.compile(r"[^\W\d][\w.-]*")


class XmlOptions(Options):
    record: str
    """The path of the element that is a tuple, from the root on."""
    columns: dict[str, str] = Field(default_factory=dict)
    """The path of a column within a record; that of one not named is its name."""
    max_depth: int = 64


@dataclass
class Node:
    """An element that matters: the columns that its text and its attributes are, and what matters inside it."""

    text: str | None = None
    repeated: bool = False
    attributes: dict[str, str] = field(default_factory=dict)
    children: dict[str, Node] = field(default_factory=dict)


@dataclass(frozen=True)
class Mapping:
    """Where records are, and what is in one. ``repeated`` are the columns that gather elements."""

    record: tuple[str, ...]
    root: Node
    repeated: frozenset[str]


def mapping(schema: Schema, options: XmlOptions) -> Mapping:
    record = tuple(_checked(name, "record", options.record) for name in options.record.strip("/").split("/"))
    unknown = [name for name in options.columns if name not in schema]
    if unknown:
        raise _wrong(f"'columns' names {unknown[0]!r}, which is no column; the columns are {', '.join(schema)}")
    root = Node()
    repeated: set[str] = set()
    for column in schema:
        path = options.columns.get(column, column)
        node = root
        steps = [] if path == "." else path.split("/")
        attribute = steps.pop()[1:] if steps and steps[-1].startswith("@") else None
        gathers = bool(steps) and attribute is None and steps[-1].endswith("[]")
        if gathers:
            steps[-1] = steps[-1].removesuffix("[]")
            if schema[column].item is None:
                raise _wrong(f"the path {path!r} gathers elements, but {column!r} is a {schema[column]}; leave out []")
            repeated.add(column)
        for step in steps:
            node = node.children.setdefault(_checked(step, column, path), Node())
        if attribute is not None:
            _checked(attribute, column, path)
            if attribute in node.attributes:
                raise _wrong(f"{node.attributes[attribute]!r} and {column!r} have the same path {path!r}")
            node.attributes[attribute] = column
        elif node.text is not None:
            raise _wrong(f"{node.text!r} and {column!r} have the same path {path!r}")
        else:
            node.text = column
            node.repeated = gathers
    _check_gathered(root)
    return Mapping(record, root, frozenset(repeated))


def _check_gathered(node: Node) -> None:
    for name, child in node.children.items():
        if child.repeated and (child.children or child.attributes):
            raise _wrong(f"the elements {name!r} are gathered, so nothing else can be found inside them")
        _check_gathered(child)


def _checked(name: str, what: str, path: str) -> str:
    if not _NAME.fullmatch(name):
        raise _wrong(
            f"the path {path!r} of {what!r} holds {name!r}, which is no name of an element or attribute; "
            f"write a path such as order/price or @id"
        )
    return name


def _wrong(what: str) -> InputError:
    return InputError(f"options of the converter 'xml': {what}")
