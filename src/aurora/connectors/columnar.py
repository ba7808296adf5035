"""Parquet and Arrow IPC: typed files, whose columns are converted where that loses nothing."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator

import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from aurora.connectors.bytes_in import unreadable
from aurora.connectors.columnar_types import converted, frame_of, misfit, never_rejects
from aurora.connectors.rejected import OnReject
from aurora.connectors.row_groups import ARROW_FILE, arrow_starts, parquet_starts
from aurora.connectors.rows import Rows, Taker
from aurora.connectors.source import after, cut
from aurora.errors import InputError
from aurora.model.schema import Schema

_ROWS = 65_536


class ColumnarSource:
    """Reads the columns of the schema from a Parquet file, an Arrow file or an Arrow stream, batch by batch."""

    def __init__(self, path: str, schema: Schema, *, stream: str, on_reject: OnReject, skip: int = 0) -> None:
        self._schema = schema
        self._skip = skip
        self._stream = stream
        self._taker = Taker(schema, converted)
        self._on_reject = on_reject
        self._path = path
        self._unread = (0, 0)
        self._read = 0.0
        try:
            self._reader: pq.ParquetFile | ipc.RecordBatchFileReader | ipc.RecordBatchStreamReader
            self._file = pa.OSFile(path)
            if path.lower().endswith(".parquet"):
                self._reader = pq.ParquetFile(self._file)
            elif self._file.read(len(ARROW_FILE)) == ARROW_FILE:
                self._reader = ipc.open_file(self._file)
            else:
                self._file.seek(0)
                self._reader = ipc.open_stream(self._file)
        except pa.ArrowInvalid as error:
            raise InputError(f"{path} cannot be read as its extension says: {error}; give a whole file") from error
        except OSError as error:
            raise unreadable(path, error) from error
        parquet = isinstance(self._reader, pq.ParquetFile)
        found = self._reader.schema_arrow if parquet else self._reader.schema
        self._check(found)
        if skip and all(never_rejects(found.field(name).type, kind) for name, kind in schema.items()):
            self._pass_over()

    def fraction(self) -> float | None:
        return self._read

    def close(self) -> None:
        self._file.close()

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        taken = after(self._taken(), self._skip, self._path, unread=self._unread[1])
        return cut(taken, size, eager=False)

    def _taken(self) -> Iterator[pl.DataFrame]:
        for rows in self._rows():
            frame, rejected = self._taker.take(rows)
            for one in rejected:
                self._on_reject(one.of(self._stream))
            yield frame

    def _pass_over(self) -> None:
        """Notes how many row groups, and rows, need not be read because every row in them is a tuple to be skipped."""
        if isinstance(self._reader, pq.ParquetFile):
            starts = parquet_starts(self._reader.metadata)
        elif isinstance(self._reader, ipc.RecordBatchFileReader):
            starts = arrow_starts(self._path)
        else:
            return
        groups = bisect_right(starts, self._skip) - 1
        self._unread = (groups, starts[groups])
        self._read = starts[groups] / max(1, starts[-1])

    def _check(self, found: pa.Schema) -> None:
        wrong = misfit(found, self._schema)
        if wrong:
            raise InputError(f"{self._path} (stream {self._stream!r}) {wrong}")

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        names = list(self._schema)
        first, done = self._unread
        if isinstance(self._reader, pq.ParquetFile):
            total = max(1, self._reader.metadata.num_rows)
            groups = range(first, self._reader.num_row_groups)
            for batch in self._reader.iter_batches(_ROWS, row_groups=groups, columns=names):
                done += batch.num_rows
                self._read = done / total
                yield batch.select(names)
        elif isinstance(self._reader, ipc.RecordBatchFileReader):
            count = self._reader.num_record_batches
            for place in range(first, count):
                yield self._reader.get_batch(place).select(names)
                self._read = (place + 1) / count
        else:
            size = max(1, self._file.size())
            for batch in self._reader:
                yield batch.select(names)
                self._read = self._file.tell() / size

    def _rows(self) -> Iterator[Rows]:
        row = 1 + self._unread[1]
        try:
            for batch in self._record_batches():
                yield located(frame_of(batch), row)
                row += batch.num_rows
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"reading {self._path} failed: {error}; check that the file is whole") from error


def located(found: pl.DataFrame, first: int) -> Rows:
    def locate(row: int) -> tuple[int, str]:
        one = found.slice(row, 1)
        try:
            values = one.row(0, named=True)
        except pl.exceptions.PanicException:  # Times outside those that Python has.
            values = one.select(pl.col(pl.Datetime, pl.Duration, pl.Date, pl.List).to_physical()).row(0, named=True)
        return first + row, json.dumps(values, default=str, ensure_ascii=False)

    return Rows(found, locate)
