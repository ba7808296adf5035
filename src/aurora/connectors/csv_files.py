"""CSV files, with a header line."""

from __future__ import annotations

import polars as pl

from aurora.connectors.bytes_in import Blocks
from aurora.connectors.bytes_out import BytesOut
from aurora.connectors.converters.csv import CsvDecoder, CsvEncoder
from aurora.connectors.csv_records import Form
from aurora.connectors.decoded import DecodedSource
from aurora.connectors.rejected import OnReject
from aurora.errors import InputError
from aurora.model.schema import Schema

MAX_RECORD_BYTES = 16 << 20


class CsvSource(DecodedSource):
    """Reads the columns of the schema from a CSV file; its header may name them in any order, and others too."""

    def __init__(self, path: str, schema: Schema, *, stream: str, on_reject: OnReject, skip: int = 0) -> None:
        decoder = CsvDecoder(schema, Form(max_record_bytes=MAX_RECORD_BYTES))
        blocks = Blocks(path)
        try:
            super().__init__(
                blocks, decoder, stream=stream, on_reject=on_reject, skip=skip, ready=lambda: decoder.has_header
            )
        except InputError:
            blocks.close()
            raise


class CsvSink:
    """Writes each frame as it is given, behind a header that ``out`` has."""

    def __init__(self, out: BytesOut, schema: Schema) -> None:
        self._encoder = CsvEncoder(schema)
        self._out = out
        self.position = out.position
        self.suspend = out.suspend
        self.close = out.close

    def write(self, frame: pl.DataFrame) -> None:
        if frame.height:
            self._out.write(self._encoder.encode(frame).data)
