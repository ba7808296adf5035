"""CSV: a header line that names the columns, or none; records are parsed vectorised.

An empty field is NULL; a quoted empty field is an empty string. Blank lines are skipped, but where there is a single
column they are NULLs. One bad line does not spoil its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from pydantic import field_validator, model_validator

from aurora.connectors.converters.base import Converter, Decoded, Encoded
from aurora.connectors.converters.options import Options, read_options
from aurora.connectors.csv_records import Form, Record, regular_stretch, single_record
from aurora.connectors.csv_rows import BOM, RowReader, one_by_one
from aurora.connectors.json_values import parse_column
from aurora.connectors.rows import Rows, Taker, merged
from aurora.connectors.to_text import csv_columns
from aurora.errors import InputError, did_you_mean
from aurora.model.schema import Schema

_SINGLE_RECORDS = 16
_WINDOW_BYTES = 64 << 10
"""After an irregular quote, so many records are read one by one, and then so many bytes are looked at for the quick
way; what lies ahead may well be irregular too."""

_SHOWN_NAMES = 30
_FREE_LOOKS = 256
"""So often the same incomplete record is looked at as bytes drip in; from then on only when it has grown noticeably."""


class CsvOptions(Options):
    separator: str = ","
    header: bool | None = None
    """Whether the first line names the columns. If not, they are those of ``columns``, or the schema's, in order."""
    columns: tuple[str, ...] | None = None
    """The fields of each line, where no header names them; some may be unknown to the schema."""

    @field_validator("columns", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(name.strip() for name in value.split(",")) if isinstance(value, str) else value

    @field_validator("separator")
    @classmethod
    def _one_character(cls, value: str) -> str:
        value = "\t" if value in ("tab", "\\t") else value
        if len(value) != 1 or not value.isascii() or value in '"\r\n' or value.isalnum():
            raise ValueError(f"{value!r} cannot separate fields; give one character such as , ; | or tab")
        return value

    @model_validator(mode="after")
    def _named_once(self) -> CsvOptions:
        if self.header and self.columns is not None:
            raise ValueError("columns are named twice, by the header and by 'columns'; leave one of them out")
        return self

    def form(self) -> Form:
        return Form(self.separator.encode(), self.max_record_bytes)

    def names(self, schema: Schema) -> Sequence[str] | None:
        """The columns, or None if a header has them."""
        if self.columns is not None:
            return self.columns
        return tuple(schema) if self.header is False else None


class CsvConverter(Converter):
    def __init__(self, schema: Schema, options: Mapping[str, Any]) -> None:
        super().__init__(schema, options)
        self._options = read_options(CsvOptions, options, "csv")
        names = self._options.names(schema)
        if names is not None:
            wrong = _why_not(schema, names, "the option 'columns'")
            if wrong:
                raise InputError(f"options of the converter 'csv': {wrong}")

    def decoder(self) -> CsvDecoder:
        return CsvDecoder(self.schema, self._options.form(), self._options.names(self.schema))

    def encoder(self) -> CsvEncoder:
        return CsvEncoder(self.schema, self._options.separator, self._options.names(self.schema))


class CsvDecoder:
    """Finds the records in bytes that come in pieces. ``names`` are the columns where there is no header."""

    def __init__(self, schema: Schema, form: Form, names: Sequence[str] | None = None) -> None:
        self._schema = schema
        self._form = form
        self._taker = Taker(schema, parse_column)
        self._empty = pl.DataFrame(schema=schema.to_polars())
        self._held = bytearray()
        self._line = 1
        self._broken = ""
        self._skipping = False
        self._looks = 0
        self._looked_at_bytes = 0
        self._reader: RowReader | None = None
        if names is not None:
            self._reader = RowReader(len(names), [names.index(name) for name in schema], form, "schema")

    @property
    def has_header(self) -> bool:
        """Whether the columns are known by now."""
        return self._reader is not None

    def feed(self, data: bytes) -> Decoded:
        return self._decoded(data, more=True)

    def finish(self) -> Decoded:
        end = b"" if not self._held or self._held.endswith(b"\n") else b"\n"
        decoded = self._decoded(end, more=False)
        if self._reader is None and not decoded.broken:
            self._broken = _no_header(self._schema)
            return Decoded(decoded.frame, decoded.rejected, self._broken)
        return decoded

    def _decoded(self, data: bytes, *, more: bool) -> Decoded:
        if self._skipping:
            data = self._after_long_line(data)
        if self._broken or not self._worth_a_look(data, more=more):
            return Decoded(self._empty, (), self._broken)
        data = bytes(self._held) if self._held else data
        start = 0 if self._reader is not None else self._read_header(data, more=more)
        parts: list[Rows] = []
        if self._reader is not None:
            parts, start = self._parts(self._reader, data, start, more=more)
        self._hold(data[start:], progress=bool(start))
        self._skipping = more and start == len(data) and not data.endswith(b"\n")
        if not parts:
            return Decoded(self._empty, (), self._broken)
        frame, rejected = self._taker.take(merged(parts))
        return Decoded(frame, rejected)

    def _after_long_line(self, data: bytes) -> bytes:
        """What follows the end of a line that was given up."""
        end = data.find(b"\n") + 1
        self._skipping = not end
        self._line += bool(end)
        return data[end:] if end else b""

    def _worth_a_look(self, data: bytes, *, more: bool) -> bool:
        """Notes the data. A record ends at a newline; and who sends one record byte by byte shall not keep us busy."""
        if not self._held and b"\n" in data:
            return True
        self._held += data
        if not more:
            return bool(self._held)
        if len(self._held) > self._form.max_record_bytes:
            return True
        grown = len(self._held) - self._looked_at_bytes > self._looked_at_bytes >> 4
        return b"\n" in data and (self._looks < _FREE_LOOKS or grown)

    def _hold(self, rest: bytes, *, progress: bool) -> None:
        self._held = bytearray(rest)
        self._looks = 0 if progress else self._looks + 1
        self._looked_at_bytes = len(rest)

    def _read_header(self, data: bytes, *, more: bool) -> int:
        """How many bytes it took. Without a header that has the schema's columns nothing can be decoded."""
        mark = len(BOM) if data.startswith(BOM) else 0
        record = single_record(data, mark, self._form, more=more)
        if record is None:
            return 0
        self._line += data.count(b"\n", 0, record.end)
        names = _header(record)
        self._broken = _why_not(self._schema, names, "the header")
        if not self._broken:
            self._reader = RowReader(len(names), [names.index(name) for name in self._schema], self._form, "header")
        return record.end

    def _parts(self, reader: RowReader, data: bytes, start: int, *, more: bool) -> tuple[list[Rows], int]:
        """The rows that are complete in ``data``, and where they end."""
        parts: list[Rows] = []
        window = len(data)
        while start < len(data):
            ahead = data[start : start + window] if start or window < len(data) else data
            length, irregular = regular_stretch(ahead, self._form)
            if length:
                parts.append(reader.stretch(ahead[:length] if length < len(ahead) else ahead, self._line))
                window *= 4
            elif irregular or not more or len(data) - start > self._form.max_record_bytes:
                records = one_by_one(data, start, self._form, more=more, limit=_SINGLE_RECORDS)
                if not records:
                    break
                parts.append(reader.singles(data, records, self._line))
                length = records[-1].end - start
                window = _WINDOW_BYTES
            elif start + window < len(data):
                window *= 4
            else:
                break
            self._line += data.count(b"\n", start, start + length)
            start += length
        return parts, start


class CsvEncoder:
    """NULL is an empty field. Columns that the schema does not have are left empty."""

    def __init__(self, schema: Schema, separator: str = ",", names: Sequence[str] | None = None) -> None:
        self._separator = separator
        self._header = b"" if names is not None else csv_header(schema, separator)
        columns = dict(zip(schema, csv_columns(schema), strict=True))
        self._columns = [
            columns.get(name, pl.lit(None, pl.String)).alias(str(place)) for place, name in enumerate(names or schema)
        ]

    def header(self) -> bytes:
        return self._header

    def encode(self, frame: pl.DataFrame) -> Encoded:
        if not frame.height:
            return Encoded(b"")
        text = frame.select(self._columns).write_csv(include_header=False, separator=self._separator)
        return Encoded(text.encode())

    def footer(self) -> bytes:
        return b""


def csv_header(schema: Schema, separator: str = ",") -> bytes:
    return pl.DataFrame(schema=dict.fromkeys(schema, pl.String)).write_csv(separator=separator).encode()


def _header(record: Record) -> list[str]:
    return [(field or b"").decode("utf-8", "backslashreplace").strip() for field in record.fields]


def _no_header(schema: Schema) -> str:
    return f"it has no header; its first line must name the columns {', '.join(schema)}"


def _why_not(schema: Schema, names: Sequence[str], where: str) -> str:
    if not any(names):
        return _no_header(schema)
    for name in schema:
        if (found := names.count(name)) > 1:
            return f"{where} names the column {name!r} {found} times; keep one of them"
        if not found:
            hint = did_you_mean(name, names)
            first = ", ".join(map(repr, names[:_SHOWN_NAMES])) + (", …" if len(names) > _SHOWN_NAMES else "")
            return f"{where} has no column {name!r}; it has {first}; name the columns as the schema does" + (
                f", {hint}" if hint else ""
            )
    return ""
