"""JSON: one object per line; or objects in arrays, or one behind the other, over as many lines as they like.

A missing key is NULL; keys that the schema does not know are ignored. Prefer lines for what never ends: after a line
that is no JSON the next one is understood again, whereas a missing bracket or quote in an array spoils what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import polars as pl

from aurora.connectors.converters.base import Converter, Decoded, Decoder, Encoded
from aurora.connectors.converters.json_array import ValueScanner
from aurora.connectors.converters.lines import Lines
from aurora.connectors.converters.options import Options, read_options
from aurora.connectors.json_objects import ObjectReader
from aurora.connectors.json_values import from_plain
from aurora.connectors.rejected import Rejection
from aurora.connectors.rows import Rows, Taker, merged
from aurora.connectors.to_text import json_objects
from aurora.model.schema import Schema

_MARK = b"\xef\xbb\xbf"


class JsonOptions(Options):
    form: Literal["lines", "array"] = "lines"


class JsonConverter(Converter):
    def __init__(self, schema: Schema, options: Mapping[str, Any]) -> None:
        super().__init__(schema, options)
        self._options = read_options(JsonOptions, options, "json")

    def decoder(self) -> Decoder:
        if self._options.form == "array":
            return ArrayDecoder(self.schema, self._options.max_record_bytes)
        return LineDecoder(self.schema, self._options.max_record_bytes)

    def encoder(self) -> JsonEncoder:
        return JsonEncoder(self.schema, array=self._options.form == "array")

    def decode_each(self, messages: Sequence[bytes]) -> Decoded:
        """Messages of one line each are lines."""
        if self._options.form != "lines" or any(b"\n" in message for message in messages):
            return super().decode_each(messages)
        decoder = LineDecoder(self.schema, self._options.max_record_bytes)
        return decoder.feed(b"\n".join([*messages, b""]))

    def encode_each(self, frame: pl.DataFrame) -> tuple[list[bytes], Sequence[Rejection]]:
        objects = frame.select(json_objects(self.schema)).to_series()
        if self._options.form == "array":
            objects = "[" + objects + "]"
        return objects.cast(pl.Binary).to_list(), ()


class LineDecoder:
    """One object per line. ``on_first`` gets the first lines that are complete, before they are parsed."""

    def __init__(
        self,
        schema: Schema,
        max_line_bytes: int,
        *,
        unit: str = "line",
        on_first: Callable[[bytes], None] | None = None,
    ) -> None:
        self._lines = Lines(max_line_bytes, unit)
        self._reader = ObjectReader(schema, unit)
        self._taker = Taker(schema, from_plain)
        self._empty = pl.DataFrame(schema=schema.to_polars())
        self._on_first = on_first

    def feed(self, data: bytes) -> Decoded:
        parts: list[Rows] = []
        for lines in self._lines.feed(data):
            number = self._lines.number
            self._lines.done(lines)
            if number == 1:
                lines = lines.removeprefix(_MARK)
                if self._on_first is not None:
                    self._on_first(lines)
            parts += self._reader.read(lines, number)
        rejected, self._lines.rejected = self._lines.rejected, []
        if not parts:
            return Decoded(self._empty, rejected)
        frame, bad = self._taker.take(merged(parts))
        return Decoded(frame, sorted(rejected + bad, key=lambda one: one.place) if rejected else bad)

    def finish(self) -> Decoded:
        return self.feed(b"\n") if self._lines.incomplete else Decoded(self._empty)


class ArrayDecoder:
    """Places are the numbers of values, from 1; an empty array counts as one."""

    def __init__(self, schema: Schema, max_record_bytes: int) -> None:
        self._scanner = ValueScanner()
        self._lines = LineDecoder(schema, max_record_bytes, unit="value")
        self._broken = ""

    def feed(self, data: bytes) -> Decoded:
        text, self._broken = (b"", self._broken) if self._broken else self._scanner.rewritten(data)
        return replace(self._lines.feed(text), broken=self._broken)

    def finish(self) -> Decoded:
        return replace(self._lines.finish(), broken=self._broken)


class JsonEncoder:
    """Every column in each object; NULL is ``null``."""

    def __init__(self, schema: Schema, *, array: bool = False) -> None:
        self._objects = json_objects(schema)
        self._array = array
        self._first = True

    def header(self) -> bytes:
        return b"[" if self._array else b""

    def encode(self, frame: pl.DataFrame) -> Encoded:
        if not frame.height:
            return Encoded(b"")
        objects = frame.select(self._objects).to_series()
        if not self._array:
            return Encoded((objects.str.join("\n").item() + "\n").encode())
        lead = "\n" if self._first else ",\n"
        self._first = False
        return Encoded((lead + objects.str.join(",\n").item()).encode())

    def footer(self) -> bytes:
        return b"\n]\n" if self._array else b""
