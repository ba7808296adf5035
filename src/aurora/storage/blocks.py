"""Blocks: trains at rest, as Arrow files that whoever needs them maps into memory.

Blocks live in two tiers, a folder in memory and one on disk. A block lives only as long as a step needs it; what
outlives a run is state, which is kept elsewhere and carries checksums.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from aurora.storage.folder import open_folder


@dataclass(frozen=True)
class Block:
    """Rows in a file. ``folder`` is an address that every worker reaches."""

    folder: str
    name: str
    rows: int
    bytes: int


def write_block(folders: Sequence[str], name: str, frame: pl.DataFrame) -> Block:
    """Writes into the first folder that has room. Whoever looks sees all of the block or nothing of it."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.newest())
    for folder in folders[:-1]:
        try:
            return _written(folder, name, table)
        except OSError:
            continue
    return _written(folders[-1], name, table)


def _is_local(folder: str) -> bool:
    return "://" not in folder


def _written(folder: str, name: str, table: pa.Table) -> Block:
    if not _is_local(folder):
        sink = pa.BufferOutputStream()
        with pyarrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        size = open_folder(folder).write(name, sink.getvalue())
        return Block(folder, name, table.num_rows, size)
    path = os.path.join(folder, name)
    # A task that was taken for lost may be at it still, on another machine.
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    try:
        with pa.OSFile(temporary, "wb") as file:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
            size = file.tell()
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    return Block(folder, name, table.num_rows, size)


def read_block(block: Block) -> pl.DataFrame:
    """The rows, without a copy where the file is local. They stay readable when the block is deleted."""
    if _is_local(block.folder):
        source = pa.memory_map(os.path.join(block.folder, block.name))
    else:
        source = pa.BufferReader(open_folder(block.folder).read(block.name))
    frame = pl.from_arrow(pyarrow.ipc.open_file(source).read_all())
    assert isinstance(frame, pl.DataFrame)
    return frame


class BlockStore:
    """The driver's account of blocks: where new ones go, how much memory they take, and their removal.

    ``memory`` None: there is only the disk. While blocks in memory take less than ``budget`` bytes new ones go there.
    """

    def __init__(self, memory: str | None, disk: str, budget: int) -> None:
        self._memory = memory
        self._disk = disk
        self._budget = budget
        self._sizes: dict[tuple[str, str], int] = {}
        self.in_memory = 0
        self.on_disk = 0
        self.spilled = 0

    def folders(self, expected: int = 0) -> tuple[str, ...]:
        """Where blocks of about so many bytes may go, best first."""
        if self._memory is None or self.in_memory + expected > self._budget:
            return (self._disk,)
        return (self._memory, self._disk)

    def note(self, blocks: Iterable[Block]) -> None:
        """Takes blocks that were written into account."""
        for block in blocks:
            key = block.folder, block.name
            self._count(block.folder, block.bytes - self._sizes.get(key, 0))
            self._sizes[key] = block.bytes
            if self._memory is not None and block.folder == self._disk:
                self.spilled += 1

    def release(self, blocks: Iterable[Block]) -> None:
        """Deletes blocks that nobody needs any more."""
        for block in blocks:
            size = self._sizes.pop((block.folder, block.name), None)
            if size is not None:
                self._count(block.folder, -size)
            if _is_local(block.folder):
                Path(block.folder, block.name).unlink(missing_ok=True)
            else:
                open_folder(block.folder).delete(block.name)

    def _count(self, folder: str, size: int) -> None:
        if folder == self._memory:
            self.in_memory += size
        else:
            self.on_disk += size
