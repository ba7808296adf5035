"""Columns of fixed-width records: how each stands in a record, and how it becomes a typed column and back, vectorised.

i1 i2 i4 i8, u1 u2 u4 u8   whole numbers with and without a sign
f2 f4 f8                   floating point
Sn                         n bytes of UTF-8 text, or any bytes, filled up with padding
Vn                         n bytes that nobody looks at
A number in front makes a list of so many of them: ``3f4``. ``<`` or ``>`` before that is a byte order of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from aurora.model.types import BINARY, BOOL, DOUBLE, INT, STRING, Type

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]

FORMAT = re.compile(r"([<>])?([1-9]\d{0,6})?(i[1248]|u[1248]|f[248]|[SV][1-9]\d{0,8})")
DEFAULTS = {"bool": "u1", "int": "i8", "double": "f8", "timestamp": "i8", "duration": "i8"}
LEGAL = {"bool": "iu", "int": "iu", "double": "iuf", "timestamp": "iu", "duration": "iu", "string": "S", "binary": "S"}
_PER_UNIT_US = {"s": 1_000_000, "ms": 1_000}


def without(values: pl.Series, null: Bools) -> pl.Series:
    """The column with NULL where it is said."""
    return pl.select(pl.when(pl.Series(~null)).then(values)).to_series().alias(values.name) if null.any() else values


@dataclass(frozen=True)
class Field:
    """A column of the schema in a record. ``bad`` masks say which records have no value of the type there."""

    name: str
    kind: Type
    item: np.dtype[Any]
    count: int | None
    pad: int
    time_unit: str
    null_value: Any = None

    @property
    def _item_kind(self) -> Type:
        return self.kind.item or self.kind

    def decode(self, found: Array) -> tuple[pl.Series, Bools]:
        null = self._is_null_value(found)
        if self.count is None:
            values, bad = self._decode_items(found)
            if null is not None:
                values = without(values, null)
                bad &= ~null
            return values.alias(self.name), bad
        items, wrong = self._decode_items(np.ascontiguousarray(found).reshape(-1))
        if null is not None:
            items = without(items, null.reshape(-1))
            wrong &= ~null.reshape(-1)
        offsets = np.arange(0, len(items) + 1, self.count, dtype=np.int64)
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), items.to_arrow(compat_level=pl.CompatLevel.oldest()))
        bad = np.asarray(wrong.reshape(-1, self.count).any(axis=1), np.bool_)
        return pl.Series(self.name, lists).cast(self.kind.to_polars()), bad

    def encode(self, values: pl.Series) -> tuple[Array, Bools, Bools]:
        """What goes into the records, which are NULL and have no other sign of it, and which do not fit."""
        if self.count is None:
            missing = values.is_null().to_numpy()
            found, bad = self._encode_items(values)
            return found, missing & (self.null_value is None), bad & ~missing
        missing = values.is_null().to_numpy()
        fits = (values.list.len() == self.count).fill_null(False).to_numpy()
        shape = (len(values), self.count)
        found = np.zeros(shape, self.item)
        bad = ~fits & ~missing
        if fits.any():
            items = values.filter(fits).explode()
            inner, wrong = self._encode_items(items)
            if self.null_value is None:
                wrong |= items.is_null().to_numpy()
            found[fits] = inner.reshape(-1, self.count)
            bad[fits] = wrong.reshape(-1, self.count).any(axis=1)
        return found, missing, bad

    def _is_null_value(self, found: Array) -> Bools | None:
        if self.null_value is None:
            return None
        if isinstance(self.null_value, float) and np.isnan(self.null_value):
            return np.asarray(np.isnan(found), np.bool_)
        return np.asarray(found == self._stored_null(), np.bool_)

    def _stored_null(self) -> Any:
        value = self.null_value
        return value.encode().ljust(self.item.itemsize, bytes([self.pad])) if isinstance(value, str) else value

    def _decode_items(self, found: Array) -> tuple[pl.Series, Bools]:
        kind = self._item_kind
        good = np.zeros(len(found), np.bool_)
        if kind in (STRING, BINARY):
            return self._decode_text(found)
        if kind == BOOL:
            return pl.Series(found.astype(np.uint8) != 0), (found != 0) & (found != 1)
        if kind == DOUBLE:
            return pl.Series(found.astype(np.float64)), good
        bad = found > np.iinfo(np.int64).max if found.dtype == np.uint64 else good
        whole = found.astype(np.int64)
        if kind == INT:
            return pl.Series(whole), bad
        if self.time_unit == "ns":
            whole //= 1_000
        elif self.time_unit != "us":
            scale = _PER_UNIT_US[self.time_unit]
            most = np.iinfo(np.int64).max // scale
            bad = bad | (whole > most) | (whole < -most)
            whole = np.where(bad, 0, whole) * scale
        return pl.Series(whole).cast(kind.to_polars()), bad

    def _encode_items(self, values: pl.Series) -> tuple[Array, Bools]:
        kind = self._item_kind
        missing = values.is_null().to_numpy()
        if kind in (STRING, BINARY):
            found, bad = self._encode_text(values)
        elif kind == DOUBLE and self.item.kind == "f":
            doubles = values.fill_null(0.0).to_numpy()
            with np.errstate(over="ignore"):
                found = doubles.astype(self.item)
            bad = np.isfinite(doubles) & ~np.isfinite(found)
        else:
            found, bad = self._encode_whole(values)
        if self.null_value is not None:
            if not missing.all():
                bad = bad | (~missing & self._is_null_value(found))
            found[missing] = self._stored_null()
        return found, bad & ~missing

    def _encode_whole(self, values: pl.Series) -> tuple[Array, Bools]:
        bad = np.zeros(len(values), np.bool_)
        if self._item_kind == DOUBLE:
            doubles = values.fill_null(0.0).to_numpy()
            bad = ~((doubles == np.trunc(doubles)) & (np.abs(doubles) < 2.0**63))
            whole = np.where(bad, 0.0, doubles).astype(np.int64)
        else:
            whole = values.cast(pl.Int64).fill_null(0).to_numpy()
        if self._item_kind.temporal and self.time_unit != "us":
            if self.time_unit == "ns":
                most = np.iinfo(np.int64).max // 1_000
                bad = (whole > most) | (whole < -most)
                whole = np.where(bad, 0, whole) * 1_000
            else:
                bad = whole % _PER_UNIT_US[self.time_unit] != 0
                whole = whole // _PER_UNIT_US[self.time_unit]
        limits = np.iinfo(self.item)
        bad = bad | (whole < limits.min) | ((whole > limits.max) if limits.max < 2**63 else False)
        return np.where(bad, 0, whole).astype(self.item), bad

    def _decode_text(self, found: Array) -> tuple[pl.Series, Bools]:
        width = self.item.itemsize
        codes = np.ascontiguousarray(found).view(np.uint8).reshape(len(found), width)
        filled = codes != self.pad
        lengths = np.where(filled.any(axis=1), width - np.argmax(filled[:, ::-1], axis=1), 0)
        inside = codes[np.arange(width) < lengths[:, None]]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(inside)]
        values = pl.Series(pa.Array.from_buffers(pa.large_binary(), len(found), buffers), dtype=pl.Binary)
        if self._item_kind == BINARY:
            return values, np.zeros(len(found), np.bool_)
        try:
            return values.cast(pl.String), np.zeros(len(found), np.bool_)
        except pl.exceptions.PolarsError:
            text = pl.Series([_decoded(value) for value in values], dtype=pl.String)
            return text, text.is_null().to_numpy()

    def _encode_text(self, values: pl.Series) -> tuple[Array, Bools]:
        width = self.item.itemsize
        raw = values.cast(pl.Binary).fill_null(b"")
        bad = ((raw.bin.size() > width) | raw.bin.ends_with(bytes([self.pad]))).to_numpy()
        raw = without(raw, bad).fill_null(b"")
        lengths = raw.bin.size().to_numpy()
        codes = np.full((len(raw), width), self.pad, np.uint8)
        codes[np.arange(width) < lengths[:, None]] = np.frombuffer(b"".join(raw.to_list()), np.uint8)
        return codes.reshape(-1).view(f"S{width}"), bad


def _decoded(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
