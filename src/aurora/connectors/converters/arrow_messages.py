"""The messages of an Arrow IPC stream, found in bytes that come in pieces, and what their heads declare.

Arrow itself reads a message only when all of it is there, and believes what is declared. Here the head is looked at
first, so that nothing is waited for, and no memory is asked for, that goes beyond a limit. The heads are flatbuffers,
of which a few numbers are picked.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from aurora.connectors.converters.unpacking import Room

SCHEMA, DICTIONARY, BATCH = 1, 2, 3
END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
FILE_HEAD = b"ARROW1\x00\x00"

_CONTINUES = 0xFFFFFFFF
_ROWS_TO_SPARE = 65_536


class BrokenStreamError(ValueError):
    """What comes is no Arrow stream, or more than is allowed."""


@dataclass(frozen=True)
class Message:
    kind: int
    rows: int
    data: bytes


class Messages:
    """Cuts bytes into messages. A message of kind 0 is the end of a stream."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._room = Room(max_bytes)
        self._held = bytearray()
        self._wanted = 0
        self._started = False
        self._is_file = False
        self._over = False

    @property
    def incomplete(self) -> int:
        """How many bytes of a message are there that is not complete."""
        return len(self._held)

    def feed(self, data: bytes) -> Iterator[Message]:
        self._room.begin(len(data))
        self._held += data
        while not self._over:
            if len(self._held) < max(8, self._wanted):
                return
            if not self._started:
                self._started = True
                if self._held.startswith(FILE_HEAD):  # An Arrow file is a stream with a frame around it.
                    self._is_file = True
                    del self._held[:8]
                    continue
            length = self._length()
            if len(self._held) < length:
                self._wanted = length
                return
            whole = bytes(self._held[:length])
            del self._held[:length]
            self._wanted = 0
            yield self._message(whole)
        self._held.clear()

    def _length(self) -> int:
        """How long the message is, or as much of it as must be there to know."""
        mark: int
        size: int
        mark, size = struct.unpack_from("<Ii", self._held)
        if mark != _CONTINUES:
            raise BrokenStreamError(f"a message starts with {bytes(self._held[:8]).hex(' ')}, so it is no Arrow stream")
        if not 0 <= size <= self._max_bytes:
            raise BrokenStreamError(f"a message declares a head of {size} bytes, and {self._max_bytes} are allowed")
        if size == 0 or len(self._held) < 8 + size:
            return 8 + size
        body = Table.root(self._held[8 : 8 + size]).number(3, "<q")
        if not 0 <= body <= self._max_bytes - size:
            raise BrokenStreamError(
                f"a message declares {body} bytes, and {self._max_bytes} are allowed; "
                f"write smaller batches or raise max_record_bytes"
            )
        return 8 + size + body

    def _message(self, data: bytes) -> Message:
        if len(data) == 8:
            self._over = self._is_file
            return Message(0, 0, data)
        head = struct.unpack_from("<i", data, 4)[0]
        root = Table.root(data[8 : 8 + head])
        kind = root.number(1, "<B")
        if kind == SCHEMA:
            return Message(kind, 0, data)
        batch = root.table(2) if kind == BATCH else root.table(2).table(1)
        rows = batch.number(0, "<q")
        body = memoryview(data)[8 + head :]
        size = self._declared_bytes(batch, body)
        if not self._room.take(size):
            raise BrokenStreamError(
                "what came at once is far longer once decompressed; send it in smaller pieces, or without compression"
            )
        if not 0 <= rows <= 8 * size + _ROWS_TO_SPARE:
            raise BrokenStreamError(f"a message declares {rows} rows, more than its {size} bytes can hold")
        return Message(kind, rows, data)

    def _declared_bytes(self, batch: Table, body: memoryview) -> int:
        """The bytes that the body will take in memory. Compressed buffers start with the length they will have."""
        if not batch.has(3):
            return len(body)
        total = 0
        for offset, length in batch.pairs(2):
            if length >= 8:
                if not 0 <= offset <= len(body) - 8:
                    raise BrokenStreamError("a message declares a buffer outside itself")
                (size,) = struct.unpack_from("<q", body, offset)
                total += length - 8 if size == -1 else size
                if not -1 <= size <= self._max_bytes or total > self._max_bytes:
                    raise BrokenStreamError(
                        f"a message declares {total} bytes once decompressed, and {self._max_bytes} are allowed; "
                        f"write smaller batches or raise max_record_bytes"
                    )
        return total


class Table:
    """A table of a flatbuffer. What points outside it makes it a broken stream."""

    def __init__(self, data: bytes | bytearray, at: int) -> None:
        self._data = data
        self._at = at
        self._fields = at - self._read("<i", at)
        self._size = self._read("<H", self._fields)

    @classmethod
    def root(cls, data: bytes | bytearray) -> Table:
        try:
            return cls(data, struct.unpack_from("<I", data)[0])
        except struct.error:
            raise BrokenStreamError("the head of a message is harmed") from None

    def has(self, field: int) -> bool:
        return self._place(field) != 0

    def number(self, field: int, form: str) -> int:
        place = self._place(field)
        return self._read(form, place) if place else 0

    def table(self, field: int) -> Table:
        place = self._place(field)
        if not place:
            raise BrokenStreamError("the head of a message lacks a part")
        return Table(self._data, place + self._read("<I", place))

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """The structs of two 64-bit numbers that a vector holds."""
        place = self._place(field)
        if not place:
            return
        start = place + self._read("<I", place)
        for number in range(min(self._read("<I", start), len(self._data) // 16)):
            at = start + 4 + 16 * number
            yield self._read("<q", at), self._read("<q", at + 8)

    def _place(self, field: int) -> int:
        entry = 4 + 2 * field
        offset = self._read("<H", self._fields + entry) if entry < self._size else 0
        return self._at + offset if offset else 0

    def _read(self, form: str, at: int) -> int:
        if at < 0:
            raise BrokenStreamError("the head of a message is harmed")
        try:
            number: int = struct.unpack_from(form, self._data, at)[0]
        except struct.error:
            raise BrokenStreamError("the head of a message is harmed") from None
        return number
