"""The bytes of a text source: a file, a gzip file or standard input, read block by block."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from pathlib import Path
from typing import IO, cast

from aurora.errors import InputError

BLOCK_BYTES = 8 << 20
STANDARD = "-"


class Blocks:
    """Reads a path's bytes in blocks, so that a file of any size needs the memory of a few blocks."""

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == STANDARD else path
        self.interactive = path == STANDARD
        self._size_bytes: int | None = None
        try:
            if path == STANDARD:
                self._raw: IO[bytes] = sys.stdin.buffer
            else:
                self._raw = Path(path).open("rb")  # noqa: SIM115
                self._size_bytes = os.fstat(self._raw.fileno()).st_size
        except OSError as error:
            raise unreadable(path, error) from error
        self._file = cast(IO[bytes], gzip.GzipFile(fileobj=self._raw)) if path.lower().endswith(".gz") else self._raw

    def read(self) -> bytes:
        """The next block, empty at the end. A pipe gives what it has rather than let its reader wait."""
        try:
            if self.interactive and isinstance(self._file, io.BufferedReader):
                return self._file.read1(BLOCK_BYTES)
            return self._file.read(BLOCK_BYTES)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"reading {self.name} failed: {error}; check that the file is whole") from error

    def fraction(self) -> float | None:
        if not self._size_bytes or self._raw.closed:
            return None
        return min(1.0, self._raw.tell() / self._size_bytes)

    def close(self) -> None:
        if not self.interactive:
            self._raw.close()


def unreadable(path: str, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    hint = ""
    if isinstance(error, FileNotFoundError):
        near = sorted(p.name for p in Path(path).parent.glob("*") if p.is_file())[:8]
        hint = f"; the folder holds {', '.join(near)}" if near else "; the folder holds no files or does not exist"
    return InputError(f"cannot read {path}: {reason}{hint}; give the path of an existing file")
