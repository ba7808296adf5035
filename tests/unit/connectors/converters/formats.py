"""Every format with options that hold any tuple of a schema, and ways to feed a decoder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl
from hypothesis import strategies as st

from aurora.connectors.converters.base import Converter, Decoded
from aurora.connectors.converters.registry import converter
from aurora.connectors.rejected import Rejection
from aurora.model.schema import Schema
from aurora.model.types import Type
from unit.connectors.test_round_trip import VALUES, column

NAMES = ["a", "b_c", "D", "e1"]
TEXT_BYTES = 40
ITEMS = 2


@dataclass(frozen=True)
class Format:
    """``options`` are for every schema; fixed-width records also need formats, which depend on it."""

    label: str
    name: str
    options: dict[str, Any]

    def __str__(self) -> str:
        return self.label

    def converter(self, schema: Schema, **more: Any) -> Converter:
        options = {**self.options, **more}
        if self.name == "binary":
            options["fields"] = {name: _width(kind) for name, kind in schema.items()}
        return converter(self.name, schema, options)


FORMATS = [
    Format("csv", "csv", {}),
    Format("csv without header", "csv", {"header": False, "separator": ";"}),
    Format("json lines", "json", {}),
    Format("json array", "json", {"form": "array"}),
    Format("xml", "xml", {"record": "tuples/tuple"}),
    Format("binary", "binary", {"null_bits": True}),
    Format("binary big", "binary", {"null_bits": True, "byte_order": "big"}),
    Format("arrow", "arrow", {}),
    Format("avro", "avro", {}),
    Format("avro deflate", "avro", {"codec": "deflate"}),
    Format("avro message", "avro", {"framing": "message"}),
]


def _width(kind: Type) -> str:
    if kind.item is not None:
        return f"{ITEMS}{_width(kind.item)}"
    return {"string": f"S{TEXT_BYTES}", "binary": f"S{TEXT_BYTES}", "bool": "u1", "double": "f8"}.get(kind.name, "i8")


@st.composite
def tuples(draw: st.DrawFn, chosen: Format, height: int = 5) -> tuple[Schema, pl.DataFrame]:
    """A schema and tuples that the format has a place for."""
    kinds = draw(st.lists(st.sampled_from([*VALUES, *(f"list<{name}>" for name in VALUES)]), min_size=1, max_size=4))
    schema = Schema({name: Type.parse(kind) for name, kind in zip(NAMES, kinds, strict=False)})
    rows = draw(st.integers(0, height))
    columns = []
    for name, kind in schema.items():
        item = _values((kind.item or kind).name, chosen)
        if kind.item is None:
            values = item
        elif chosen.name == "binary":
            values = st.lists(item, min_size=ITEMS, max_size=ITEMS)
        else:
            values = st.lists(st.none() | item, max_size=3)
        columns.append(column(kind, draw(st.lists(st.none() | values, min_size=rows, max_size=rows))).alias(name))
    return schema, pl.DataFrame(columns)


def _values(kind: str, chosen: Format) -> st.SearchStrategy[Any]:
    if chosen.name == "xml" and kind == "string":
        return st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")) | st.text(
            st.sampled_from("<>&'\"\n\r\t ]é")
        )
    if chosen.name == "binary" and kind == "string":
        return st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=TEXT_BYTES // 4)
    if chosen.name == "binary" and kind == "binary":
        return st.binary(max_size=TEXT_BYTES).map(lambda value: value.rstrip(b"\0"))
    return VALUES[kind]


@dataclass(frozen=True)
class Whole:
    """All that came out of a decoder."""

    frame: pl.DataFrame
    rejected: list[Rejection]
    broken: str

    @property
    def faults(self) -> list[tuple[int, str]]:
        return [(one.place, one.reason) for one in self.rejected]


def fed(chosen: Converter, pieces: Iterable[bytes]) -> Whole:
    decoder = chosen.decoder()
    parts: list[Decoded] = [decoder.feed(piece) for piece in pieces]
    parts.append(decoder.finish())
    for part in parts:
        assert part.frame.schema == chosen.schema.to_polars()
    return Whole(
        pl.concat([part.frame for part in parts]),
        [one for part in parts for one in part.rejected],
        next((part.broken for part in parts if part.broken), ""),
    )


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]
