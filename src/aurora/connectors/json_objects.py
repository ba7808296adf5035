"""Rows out of lines that hold a JSON object each. A missing key is NULL; keys that nobody asked for are ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from aurora.connectors.json_values import plain_type, plain_value
from aurora.connectors.rejected import Rejection
from aurora.connectors.rows import Rows
from aurora.model.schema import Schema
from aurora.model.types import BINARY, STRING

_FEW_LINES = 512
_PIECES = 16
_OTHERS_BEGIN = np.isin(np.arange(256), list(b"-0123456789[{"))
_TRUE, _FALSE = np.frombuffer(b"truefals", np.uint32)
"""Texts that begin so may be what the parser has made of numbers, lists, objects and truth values."""


class ObjectReader:
    """Parses many lines at once. If that fails, they are cut up until what fails is small; that is read line by line.

    ``unit`` is what a line is called where it is rejected.
    """

    def __init__(self, schema: Schema, unit: str = "line") -> None:
        self._schema = schema
        self._unit = unit
        self._plain = {name: plain_type(kind) for name, kind in schema.items()}
        # The parser writes numbers and objects down as text where a string is wanted. Where texts look like them, what
        # is no text is looked for.
        self._not_text = {
            name: re.compile(re.escape(json.dumps(name, ensure_ascii=False).encode()) + rb'\s*:\s*[^"\sn]')
            for name, kind in schema.items()
            if kind in (STRING, BINARY)
        }
        # It also rounds and converts the items of lists silently, so objects with lists go line by line.
        self._lists = any(kind.item is not None for kind in schema.values())

    def read(self, data: bytes, line: int) -> Iterator[Rows]:
        """The rows of some lines, the first of which has this number."""
        found = None if self._lists else self._parse(data)
        if found is not None:
            yield Rows(found, _Lines(data, line).locate)
        elif data.count(b"\n") <= _FEW_LINES:
            yield self._line_by_line(data, line)
        else:
            start = 0
            while start < len(data):
                end = data.find(b"\n", start + len(data) // _PIECES) + 1 or len(data)
                yield from self.read(data[start:end], line)
                line += data.count(b"\n", start, end)
                start = end

    def _parse(self, data: bytes) -> pl.DataFrame | None:
        """The rows of lines that all have the right form, else None."""
        try:
            found = pl.read_ndjson(data, schema=self._plain)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        for name, not_text in self._not_text.items():
            if _may_be_others(found[name]) and not_text.search(data):
                return None
        return found

    def _line_by_line(self, data: bytes, first: int) -> Rows:
        rows: list[dict[str, Any]] = []
        places: list[tuple[int, str]] = []
        bad: list[Rejection] = []
        for line, text in enumerate(data[:-1].split(b"\n"), first):
            text = text.lstrip(b" ")
            if not text.strip():
                continue
            shown = text.decode("utf-8", "backslashreplace").rstrip("\r")
            try:
                rows.append(self._object(text))
                places.append((line, shown))
            except ValueError as error:
                bad.append(Rejection(line, str(error), shown))
        return Rows(pl.DataFrame(rows, schema=self._plain, orient="row"), places.__getitem__, bad)

    def _object(self, text: bytes) -> dict[str, Any]:
        try:
            value = json.loads(text.decode(), object_pairs_hook=_first_wins)
        except UnicodeDecodeError:
            raise ValueError(f"the {self._unit} is not valid UTF-8") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"the {self._unit} is not JSON: {error.msg} at character {error.pos + 1}") from None
        except RecursionError:
            raise ValueError(f"the {self._unit} is not readable: its JSON is nested too deeply") from None
        if not isinstance(value, dict):
            raise ValueError(f"the {self._unit} is not a JSON object; write one object per {self._unit}")
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


def _may_be_others(texts: pl.Series) -> bool:
    """Whether some text may be what the parser has made of something else."""
    views = pa.chunked_array(texts.to_arrow(compat_level=pl.CompatLevel.newest()))
    return any(map(_begins_like_others, views.chunks))


def _begins_like_others(texts: pa.Array) -> bool:
    """Of a text the view has the length in its first four bytes, and in the next how it begins; or 0."""
    views = np.frombuffer(texts.buffers()[1], np.uint32).reshape(-1, 4)[texts.offset : texts.offset + len(texts)]
    lengths, begins = views[:, 0], views[:, 1]
    words = (lengths == len("true")) & (begins == _TRUE) | (lengths == len("false")) & (begins == _FALSE)
    return bool((_OTHERS_BEGIN[views.view(np.uint8)[:, 4]] | words).any())


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that is there twice has its first value, as in lines that are parsed together."""
    return dict(reversed(pairs))


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
