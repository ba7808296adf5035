"""Any rows of a Parquet or Arrow file, for tasks that read their share of an input themselves.

Only files of which every row is a tuple can be sliced: then the row's number is the tuple's number. Polars reads
Parquet, which it does in less than half the time of Arrow, and can begin in the middle of a row group; Arrow files are
mapped into memory. The files must not change meanwhile.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Protocol

import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from aurora.connectors.bytes_in import unreadable
from aurora.connectors.columnar_types import converted, never_rejects
from aurora.connectors.row_groups import ARROW_FILE, arrow_starts, cut_at, mapped_reader, parquet_starts
from aurora.errors import InputError
from aurora.model.schema import Schema

_AHEAD_ROWS = 262_144
_OPEN_FILES = 8


def can_slice(file: str, schema: Schema) -> bool:
    """Whether the file can be sliced. If it cannot be read at all, a source will say why."""
    try:
        return _why_not(file, schema) is None
    except InputError:
        return False


class FileSlices:
    """What is known of a file that can be sliced, or of several one after the other, from their metadata alone."""

    def __init__(self, files: str | Sequence[str], schema: Schema) -> None:
        # Workers may run in other folders.
        self.files = tuple(os.path.abspath(file) for file in ([files] if isinstance(files, str) else files))
        for file in self.files:
            problem = _why_not(file, schema)
            if problem is not None:
                raise InputError(f"{file} cannot be read in slices: {problem}; read it through a source")
        self.schema = schema
        self._starts = [0, *accumulate(_opened(file).starts[-1] for file in self.files)]
        self.rows = self._starts[-1]

    def read(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The rows from ``start`` up to before ``stop``, or some columns of them."""
        parts = []
        for file, (first, after) in zip(self.files, pairwise(self._starts), strict=True):
            if start < after and stop > first:
                within = max(start, first) - first, min(stop, after) - first
                parts.append(read_slice(file, self.schema, *within, columns))
        if not parts:
            return read_slice(self.files[0], self.schema, 0, 0, columns)
        return parts[0] if len(parts) == 1 else pl.concat(parts)

    def pieces(self, start: int, stop: int, rows: int) -> Iterator[tuple[int, int]]:
        """These rows in pieces of about so many, cut where row groups end: such a piece is read without a copy."""
        for file, (first, after) in zip(self.files, pairwise(self._starts), strict=True):
            if start < after and stop > first:
                within = max(start, first) - first, min(stop, after) - first
                for begin, end in cut_at(_opened(file).starts, *within, rows):
                    yield first + begin, first + end

    def column(self, name: str, start: int, stop: int) -> pl.Series:
        """One column of these rows."""
        return self.read(start, stop, [name]).to_series()


def read_slice(file: str, schema: Schema, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows from ``start`` up to before ``stop``, from 0, with the schema's columns and types, or some of them.

    Of small slices more is read, up to a bound, since the next one often starts where this one ends.
    """
    names = tuple(schema if columns is None else columns)
    if not names:
        raise ValueError("choose a column: a frame without columns does not know how many rows it has")
    opened = _opened(file)
    if not 0 <= start <= stop <= opened.starts[-1]:
        raise InputError(
            f"{file} has {opened.starts[-1]} rows, and those from {start} to {stop} were asked for; "
            f"leave the file as it is while a run reads it"
        )
    kinds = tuple(schema[name] for name in names)
    if opened.stretch is None or opened.stretch.key != (names, kinds):
        opened.stretch = _Stretch((names, kinds), 0, pl.DataFrame(schema={n: schema[n].to_polars() for n in names}))
    held = opened.stretch
    known = held.rows(start, stop)
    if known.height == stop - start:
        return known
    begin = start + known.height
    try:
        found = opened.read(begin, _ahead(opened.starts, start, stop), names)
    except (pl.exceptions.PolarsError, pa.ArrowInvalid, OSError) as error:
        raise InputError(f"reading {file} failed: {error}; check that the file is whole") from error
    frame = pl.DataFrame([converted(found[name], kind) for name, kind in zip(names, kinds, strict=True)])
    opened.stretch = _Stretch(held.key, begin, frame)
    new = frame.head(stop - begin)
    return pl.concat([known, new]) if known.height else new


def _ahead(starts: list[int], start: int, stop: int) -> int:
    if stop - start >= _AHEAD_ROWS:
        return stop
    # Whole row groups, as many as are not too much; of a very long one only some.
    whole = starts[bisect_right(starts, start + _AHEAD_ROWS) - 1]
    return whole if whole >= stop else min(starts[bisect_left(starts, stop)], stop + _AHEAD_ROWS)


class _Stretch:
    """Rows that have been read: those of the last slice, and some beyond."""

    def __init__(self, key: tuple[object, ...], start: int, frame: pl.DataFrame) -> None:
        self.key = key
        self._start = start
        self._frame = frame

    def rows(self, start: int, stop: int) -> pl.DataFrame:
        """As many of the rows as are there, from ``start`` on."""
        if start < self._start:
            return self._frame.clear()
        return self._frame.slice(start - self._start, stop - start)


class _Opened(Protocol):
    starts: list[int]
    schema: pa.Schema
    stretch: _Stretch | None

    def read(self, start: int, stop: int, names: tuple[str, ...]) -> pl.DataFrame: ...


class _Parquet:
    def __init__(self, file: str) -> None:
        metadata = pq.read_metadata(file, memory_map=True)
        self.schema = metadata.schema.to_arrow_schema()
        self.starts = parquet_starts(metadata)
        self.stretch: _Stretch | None = None
        self._scan = pl.scan_parquet(file, glob=False)

    def read(self, start: int, stop: int, names: tuple[str, ...]) -> pl.DataFrame:
        return self._scan.select(names).slice(start, stop - start).collect()


class _Arrow:
    def __init__(self, file: str) -> None:
        with pa.memory_map(file) as mapped:
            if mapped.read(len(ARROW_FILE)) != ARROW_FILE:
                raise pa.ArrowInvalid("it is an Arrow stream, not an Arrow file")
            self.schema = ipc.open_file(mapped).schema
        self.starts = arrow_starts(file)
        self.stretch: _Stretch | None = None
        self._file = file
        self._readers: dict[tuple[str, ...], ipc.RecordBatchFileReader] = {}

    def read(self, start: int, stop: int, names: tuple[str, ...]) -> pl.DataFrame:
        if names not in self._readers:
            places = [self.schema.get_field_index(name) for name in names]
            self._readers = {names: mapped_reader(self._file, places)}
        first = bisect_right(self.starts, start) - 1
        batches = range(first, bisect_left(self.starts, stop))
        table = pa.Table.from_batches([self._readers[names].get_batch(place) for place in batches])
        return pl.DataFrame(table.select(names).slice(start - self.starts[first], stop - start))


class _Kept(threading.local):
    """The files that a thread has open, the latest last."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, int, int, int], _Opened] = {}


_KEPT = _Kept()


def _opened(file: str) -> _Opened:
    """A file that was replaced is another file."""
    try:
        found = os.stat(file)
        key = (file, found.st_ino, found.st_size, found.st_mtime_ns)
        opened = _KEPT.files.pop(key, None)
        if opened is None:
            opened = _Parquet(file) if file.lower().endswith(".parquet") else _Arrow(file)
    except pa.ArrowInvalid as error:
        raise InputError(f"{file} cannot be read in slices: {error}; give a whole Parquet or Arrow file") from error
    except OSError as error:
        raise unreadable(file, error) from error
    _KEPT.files[key] = opened
    while len(_KEPT.files) > _OPEN_FILES:
        del _KEPT.files[next(iter(_KEPT.files))]
    return opened


def _why_not(file: str, schema: Schema) -> str | None:
    if not file.lower().endswith((".parquet", ".arrow", ".feather")):
        return "its format is not Parquet or Arrow"
    found = _opened(file).schema
    for name, kind in schema.items():
        if len(found.get_all_field_indices(name)) != 1:
            return f"it has no column {name!r}, or several"
        if not never_rejects(found.field(name).type, kind):
            return f"it holds {found.field(name).type} in the column {name!r}, of which not every value is a {kind}"
    return None
