"""Spilled blocks: parts of queues that had to leave memory, as Arrow files in a folder of their own.

The blocks that leave together stand together in one file, an *extent*, and neighbours are read back together with
one call. An extent is deleted when the last of its blocks is no longer needed. Nothing here outlives the process.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from aurora.errors import StorageError

_WRITTEN_AT_ONCE = 1 << 20
_READ_AT_ONCE = 512
"""Blocks per call: systems take no more than 1,024 buffers."""


class Extent:
    """A file of blocks. ``live`` counts those that are still needed."""

    __slots__ = ("bytes", "live", "path", "schema")

    def __init__(self, path: str, schema: pa.Schema) -> None:
        self.path = path
        self.schema = schema
        self.bytes = 0
        self.live = 0


class Place(NamedTuple):
    """Where a block stands."""

    extent: Extent
    offset: int
    bytes: int


class SpillFolder:
    """``folder`` None takes the system's folder for temporary files. Nothing is created before the first block."""

    def __init__(self, folder: Path | None = None) -> None:
        self._parent = folder
        self._path: str | None = None
        self._finish: weakref.finalize[[str, bool], SpillFolder] | None = None
        self._count = 0
        self.used = 0
        self.writes = 0
        self.reads = 0
        self.blocks_written = 0
        self.blocks_read = 0

    def write(self, frames: Sequence[pl.DataFrame], room: float) -> list[Place]:
        """All of them, next to each other in a new file; none if that takes more than ``room`` bytes.

        The frames have the same columns. StorageError leaves no file behind.
        """
        path = os.path.join(self._folder(), f"{self._count}.arrow")
        self._count += 1
        # The older layout of strings: the newer would drag the text of rows that are cut off along.
        tables = [frame.to_arrow(compat_level=pl.CompatLevel.oldest()) for frame in frames]
        batches = [table.combine_chunks().to_batches()[0] for table in tables]
        extent = Extent(path, tables[0].schema)
        if room < math.inf and sum(map(_stored_bytes, batches)) + 2 * extent.schema.serialize().size > room:
            return []
        places = []
        try:
            with pa.OSFile(path, "wb") as file, pa.BufferedOutputStream(file, _WRITTEN_AT_ONCE) as sink:
                with pa.ipc.new_file(sink, extent.schema) as writer:
                    for batch in batches:
                        writer.write_batch(batch)
                        size = pa.ipc.get_record_batch_size(batch)
                        places.append(Place(extent, sink.tell() - size, size))
                extent.bytes = sink.tell()
        except OSError as error:
            Path(path).unlink(missing_ok=True)
            raise self._failed("write to", path, error) from error
        extent.live = len(places)
        self.used += extent.bytes
        self.writes += 1
        self.blocks_written += len(places)
        return places

    def read(self, places: Sequence[Place]) -> list[pl.DataFrame]:
        """The blocks, with one call for those that stand side by side. Each has memory of its own."""
        frames: list[pl.DataFrame] = []
        start = 0
        while start < len(places):
            stop = start + 1
            while (
                stop < len(places)
                and stop - start < _READ_AT_ONCE
                and places[stop].extent is places[start].extent
                and places[stop].offset == places[stop - 1].offset + places[stop - 1].bytes
            ):
                stop += 1
            frames += self._read(places[start:stop])
            start = stop
        return frames

    def _read(self, places: Sequence[Place]) -> list[pl.DataFrame]:
        extent = places[0].extent
        buffers = [pa.allocate_buffer(place.bytes) for place in places]
        wanted = sum(place.bytes for place in places)
        try:
            file = os.open(extent.path, os.O_RDONLY)
            try:
                got = os.preadv(file, buffers, places[0].offset)
            finally:
                os.close(file)
        except OSError as error:
            raise self._failed("read", extent.path, error) from error
        if got != wanted:
            raise StorageError(
                f"{extent.path} was changed while in use: it has {got} bytes where {wanted} were written; "
                "run again, and keep others out of the folder"
            )
        self.reads += 1
        self.blocks_read += len(places)
        frames = []
        for buffer in buffers:
            frame = pl.from_arrow(pa.ipc.read_record_batch(buffer, extent.schema))
            assert isinstance(frame, pl.DataFrame)
            frames.append(frame)
        return frames

    def free(self, place: Place) -> None:
        """The block is no longer needed."""
        extent = place.extent
        extent.live -= 1
        if not extent.live:
            self.used -= extent.bytes
            Path(extent.path).unlink(missing_ok=True)

    def close(self) -> None:
        if self._finish is not None:
            self._finish()
        self.used = 0

    def _folder(self) -> str:
        if self._path is None:
            try:
                if self._parent is not None:
                    self._parent.mkdir(parents=True, exist_ok=True)
                self._path = tempfile.mkdtemp(prefix="aurora-queues-", dir=self._parent)
            except OSError as error:
                raise self._failed("make a folder in", str(self._parent or tempfile.gettempdir()), error) from error
            self._finish = weakref.finalize(self, shutil.rmtree, self._path, True)
        return self._path

    @staticmethod
    def _failed(what: str, path: str, error: OSError) -> StorageError:
        return StorageError(
            f"queues are longer than memory allows, and Aurora cannot {what} {path}: {error}; "
            "free space there, name another folder, or allow more memory. What is in memory stays there"
        )


def _stored_bytes(batch: pa.RecordBatch) -> int:
    """With its line in the table of contents at the end of the file."""
    return int(pa.ipc.get_record_batch_size(batch)) + 32
