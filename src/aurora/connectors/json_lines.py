"""Files of JSON lines: one object per line."""

from __future__ import annotations

import json

import polars as pl

from aurora.connectors.bytes_in import Blocks
from aurora.connectors.bytes_out import BytesOut
from aurora.connectors.converters.json import JsonEncoder, LineDecoder
from aurora.connectors.decoded import DecodedSource
from aurora.connectors.rejected import OnReject
from aurora.errors import InputError, did_you_mean
from aurora.model.schema import Schema

_MAX_LINE_BYTES = 64 << 20


class JsonSource(DecodedSource):
    """Reads the columns of the schema from JSON lines."""

    def __init__(self, path: str, schema: Schema, *, stream: str, on_reject: OnReject, skip: int = 0) -> None:
        blocks = Blocks(path)

        def check(first: bytes) -> None:
            wrong = _misspelt(first, schema)
            if wrong:
                raise InputError(f"the objects of {blocks.name} (stream {stream!r}) {wrong}")

        decoder = LineDecoder(schema, _MAX_LINE_BYTES, on_first=check)
        super().__init__(blocks, decoder, stream=stream, on_reject=on_reject, skip=skip)


def _misspelt(data: bytes, schema: Schema) -> str:
    """A column that is NULL in every line because its name is misspelt should not go unnoticed."""
    try:
        first = json.loads(data[: data.index(b"\n")])
    except (ValueError, RecursionError):
        return ""
    if not isinstance(first, dict):
        return ""
    unknown = [key for key in first if key not in schema]
    for name in schema:
        hint = did_you_mean(name, unknown)
        if name not in first and hint and json.dumps(name).encode() not in data:
            found = ", ".join(map(repr, first))
            return f"have no {name!r}; they have {found}; name the columns as the schema does, {hint}"
    return ""


class JsonSink:
    """Writes one object per line, with every column; NULL is ``null``."""

    def __init__(self, out: BytesOut, schema: Schema) -> None:
        self._encoder = JsonEncoder(schema)
        self._out = out
        self.position = out.position
        self.suspend = out.suspend
        self.close = out.close

    def write(self, frame: pl.DataFrame) -> None:
        if frame.height:
            self._out.write(self._encoder.encode(frame).data)
