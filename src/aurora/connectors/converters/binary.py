"""Records of fixed width, in either byte order, without anything between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field as Declared

from aurora.connectors.converters.base import Converter, Decoded, Encoded
from aurora.connectors.converters.binary_fields import DEFAULTS, FORMAT, LEGAL, Array, Bools, Field, without
from aurora.connectors.converters.options import Options, read_options
from aurora.connectors.rejected import Rejection
from aurora.connectors.to_text import json_objects
from aurora.errors import InputError
from aurora.model.schema import Schema

_PADS = {"nul": 0, "space": 0x20}
_NULL_BITS = "null bits"
"""The name of the field that no column can have, since it starts each record and a record may have no other."""


class BinaryOptions(Options):
    fields: dict[str, str] | None = None
    """Every field of a record in order, with its format; those that the schema does not have are passed over."""
    byte_order: Literal["little", "big"] = "little"
    null_bits: bool = False
    """Whether each record starts with a bit for each column of the schema, set where it is NULL: the first column's is
    the lowest of the first byte."""
    null_values: dict[str, int | float | str] = Declared(default_factory=dict)
    """The value that stands for NULL in a column."""
    pad: Literal["nul", "space"] = "nul"
    time_unit: Literal["s", "ms", "us", "ns"] = "us"
    """What timestamps (since 1970) and durations are counted in."""


class Layout:
    """A record: its NumPy type, and the fields that are columns. Raises InputError where it cannot be."""

    def __init__(self, schema: Schema, options: BinaryOptions) -> None:
        self.schema = schema
        order = "<" if options.byte_order == "little" else ">"
        formats = options.fields if options.fields is not None else _default_formats(schema)
        missing = [name for name in schema if name not in formats]
        if missing:
            raise _wrong(f"'fields' has no {missing[0]!r}; give a format for every column of the schema")
        for name in options.null_values:
            if name not in schema:
                raise _wrong(f"'null_values' names {name!r}, which is no column; the columns are {', '.join(schema)}")
        parts: list[tuple[Any, ...]] = []
        if options.null_bits:
            parts.append((_NULL_BITS, np.uint8, ((len(schema) + 7) // 8,)))
        fields: dict[str, Field] = {}
        for place, (name, text) in enumerate(formats.items()):
            matched = FORMAT.fullmatch(text)
            if matched is None:
                raise _wrong(f"the format {text!r} of {name!r} is none; write i1 to i8, u1 to u8, f2 to f8, S12 or V4")
            item = np.dtype((matched[1] or order) + matched[3])
            count = int(matched[2]) if matched[2] else None
            if name in schema:
                fields[name] = _field(schema, name, text, item, count, options)
            parts.append((f"{place} {name}", item) if count is None else (f"{place} {name}", item, (count,)))
        try:
            self.dtype = np.dtype(parts)
        except ValueError as error:
            raise _wrong(f"no record is so large: {error}") from None
        if self.dtype.itemsize > options.max_record_bytes:
            raise _wrong(
                f"a record has {self.dtype.itemsize} bytes, and {options.max_record_bytes} are allowed; "
                f"raise max_record_bytes"
            )
        places = {name: f"{place} {name}" for place, name in enumerate(formats)}
        self.fields = [(places[name], fields[name]) for name in schema]
        self.null_bits = options.null_bits

    def nulls(self, records: Array) -> list[Bools] | None:
        """For each column, where its bit says that it is NULL."""
        if not self.null_bits:
            return None
        bits = np.unpackbits(records[_NULL_BITS], axis=1, bitorder="little").astype(np.bool_)
        return [bits[:, place] for place in range(len(self.schema))]


def _default_formats(schema: Schema) -> dict[str, str]:
    for name, kind in schema.items():
        if kind.name not in DEFAULTS:
            raise _wrong(f"the column {name!r} is a {kind}, whose width is not known; give 'fields' with all formats")
    return {name: DEFAULTS[kind.name] for name, kind in schema.items()}


def _field(
    schema: Schema, name: str, text: str, item: np.dtype[Any], count: int | None, options: BinaryOptions
) -> Field:
    kind = schema[name]
    legal = LEGAL.get((kind.item or kind).name, "")
    if item.kind not in legal or (count is not None) != (kind.item is not None):
        kinds = {"iu": "i4 or u4", "iuf": "f8 or i4", "S": "S12"}.get(legal, "no format")
        form = f"3{kinds}" if kind.item is not None else kinds
        raise _wrong(f"the format {text!r} of {name!r} does not hold a {kind}; write {form}, say")
    null = options.null_values.get(name)
    if null is not None:
        stored = np.zeros(1, item)
        try:
            stored[0] = null.encode() if isinstance(null, str) else null
            fits = isinstance(null, str) == (item.kind == "S") and (stored[0] == _raw(null) or null != null)
        except (ValueError, OverflowError, TypeError):
            fits = False
        if not fits:
            raise _wrong(f"the null value {null!r} of {name!r} does not fit its format {text!r}; give one that does")
    return Field(name, kind, item, count, _PADS[options.pad], options.time_unit, null)


def _raw(value: float | str) -> Any:
    return value.encode() if isinstance(value, str) else value


def _wrong(what: str) -> InputError:
    return InputError(f"options of the converter 'binary': {what}")


class BinaryConverter(Converter):
    def __init__(self, schema: Schema, options: Mapping[str, Any]) -> None:
        super().__init__(schema, options)
        self._layout = Layout(schema, read_options(BinaryOptions, options, "binary"))

    def decoder(self) -> BinaryDecoder:
        return BinaryDecoder(self._layout)

    def encoder(self) -> BinaryEncoder:
        return BinaryEncoder(self._layout)

    def encode_each(self, frame: pl.DataFrame) -> tuple[list[bytes], Sequence[Rejection]]:
        encoded = self.encoder().encode(frame)
        size = self._layout.dtype.itemsize
        return [encoded.data[at : at + size] for at in range(0, len(encoded.data), size)], encoded.rejected


class BinaryDecoder:
    """Places are the numbers of records, from 1. What is rejected is shown as hexadecimal digits."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._empty = pl.DataFrame(schema=layout.schema.to_polars())
        self._held = b""
        self._records = 0

    def feed(self, data: bytes) -> Decoded:
        data = self._held + data if self._held else data
        count = len(data) // self._layout.dtype.itemsize
        self._held = data[count * self._layout.dtype.itemsize :]
        if not count:
            return Decoded(self._empty)
        records = np.frombuffer(data, self._layout.dtype, count)
        nulls = self._layout.nulls(records)
        columns: list[pl.Series] = []
        lost: dict[str, tuple[str, Bools]] = {}
        for place, (stored, field) in enumerate(self._layout.fields):
            values, bad = field.decode(records[stored])
            if nulls is not None:
                values = without(values, nulls[place])
                bad = bad & ~nulls[place]
            columns.append(values)
            if bad.any():
                lost[field.name] = (stored, bad)
        frame = pl.DataFrame(columns)
        rejected: list[Rejection] = []
        if lost:
            spoilt = np.logical_or.reduce([bad for _, bad in lost.values()])
            rejected = [self._rejection(records, int(row), lost) for row in np.flatnonzero(spoilt)]
            frame = frame.filter(~spoilt)
        self._records += count
        return Decoded(frame, rejected)

    def finish(self) -> Decoded:
        if not self._held:
            return Decoded(self._empty)
        reason = f"the last record has {len(self._held)} bytes of {self._layout.dtype.itemsize}"
        rejection = Rejection(self._records + 1, reason, self._held.hex(" "))
        self._held = b""
        return Decoded(self._empty, [rejection])

    def _rejection(self, records: Array, row: int, lost: dict[str, tuple[str, Bools]]) -> Rejection:
        faults = []
        for name, (stored, bad) in lost.items():
            if bad[row]:
                kind = self._layout.schema[name]
                faults.append(f"column {name!r}: {records[stored][row].tolist()!r:.80} is not a value of {kind}")
        return Rejection(self._records + row + 1, "; ".join(faults), records[row].tobytes()[:512].hex(" "))


class BinaryEncoder:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def header(self) -> bytes:
        return b""

    def footer(self) -> bytes:
        return b""

    def encode(self, frame: pl.DataFrame) -> Encoded:
        records = np.zeros(frame.height, self._layout.dtype)
        nulls = np.zeros((frame.height, len(self._layout.schema)), np.bool_)
        spoilt = np.zeros(frame.height, np.bool_)
        reasons: dict[int, list[str]] = {}
        for place, (stored, field) in enumerate(self._layout.fields):
            found, missing, bad = field.encode(frame.get_column(field.name))
            records[stored] = found
            nulls[:, place] = frame.get_column(field.name).is_null().to_numpy()
            roomless = missing & (not self._layout.null_bits)
            for row in np.flatnonzero(roomless | bad):
                what = (
                    "is NULL, for which there is no room; give null_bits or null_values"
                    if roomless[row]
                    else f"holds {frame.get_column(field.name)[int(row)]!r:.80}, which does not fit its format"
                )
                reasons.setdefault(int(row), []).append(f"column {field.name!r} {what}")
            spoilt |= roomless | bad
        if self._layout.null_bits and frame.height:
            records[_NULL_BITS] = np.packbits(nulls, axis=1, bitorder="little")
        if not spoilt.any():
            return Encoded(records.tobytes())
        texts = frame.filter(spoilt).select(json_objects(self._layout.schema)).to_series()
        rejected = [
            Rejection(row + 1, "; ".join(reasons[row]), text) for row, text in zip(sorted(reasons), texts, strict=True)
        ]
        return Encoded(records[~spoilt].tobytes(), rejected)
