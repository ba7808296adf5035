"""The bytes of a text sink: a file, a gzip file or standard output."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import IO, cast

from aurora.connectors.bytes_in import STANDARD
from aurora.errors import InputError


class TextOut:
    """Writes text and flushes it at once, so that people can follow the file while it grows."""

    def __init__(self, path: str) -> None:
        self._standard = path == STANDARD
        self._compressed = path.lower().endswith(".gz")
        if self._standard:
            self._file: IO[bytes] = sys.stdout.buffer
        else:
            raw = open_for_writing(path)
            self._file = cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="wb", mtime=0)) if self._compressed else raw
            self._raw = raw

    def write(self, data: bytes) -> None:
        self._file.write(data)
        if not self._compressed:
            self._file.flush()

    def close(self) -> None:
        if self._standard:
            self._file.flush()
            return
        self._file.close()
        self._raw.close()


def open_for_writing(path: str) -> IO[bytes]:
    try:
        return Path(path).open("wb")
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror or error}; give a path in an existing folder that you may write to"
        ) from error
