"""Files, once or followed as they grow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from aurora.connectors.bytes_in import Blocks
from aurora.connectors.converters.base import Converter, Decoded
from aurora.connectors.files import open_source
from aurora.connectors.live.failures import BrokenError, HopelessError
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.live.state import told
from aurora.connectors.rejected import Rejected, Rejection
from aurora.errors import AuroraError
from aurora.model.schema import Schema

_BATCH_TUPLES = 50_000
_BLOCK_BYTES = 4 << 20


@contextmanager
def read_once(path: Path) -> Iterator[None]:
    """What a file holds does not change by trying again, and its first tuples would come again each time."""
    try:
        yield
    except (OSError, HopelessError):
        raise
    except AuroraError as error:
        raise HopelessError(str(error)) from error
    except BaseException as error:
        raise HopelessError(f"{path} cannot be read any further: {told(error)}") from error


class WholeFile:
    """A file whose extension says its format, from its start to its end."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self._path = path
        self._schema = schema

    def run(self, inlet: Inlet) -> None:
        def reject(row: Rejected) -> None:
            inlet.reject([Rejection(row.line, row.reason, row.text)])

        if not self._path.exists():
            raise FileNotFoundError(f"{self._path} is not there")
        with read_once(self._path):
            source = open_source(self._path, self._schema, stream=inlet.stream, on_reject=reject)
            inlet.connected()
            try:
                for frame in source.batches(_BATCH_TUPLES):
                    if inlet.halt.stopped:
                        return
                    inlet.put(frame)
            finally:
                source.close()
        inlet.meter.add(bytes=self._path.stat().st_size)


class ConvertedFile:
    """A file in a format that the document names, from its start to its end."""

    def __init__(self, path: Path, converter: Converter) -> None:
        self._path = path
        self._converter = converter

    def run(self, inlet: Inlet) -> None:
        if not self._path.exists():
            raise FileNotFoundError(f"{self._path} is not there")
        blocks = Blocks(str(self._path))
        try:
            inlet.connected()
            with read_once(self._path):
                self._bring(blocks, inlet)
        finally:
            blocks.close()

    def _bring(self, blocks: Blocks, inlet: Inlet) -> None:
        decoder = self._converter.decoder()
        while not inlet.halt.stopped and (block := blocks.read()):
            decoded = decoder.feed(block)
            inlet.take(decoded, len(block))
            if decoded.broken:
                raise HopelessError(f"{self._path} cannot be understood any further: {decoded.broken}")
        if not inlet.halt.stopped:
            inlet.take(decoder.finish(), 0)


class Tail:
    """A file that grows. When another takes its place, or it is cut, the new one is read from its start.

    A record that is not complete waits for the rest of it; at the end of a file that was rotated away it is taken as
    it is. How far it has been read is remembered over failures.
    """

    def __init__(self, path: Path, converter: Converter, poll_s: float, *, from_end: bool = False) -> None:
        self._path = path
        self._converter = converter
        self._poll_s = poll_s
        self._from_end = from_end
        self._decoder = converter.decoder()
        self._file: IO[bytes] | None = None

    def run(self, inlet: Inlet) -> None:
        try:
            if self._file is None:
                self._file = self._opened()
            inlet.connected()
            while not inlet.halt.stopped:
                if not self.step(inlet):
                    inlet.halt.wait(self._poll_s)
        finally:
            if inlet.halt.stopped:
                self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def step(self, inlet: Inlet) -> bool:
        """Takes what has come; False if nothing has."""
        assert self._file is not None
        block = self._file.read(_BLOCK_BYTES)
        if block:
            self._take(self._decoder.feed(block), len(block), inlet)
            return True
        return self._turned_over(inlet)

    def _turned_over(self, inlet: Inlet) -> bool:
        """Whether another file stands there now, or this one was cut; then reading begins anew."""
        assert self._file is not None
        mine = os.fstat(self._file.fileno())
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return False
        replaced = (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino)
        if not replaced and mine.st_size >= self._file.tell():
            return False
        if replaced and (block := self._file.read(_BLOCK_BYTES)):
            # Written between the last look and the rotation.
            self._take(self._decoder.feed(block), len(block), inlet)
            return True
        last, self._decoder = self._decoder.finish(), self._converter.decoder()
        inlet.take(last, 0)
        old, self._file = self._file, self._opened() if replaced else self._file
        if replaced:
            old.close()
        else:
            self._file.seek(0)
        return True

    def _take(self, decoded: Decoded, n_bytes: int, inlet: Inlet) -> None:
        inlet.take(decoded, n_bytes)
        if decoded.broken:
            self._decoder = self._converter.decoder()
            raise BrokenError(f"{self._path}: {decoded.broken}")

    def _opened(self) -> IO[bytes]:
        file = self._path.open("rb")
        if self._from_end:
            file.seek(0, os.SEEK_END)
        self._from_end = False
        return file
