"""Rows that could not be read as tuples: the record of one, and the file that keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from aurora.errors import InputError


@dataclass(frozen=True)
class Rejected:
    """One row that was not taken. ``line`` counts from 1, a header being line 1; in Parquet and Arrow it is the row."""

    stream: str
    line: int
    reason: str
    text: str


OnReject = Callable[[Rejected], None]


class RejectedWriter:
    """Writes rejected rows as JSON lines, to one file or to ``STREAM.rejected.jsonl`` in a folder.

    A file appears with its first row. Files that an earlier run left are removed at the start, so that what is
    there afterwards belongs to this run; but never one of ``spare``, the files that the run itself reads or writes.
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
        self._files: dict[Path, TextIO] = {}
        self.counts = dict.fromkeys(streams, 0)
        spared = {path.resolve() for path in spare}
        for path in self._paths.values():
            if path.resolve() in spared:
                raise InputError(
                    f"rejected rows would replace {path}, which the run reads or writes; name another file"
                )
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
        path = self._paths[row.stream]
        if path not in self._files:
            try:
                self._files[path] = path.open("w", encoding="utf-8")
            except OSError as error:
                raise InputError(
                    f"cannot write rejected rows to {path}: {error.strerror}; name another file"
                ) from error
        record = {"stream": row.stream, "line": row.line, "reason": row.reason, "text": row.text}
        self._files[path].write(json.dumps(record, ensure_ascii=False) + "\n")

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()
