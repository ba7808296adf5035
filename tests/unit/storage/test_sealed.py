"""Seals: what was sealed comes back as it was, and no harm goes unnoticed."""

from __future__ import annotations

import random
import re
import struct
import zlib
from typing import Any

import pyarrow as pa
import pytest

from aurora.errors import StateError
from aurora.storage.sealed import HEADER_BYTES, VERSION, seal, unseal


def sealed(payload: Any) -> bytes:
    return b"".join(bytes(memoryview(part)) for part in seal(payload))


def opened(data: bytes) -> bytes:
    return unseal(pa.py_buffer(data), "the file x").to_pybytes()  # type: ignore[no-any-return]


@pytest.mark.parametrize("payload", [b"", b"x", bytes(5000), b"payload" * 1000])
def test_a_payload_comes_back(payload: bytes) -> None:
    assert opened(sealed(payload)) == payload
    assert opened(sealed(pa.py_buffer(payload))) == payload
    assert opened(sealed([payload[:3], pa.py_buffer(payload[3:])])) == payload


def test_the_payload_is_aligned_and_not_copied() -> None:
    buffer = pa.py_buffer(sealed(b"payload"))
    assert HEADER_BYTES % 64 == 0
    assert unseal(buffer, "x").address == buffer.address + HEADER_BYTES


def _with_version(data: bytes, version: int) -> bytes:
    header = data[:8] + struct.pack("<I", version) + data[12 : HEADER_BYTES - 4]
    return header + struct.pack("<I", zlib.crc32(header)) + data[HEADER_BYTES:]


WHOLE = sealed(bytes(range(1, 256)) * 8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file x is truncated: it has 0 bytes, less than a header"),
        (WHOLE[:63], "the file x is truncated: it has 63 bytes, less than a header"),
        (WHOLE[:64], "the file x is truncated: it has 0 bytes of 2040"),
        (WHOLE[:-1], "the file x is truncated: it has 2039 bytes of 2040"),
        (WHOLE + b"x", "the file x is corrupted: 1 bytes follow its end"),
        (bytes(len(WHOLE)), "the file x is torn: its beginning was never written"),
        (WHOLE[:1000] + bytes(len(WHOLE) - 1000), "the file x is torn: its end was never written"),
        (WHOLE[:1000] + b"\0\0" + WHOLE[1002:], "the file x is corrupted: its content does not match its checksum"),
        (b"A,B\n" * 50, "the file x is corrupted, or no file of Aurora's: it begins with b'A,B"),
        (WHOLE[:10] + b"\1" + WHOLE[11:], "the file x is corrupted: its header does not match its checksum"),
        (_with_version(WHOLE, 7), f"the file x has the format version 7, and this Aurora reads version {VERSION};"),
    ],
    ids=[
        "empty",
        "part of the header",
        "header only",
        "one byte short",
        "one byte more",
        "all zeros",
        "zeros at the end",
        "harmed content",
        "something else",
        "harmed header",
        "another version",
    ],
)
def test_each_kind_of_harm_has_its_message(data: bytes, message: str) -> None:
    with pytest.raises(StateError, match=re.escape(message)) as error:
        opened(data)
    assert "another --state folder" in str(error.value)


def test_no_flipped_bit_goes_unnoticed() -> None:
    whole = sealed(b"some payload")
    for bit in range(8 * len(whole)):
        harmed = bytearray(whole)
        harmed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(StateError):
            opened(bytes(harmed))


def test_no_cut_and_no_overwritten_stretch_goes_unnoticed() -> None:
    chance = random.Random(1)
    for _ in range(500):
        start = chance.randrange(len(WHOLE))
        stretch = chance.randbytes(chance.randrange(1, 600))
        harmed = (WHOLE[:start] + stretch + WHOLE[start + len(stretch) :])[: len(WHOLE)]
        for data in (WHOLE[:start], harmed):
            if data != WHOLE:
                with pytest.raises(StateError):
                    opened(data)
