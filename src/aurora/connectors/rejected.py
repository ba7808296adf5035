"""Rows that could not be read as tuples: the record of one, and the file that keeps them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aurora.errors import InputError


@dataclass(frozen=True)
class Rejected:
    """One row that was not taken. ``line`` counts from 1, a header being line 1; in Parquet and Arrow it is the row."""

    stream: str
    line: int
    reason: str
    text: str


OnReject = Callable[[Rejected], None]


@dataclass(frozen=True)
class Rejection:
    """What could not be read as a tuple, before anybody has said of which stream it is.

    ``place`` is the line or the record, counted from 1.
    """

    place: int
    reason: str
    text: str

    def of(self, stream: str) -> Rejected:
        return Rejected(stream, self.place, self.reason, self.text)


class RejectedWriter:
    """Writes rejected rows as JSON lines, to one file or to ``STREAM.rejected.jsonl`` in a folder.

    A file appears with its first row. When it is closed it has the rows stream by stream, each stream's in the order of
    its lines, however the inputs were read. The files are never those of ``spare``, which the run itself reads or
    writes.
    """

    def __init__(
        self,
        streams: Sequence[str],
        *,
        folder: Path | None = None,
        file: Path | None = None,
        spare: Iterable[Path] = (),
    ) -> None:
        if (folder is None) == (file is None):
            raise ValueError("give either a folder or a file")
        self._paths = {name: file or Path(folder or ".", f"{name}.rejected.jsonl") for name in streams}
        self._files: dict[Path, _Lines] = {}
        self._kept = False
        self.counts = dict.fromkeys(streams, 0)
        spared = {path.resolve() for path in spare}
        for path in self._paths.values():
            if path.resolve() in spared:
                raise InputError(
                    f"rejected rows would replace {path}, which the run reads or writes; name another file"
                )

    def begin(self, kept: Mapping[str, int] | None = None) -> None:
        """Removes the files that an earlier run left, so that what is there afterwards belongs to this run.

        With ``kept`` they are this run's, and complete: they stay, and rows are only counted, on from these numbers.
        """
        if kept is not None:
            self._kept = True
            self.counts.update(kept)
            return
        for path in self._paths.values():
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(
                    f"cannot replace the file of rejected rows {path}: {error.strerror}; name another file"
                ) from error

    def path(self, stream: str) -> Path:
        return self._paths[stream]

    def __call__(self, row: Rejected) -> None:
        self.counts[row.stream] += 1
        if self._kept:
            return
        path = self._paths[row.stream]
        if path not in self._files:
            try:
                self._files[path] = _Lines(path)
            except OSError as error:
                raise InputError(
                    f"cannot write rejected rows to {path}: {error.strerror}; name another file"
                ) from error
        record = {"stream": row.stream, "line": row.line, "reason": row.reason, "text": row.text}
        self._files[path].add(row.stream, (json.dumps(record, ensure_ascii=False) + "\n").encode())

    def close(self, *, durable: bool = False) -> None:
        for file in self._files.values():
            file.close(list(self._paths), durable=durable)
        self._files.clear()


class _Lines:
    """A file of lines that come from several streams in turn; it remembers whose turn was where."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = path.open("wb")
        self._length = 0
        self._turns: list[tuple[str, int]] = []

    def add(self, stream: str, line: bytes) -> None:
        if not self._turns or self._turns[-1][0] != stream:
            self._turns.append((stream, self._length))
        self._file.write(line)
        self._length += len(line)

    def close(self, order: Sequence[str], *, durable: bool) -> None:
        if [stream for stream, _ in self._turns] != sorted({stream for stream, _ in self._turns}, key=order.index):
            self._file.close()
            self._file = self._sorted(order)
        with self._file:
            if durable:
                self._file.flush()
                os.fsync(self._file.fileno())

    def _sorted(self, order: Sequence[str]) -> IO[bytes]:
        ends = [start for _, start in self._turns[1:]] + [self._length]
        places = [(order.index(stream), start, end) for (stream, start), end in zip(self._turns, ends, strict=True)]
        beside = self._path.with_name(f"{self._path.name}.part")
        file = beside.open("wb")
        with self._path.open("rb") as lines:
            for _, start, end in sorted(places):
                lines.seek(start)
                file.write(lines.read(end - start))
        beside.replace(self._path)
        return file
