"""Parquet, Arrow files and Arrow streams out."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from aurora.connectors.bytes_out import GrowingFile, handed_over, open_for_writing
from aurora.connectors.source import SinkPosition
from aurora.connectors.staging import Staged
from aurora.model.schema import Schema

_ROW_GROUP_ROWS = 262_144
_BATCH_ROWS = 65_536
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class ColumnarSink:
    """Writes a Parquet file or an Arrow file."""

    def __init__(self, path: str, schema: Schema) -> None:
        self._schema = arrow_schema(schema)
        self._file = open_for_writing(path)
        self._rows = _FixedRows(self._file, path, self._schema)

    def write(self, frame: pl.DataFrame) -> None:
        if frame.height:
            self._rows.write(arrow_table(frame, self._schema))

    def position(self, *, durable: bool = False) -> SinkPosition:
        return handed_over(self._file, durable=durable)

    def suspend(self) -> None:
        """Without staging nothing can continue the file, so it is at least made readable."""
        self.close()

    def close(self) -> None:
        if not self._file.closed:
            self._rows.close()
            self._file.close()


class StreamSink:
    """Writes an Arrow stream, a message for each frame. It can be cut between two messages and continued."""

    def __init__(self, path: str, schema: Schema, resume: SinkPosition | None) -> None:
        self._schema = arrow_schema(schema)
        self._file = GrowingFile(path, stream_head(self._schema), resume)
        self.position = self._file.position
        self.suspend = self._file.suspend

    def write(self, frame: pl.DataFrame) -> None:
        for message in stream_messages(frame, self._schema):
            self._file.write(message)

    def close(self) -> None:
        if not self._file.closed:
            self._file.write(_END_OF_STREAM)
            self._file.close()


class StagedColumnarSink:
    """Stages an Arrow stream, and makes a Parquet file or an Arrow file of it at the end."""

    def __init__(self, path: str, schema: Schema, staging: Path, resume: SinkPosition | None) -> None:
        self._schema = arrow_schema(schema)
        self._out = Staged(path, staging, stream_head(self._schema), resume)
        self.position = self._out.position
        self.suspend = self._out.suspend

    def write(self, frame: pl.DataFrame) -> None:
        for message in stream_messages(frame, self._schema):
            self._out.write(message)

    def close(self) -> None:
        with self._out.finished() as file:
            if file is None:
                return
            rows = _FixedRows(file, self._out.path, self._schema)
            with closing(rows), pa.OSFile(self._out.staged) as staged:
                for batch in ipc.open_stream(staged):
                    rows.write(pa.Table.from_batches([batch]))


def arrow_schema(schema: Schema) -> pa.Schema:
    return pa.schema([(name, kind.to_arrow()) for name, kind in schema.items()])


def arrow_table(frame: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    return frame.select(schema.names).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema)


def stream_head(schema: pa.Schema) -> bytes:
    head: bytes = schema.serialize().to_pybytes()
    return head


def stream_messages(frame: pl.DataFrame, schema: pa.Schema) -> list[memoryview]:
    """None for a frame without tuples, else as a rule one."""
    batches = arrow_table(frame, schema).combine_chunks().to_batches()
    return [memoryview(batch.serialize()) for batch in batches if batch.num_rows]


class _FixedRows:
    """Gathers rows into pieces of a fixed number, so that the file depends on the tuples and not on the frames."""

    def __init__(self, file: IO[bytes], path: str, schema: pa.Schema) -> None:
        self._parquet: pq.ParquetWriter | None = None
        self._arrow: ipc.RecordBatchFileWriter | None = None
        if path.lower().endswith(".parquet"):
            self._parquet = pq.ParquetWriter(file, schema)
            self._piece_rows = _ROW_GROUP_ROWS
        else:
            self._arrow = ipc.new_file(file, schema)
            self._piece_rows = _BATCH_ROWS
        self._held: list[pa.Table] = []
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        self._held.append(table)
        self._rows += table.num_rows
        if self._rows < self._piece_rows:
            return
        whole = pa.concat_tables(self._held)
        end = self._rows - self._rows % self._piece_rows
        for start in range(0, end, self._piece_rows):
            self._write_piece(whole.slice(start, self._piece_rows))
        self._held = [whole.slice(end)]
        self._rows -= end

    def _write_piece(self, piece: pa.Table) -> None:
        if self._parquet is not None:
            self._parquet.write_table(piece.combine_chunks(), row_group_size=self._piece_rows)
        elif self._arrow is not None:
            # Arrow keeps what stands in memory under a NULL; taking the rows anew leaves nothing there.
            self._arrow.write_table(piece.combine_chunks().take(np.arange(piece.num_rows)))

    def close(self) -> None:
        try:
            if self._rows:
                self._write_piece(pa.concat_tables(self._held))
        finally:
            for writer in (self._parquet, self._arrow):
                if writer is not None:
                    writer.close()
