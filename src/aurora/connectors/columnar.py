"""Parquet and Arrow IPC: typed files, whose columns are converted where that loses nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from aurora.connectors.bytes_in import unreadable
from aurora.connectors.bytes_out import open_for_writing
from aurora.connectors.json_values import parse_column
from aurora.connectors.rejected import OnReject
from aurora.connectors.rows import Rows, Taker
from aurora.connectors.source import cut
from aurora.errors import InputError, did_you_mean
from aurora.model.schema import Schema
from aurora.model.types import BINARY, BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, Type

_ROWS = 65_536
_ROW_GROUP_ROWS = 262_144
_ARROW_FILE = b"ARROW1"


class ColumnarSource:
    """Reads the columns of the schema from a Parquet file, an Arrow file or an Arrow stream, batch by batch."""

    def __init__(self, path: str, schema: Schema, *, stream: str, on_reject: OnReject) -> None:
        self._schema = schema
        self._stream = stream
        self._taker = Taker(schema, stream, _converted, on_reject)
        self._path = path
        self._read = 0.0
        try:
            self._reader: pq.ParquetFile | ipc.RecordBatchFileReader | ipc.RecordBatchStreamReader
            self._file = pa.OSFile(path)
            if path.lower().endswith(".parquet"):
                self._reader = pq.ParquetFile(self._file)
            elif self._file.read(len(_ARROW_FILE)) == _ARROW_FILE:
                self._reader = ipc.open_file(self._file)
            else:
                self._file.seek(0)
                self._reader = ipc.open_stream(self._file)
        except pa.ArrowInvalid as error:
            raise InputError(f"{path} cannot be read as its extension says: {error}; give a whole file") from error
        except OSError as error:
            raise unreadable(path, error) from error
        parquet = isinstance(self._reader, pq.ParquetFile)
        self._check(self._reader.schema_arrow if parquet else self._reader.schema)

    def fraction(self) -> float | None:
        return self._read

    def close(self) -> None:
        self._file.close()

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        return cut(map(self._taker.take, self._rows()), size, eager=False)

    def _check(self, found: pa.Schema) -> None:
        where = f"{self._path} (stream {self._stream!r})"
        for name, kind in self._schema.items():
            places = found.get_all_field_indices(name)
            if not places:
                hint = did_you_mean(name, found.names)
                raise InputError(
                    f"{where} has no column {name!r}; it has {', '.join(map(repr, found.names))}; "
                    f"name the columns as the schema does" + (f", {hint}" if hint else "")
                )
            if len(places) > 1:
                raise InputError(f"{where} has {len(places)} columns {name!r}; keep one of them")
            dtype = found.field(name).type
            if not _convertible(dtype, kind):
                raise InputError(
                    f"{where} holds {dtype} in the column {name!r}, which is no {kind}; "
                    f"change the schema or convert the file"
                )

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        names = list(self._schema)
        if isinstance(self._reader, pq.ParquetFile):
            total = max(1, self._reader.metadata.num_rows)
            done = 0
            for batch in self._reader.iter_batches(_ROWS, columns=names):
                done += batch.num_rows
                self._read = done / total
                yield batch.select(names)
        elif isinstance(self._reader, ipc.RecordBatchFileReader):
            count = self._reader.num_record_batches
            for place in range(count):
                yield self._reader.get_batch(place).select(names)
                self._read = (place + 1) / count
        else:
            size = max(1, self._file.size())
            for batch in self._reader:
                yield batch.select(names)
                self._read = self._file.tell() / size

    def _rows(self) -> Iterator[Rows]:
        row = 1
        try:
            for batch in self._record_batches():
                yield _located(pl.DataFrame(pa.Table.from_batches([batch])), row)
                row += batch.num_rows
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"reading {self._path} failed: {error}; check that the file is whole") from error


def _located(found: pl.DataFrame, first: int) -> Rows:
    def locate(row: int) -> tuple[int, str]:
        return first + row, json.dumps(found.row(row, named=True), default=str, ensure_ascii=False)

    return Rows(found, locate)


def _plain(dtype: pa.DataType) -> pa.DataType:
    return _plain(dtype.value_type) if pa.types.is_dictionary(dtype) else dtype


def _convertible(dtype: pa.DataType, kind: Type) -> bool:
    dtype = _plain(dtype)
    is_ = pa.types
    if is_.is_null(dtype):
        return True
    text = is_.is_string(dtype) or is_.is_large_string(dtype) or is_.is_string_view(dtype)
    if kind.item is not None:
        lists = is_.is_list(dtype) or is_.is_large_list(dtype) or is_.is_fixed_size_list(dtype)
        return lists and not text and _convertible(dtype.value_type, kind.item)
    if text:
        return True
    whole = is_.is_integer(dtype)
    legal: dict[Type, bool] = {
        BOOL: is_.is_boolean(dtype),
        INT: whole,
        DOUBLE: whole or is_.is_floating(dtype) or is_.is_decimal(dtype),
        STRING: False,
        TIMESTAMP: whole or is_.is_timestamp(dtype) or is_.is_date(dtype),
        DURATION: whole or is_.is_duration(dtype),
        BINARY: "binary" in str(dtype),
    }
    return legal[kind]


def _converted(values: pl.Series, kind: Type) -> pl.Series:
    """The column in the schema's type; null where a value has no place in it, such as an int above 64 bits."""
    wanted = kind.to_polars()
    if values.dtype == wanted:
        return values
    if values.dtype in (pl.Categorical, pl.Enum):
        values = values.cast(pl.String)
    if values.dtype == pl.String:
        return parse_column(values, kind).alias(values.name)
    if kind in (TIMESTAMP, DURATION) and values.dtype.is_integer():
        values = values.cast(pl.Int64, strict=False)
    if kind == TIMESTAMP and isinstance(values.dtype, pl.Datetime):
        # A time without a zone is UTC; one with a zone is the same instant in UTC.
        naive = values.dtype.time_zone is None
        values = values.dt.replace_time_zone("UTC") if naive else values.dt.convert_time_zone("UTC")
    return values.cast(wanted, strict=False)


class _Writer(Protocol):
    def write_table(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...


class ColumnarSink:
    """Writes Parquet, an Arrow file, or an Arrow stream (``.arrows``).

    Parquet tuples are gathered into row groups of a good size.
    """

    def __init__(self, path: str, schema: Schema) -> None:
        self._schema = pa.schema([(name, kind.to_arrow()) for name, kind in schema.items()])
        self._names = list(schema)
        self._file = open_for_writing(path)
        suffix = Path(path).suffix.lower()
        self._gather = _ROW_GROUP_ROWS if suffix == ".parquet" else 1
        self._writer: _Writer
        if suffix == ".parquet":
            self._writer = pq.ParquetWriter(self._file, self._schema)
        elif suffix == ".arrows":
            self._writer = ipc.new_stream(self._file, self._schema)
        else:
            self._writer = ipc.new_file(self._file, self._schema)
        self._held: list[pa.Table] = []
        self._rows = 0

    def write(self, frame: pl.DataFrame) -> None:
        if not frame.height:
            return
        self._held.append(frame.select(self._names).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(self._schema))
        self._rows += frame.height
        if self._rows >= self._gather:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.concat_tables(self._held).combine_chunks())
        self._held.clear()
        self._rows = 0

    def close(self) -> None:
        self._flush()
        self._writer.close()
        self._file.close()
