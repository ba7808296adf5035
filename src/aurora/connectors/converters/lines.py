"""Whole lines out of bytes that come in pieces; a line that is too long is given up, and never held."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aurora.connectors.converters.base import shown
from aurora.connectors.rejected import Rejection

_NEWLINE = 0x0A


class Lines:
    """Cuts bytes where lines end. ``number`` is that of the next line, from 1; ``rejected`` are the long ones.

    Spaces before a line are not held, since somebody may send them for ever to show that he is still there. ``unit``
    is what a line is called where it is rejected.
    """

    def __init__(self, max_bytes: int, unit: str = "line") -> None:
        self._max_bytes = max_bytes
        self._unit = unit
        self._held = bytearray()
        self._skipping = False
        self.number = 1
        self.rejected: list[Rejection] = []

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Stretches of whole lines. Count them with ``done`` before the next is asked for."""
        if self._skipping:
            end = data.find(b"\n") + 1
            if not end:
                return
            self._skipping = False
            self.number += 1
            data = data[end:]
        cut = data.rfind(b"\n") + 1
        if cut:
            whole = b"".join((self._held, memoryview(data)[:cut])) if self._held or cut < len(data) else data
            self._held = bytearray(data[cut:].lstrip(b" "))
            yield from self._without_long_lines(whole)
        else:
            self._held += data if self._held else data.lstrip(b" ")
        if len(self._held) > self._max_bytes:
            self._reject(self._held)
            self._held = bytearray()
            self._skipping = True

    @property
    def incomplete(self) -> bool:
        """Whether a line has begun."""
        return bool(self._held)

    def done(self, lines: bytes) -> None:
        # Twice as fast as bytes are counted.
        self.number += int(np.count_nonzero(np.frombuffer(lines, np.uint8) == _NEWLINE))

    def _without_long_lines(self, whole: bytes) -> Iterator[bytes]:
        """Lines are looked for from the far end of where they may reach, so it takes few looks."""
        start = at = 0
        while len(whole) - at > self._max_bytes:
            newline = whole.rfind(b"\n", at, at + self._max_bytes)
            if newline >= 0:
                at = newline + 1
                continue
            if at > start:
                yield whole[start:at]
            end = whole.index(b"\n", at) + 1
            self._reject(whole[at:end])
            self.number += 1
            start = at = end
        if start < len(whole):
            yield whole[start:] if start else whole

    def _reject(self, line: bytes | bytearray) -> None:
        reason = f"the {self._unit} is longer than {self._max_bytes} bytes"
        self.rejected.append(Rejection(self.number, reason, shown(bytes(line[:2048]))))
