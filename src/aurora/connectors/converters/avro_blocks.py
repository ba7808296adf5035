"""The blocks of an Avro object container file, found in bytes that come in pieces.

A file starts with its schema and a marker of 16 bytes. Each block ends with the marker, so that after a harmed block
the next one is found again. What is declared is looked at before it is waited for or decompressed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aurora.connectors.converters.unpacking import Room

MAGIC = b"Obj\x01"
MARKER_BYTES = 16
_MAX_HEADER_BYTES = 256 << 10
_LONGEST_NUMBER = 10
CODECS = ("null", "deflate")


class BrokenFileError(ValueError):
    """What comes is no Avro file, or more than is allowed."""


class _Incomplete(Exception):  # noqa: N818
    """The bytes end before the value does."""


@dataclass(frozen=True)
class Block:
    """The records of a block, or why there are none. Where ``count`` is None, as many as the bytes give."""

    count: int | None
    data: bytes
    fault: str = ""


class Blocks:
    """Cuts bytes into blocks. ``schema`` is there as soon as the header is complete."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._room = Room(max_bytes)
        self._held = bytearray()
        self._wanted = 1
        self._marker = b""
        self._codec = "null"
        self._lost = False
        self._at = len(MAGIC)
        self._left = 0
        self._all_entries = False
        self._entries: dict[bytes, bytes] = {}
        self.schema: Any = None

    @property
    def incomplete(self) -> int:
        return 0 if self._lost else len(self._held)

    def feed(self, data: bytes) -> Iterator[Block]:
        self._room.begin(len(data))
        self._held += data
        while len(self._held) >= self._wanted:
            try:
                if not self._marker:
                    self._read_header()
                elif self._lost:
                    self._find_marker()
                else:
                    yield self._block()
            except _Incomplete:
                if not self._marker and len(self._held) > _MAX_HEADER_BYTES:
                    raise BrokenFileError(f"the header is longer than {_MAX_HEADER_BYTES} bytes") from None
                return

    def _read_header(self) -> None:
        if len(self._held) < len(MAGIC):
            raise _Incomplete
        if not self._held.startswith(MAGIC):
            raise BrokenFileError(f"it starts with {bytes(self._held[:4]).hex(' ')}, so it is no Avro file")
        at = self._read_entries()
        if len(self._held) < at + MARKER_BYTES:
            raise _Incomplete
        found = self._entries
        try:
            schema = json.loads(found.get(b"avro.schema", b""))
        except (ValueError, RecursionError):
            raise BrokenFileError("the schema in the header is no JSON") from None
        if schema is None:
            raise BrokenFileError("the schema in the header is harmed: it is null")
        self._codec = found.get(b"avro.codec", b"null").decode("ascii", "replace")
        if self._codec not in CODECS:
            raise BrokenFileError(f"the codec {self._codec[:40]!r} is not taken; write one of {', '.join(CODECS)}")
        self._marker = bytes(self._held[at : at + MARKER_BYTES])
        del self._held[: at + MARKER_BYTES]
        self.schema = schema

    def _read_entries(self) -> int:
        """Where they end. What has been read stays read, since the rest may come in many pieces."""
        while not self._all_entries:
            if self._left == 0:
                count, at = number(self._held, self._at)
                if count < 0:
                    _, at = number(self._held, at)
                self._left, self._at = abs(count), at
                self._all_entries = count == 0
            else:
                key, at = self._bytes(self._at)
                self._entries[key], self._at = self._bytes(at)
                self._left -= 1
        return self._at

    def _bytes(self, at: int) -> tuple[bytes, int]:
        length, at = number(self._held, at)
        if not 0 <= length <= _MAX_HEADER_BYTES:
            raise BrokenFileError(f"the header declares {length} bytes, and {_MAX_HEADER_BYTES} are allowed")
        if len(self._held) < at + length:
            raise _Incomplete
        return bytes(self._held[at : at + length]), at + length

    def _block(self) -> Block:
        count, at = number(self._held, 0)
        size, at = number(self._held, at)
        if count < 0 or not 0 <= size <= self._max_bytes:
            self._lost = True
            return Block(
                0, b"", f"a block declares {count} records and {size} bytes, and {self._max_bytes} are allowed"
            )
        end = at + size + MARKER_BYTES
        if len(self._held) < end:
            self._wanted = end
            raise _Incomplete
        self._wanted = 1
        if self._held[end - MARKER_BYTES : end] != self._marker:
            self._lost = True
            return Block(0, b"", "a block does not end with the marker of its file")
        data = bytes(self._held[at : at + size])
        del self._held[:end]
        return self._unpacked(count, data)

    def _unpacked(self, count: int, data: bytes) -> Block:
        if self._codec == "deflate":
            inflater = zlib.decompressobj(-zlib.MAX_WBITS)
            try:
                data = inflater.decompress(data, self._max_bytes)
            except zlib.error as error:
                return Block(0, b"", f"a block cannot be decompressed: {error}")
            if inflater.unconsumed_tail:
                return Block(0, b"", f"a block has more than {self._max_bytes} bytes once decompressed")
            if not self._room.take(len(data)):
                raise BrokenFileError("what came at once is far longer once decompressed; send it in smaller pieces")
        if count > len(data):
            return Block(0, b"", f"a block declares {count} records, and has only {len(data)} bytes")
        return Block(count, data)

    def _find_marker(self) -> None:
        """Goes on behind the next marker. Nothing else is kept."""
        at = self._held.find(self._marker)
        if at < 0:
            del self._held[: max(0, len(self._held) - MARKER_BYTES + 1)]
            raise _Incomplete
        del self._held[: at + MARKER_BYTES]
        self._lost = False
        self._wanted = 1


def number(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """A whole number in Avro's form, and where it ends."""
    value = 0
    for place in range(_LONGEST_NUMBER):
        if at + place >= len(data):
            raise _Incomplete
        code = data[at + place]
        value |= (code & 0x7F) << (7 * place)
        if code < 0x80:
            return (value >> 1) ^ -(value & 1), at + place + 1
    raise BrokenFileError("a number has more than 64 bits")


def number_bytes(value: int) -> bytes:
    """The opposite, for numbers that are not negative.

    >>> number_bytes(64).hex()
    '8001'
    """
    left = value << 1
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)
