"""Sealed files: a header in front of the payload by which a reader knows that it has all of it, unharmed.

Byte by byte, little endian: magic (8), format version (4), CRC-32 of the payload (4), length of the payload (8), zeros,
and CRC-32 of the header before it (4). The payload starts at 64, where Arrow can map it. Later versions keep
this header, so that an older Aurora can say which version it met.
"""

from __future__ import annotations

import struct
import zlib

import pyarrow as pa

from aurora.errors import StateError
from aurora.storage.folder import Data, Piece, pieces

VERSION = 1
HEADER_BYTES = 64

_MAGIC = b"AURORA\r\n"
_FIELDS = struct.Struct("<8sIIQ")
_CHECKED_BYTES = HEADER_BYTES - 4
_BLOCK_BYTES = 512
_ANEW = "begin anew with another --state folder"


def seal(payload: Data) -> list[Piece]:
    """The payload with its header in front, as buffers to be written one after the other."""
    parts = list(pieces(payload))
    length = crc = 0
    for part in parts:
        length += memoryview(part).nbytes
        crc = zlib.crc32(part, crc)
    header = _FIELDS.pack(_MAGIC, VERSION, crc, length).ljust(_CHECKED_BYTES, b"\0")
    return [header + struct.pack("<I", zlib.crc32(header)), *parts]


def unseal(buffer: pa.Buffer, what: str) -> pa.Buffer:
    """The payload, without a copy; StateError that names ``what`` if it is not as it was sealed."""
    header = buffer.slice(0, min(HEADER_BYTES, buffer.size)).to_pybytes()
    if len(header) < HEADER_BYTES:
        raise StateError(f"{what} is truncated: it has {len(header)} bytes, less than a header; {_ANEW}")
    if not any(header):
        raise StateError(f"{what} is torn: its beginning was never written; {_ANEW}")
    magic, version, crc, length = _FIELDS.unpack_from(header)
    if magic != _MAGIC:
        raise StateError(f"{what} is corrupted, or no file of Aurora's: it begins with {magic!r}; {_ANEW}")
    if struct.unpack_from("<I", header, _CHECKED_BYTES)[0] != zlib.crc32(header[:_CHECKED_BYTES]):
        raise StateError(f"{what} is corrupted: its header does not match its checksum; {_ANEW}")
    if version != VERSION:
        raise StateError(
            f"{what} has the format version {version}, and this Aurora reads version {VERSION}; "
            f"run the Aurora that wrote it, or {_ANEW}"
        )
    payload = buffer.slice(HEADER_BYTES)
    if payload.size < length:
        raise StateError(f"{what} is truncated: it has {payload.size} bytes of {length}; {_ANEW}")
    if payload.size > length:
        raise StateError(f"{what} is corrupted: {payload.size - length} bytes follow its end; {_ANEW}")
    if zlib.crc32(payload) != crc:
        # A block that the file system had given to the file, but that never reached the disk, reads as zeros.
        if not any(payload.slice(max(0, length - _BLOCK_BYTES)).to_pybytes()):
            raise StateError(f"{what} is torn: its end was never written; {_ANEW}")
        raise StateError(f"{what} is corrupted: its content does not match its checksum; {_ANEW}")
    return payload
