"""The elements of a network beside its boxes: streams, outputs, superboxes and connection points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer

from aurora.errors import Report
from aurora.model.element import Element, InputNames
from aurora.model.forms import Holds
from aurora.model.naming import check_column, shown
from aurora.model.qos import QoS
from aurora.model.quantities import Duration, Tuples, parse_quantity
from aurora.model.schema import Schema
from aurora.model.type_names import DEEPEST_LIST, advice
from aurora.model.types import SCALARS, Type


def read_schema(data: Any, report: Report) -> Schema | None:
    """The schema that a document writes, or None when it is wrong; what is wrong goes to ``report``."""
    if isinstance(data, Schema):
        data = {name: str(kind) for name, kind in data.items()}
    if not isinstance(data, Mapping):
        report.add("not-a-mapping", f"schema is {shown(data)}", "write the columns as {ticker: string, price: double}")
        return None
    if not data:
        report.add("empty-schema", "the schema has no columns", "declare at least one, such as {price: double}")
        return None
    columns: dict[str, Type] = {}
    for name, text in data.items():
        here = report.at(name if isinstance(name, str | int) else str(name))
        good = check_column(name, here)
        try:
            kind = Type.parse(text) if isinstance(text, str) and text.count("<") <= DEEPEST_LIST else None
        except ValueError:
            kind = None
        if kind is None:
            hint = advice(text) if isinstance(text, str) else "use one of the choices, or list<...> of one"
            here.add("unknown-type", f"column {shown(name)} has the type {shown(text)}", hint, choices=SCALARS)
        elif good:
            columns[name] = kind
    return Schema(columns) if len(columns) == len(data) else None


def _schema(value: Any) -> Any:
    report = Report()
    schema = read_schema(value, report)
    if report.problems:
        raise ValueError(report.problems[0].found)
    return schema


def _schema_or_none(value: Any) -> Any:
    return None if value is None else _schema(value)


def _schema_to_plain(schema: Schema | None) -> dict[str, str] | None:
    return None if schema is None else {name: str(kind) for name, kind in schema.items()}


def _qos(value: Any) -> Any:
    report = Report()
    qos = None if value is None else QoS.read(value, report)
    if report.problems:
        raise ValueError(report.problems[0].found)
    return qos


def _keep(value: Any) -> Any:
    quantity = value if value is None else parse_quantity(value)
    if isinstance(quantity, int | float):
        raise ValueError(f"{value!r} has no unit; write a duration such as 2h, or 1000 tuples")
    return quantity


def _keep_to_plain(keep: Duration | Tuples | None) -> str | None:
    return None if keep is None else str(keep)


SchemaField = Annotated[Schema, BeforeValidator(_schema), PlainSerializer(_schema_to_plain), Holds("schema")]


class Stream(Element):
    """An input of the network."""

    columns: SchemaField = Field(alias="schema")

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.columns


class Output(Element):
    """Where results leave the network, and what they are worth there.

    ``source`` names the arc (``from`` in documents).
    """

    source: Annotated[str, Holds("arc")] = Field(alias="from")
    qos: Annotated[
        QoS | None,
        BeforeValidator(_qos),
        PlainSerializer(lambda qos: None if qos is None else qos.to_plain()),
        Holds("qos"),
    ] = None


class Superbox(Element):
    """A named group of boxes, and of other superboxes, that a person zooms into."""

    boxes: Annotated[InputNames, Field(min_length=1), Holds("boxes")]


class ConnectionPoint(Element):
    """A place where boxes can be added while the network runs, with the history that they then see.

    A live one stands ``on`` an arc and keeps what passes for a time or a number of tuples. A dangling one stands
    nowhere: it is static data of its own schema, read from ``file`` or given when the network starts.
    """

    on: Annotated[str, Holds("arc")] | None = None
    keep: Annotated[
        Duration | Tuples | None, BeforeValidator(_keep), PlainSerializer(_keep_to_plain), Holds("quantity")
    ] = None
    key: Annotated[InputNames, Holds("columns")] = ()
    columns: Annotated[
        Schema | None, BeforeValidator(_schema_or_none), PlainSerializer(_schema_to_plain), Holds("schema")
    ] = Field(default=None, alias="schema")
    file: str | None = None

    @property
    def schema(self) -> Schema | None:  # type: ignore[override]
        return self.columns

    @property
    def dangling(self) -> bool:
        return self.on is None


def check_connection_point(point: ConnectionPoint, report: Report) -> None:
    """Reports parameters that contradict each other: a connection point is either live or dangling."""
    if point.on is None and point.columns is None:
        report.add(
            "missing-parameter",
            "neither 'on' nor 'schema' is given",
            "give 'on' with the arc to stand on, or 'schema' for static data",
            choices=("on", "schema"),
        )
    for key, value in (("schema", point.columns), ("file", point.file)):
        if point.on is not None and value is not None:
            found = f"'on' puts it on an arc, {key!r} makes it static data"
            report.at(key).add("conflicting-parameters", found, f"remove 'on' or {key!r}")
    if point.on is None and point.columns is not None and point.keep is not None:
        found = "'keep' is about what passes on an arc, but there is no 'on'"
        report.at("keep").add("conflicting-parameters", found, "remove 'keep', or give 'on' instead of 'schema'")
    amount = point.keep.n if isinstance(point.keep, Tuples) else 1 if point.keep is None else point.keep.us
    if amount <= 0:
        report.at("keep").add("not-positive", f"{point.keep} is not greater than 0", "keep something, such as 2h")
