"""Avro schemas: the one that tuples are written with, and which of those that others write with can be read.

A file brings its own schema, so a stranger decides how many values a byte stands for. Only schemas are read in which
every value takes at least a byte, and none can contain itself.
"""

from __future__ import annotations

import json
import re
from typing import Any

import polars as pl

from aurora.errors import did_you_mean
from aurora.model.schema import Schema
from aurora.model.types import BINARY, BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, Type

AvroSchema = Any

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = {
    "boolean": pl.Boolean(),
    "int": pl.Int64(),
    "long": pl.Int64(),
    "float": pl.Float64(),
    "double": pl.Float64(),
    "string": pl.String(),
    "enum": pl.String(),
    "bytes": pl.Binary(),
    "fixed": pl.Binary(),
}
_PRIMITIVE = ("boolean", "int", "long", "float", "double", "string", "bytes")
_WRITTEN = {BOOL: "boolean", INT: "long", DOUBLE: "double", STRING: "string", DURATION: "long", BINARY: "bytes"}
_READ = {
    BOOL: (pl.Boolean,),
    INT: (pl.Int64,),
    DOUBLE: (pl.Int64, pl.Float64),
    STRING: (),
    TIMESTAMP: (pl.Int64,),
    DURATION: (pl.Int64,),
    BINARY: (pl.Binary,),
}
_MILLIS = ("timestamp-millis", "local-timestamp-millis")
_LOGICAL = (*_MILLIS, "timestamp-micros", "local-timestamp-micros")
_MAX_DEPTH = 32


class UnfitSchemaError(ValueError):
    """A schema that cannot be read, or does not have the columns."""


def written_with(schema: Schema) -> AvroSchema:
    """Every column may be NULL, and so may the items of lists."""
    fields = [{"name": name, "type": ["null", _written(kind)]} for name, kind in schema.items()]
    return {"type": "record", "name": "tuple", "fields": fields}


def _written(kind: Type) -> AvroSchema:
    if kind.item is not None:
        return {"type": "array", "items": ["null", _written(kind.item)]}
    if kind == TIMESTAMP:
        return {"type": "long", "logicalType": "timestamp-micros"}
    return _WRITTEN[kind]


class Fields:
    """How the columns of a schema are found in records of an Avro schema; raises UnfitSchemaError if they are not.

    ``types`` has the columns as Avro holds them, ``millis`` those that count milliseconds. ``plain`` is the schema
    without logical types, since those would become Python's times, which do not reach as far.
    """

    def __init__(self, avro: AvroSchema, schema: Schema) -> None:
        plain = _Plain()
        self.plain = plain.of(avro)
        if not isinstance(self.plain, dict) or self.plain.get("type") != "record":
            raise UnfitSchemaError("the Avro schema is no record, so it has no columns; write records")
        found = {field["name"]: field["type"] for field in self.plain["fields"]}
        logical = {field["name"]: _logical(field["type"]) for field in avro["fields"]}
        self.types: dict[str, pl.DataType] = {}
        self.millis: list[str] = []
        for name, kind in schema.items():
            if name not in found:
                hint = did_you_mean(name, found)
                raise UnfitSchemaError(
                    f"the Avro schema has no field {name!r}; it has {', '.join(map(repr, list(found)[:30]))}; "
                    f"name the columns as the schema does" + (f", {hint}" if hint else "")
                )
            dtype = _type(found[name], plain.kinds)
            if dtype is None or not _fits(dtype, kind) or logical[name] not in (None, *_LOGICAL):
                raise UnfitSchemaError(
                    f"the Avro field {name!r} is {json.dumps(found[name])[:200]}, which is no {kind}; change the schema"
                )
            self.types[name] = dtype
            if kind == TIMESTAMP and logical[name] in _MILLIS:
                self.millis.append(name)


def _fits(dtype: pl.DataType, kind: Type) -> bool:
    if isinstance(dtype, pl.Null):
        return True
    if isinstance(dtype, pl.List):
        inner = dtype.inner
        assert isinstance(inner, pl.DataType)
        return kind.item is not None and _fits(inner, kind.item)
    if kind.item is not None:
        return False
    return isinstance(dtype, (pl.String, *_READ[kind]))


def _type(avro: AvroSchema, kinds: dict[str, str]) -> pl.DataType | None:
    """What Polars holds the values in; None for unions of several types, maps and records."""
    if isinstance(avro, list):
        branches = [branch for branch in avro if branch != "null"]
        return _type(branches[0], kinds) if len(branches) == 1 else None
    if isinstance(avro, str):
        return _PLAIN.get(kinds.get(avro, avro))
    if avro["type"] == "array":
        inner = _type(avro["items"], kinds)
        return None if inner is None else pl.List(inner)
    return _PLAIN.get(avro["type"])


def _logical(avro: AvroSchema) -> str | None:
    """The logical type of a field that is no list."""
    if isinstance(avro, list):
        return next((found for branch in avro if (found := _logical(branch)) is not None), None)
    if not isinstance(avro, dict):
        return None
    if isinstance(avro.get("type"), dict | list):
        return _logical(avro["type"])
    found = avro.get("logicalType")
    return found if isinstance(found, str) else None


class _Plain:
    """Makes a schema without logical types, in which named types have new names, so that none can be mistaken."""

    def __init__(self) -> None:
        self._names: dict[str, str | None] = {}
        """By full name; None while a type is being defined."""
        self.kinds: dict[str, str] = {}

    def of(self, avro: AvroSchema, space: str = "", depth: int = 0) -> AvroSchema:
        if depth > _MAX_DEPTH:
            raise UnfitSchemaError(f"the Avro schema is nested more than {_MAX_DEPTH} deep")
        if isinstance(avro, list):
            return [branch if branch == "null" else self.of(branch, space, depth + 1) for branch in avro]
        if isinstance(avro, str):
            return self._by_name(avro, space)
        if not isinstance(avro, dict) or "type" not in avro:
            raise UnfitSchemaError("the Avro schema is harmed: a type is neither a name nor an object with a type")
        kind = avro["type"]
        if kind == "array":
            return {"type": "array", "items": self.of(avro.get("items"), space, depth + 1)}
        if kind == "map":
            return {"type": "map", "values": self.of(avro.get("values"), space, depth + 1)}
        if kind in ("record", "enum", "fixed"):
            return self._defined(avro, space, depth)
        return self.of(kind, space, depth + 1)

    def _by_name(self, name: str, space: str) -> str:
        if name in _PRIMITIVE:
            return name
        if name == "null":
            raise UnfitSchemaError("the Avro schema has a type null outside a union, which is refused; leave it out")
        for full in (_full(name, space), name):
            if (known := self._names.get(full)) is not None:
                return known
        raise UnfitSchemaError(f"the Avro schema uses {name[:80]!r} inside itself, or does not define it")

    def _defined(self, avro: dict[str, Any], space: str, depth: int) -> AvroSchema:
        name = avro.get("name")
        if not isinstance(name, str) or not name:
            raise UnfitSchemaError(f"the Avro schema has a {avro['type']} without a name")
        space = avro["namespace"] if isinstance(avro.get("namespace"), str) else space
        full = _full(name, space)
        self._names[full] = None
        new = f"n{len(self._names)}"
        plain: dict[str, Any] = {"type": avro["type"], "name": new}
        if avro["type"] == "fixed":
            plain["size"] = avro.get("size")
            if not isinstance(plain["size"], int) or not 0 < plain["size"] < 1 << 30:
                raise UnfitSchemaError(f"the Avro schema has a fixed type of the size {str(plain['size'])[:40]}")
        elif avro["type"] == "enum":
            plain["symbols"] = avro.get("symbols")
            if not isinstance(plain["symbols"], list) or not all(isinstance(one, str) for one in plain["symbols"]):
                raise UnfitSchemaError("the Avro schema has an enum without symbols")
        else:
            plain["fields"] = self._fields(avro.get("fields"), full.rpartition(".")[0], depth)
        self._names[full] = new
        self.kinds[new] = avro["type"]
        return plain

    def _fields(self, fields: object, space: str, depth: int) -> list[dict[str, Any]]:
        if not isinstance(fields, list) or not fields:
            raise UnfitSchemaError("the Avro schema has a record without fields, which is refused")
        if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in fields):
            raise UnfitSchemaError("the Avro schema has a field without a name")
        return [{"name": one["name"], "type": self.of(one.get("type"), space, depth + 1)} for one in fields]


def _full(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"
