"""A disk in memory that fails at a chosen operation, and what is left on it afterwards.

Two things can happen. The *process* dies: what it has done stays, what it was doing is done or not. The *power* fails:
beyond that, whatever was not made durable may be there whole, cut off, harmed, as it was before, or missing. Only what
is some operations old is safe, since systems write back by themselves after a while.

Tasks on other machines may outlive the process that started them, and still write their state when the next run has
long begun: *stragglers*.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from aurora.storage.folder import Data, pieces


class Crash(BaseException):
    """The end of the process. Nothing may catch it, so it is no Exception."""


@dataclass
class Fuse:
    """Counts moments at which the process could die, two for each operation, and dies at the chosen one."""

    left: int | None = None
    passed: int = 0

    def moment(self) -> None:
        self.passed += 1
        if self.left is not None:
            if self.left == 0:
                raise Crash
            self.left -= 1

    @contextmanager
    def operation(self) -> Iterator[None]:
        self.moment()
        yield
        self.moment()


@dataclass
class Disk:
    """A Folder. ``_before`` has what else may be found under a name when the power fails."""

    fuse: Fuse
    files: dict[str, bytes] = field(default_factory=dict)
    temporaries: int = 0
    address: str = "disk"
    most_files: int = 0
    write_back_after: int = 8
    straggle_after: int | None = None
    _states: dict[str, bytes] = field(default_factory=dict)
    _stragglers: dict[str, bytes] = field(default_factory=dict)
    _before: dict[str, list[bytes | None]] = field(default_factory=dict)
    _unsynced: set[str] = field(default_factory=set)

    def write(self, name: str, data: Data, *, durable: bool = False) -> int:
        content = b"".join(bytes(memoryview(part)) for part in pieces(data))
        self._straggle()
        if name.startswith("states/"):
            self._states[name] = content
        self.fuse.moment()
        self.temporaries += 1
        self.fuse.moment()
        # A durable write syncs the file before it renames it, and its folder after that.
        if durable:
            self._unsynced.discard(name)
        else:
            self._unsynced.add(name)
        self._note(name)
        self.files[name] = content
        self.temporaries -= 1
        if durable:
            self.fuse.moment()
            self._sync_folder(name.rpartition("/")[0])
        self.most_files = max(self.most_files, len(self.files) + self.temporaries)
        self.fuse.moment()
        return len(content)

    def _straggle(self) -> None:
        if self.straggle_after is not None:
            self.straggle_after -= 1
            if self.straggle_after < 0:
                self.files |= self._stragglers
                self.straggle_after = None

    def process_died(self, straggle_after: int) -> None:
        """The last states it was to write may be written again, after so many writes of the next run."""
        self._stragglers = dict(list(self._states.items())[-2:])
        self._states.clear()
        self.straggle_after = straggle_after

    def _note(self, name: str) -> None:
        self._before[name] = [*self._before.pop(name, []), self.files.get(name)]
        while len(self._before) > self.write_back_after:
            oldest = next(iter(self._before))
            del self._before[oldest]
            self._unsynced.discard(oldest)

    def _sync_folder(self, folder: str) -> None:
        """Renames and deletes in the folder are safe then; the bytes of files that were not synced are not."""
        for other in [other for other in self._before if other.rpartition("/")[0] == folder]:
            del self._before[other]

    def read(self, name: str) -> pa.Buffer:
        with self.fuse.operation():
            if name not in self.files:
                raise FileNotFoundError(name)
            return pa.py_buffer(self.files[name])

    def delete(self, name: str) -> None:
        with self.fuse.operation():
            if name in self.files:
                self._note(name)
                del self.files[name]

    def names(self, under: str = "") -> list[str]:
        with self.fuse.operation():
            return sorted(name for name in self.files if not under or name.startswith(under + "/"))

    def clear_temporaries(self) -> None:
        with self.fuse.operation():
            self.temporaries = 0

    def power_failed(self, chance: random.Random) -> None:
        for name in sorted(self._before.keys() | self._unsynced):
            now = self.files.pop(name, None)
            left = chance.choice([now, now, *self._before.get(name, [])])
            if left is not None and name in self._unsynced:
                left = chance.choice([left, left, harmed(left, chance)])
            if left is not None:
                self.files[name] = left
        self._before.clear()
        self._unsynced.clear()


@dataclass
class Tape:
    """An output file: bytes are appended, and after a crash it is cut back."""

    fuse: Fuse
    content: bytes = b""
    write_back_after_bytes: int = 12
    _safe_bytes: int = 0

    def append(self, data: bytes, *, durable: bool) -> None:
        with self.fuse.operation():
            # The process may die with half of it written.
            self.content += data[: len(data) // 2]
            self.fuse.moment()
            self.content += data[len(data) // 2 :]
        if durable:
            with self.fuse.operation():
                self._safe_bytes = len(self.content)

    def truncate(self, size: int) -> None:
        with self.fuse.operation():
            self.content = self.content[:size]
            self._safe_bytes = min(self._safe_bytes, size)

    def power_failed(self, chance: random.Random) -> None:
        safe_bytes = max(self._safe_bytes, len(self.content) - self.write_back_after_bytes)
        self.content = self.content[: chance.randint(safe_bytes, len(self.content))]
        self._safe_bytes = len(self.content)


def harmed(content: bytes, chance: random.Random) -> bytes:
    """Cut off, with zeros at the end, or with a byte changed."""
    if not content:
        return b"x"
    at = chance.randrange(len(content))
    kind = chance.randrange(3)
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + bytes(len(content) - at)
    return content[:at] + bytes([content[at] ^ chance.randint(1, 255)]) + content[at + 1 :]
