"""Staging: formats that end with a footer are kept in a growing file, and get their form when the run is finished.

Parquet, Arrow and gzip files cannot be cut and continued. A run that wants to survive a crash gives such sinks a
folder, where they keep what they got. The folder is the run's to remove, once it has noted that it is finished: until
then a crash may make it continue from an earlier position, even after some of its sinks were closed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from aurora.connectors.bytes_out import GrowingFile, compressor, open_for_writing, sync_folder
from aurora.connectors.source import SinkPosition
from aurora.errors import InputError

_BLOCK_BYTES = 1 << 20


class Staged:
    """The growing file that stands for the file ``path`` until that is made."""

    def __init__(self, path: str, staging: Path, head: bytes, resume: SinkPosition | None) -> None:
        self.path = path
        self.staged = _staged_path(path, staging)
        if resume is None:
            _clear(path)
        self._file = GrowingFile(self.staged, head, resume)
        self.write = self._file.write
        self.position = self._file.position
        self.suspend = self._file.suspend

    @contextmanager
    def finished(self) -> Iterator[IO[bytes] | None]:
        """Ends staging, and gives the file to make of what is staged; None after a suspension or an earlier end."""
        if self._file.closed:
            yield None
            return
        self._file.close()
        with replaced(self.path) as file:
            yield file


class StagedGzip(Staged):
    """Keeps the text as it is; compresses it at the end."""

    def close(self) -> None:
        with self.finished() as file:
            if file is None:
                return
            with open(self.staged, "rb") as staged, compressor(self.path, file) as compressed:
                while block := staged.read(_BLOCK_BYTES):
                    compressed.write(block)


@contextmanager
def replaced(path: str) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of ``path`` when it is whole. Readers see the old file or the new one."""
    final = os.path.realpath(path)
    part = f"{final}.part"
    try:
        with open_for_writing(part) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, final)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    sync_folder(final)


def _staged_path(path: str, staging: Path) -> str:
    """Two outputs may have the same name in different folders, so the name has a digest of the path.

    The path is taken as it was given: a run whose folder was moved as a whole can be continued.
    """
    try:
        staging.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {staging}: {error.strerror}; name another state folder") from error
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return str(staging / f"{Path(path).name}.{digest}.staged")


def _clear(path: str) -> None:
    """Removes what an earlier run left, and finds out now rather than at the end whether the file can be written."""
    final = os.path.realpath(path)
    open_for_writing(f"{final}.part").close()
    Path(f"{final}.part").unlink()
    try:
        Path(final).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot replace {path}: {error.strerror}; name another file") from error
