"""Files that are read through a decoder, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from aurora.connectors.bytes_in import Blocks
from aurora.connectors.converters.base import Decoded, Decoder
from aurora.connectors.rejected import OnReject
from aurora.connectors.source import after, cut
from aurora.errors import InputError


class DecodedSource:
    """The tuples that a decoder finds in a file. ``ready`` is asked after each block whether tuples may be handed out.

    So what is wrong with the file as a whole is known before any tuple is read. What came with the first blocks is
    handed out before more is read: a pipe may stay silent for long.
    """

    def __init__(
        self,
        blocks: Blocks,
        decoder: Decoder,
        *,
        stream: str,
        on_reject: OnReject,
        skip: int = 0,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._blocks = blocks
        self._decoder = decoder
        self._stream = stream
        self._on_reject = on_reject
        self._skip = skip
        self._ahead: list[Decoded] = []
        self._ended = False
        self.fraction = blocks.fraction
        self.close = blocks.close
        while not ready() and not self._ended:
            self._ahead.append(self._next())

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        taken = after(self._frames(), self._skip, self._blocks.name)
        return cut(taken, size, eager=self._blocks.interactive)

    def _next(self) -> Decoded:
        block = self._blocks.read()
        self._ended = not block
        decoded = self._decoder.feed(block) if block else self._decoder.finish()
        if decoded.broken:
            raise InputError(f"{self._blocks.name} (stream {self._stream!r}) cannot be read: {decoded.broken}")
        return decoded

    def _frames(self) -> Iterator[pl.DataFrame]:
        while self._ahead or not self._ended:
            decoded = self._ahead.pop(0) if self._ahead else self._next()
            for one in decoded.rejected:
                self._on_reject(one.of(self._stream))
            if decoded.frame.height:
                yield decoded.frame
