"""Arrow IPC streams, and Arrow files read as streams. A record batch is what a record is in other formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
from pydantic import Field

from aurora.connectors.columnar import located
from aurora.connectors.columnar_out import arrow_schema, stream_head, stream_messages
from aurora.connectors.columnar_types import converted, frame_of, misfit
from aurora.connectors.converters.arrow_messages import (
    BATCH,
    DICTIONARY,
    END,
    SCHEMA,
    BrokenStreamError,
    Message,
    Messages,
)
from aurora.connectors.converters.base import Converter, Decoded, Encoded
from aurora.connectors.converters.options import Options, read_options
from aurora.connectors.rejected import Rejection
from aurora.connectors.rows import Taker
from aurora.model.schema import Schema

_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


class ArrowOptions(Options):
    max_record_bytes: int = Field(64 << 20, ge=1, le=1 << 30)
    """A longer batch, or one that is longer once decompressed, breaks the stream."""


class ArrowConverter(Converter):
    def __init__(self, schema: Schema, options: Mapping[str, Any]) -> None:
        super().__init__(schema, options)
        self._options = read_options(ArrowOptions, options, "arrow")

    def decoder(self) -> ArrowDecoder:
        return ArrowDecoder(self.schema, self._options.max_record_bytes)

    def encoder(self) -> ArrowEncoder:
        return ArrowEncoder(self.schema)


class ArrowDecoder:
    """Places are rows, from 1. Several streams may follow one another."""

    def __init__(self, schema: Schema, max_batch_bytes: int) -> None:
        self._schema = schema
        self._max_bytes = max_batch_bytes
        self._messages = Messages(max_batch_bytes)
        self._taker = Taker(schema, converted)
        self._empty = pl.DataFrame(schema=schema.to_polars())
        self._prelude: list[bytes] = []
        self._rows = 0
        self._broken = ""

    def feed(self, data: bytes) -> Decoded:
        frames: list[pl.DataFrame] = []
        rejected: list[Rejection] = []
        if not self._broken:
            try:
                for message in self._messages.feed(data):
                    self._take(message, frames, rejected)
            except BrokenStreamError as error:
                self._broken = str(error)
        return Decoded(pl.concat(frames) if frames else self._empty, rejected, self._broken)

    def finish(self) -> Decoded:
        if self._messages.incomplete and not self._broken:
            reason = f"the last message is cut off after {self._messages.incomplete} bytes"
            return Decoded(self._empty, [Rejection(self._rows + 1, reason, "")])
        return Decoded(self._empty, (), self._broken)

    def _take(self, message: Message, frames: list[pl.DataFrame], rejected: list[Rejection]) -> None:
        if message.kind == 0:
            self._prelude = []
        elif message.kind == SCHEMA:
            self._prelude = [message.data]
            self._check()
        elif not self._prelude:
            raise BrokenStreamError("the stream does not start with its schema")
        elif message.kind == DICTIONARY:
            self._prelude.append(message.data)
            if sum(map(len, self._prelude)) > self._max_bytes:
                raise BrokenStreamError(f"the dictionaries are longer than the {self._max_bytes} bytes allowed")
        elif message.kind == BATCH:
            try:
                found = self._read(message.data)
            except (pa.ArrowException, OSError, ValueError, KeyError, *_POLARS) as error:
                reason = f"the batch of {message.rows} rows is harmed: {str(error).splitlines()[0]:.200}"
                rejected.append(Rejection(self._rows + 1, reason, ""))
            else:
                frame, bad = self._taker.take(located(found, self._rows + 1))
                frames.append(frame)
                rejected += bad
            self._rows += message.rows

    def _check(self) -> None:
        try:
            found = ipc.open_stream(pa.py_buffer(self._prelude[0])).schema
            str(found)  # Raises where a name, of a field in a field too, is not UTF-8.
            wrong = misfit(found, self._schema) or _too_loose(found, self._schema)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise BrokenStreamError(f"the schema cannot be read: {error}") from None
        if wrong:
            raise BrokenStreamError(f"the stream {wrong}")

    def _read(self, batch: bytes) -> pl.DataFrame:
        """The columns of the schema. Everything is validated, since harmed offsets would lead outside the memory."""
        stream = ipc.open_stream(pa.py_buffer(b"".join([*self._prelude, batch, END])))
        found = stream.read_next_batch().select(list(self._schema))
        found.validate(full=True)
        return frame_of(found)


def _too_loose(found: pa.Schema, schema: Schema) -> str:
    """Types in which few bytes may stand for very many values."""
    for name in schema:
        dtype = found.field(name).type
        plain = dtype
        while pa.types.is_nested(plain) and plain.num_fields == 1:
            plain = plain.field(0).type
            if pa.types.is_null(plain) or pa.types.is_dictionary(plain):
                return f"holds {dtype} in the column {name!r}, which is not taken; write plain values in lists"
        if pa.types.is_dictionary(dtype):
            value = dtype.value_type
            if not (pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)):
                return f"holds {dtype} in the column {name!r}, which is not taken; write plain values"
    return ""


class ArrowEncoder:
    """Each frame is a batch."""

    def __init__(self, schema: Schema) -> None:
        self._schema = arrow_schema(schema)

    def header(self) -> bytes:
        return stream_head(self._schema)

    def encode(self, frame: pl.DataFrame) -> Encoded:
        return Encoded(b"".join(stream_messages(frame, self._schema)))

    def footer(self) -> bytes:
        return END
