"""A log of Arrow blocks: an output written for others to read, from any tuple on and as often as they like.

A folder holds ``schema.json`` and ``blocks/FIRST-ROWS.arrow``, named by the number of their first tuple and how many
they hold. A block appears whole, is never changed, and no tuple is in two of them. So a number of tuples says exactly
how far somebody has read, and the names alone say how far one can.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from aurora.connectors.source import SinkPosition
from aurora.errors import InputError, StateError
from aurora.model.schema import Schema
from aurora.storage.folder import Folder, LocalFolder, Lock, open_folder

SCHEMA = "schema.json"
BLOCKS = "blocks"
VERSION = 1
_NAME = re.compile(rf"{BLOCKS}/(\d{{20}})-(\d{{10}})\.arrow")


@dataclass(frozen=True)
class LogBlock:
    """A block by what its name says."""

    name: str
    first: int
    rows: int

    @property
    def end(self) -> int:
        return self.first + self.rows


class BlockLog:
    """A log as its readers see it; InputError if there is none."""

    def __init__(self, address: str) -> None:
        missing = "://" not in address and not Path(address).is_dir()
        folder = None if missing else open_folder(address)
        schema = None if folder is None else _schema(folder)
        if folder is None or schema is None:
            raise InputError(
                f"there is no log at {address}; give the address that an output was published to, "
                "once the engine that publishes it has started"
            )
        self.address = address
        self.schema = schema
        self._folder = folder

    def blocks(self) -> list[LogBlock]:
        """All blocks in order."""
        return _blocks(self._folder)

    @property
    def length(self) -> int:
        """How many tuples the log has."""
        return _length(self.blocks())

    def read(self, block: str, start: int, stop: int) -> pa.Table:
        """Rows of a block."""
        table: pa.Table = pyarrow.ipc.open_file(pa.BufferReader(self._folder.read(block))).read_all()
        return table.slice(start, stop - start)


class BlockLogSink:
    """Appends what an output delivers; every train is a block. Only one process may append.

    ``resume`` is the position that an earlier run had committed. What it wrote after that may have been read already,
    so it stays, and as many tuples are left out of what now comes again.
    """

    def __init__(self, address: str, schema: Schema, *, resume: SinkPosition | None = None) -> None:
        self._folder = open_folder(address)
        self._lock = _locked(self._folder)
        try:
            known = _schema(self._folder)
            if known is None:
                document = {"aurora_log": VERSION, "schema": {name: str(kind) for name, kind in schema.items()}}
                self._folder.write(SCHEMA, json.dumps(document).encode(), durable=True)
            elif known != schema:
                raise InputError(f"the log at {address} is of {known}, but the output is {schema}; name another place")
            self._length = _length(_blocks(self._folder))
            self._skip = 0 if resume is None else self._length - resume
            if self._skip < 0:
                raise StateError(
                    f"the log at {address} has {self._length} tuples, but {resume} had been written to it; "
                    "put it back as it was, or begin anew with another state folder and another log"
                )
        except BaseException:
            self.close()
            raise
        self._unsafe: list[str] = []

    def write(self, frame: pl.DataFrame) -> None:
        skipped = min(self._skip, frame.height)
        self._skip -= skipped
        frame = frame[skipped:]
        if not frame.height:
            return
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        sink = pa.BufferOutputStream()
        with pyarrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        name = f"{BLOCKS}/{self._length:020d}-{frame.height:010d}.arrow"
        self._folder.write(name, sink.getvalue())
        self._unsafe.append(name)
        self._length += frame.height

    def position(self, *, durable: bool = False) -> SinkPosition:
        """How many tuples the output had delivered."""
        if durable:
            self._folder.secure(self._unsafe)
            self._unsafe = []
        return self._length - self._skip

    def suspend(self) -> None:
        self.close()

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _schema(folder: Folder) -> Schema | None:
    try:
        document = json.loads(folder.read(SCHEMA).to_pybytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise InputError(f"{SCHEMA} in {folder.address} is no JSON: {error}; is this a log of Aurora's?") from error
    if not isinstance(document, dict) or document.get("aurora_log") != VERSION:
        raise InputError(
            f"{SCHEMA} in {folder.address} is not that of a log of version {VERSION}; "
            "give the address of a log that this Aurora writes"
        )
    return Schema.of(**document["schema"])


def _blocks(folder: Folder) -> list[LogBlock]:
    found = [match for name in folder.names(BLOCKS) if (match := _NAME.fullmatch(name))]
    blocks = [LogBlock(match[0], int(match[1]), int(match[2])) for match in found]
    at = 0
    for number, block in enumerate(blocks):
        if block.first > at:
            # A store that lists names as they come may show a block before the one in front of it.
            return blocks[:number]
        if block.first < at:
            raise StateError(
                f"in the log {folder.address} the blocks {blocks[number - 1].name} and {block.name} overlap; "
                "two writers have been at it: begin anew with another log"
            )
        at = block.end
    return blocks


def _length(blocks: list[LogBlock]) -> int:
    return blocks[-1].end if blocks else 0


def _locked(folder: Folder) -> Lock | None:
    if not isinstance(folder, LocalFolder):
        return None
    try:
        return folder.lock()
    except StateError as error:
        raise StateError(f"another process appends to the log at {folder.address}; publish to another place") from error
