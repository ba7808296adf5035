"""XML: the elements at a path are the tuples, and paths inside them the columns. ``xml_mapping`` has the paths.

A column whose element or attribute is missing is NULL; so is one with ``nil="true"``. An empty element is an empty
text.
"""

from __future__ import annotations

import json
from collections import abc
from typing import Any

import polars as pl

from aurora.connectors.converters.base import Converter, Decoded, Encoded
from aurora.connectors.converters.options import read_options
from aurora.connectors.converters.xml_mapping import Mapping, Node, XmlOptions, mapping
from aurora.connectors.converters.xml_records import Refused, XmlRecords
from aurora.connectors.json_values import lists_of, parse_column
from aurora.connectors.rejected import Rejection
from aurora.connectors.rows import Rows, Taker
from aurora.connectors.to_text import json_objects, json_text, scalar_text
from aurora.model.schema import Schema
from aurora.model.types import Type

_ILLEGAL = "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}


class XmlConverter(Converter):
    def __init__(self, schema: Schema, options: abc.Mapping[str, Any]) -> None:
        super().__init__(schema, options)
        self._options = read_options(XmlOptions, options, "xml")
        self._mapping = mapping(schema, self._options)

    def decoder(self) -> XmlDecoder:
        return XmlDecoder(self.schema, self._mapping, self._options)

    def encoder(self) -> XmlEncoder:
        return XmlEncoder(self.schema, self._mapping)


class XmlDecoder:
    """Places are the numbers of records, from 1. Several documents may follow one another."""

    def __init__(self, schema: Schema, where: Mapping, options: XmlOptions) -> None:
        self._records = XmlRecords(where, list(schema), options.max_record_bytes, options.max_depth)
        self._types = {name: pl.List(pl.String()) if name in where.repeated else pl.String() for name in schema}
        self._taker = Taker(schema, _converted)
        self._empty = pl.DataFrame(schema=schema.to_polars())
        self._broken = ""

    def feed(self, data: bytes) -> Decoded:
        if not self._broken:
            try:
                self._records.feed(data)
            except Refused as error:
                self._broken = str(error)
        return self._decoded()

    def finish(self) -> Decoded:
        if not self._broken:
            self._records.finish()
        return self._decoded()

    def _decoded(self) -> Decoded:
        columns, places, bad = self._records.take()
        if not places:
            return Decoded(self._empty, bad, self._broken)
        found = pl.DataFrame(columns, schema=self._types)

        def locate(row: int) -> tuple[int, str]:
            return places[row], json.dumps(found.row(row, named=True), ensure_ascii=False)

        frame, rejected = self._taker.take(Rows(found, locate, bad))
        return Decoded(frame, rejected, self._broken)


def _converted(values: pl.Series, kind: Type) -> pl.Series:
    return lists_of(values, kind, parse_column) if values.dtype == pl.List else parse_column(values, kind)


class XmlEncoder:
    """A NULL has no element. A tuple with a character that XML has no place for is rejected."""

    def __init__(self, schema: Schema, where: Mapping) -> None:
        self._schema = schema
        self._record = where.record
        texts = {
            name: _items(name, kind) if name in where.repeated else _text(name, kind) for name, kind in schema.items()
        }
        self._legal = pl.all_horizontal(*(~text.str.contains(_ILLEGAL).fill_null(False) for text in texts.values()))
        self._line = pl.concat_str(_element(where.record[-1], where.root, texts, schema)).alias("record")

    def header(self) -> bytes:
        opened = "".join(f"<{name}>" for name in self._record[:-1])
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{opened}\n'.encode()

    def encode(self, frame: pl.DataFrame) -> Encoded:
        if not frame.height:
            return Encoded(b"")
        legal = frame.select(self._legal).to_series()
        rejected: list[Rejection] = []
        if not legal.all():
            texts = frame.filter(~legal).select(json_objects(self._schema)).to_series()
            rows = (~legal).arg_true()
            reason = "a text holds a character that XML has no place for; take another format"
            rejected = [Rejection(row + 1, reason, text) for row, text in zip(rows, texts, strict=True)]
            frame = frame.filter(legal)
        records = frame.select(self._line).to_series()
        return Encoded("".join(f"{record}\n" for record in records).encode(), rejected)

    def footer(self) -> bytes:
        closed = "".join(f"</{name}>" for name in reversed(self._record[:-1]))
        return f"{closed}\n".encode()


def _text(name: str, kind: Type) -> pl.Expr:
    value = pl.col(name)
    return json_text(value, kind) if kind.item is not None else scalar_text(value, kind).cast(pl.String)


def _items(name: str, kind: Type) -> pl.Expr:
    """The items of a list as texts, one behind the other, only to be looked at."""
    assert kind.item is not None
    return pl.col(name).list.eval(scalar_text(pl.element(), kind.item).cast(pl.String)).list.join("", ignore_nulls=True)


def _element(name: str, node: Node, texts: dict[str, pl.Expr], schema: Schema) -> list[pl.Expr]:
    """The pieces of an element: a tag with attributes, the text, the elements inside, the closing tag."""
    pieces = [pl.lit(f"<{name}")]
    for attribute, column in node.attributes.items():
        pieces.append((f' {attribute}="' + _escaped(texts[column]) + '"').fill_null(""))
    if node.text is not None:
        pieces.append(pl.when(pl.col(node.text).is_null()).then(pl.lit(' nil="true"')).otherwise(pl.lit("")))
    pieces.append(pl.lit(">"))
    if node.text is not None:
        pieces.append(_escaped(texts[node.text]).fill_null(""))
    for inner, child in node.children.items():
        if child.repeated and child.text is not None:
            pieces.append(_gathered(inner, child.text, schema[child.text]))
        else:
            whole = pl.concat_str(_element(inner, child, texts, schema))
            if child.text is not None and not child.attributes and not child.children:
                whole = pl.when(pl.col(child.text).is_not_null()).then(whole).otherwise(pl.lit(""))
            pieces.append(whole)
    pieces.append(pl.lit(f"</{name}>"))
    return pieces


def _gathered(name: str, column: str, kind: Type) -> pl.Expr:
    assert kind.item is not None
    item = _escaped(scalar_text(pl.element(), kind.item).cast(pl.String))
    tagged = (f"<{name}>" + item + f"</{name}>").fill_null(f'<{name} nil="true"/>')
    return pl.col(column).list.eval(tagged).list.join("").fill_null("")


def _escaped(text: pl.Expr) -> pl.Expr:
    return text.str.replace_many(list(_ESCAPES), list(_ESCAPES.values()))
