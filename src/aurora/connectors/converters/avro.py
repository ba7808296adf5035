"""Avro: object container files, or messages without a frame whose schema the options give. fastavro decodes records.

Fields are found by name, and others ignored. A timestamp is a long of logical type timestamp-micros or -millis, a
duration a long of microseconds.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any, Literal, cast

import polars as pl
from pydantic import Field

from aurora.connectors.columnar import located
from aurora.connectors.columnar_types import converted
from aurora.connectors.converters.avro_blocks import MAGIC, Block, Blocks, BrokenFileError, number_bytes
from aurora.connectors.converters.avro_schemas import NAME, Fields, UnfitSchemaError, written_with
from aurora.connectors.converters.base import Converter, Decoded, Decoder, Encoded, shown
from aurora.connectors.converters.options import Options, read_options
from aurora.connectors.rejected import Rejection
from aurora.connectors.rows import Taker
from aurora.errors import InputError
from aurora.model.schema import Schema

try:
    import fastavro
except ImportError:
    raise InputError("the converter 'avro' needs the package fastavro; install aurora-streams[avro]") from None

_REGISTRY_HEAD = b"\x00"
_REGISTRY_BYTES = 5


class AvroOptions(Options):
    max_record_bytes: int = Field(16 << 20, ge=1, le=1 << 30)
    """A longer block or message is rejected, and so is one that is longer once decompressed."""
    framing: Literal["file", "message", "registry"] = "file"
    """A container file; or messages of bare records; or those with the five bytes of a schema registry before them."""
    avro_schema: dict[str, Any] | None = None
    """What messages are written with. If it is not given, each column is a union of null and its type, in order."""
    codec: Literal["null", "deflate"] = "null"


class AvroConverter(Converter):
    def __init__(self, schema: Schema, options: Mapping[str, Any]) -> None:
        super().__init__(schema, options)
        self._options = read_options(AvroOptions, options, "avro")
        for name in schema:
            if not NAME.fullmatch(name):
                raise InputError(f"Avro has no field names such as {name!r}; rename the column, or take another format")
        self._written = written_with(schema)
        if self._options.avro_schema is not None:
            if self._options.framing == "file":
                raise InputError("options of the converter 'avro': a file brings its schema; leave out 'avro_schema'")
            self._written = self._options.avro_schema
        try:
            self._records = _Records(schema, self._written)
        except UnfitSchemaError as error:
            raise InputError(f"options of the converter 'avro': {error}") from None

    def decoder(self) -> Decoder:
        if self._options.framing == "file":
            return AvroFileDecoder(self.schema, self._options.max_record_bytes)
        return AvroMessageDecoder(self._records, self._options)

    def encoder(self) -> AvroEncoder:
        return AvroEncoder(self._records, self._written, self._options)


class _Records:
    """Records of one Avro schema, as tuples and back."""

    def __init__(self, schema: Schema, avro: Any) -> None:
        self.schema = schema
        self._fields = Fields(avro, schema)
        try:
            self._parsed = fastavro.parse_schema(self._fields.plain)
        except Exception as error:
            raise UnfitSchemaError(f"the Avro schema cannot be used: {error}") from None
        self._taker = Taker(schema, converted)

    def decode(self, block: Block, first: int) -> tuple[pl.DataFrame, list[Rejection]]:
        """The tuples of a block whose first record has this number. After a harmed record the rest of it is lost."""
        source = BytesIO(block.data)
        rows: list[dict[str, Any]] = []
        rejected: list[Rejection] = []
        while source.tell() < len(block.data) and (block.count is None or len(rows) < block.count):
            start = source.tell()
            try:
                rows.append(cast(dict[str, Any], fastavro.schemaless_reader(source, self._parsed, None)))
            except Exception as error:  # Whatever the library raises, the bytes are to blame.
                what = "it ends too early" if isinstance(error, EOFError) else f"{type(error).__name__}: {error}"
                reason = f"the record is harmed, and with it the rest of the block: {what}"
                rejected.append(Rejection(first + len(rows), reason[:300], shown(block.data[start:])))
                break
        else:
            left = len(block.data) - source.tell()
            if block.count is not None and (len(rows) < block.count or left):
                reason = f"the block has {len(rows)} records of {block.count}, and {left} bytes too many"
                rejected.append(Rejection(first + len(rows), reason, ""))
        types = self._fields.types
        try:
            found = pl.DataFrame({name: [row[name] for row in rows] for name in types}, schema=types)
        except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
            rejected.append(Rejection(first, f"the block cannot be read: {error}"[:300], ""))
            found = pl.DataFrame(schema=types)
        found = found.with_columns(_micros(found[name]) for name in self._fields.millis)
        frame, bad = self._taker.take(located(found, first))
        return frame, rejected + bad

    def encode(self, frame: pl.DataFrame) -> tuple[list[bytes], list[Rejection]]:
        """A record for each tuple. What a schema counts in milliseconds is rounded down to them."""
        rows = frame.select(pl.col(name).cast(_whole(dtype)) for name, dtype in self.schema.to_polars().items())
        rows = rows.with_columns(pl.col(name) // 1000 for name in self._fields.millis)
        written: list[bytes] = []
        rejected: list[Rejection] = []
        for number, row in enumerate(rows.iter_rows(named=True), 1):
            out = BytesIO()
            try:
                fastavro.schemaless_writer(out, self._parsed, row)
            except Exception as error:
                reason = f"the tuple does not fit the Avro schema: {type(error).__name__}: {error}"
                rejected.append(Rejection(number, reason[:300], json.dumps(row, default=str)))
            else:
                written.append(out.getvalue())
        return written, rejected


def _micros(millis: pl.Series) -> pl.Series:
    """As text where they are too many, so that the record is rejected and the reason shows them."""
    most = (2**63 - 1) // 1000
    if millis.is_between(-most, most).all():
        return millis * 1000
    return millis.cast(pl.String) + "000"


def _whole(dtype: pl.DataType) -> pl.DataType:
    """Times as the microseconds they count."""
    if isinstance(dtype, pl.List):
        assert isinstance(dtype.inner, pl.DataType)
        return pl.List(_whole(dtype.inner))
    return pl.Int64() if dtype.is_temporal() else dtype


class AvroFileDecoder:
    """Places are the numbers of records, from 1. A harmed block counts as one."""

    def __init__(self, schema: Schema, max_block_bytes: int) -> None:
        self._schema = schema
        self._blocks = Blocks(max_block_bytes)
        self._records: _Records | None = None
        self._empty = pl.DataFrame(schema=schema.to_polars())
        self._count = 0
        self._broken = ""

    def feed(self, data: bytes) -> Decoded:
        frames: list[pl.DataFrame] = []
        rejected: list[Rejection] = []
        if not self._broken:
            try:
                for block in self._blocks.feed(data):
                    self._take(block, frames, rejected)
                self._known()
            except (BrokenFileError, UnfitSchemaError) as error:
                self._broken = str(error)
        return Decoded(pl.concat(frames) if frames else self._empty, rejected, self._broken)

    def finish(self) -> Decoded:
        if self._blocks.incomplete and not self._broken:
            reason = f"the last block is cut off after {self._blocks.incomplete} bytes"
            return Decoded(self._empty, [Rejection(self._count + 1, reason, "")])
        return Decoded(self._empty, (), self._broken)

    def _known(self) -> _Records | None:
        if self._records is None and self._blocks.schema is not None:
            self._records = _Records(self._schema, self._blocks.schema)
        return self._records

    def _take(self, block: Block, frames: list[pl.DataFrame], rejected: list[Rejection]) -> None:
        records = self._known()
        if block.fault or records is None:
            self._count += 1
            rejected.append(Rejection(self._count, block.fault, ""))
            return
        frame, bad = records.decode(block, self._count + 1)
        frames.append(frame)
        rejected += bad
        self._count += block.count or 0


class AvroMessageDecoder:
    """One message, of as many records as it has. It is only understood as a whole, so it is held till the end."""

    def __init__(self, records: _Records, options: AvroOptions) -> None:
        self._records = records
        self._options = options
        self._held = bytearray()
        self._empty = pl.DataFrame(schema=records.schema.to_polars())
        self._broken = ""

    def feed(self, data: bytes) -> Decoded:
        if not self._broken:
            self._held += data
            if len(self._held) > self._options.max_record_bytes:
                self._held.clear()
                self._broken = f"the message is longer than {self._options.max_record_bytes} bytes"
        return Decoded(self._empty, (), self._broken)

    def finish(self) -> Decoded:
        data = bytes(self._held)
        if self._broken or not data:
            return Decoded(self._empty, (), self._broken)
        if self._options.framing == "registry":
            if len(data) < _REGISTRY_BYTES or not data.startswith(_REGISTRY_HEAD):
                reason = "the message does not start with a zero and the number of a schema"
                return Decoded(self._empty, [Rejection(1, reason, shown(data))])
            data = data[_REGISTRY_BYTES:]
        frame, rejected = self._records.decode(Block(None, data), 1)
        return Decoded(frame, rejected)


class AvroEncoder:
    """Each frame is a block. In messages the number of the schema is 0."""

    def __init__(self, records: _Records, avro: Any, options: AvroOptions) -> None:
        self._records = records
        self._options = options
        self._schema = json.dumps(avro).encode()
        self._marker = hashlib.sha256(b"aurora" + self._schema).digest()[:16]

    def header(self) -> bytes:
        if self._options.framing != "file":
            return _REGISTRY_HEAD + bytes(4) if self._options.framing == "registry" else b""
        entries = {b"avro.schema": self._schema, b"avro.codec": self._options.codec.encode()}
        texts = b"".join(number_bytes(len(text)) + text for entry in entries.items() for text in entry)
        return MAGIC + number_bytes(len(entries)) + texts + number_bytes(0) + self._marker

    def encode(self, frame: pl.DataFrame) -> Encoded:
        records, rejected = self._records.encode(frame)
        data = b"".join(records)
        if self._options.framing != "file" or not records:
            return Encoded(data, rejected)
        if self._options.codec == "deflate":
            deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
            data = deflater.compress(data) + deflater.flush()
        return Encoded(number_bytes(len(records)) + number_bytes(len(data)) + data + self._marker, rejected)

    def footer(self) -> bytes:
        return b""
