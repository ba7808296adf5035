"""The bytes of a sink: a file that grows, a gzip file or standard output."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import IO, Protocol, cast

from aurora.connectors.source import SinkPosition
from aurora.errors import InputError, StateError


class BytesOut(Protocol):
    """What a text sink writes to. The methods mean what they mean for a ``Sink``."""

    def write(self, data: bytes) -> None: ...

    def position(self, *, durable: bool = False) -> SinkPosition: ...

    def suspend(self) -> None: ...

    def close(self) -> None: ...


class GrowingFile:
    """A file that only grows, so that a run can continue it: cut it to the length that was committed, then append.

    ``head`` is what the file starts with. Data is flushed at once, so that people can follow the file.
    """

    def __init__(self, path: str, head: bytes = b"", resume: SinkPosition | None = None) -> None:
        self._path = path
        self._folder_is_durable = False
        if resume is None:
            self._length = 0
            self._file = open_for_writing(path)
            self.write(head)
        else:
            self._length = resume
            self._file = _open_cut(path, head, resume)

    def write(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self._file.flush()
        self._length += len(data)

    def position(self, *, durable: bool = False) -> SinkPosition:
        if durable:
            os.fsync(self._file.fileno())
            if not self._folder_is_durable:
                sync_folder(self._path)
                self._folder_is_durable = True
        return self._length

    @property
    def closed(self) -> bool:
        return self._file.closed

    def suspend(self) -> None:
        self._file.close()

    def close(self) -> None:
        self._file.close()


class StandardOutput:
    """Nothing can continue it; its position only counts."""

    def __init__(self, head: bytes) -> None:
        self._file = sys.stdout.buffer
        self._length = 0
        self.write(head)

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        self._length += len(data)

    def position(self, *, durable: bool = False) -> SinkPosition:
        return self._length

    def suspend(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.flush()


class CompressedFile:
    """A gzip file. It ends with a checksum of all that is in it, so nothing can continue it."""

    def __init__(self, path: str, head: bytes) -> None:
        self._raw = open_for_writing(path)
        self._file = compressor(path, self._raw)
        self.write(head)

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def position(self, *, durable: bool = False) -> SinkPosition:
        return handed_over(self._raw, durable=durable)

    def suspend(self) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self._raw.close()


def compressor(path: str, raw: IO[bytes]) -> IO[bytes]:
    """Compresses into ``raw``, with the name that ``path`` gives it, to the same bytes every time."""
    return cast(IO[bytes], gzip.GzipFile(path, fileobj=raw, mode="wb", mtime=0))


def handed_over(file: IO[bytes], *, durable: bool) -> SinkPosition:
    """The length of the file, when the operating system, or the disk, has all of it."""
    file.flush()
    if durable:
        os.fsync(file.fileno())
    return file.tell()


def open_for_writing(path: str) -> IO[bytes]:
    try:
        return Path(path).open("wb")
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str, error: OSError) -> InputError:
    return InputError(
        f"cannot write {path}: {error.strerror or error}; give a path in an existing folder that you may write to"
    )


def _open_cut(path: str, head: bytes, length: SinkPosition) -> IO[bytes]:
    """The file, cut to the length. What stands behind it was written but never committed, and will come again."""
    way_out = "put the file back as it was, or start anew with an empty state folder"
    try:
        file = Path(path).open("r+b")  # noqa: SIM115
    except FileNotFoundError:
        raise StateError(
            f"cannot continue {path}: {length} bytes of it were committed, and now there is no such file; {way_out}"
        ) from None
    except OSError as error:
        raise _unwritable(path, error) from error
    found = os.fstat(file.fileno()).st_size
    problem = ""
    if found < length:
        problem = f"{length} bytes of it were committed, and now it has only {found}"
    elif file.read(len(head)) != head:
        problem = "it does not start as this output does, so it has other columns or is another file"
    if problem:
        file.close()
        raise StateError(f"cannot continue {path}: {problem}; {way_out}")
    file.truncate(length)
    file.seek(length)
    return file


def sync_folder(path: str) -> None:
    """Makes the name of a new file as durable as its bytes. Where folders cannot be synchronised there is no need."""
    try:
        folder = os.open(Path(path).parent, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(folder)
    except OSError:
        pass
    finally:
        os.close(folder)
