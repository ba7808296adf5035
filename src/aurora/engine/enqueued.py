"""Tuples that a program hands to a running engine: they wait here in the order in which they came."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import polars as pl

from aurora.clock import Clock
from aurora.engine.intake import Epoch, Position, Rows, Taken, check_clock, microseconds, numbered
from aurora.model.schema import Schema
from aurora.model.train import Ints
from aurora.processors.plan import Readable
from aurora.scheduler.trains import TrainSize


class ReadableColumns(Readable, Protocol):
    """Rows that workers read, and of which the driver reads the clock at most."""

    def column(self, name: str, start: int, stop: int) -> pl.Series: ...


@dataclass(frozen=True)
class _Entry:
    """Tuples of one stream with the clock at each of them. ``taken`` is called when a run is done with them.

    ``bytes`` is what they take here.
    """

    name: str
    rows: Taken
    clocks: Ints
    taken: Callable[[], None] | None = None
    bytes: int = 0

    def split(self, at: int) -> tuple[_Entry, _Entry | None]:
        if at >= len(self.clocks):
            return self, None
        if isinstance(self.rows, Rows):
            middle = self.rows.start + at
            head: Taken = Rows(self.rows.file, self.rows.start, middle)
            tail: Taken = Rows(self.rows.file, middle, self.rows.stop)
        else:
            head, tail = self.rows[:at], self.rows[at:]
        size = self.bytes * at // len(self.clocks)
        return (
            _Entry(self.name, head, self.clocks[:at], bytes=size),
            _Entry(self.name, tail, self.clocks[at:], self.taken, self.bytes - size),
        )


class Enqueued:
    """What has been enqueued and not yet taken. Threads may put and take at the same time.

    Tuples are numbered in the order in which they were enqueued. Their clock is that of ``wall`` when they were, or the
    running maximum of ``column``; it goes on from ``clock``.
    """

    def __init__(
        self,
        schemas: Mapping[str, Schema],
        wall: Clock,
        column: str | None,
        clock: int = np.iinfo(np.int64).min,
        before: Mapping[str, int] | None = None,
    ) -> None:
        """``before`` has how many tuples of each stream were enqueued in the run that is gone on with."""
        if column is not None:
            check_clock(schemas, column)
        self.schemas = schemas
        self._wall = wall
        self._column = column
        self._clock = clock
        self._entries: deque[_Entry] = deque()
        self._counts = dict.fromkeys(schemas, 0)
        self._offered = dict.fromkeys(schemas, 0)
        self._totals = Counter(before or {})
        self._lock = threading.Lock()
        self.bytes = 0
        self._barred: frozenset[str] = frozenset()
        self._held: frozenset[str] = frozenset()
        self._aside: deque[_Entry] = deque()
        """What came for held streams."""
        self._taken_clock = clock
        self.version = 0
        """How often the streams have changed."""

    def put(self, name: str, frame: pl.DataFrame, version: int | None = None) -> bool:
        """Adds a table of exactly the columns that the stream had in a ``version``, if one is given.

        False if that is not the present one, or if the stream is barred: it may have other columns soon.
        """
        if frame.height:
            times = None if self._column is None else frame.get_column(self._column)
            size = int(frame.estimated_size())
            with self._lock:
                if name in self._barred or version not in (None, self.version):
                    return False
                entries = self._aside if name in self._held else self._entries
                entries.append(_Entry(name, frame, self._clocks(times, frame.height), bytes=size))
                self._counts[name] += frame.height
                self._totals[name] += frame.height
                self.bytes += size
        return True

    def put_rows(self, name: str, file: ReadableColumns, rows: int, taken: Callable[[], None]) -> None:
        """Adds rows that whoever runs the boxes reads; ``taken`` is called when nobody needs them any more."""
        times = None if self._column is None else file.column(self._column, 0, rows)
        with self._lock:
            self._entries.append(_Entry(name, Rows(file, 0, rows), self._clocks(times, rows), taken))
            self._counts[name] += rows
            self._totals[name] += rows

    def _clocks(self, times: pl.Series | None, count: int) -> Ints:
        if times is None:
            self._clock = max(self._clock, self._wall.now_us())
            return np.full(count, self._clock, np.int64)
        clocks: Ints = np.maximum(np.maximum.accumulate(microseconds(times)), self._clock)
        self._clock = int(clocks[-1])
        return clocks

    # The network changes

    def bar(self, names: Collection[str]) -> int:
        """From now on nothing is put to these streams. Gives how many tuples wait at this moment."""
        with self._lock:
            self._barred = frozenset(names)
            return sum(len(entry.clocks) for entry in self._entries)

    def hold(self, names: Collection[str]) -> None:
        """What waits for these streams, and what comes for them, stays until ``release``; others may overtake it.

        The clock of what has been overtaken moves on with those that did. Where the clock is a column's, and tells how
        late tuples are, nothing may overtake: then all streams are held.
        """
        with self._lock:
            self._held = frozenset(names if self._column is None else self.schemas)
            self._aside.extend(entry for entry in self._entries if entry.name in self._held)
            self._entries = deque(entry for entry in self._entries if entry.name not in self._held)

    def release(self) -> None:
        """Nothing is held or barred any more."""
        with self._lock:
            clock = self._taken_clock
            entries = sorted([*self._aside, *self._entries], key=lambda entry: int(entry.clocks[0]))
            self._entries.clear()
            self._aside.clear()
            for entry in entries:
                if int(entry.clocks[0]) < clock:
                    entry = replace(entry, clocks=np.maximum(entry.clocks, clock))
                clock = int(entry.clocks[-1])
                self._entries.append(entry)
            self._held = self._barred = frozenset()

    def follow(self, schemas: Mapping[str, Schema]) -> None:
        """From now on these are the streams. Of those that are no more nothing waits."""
        with self._lock:
            self.schemas = schemas
            self.version += 1
            self._counts = {name: self._counts.get(name, 0) for name in schemas}
            self._offered = {name: self._offered.get(name, 0) for name in schemas}

    def tick_us(self) -> int | None:
        """The wall's time, if nothing waits; what is enqueued later does not come before it."""
        with self._lock:
            if self._entries or self._aside:
                return None
            self._clock = max(self._clock, self._wall.now_us())
            return self._clock

    def waiting(self, name: str) -> int:
        """How many tuples of a stream have not been taken."""
        return self._counts.get(name, 0)

    def total(self, name: str) -> int:
        """How many tuples of a stream have been put in, taken or not."""
        return self._totals[name]

    def counts(self) -> dict[str, int]:
        """How many tuples of every stream have not been taken."""
        with self._lock:
            return dict(self._counts)

    def __len__(self) -> int:
        with self._lock:
            return sum(self._counts.values())

    def note_offer(self, name: str, tuples: int) -> None:
        """Somebody wants to put tuples in, whether or not there is room for them."""
        with self._lock:
            if name in self._offered:
                self._offered[name] += tuples

    def offered(self) -> dict[str, int]:
        """How many tuples of every stream there were such offers of, all in all."""
        with self._lock:
            return dict(self._offered)

    def clear(self) -> None:
        """Forgets what waits."""
        with self._lock:
            forgotten = [*self._entries, *self._aside]
            self._entries.clear()
            self._aside.clear()
            self._counts = dict.fromkeys(self._counts, 0)
            self.bytes = 0
        for entry in forgotten:
            if entry.taken is not None:
                entry.taken()

    def epochs(self, size: TrainSize, bare: Collection[str], start: Position, *, runs: bool = False) -> Iterator[Epoch]:
        """What waits, in trains, until nothing does.

        With ``runs`` the tuples of a bare train may have come at different times, and it says when.
        """
        seq = start.seq
        while entries := self._next(size.now()):
            epoch = self._epoch(entries, seq, bare, runs=runs)
            seq = epoch.progress.seq + 1
            try:
                yield epoch
            finally:
                # Also when nobody asks for another: whoever got the epoch has run it.
                for entry in entries:
                    if entry.taken is not None:
                        entry.taken()

    def _next(self, most: int) -> list[_Entry]:
        """As many entries as a train may hold. Rows that are read elsewhere go alone."""
        found: list[_Entry] = []
        with self._lock:
            while self._entries and most:
                apart = isinstance(self._entries[0].rows, Rows)
                if apart and found:
                    break
                head, tail = self._entries.popleft().split(most)
                if tail is not None:
                    self._entries.appendleft(tail)
                found.append(head)
                most -= len(head.clocks)
                self._counts[head.name] -= len(head.clocks)
                self.bytes -= head.bytes
                if apart:
                    break
            if found:
                self._taken_clock = int(found[-1].clocks[-1])
            if not self._entries and not self._aside:
                self.bytes = 0
        return found

    def _epoch(self, entries: list[_Entry], first: int, bare: Collection[str], *, runs: bool) -> Epoch:
        if len(entries) == 1:
            only = entries[0]
            return numbered({only.name: (only.rows, None)}, first, only.clocks, bare)
        clocks = np.concatenate([entry.clocks for entry in entries])
        if self._column is None and clocks[0] != clocks[-1] and not runs:
            # A bare train would know one arrival time for all of its tuples, and these have several.
            bare = ()
        starts = np.cumsum([0, *(len(entry.clocks) for entry in entries)])
        taken: dict[str, tuple[Taken, Ints | None]] = {}
        names = dict.fromkeys(entry.name for entry in entries)
        for name in names:
            own = [(entry, int(at)) for entry, at in zip(entries, starts, strict=False) if entry.name == name]
            places = None
            if len(names) > 1:
                places = np.concatenate([np.arange(at, at + len(entry.clocks)) for entry, at in own])
            taken[name] = (_joined([entry.rows for entry, _ in own]), places)
        return numbered(taken, first, clocks, bare, arrivals=runs and self._column is None)


def _joined(rows: list[Taken]) -> Taken:
    frames = [some for some in rows if isinstance(some, pl.DataFrame)]
    if len(frames) < 2:
        return rows[0]
    joined = frames[0].clone()
    for frame in frames[1:]:
        joined.vstack(frame, in_place=True)
    return joined
