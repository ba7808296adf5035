"""JSON lines: one object per line. A key that is missing is NULL; keys that the schema does not know are ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from aurora.connectors.bytes_in import Blocks, whole_lines
from aurora.connectors.bytes_out import BytesOut
from aurora.connectors.json_values import from_plain, plain_type, plain_value
from aurora.connectors.rejected import OnReject
from aurora.connectors.rows import BadLine, Rows, Taker, merged
from aurora.connectors.source import after, cut
from aurora.connectors.to_text import json_text
from aurora.errors import InputError, did_you_mean
from aurora.model.schema import Schema
from aurora.model.types import BINARY, STRING

_MAX_LINE_BYTES = 64 << 20
_FEW_LINES = 512
_PIECES = 16


class JsonSource:
    """Reads the columns of the schema from JSON lines.

    A block is parsed at once. If that fails, the block is cut up until what fails is small; that is read line by
    line, and its bad lines are rejected.
    """

    def __init__(self, path: str, schema: Schema, *, stream: str, on_reject: OnReject, skip: int = 0) -> None:
        self._schema = schema
        self._skip = skip
        self._stream = stream
        self._taker = Taker(schema, stream, from_plain, on_reject)
        self._blocks = Blocks(path)
        self._plain = {name: plain_type(kind) for name, kind in schema.items()}
        # The parser writes numbers and objects down as text where a string is wanted, so these are looked for.
        self._not_text = [
            re.compile(re.escape(json.dumps(name, ensure_ascii=False).encode()) + rb'\s*:\s*[^"\sn]')
            for name, kind in schema.items()
            if kind in (STRING, BINARY)
        ]
        # It also rounds and converts the items of lists silently, so objects with lists go line by line.
        self._lists = any(kind.item is not None for kind in schema.values())

    def fraction(self) -> float | None:
        return self._blocks.fraction()

    def close(self) -> None:
        self._blocks.close()

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        taken = after(map(self._taker.take, self._rows()), self._skip, self._blocks.name)
        return cut(taken, size, eager=self._blocks.interactive)

    def _rows(self) -> Iterator[Rows]:
        line = 1
        for data in whole_lines(self._blocks, _MAX_LINE_BYTES):
            if line == 1:
                data = data.removeprefix(b"\xef\xbb\xbf")
                self._check_names(data)
            yield merged(list(self._read(data, line)))
            line += data.count(b"\n")

    def _check_names(self, data: bytes) -> None:
        """A column that is NULL in every line because its name is misspelt should not go unnoticed."""
        try:
            first = json.loads(data[: data.index(b"\n")])
        except ValueError:
            return
        if not isinstance(first, dict):
            return
        unknown = [key for key in first if key not in self._schema]
        for name in self._schema:
            hint = did_you_mean(name, unknown)
            if name not in first and hint and json.dumps(name).encode() not in data:
                raise InputError(
                    f"the objects of {self._blocks.name} (stream {self._stream!r}) have no {name!r}; they have "
                    f"{', '.join(map(repr, first))}; name the columns as the schema does, {hint}"
                )

    def _read(self, data: bytes, line: int) -> Iterator[Rows]:
        found = None if self._lists else self._parse(data)
        if found is not None:
            yield Rows(found, _Lines(data, line).locate)
        elif data.count(b"\n") <= _FEW_LINES:
            yield self._line_by_line(data, line)
        else:
            start = 0
            while start < len(data):
                end = data.find(b"\n", start + len(data) // _PIECES) + 1 or len(data)
                yield from self._read(data[start:end], line)
                line += data.count(b"\n", start, end)
                start = end

    def _parse(self, data: bytes) -> pl.DataFrame | None:
        """The rows of lines that all have the right form, else None."""
        if any(pattern.search(data) for pattern in self._not_text):
            return None
        try:
            return pl.read_ndjson(data, schema=self._plain)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None

    def _line_by_line(self, data: bytes, first: int) -> Rows:
        rows: list[dict[str, Any]] = []
        places: list[tuple[int, str]] = []
        bad: list[BadLine] = []
        for line, text in enumerate(data[:-1].split(b"\n"), first):
            if not text.strip():
                continue
            shown = text.decode("utf-8", "backslashreplace").rstrip("\r")
            try:
                rows.append(self._object(text))
                places.append((line, shown))
            except ValueError as error:
                bad.append(BadLine(line, str(error), shown))
        return Rows(pl.DataFrame(rows, schema=self._plain, orient="row"), places.__getitem__, bad)

    def _object(self, text: bytes) -> dict[str, Any]:
        try:
            value = json.loads(text.decode())
        except UnicodeDecodeError:
            raise ValueError("the line is not valid UTF-8") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"the line is not JSON: {error.msg} at character {error.pos + 1}") from None
        except RecursionError:
            raise ValueError("the line is not readable: its JSON is nested too deeply") from None
        if not isinstance(value, dict):
            raise ValueError("the line is not a JSON object; write one object per line")
        row: dict[str, Any] = {}
        faults: list[str] = []
        for name, kind in self._schema.items():
            try:
                row[name] = plain_value(value.get(name), kind)
            except ValueError as error:
                faults.append(f"column {name!r}: {error}")
        if faults:
            raise ValueError("; ".join(faults))
        return row


class _Lines:
    """Finds the line of a row again; blank lines are no rows. Made only for rows that are rejected."""

    def __init__(self, data: bytes, first: int) -> None:
        self._data = data
        self._first = first
        self._rows: list[tuple[int, str]] = []

    def locate(self, row: int) -> tuple[int, str]:
        if not self._rows:
            lines = enumerate(self._data.split(b"\n"), self._first)
            self._rows = [(line, text.decode().rstrip("\r")) for line, text in lines if text.strip()]
        return self._rows[row]


class JsonSink:
    """Writes one object per line, with every column; NULL is ``null``."""

    def __init__(self, out: BytesOut, schema: Schema) -> None:
        pieces: list[pl.Expr] = []
        for name, kind in schema.items():
            key = json.dumps(name, ensure_ascii=False) + ":"
            pieces.append(pl.lit(("," if pieces else "{") + key))
            pieces.append(json_text(pl.col(name), kind).fill_null("null"))
        self._line = pl.concat_str([*pieces, pl.lit("}")]).alias("line")
        self._out = out
        self.position = out.position
        self.suspend = out.suspend
        self.close = out.close

    def write(self, frame: pl.DataFrame) -> None:
        if frame.height:
            lines = frame.select(self._line).to_series()
            self._out.write((lines.str.join("\n").item() + "\n").encode())
