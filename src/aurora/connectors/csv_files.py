"""CSV with a header line, read in blocks and parsed vectorised; one bad row does not spoil its neighbours."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from aurora.connectors.bytes_in import Blocks
from aurora.connectors.bytes_out import BytesOut
from aurora.connectors.csv_records import MAX_RECORD_BYTES, Record, regular_stretch, single_record
from aurora.connectors.csv_rows import BOM, RowReader, one_by_one
from aurora.connectors.json_values import parse_column
from aurora.connectors.rejected import OnReject
from aurora.connectors.rows import Rows, Taker, merged
from aurora.connectors.source import after, cut
from aurora.connectors.to_text import csv_columns
from aurora.errors import InputError, did_you_mean
from aurora.model.schema import Schema

_SINGLE_RECORDS = 16
_WINDOW_BYTES = 64 << 10
"""After an irregular quote, so many records are read one by one, and then so many bytes are looked at for the quick
way; what lies ahead may well be irregular too."""


class CsvSource:
    """Reads the columns of the schema from a CSV file; its header may name them in any order, and others too.

    An empty field is NULL; a quoted empty field is an empty string. Blank lines are skipped, but where the file has
    a single column they are NULLs.
    """

    def __init__(self, path: str, schema: Schema, *, stream: str, on_reject: OnReject, skip: int = 0) -> None:
        self._schema = schema
        self._skip = skip
        self._stream = stream
        self._taker = Taker(schema, stream, parse_column, on_reject)
        self._blocks = Blocks(path)
        self._held = b""
        self._line = 1
        try:
            header = self._read_header()
            self._reader = RowReader(len(header), [self._place(name, header) for name in schema])
        except InputError:
            self._blocks.close()
            raise

    def fraction(self) -> float | None:
        return self._blocks.fraction()

    def close(self) -> None:
        self._blocks.close()

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        taken = after(map(self._taker.take, self._rows()), self._skip, self._blocks.name)
        return cut(taken, size, eager=self._blocks.interactive)

    def _read_header(self) -> list[str]:
        record: Record | None = None
        while record is None:
            block = self._blocks.read()
            self._held = (self._held + block).removeprefix(BOM)
            if not block and not self._held.endswith(b"\n"):
                self._held += b"\n"
            if self._held:
                record = single_record(self._held, 0, more=bool(block))
        names = [(field or b"").decode("utf-8", "backslashreplace").strip() for field in record.fields]
        if not any(names):
            raise InputError(
                f"{self._blocks.name} (stream {self._stream!r}) has no header; "
                f"its first line must name the columns {', '.join(self._schema)}"
            )
        self._line += self._held.count(b"\n", 0, record.end)
        self._held = self._held[record.end :]
        return names

    def _place(self, name: str, header: list[str]) -> int:
        where = f"the header of {self._blocks.name} (stream {self._stream!r})"
        if (found := header.count(name)) == 1:
            return header.index(name)
        if found:
            raise InputError(f"{where} names the column {name!r} {found} times; keep one of them")
        hint = did_you_mean(name, header)
        raise InputError(
            f"{where} has no column {name!r}; it has {', '.join(map(repr, header))}; "
            f"name the columns as the schema does" + (f", {hint}" if hint else "")
        )

    def _rows(self) -> Iterator[Rows]:
        block = b""  # What came with the header is taken before more is read: a pipe may stay silent for long.
        more = True
        while True:
            data = self._held + block
            if data and not more and not data.endswith(b"\n"):
                data += b"\n"
            parts, length = self._parts(data, more=more)
            self._held = data[length:]
            if parts:
                yield merged(parts)
            if not more:
                return
            block = self._blocks.read()
            more = bool(block)

    def _parts(self, data: bytes, *, more: bool) -> tuple[list[Rows], int]:
        """The rows that are complete in ``data``, and how many bytes they took."""
        parts: list[Rows] = []
        start = 0
        window = len(data)
        while start < len(data):
            ahead = data[start : start + window]
            length, irregular = regular_stretch(ahead)
            if length:
                parts.append(self._reader.stretch(ahead[:length], self._line))
                window *= 4
            elif irregular or not more or len(data) - start > MAX_RECORD_BYTES:
                records = one_by_one(data, start, more=more, limit=_SINGLE_RECORDS)
                if not records:
                    break
                parts.append(self._reader.singles(data, records, self._line))
                length = records[-1].end - start
                window = _WINDOW_BYTES
            elif start + window < len(data):
                window *= 4
            else:
                break
            self._line += data.count(b"\n", start, start + length)
            start += length
        return parts, start


def csv_header(schema: Schema) -> bytes:
    return pl.DataFrame(schema=dict.fromkeys(schema, pl.String)).write_csv().encode()


class CsvSink:
    """Writes each frame as it is given, behind a header that ``out`` has; NULL is an empty field."""

    def __init__(self, out: BytesOut, schema: Schema) -> None:
        self._columns = csv_columns(schema)
        self._out = out
        self.position = out.position
        self.suspend = out.suspend
        self.close = out.close

    def write(self, frame: pl.DataFrame) -> None:
        if frame.height:
            self._out.write(frame.select(self._columns).write_csv(include_header=False).encode())
