"""The state of boxes at rest: one sealed file for the boxes of a segment, of one partition, in one version.

A file holds a directory (JSON: whose state, and where each box's is) and an Arrow stream per box, so that reading maps
the file and copies nothing. The directory repeats the file's name, and a mark: what the state stands for, such as the
input position up to which it goes. A run that was taken up again may write under a name that has been used before
for something else; the mark keeps a commit from being taken up with the wrong one.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import quote

import pyarrow as pa

from aurora.errors import StateError
from aurora.storage.folder import Folder, Piece
from aurora.storage.sealed import HEADER_BYTES, seal, unseal

STATES = "states"

_ALIGNED = HEADER_BYTES
_LENGTH = struct.Struct("<q")
_LONGEST_SEGMENT = 100


def state_name(segment: str, partition: int, version: int, *, attempt: int = 0) -> str:
    """The name under which the state of a segment's partition is kept.

    With the journal's ``attempt`` in it, a task that outlives its run cannot write over a state of the next run.

    >>> state_name("late", 0, 17)
    'late-0-17'
    >>> state_name("late", 0, 17, attempt=3)
    'late-0-17.3'
    >>> state_name("a/b", 0, 17)
    'a%2Fb-0-17'
    """
    if min(partition, version, attempt) < 0:
        raise ValueError(f"there is no partition {partition}, version {version} or attempt {attempt} below 0")
    safe = quote(segment, safe="")
    if len(safe) > _LONGEST_SEGMENT:
        # File names have a limit; the digest keeps long ones apart, and = is in no quoted name.
        safe = f"{safe[:60]}={hashlib.sha256(segment.encode()).hexdigest()[:24]}"
    return f"{safe}-{partition}-{version}" + (f".{attempt}" if attempt else "")


@dataclass(frozen=True)
class StateStore:
    """States in a folder. A version is written once, or again with the same content when a task is repeated."""

    folder: Folder
    durable: bool

    def write(self, name: str, states: Mapping[str, pa.Table], *, mark: str = "") -> None:
        """Keeps the states of boxes, by the boxes' names. ``mark`` says what they stand for."""
        streams = {box: _to_stream(table) for box, table in states.items()}
        self.folder.write(f"{STATES}/{name}", seal(_laid_out(name, mark, streams)), durable=self.durable)

    def read(self, name: str, *, mark: str | None = None) -> dict[str, pa.Table]:
        """What ``write`` was given; StateError if it is missing, harmed, or has another mark than the one given."""
        what = f"the state {name} in {self.folder.address}"
        try:
            sealed = self.folder.read(f"{STATES}/{name}")
        except FileNotFoundError as error:
            raise StateError(f"{what} is missing; begin anew with another --state folder") from error
        payload = unseal(sealed, what)
        try:
            length = _LENGTH.unpack_from(payload)[0]
            directory = json.loads(payload.slice(_LENGTH.size, length).to_pybytes())
            streams = payload.slice(_aligned(_LENGTH.size + length))
            states = {box: _from_stream(streams.slice(at, size)) for box, (at, size) in directory["boxes"].items()}
            found_name, found_mark = directory["name"], directory["mark"]
        except (pa.ArrowException, struct.error, ValueError, LookupError, TypeError) as error:
            raise StateError(f"{what} is no state of boxes: {error}; begin anew with another --state folder") from error
        if found_name != name:
            raise StateError(f"{what} is the file of {found_name}; put the files back where they were")
        if mark is not None and found_mark != mark:
            raise StateError(f"{what} is of another step: it stands for {found_mark!r}, and {mark!r} is wanted")
        return states

    def secure(self, names: Collection[str]) -> None:
        """Makes states durable that tasks wrote without waiting for the disk; StateError if one is missing."""
        try:
            self.folder.secure([f"{STATES}/{name}" for name in names])
        except FileNotFoundError as error:
            raise StateError(
                f"the state {error.filename} is not in {self.folder.address}, though a worker has stored it; "
                "give a --state folder that all machines share"
            ) from error

    def retain(self, names: Collection[str]) -> None:
        """Deletes every state that is not named."""
        wanted = {f"{STATES}/{name}" for name in names}
        for name in self.folder.names(STATES):
            if name not in wanted:
                self.folder.delete(name)


def _laid_out(name: str, mark: str, streams: Mapping[str, pa.Buffer]) -> list[Piece]:
    places: dict[str, tuple[int, int]] = {}
    body: list[Piece] = []
    at = 0
    for box, stream in streams.items():
        places[box] = (at, stream.size)
        body += [stream, b"\0" * (_aligned(stream.size) - stream.size)]
        at += _aligned(stream.size)
    directory = json.dumps({"name": name, "mark": mark, "boxes": places}).encode()
    head = _LENGTH.pack(len(directory)) + directory
    return [head.ljust(_aligned(len(head)), b"\0"), *body]


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _to_stream(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _from_stream(stream: pa.Buffer) -> pa.Table:
    with pa.ipc.open_stream(stream) as reader:
        return reader.read_all()
