"""Arc queues: the tuples of an arc that some successor has still to read, with a cursor for each successor.

A queue is a row of *entries*. An entry is a train as it was put, or a block: several trains that were joined, or a
part of a long one, when memory ran short. Nothing is copied before that. Kernels keep their windows themselves, so a
reader needs nothing before its cursor, and what all readers have passed is gone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

from aurora.model.train import ORDER, Train
from aurora.storage.entries import Entry, joined, sum_of_arrivals
from aurora.storage.spill import Place

Reader = Hashable

_MANY_DEAD = 256


class Waiting(NamedTuple):
    """What a reader has not taken yet. The times are 0 where nothing waits."""

    tuples: int
    bytes: int
    arrival_us_mean: float
    arrival_us_first: int


NOTHING_WAITS = Waiting(0, 0, 0.0, 0)


class Cursor:
    """How far a reader has come: ``row`` is the place on the arc of the first tuple it has not taken.

    ``entry`` is the number of the entry that holds it, counted from the first entry that the queue ever had. ``passed``
    is the sum of the arrival times of all tuples before.
    """

    __slots__ = (
        "arrival_us", "entry", "limit", "limit_entry", "limit_row", "limit_sum", "number", "passed", "pinned",
        "priority", "queue", "row", "standing",
    )  # fmt: skip

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.row = 0
        self.entry = 0
        self.passed = 0
        self.arrival_us = 0
        """When the tuple at ``row`` came, if that is not the first of its entry."""
        self.number = 0
        """The number of that tuple, if it is on disk only."""
        self.priority = 0.0
        self.standing = 0.0
        """Where the box has stood for some time among all by its priority, 0 to 1."""
        self.pinned = 0
        """While the box runs: the tuples before this place stay in memory."""
        self.limit = -1
        self.limit_row = 0
        self.limit_entry = 0
        self.limit_sum = 0
        """The tuples numbered at most ``limit`` end at ``limit_row``; the search goes on from there."""


class Store(Protocol):
    """Where the bytes of queues are counted, and where entries come from that are on disk."""

    used: int
    """Bytes in memory."""
    on_disk: int
    """Entries that are on disk only."""

    def fetch(self, queue: Queue, number: int, row: int) -> None:
        """Has the entries from ``number`` to a place on the arc in memory."""

    def peek(self, queue: Queue, entry: Entry) -> Entry:
        """The entry with its tuples, or a copy of it that has them."""

    def free(self, place: Place) -> None:
        """The space on disk may be used again."""


class Queue:
    """The queue of one arc.

    ``size`` counts the bytes that it holds, ``resident`` those in memory, ``on_disk`` the entries on disk only.
    """

    __slots__ = (
        "arrivals", "block_bytes", "cursors", "dead", "end", "entries", "gone", "name", "on_disk",
        "resident", "shorts", "size", "store", "tuples_on_disk",
    )  # fmt: skip

    def __init__(self, name: str, readers: int, store: Store, block_bytes: int) -> None:
        self.name = name
        self.store = store
        self.block_bytes = block_bytes
        self.cursors = [Cursor(self) for _ in range(readers)]
        self.entries: list[Entry] = []
        self.gone = 0
        """How many entries there were before the first of ``entries``."""
        self.dead = 0
        """How many of ``entries`` all readers have passed. They are cut off when there are many."""
        self.end = 0
        self.arrivals = 0
        self.size = 0
        self.resident = 0
        self.on_disk = 0
        self.tuples_on_disk = 0
        self.shorts = 0
        """How many entries are short trains."""

    def put(self, train: Train, upto: int) -> Entry:
        frame = train.frame
        rows = frame.height
        arrivals = sum_of_arrivals(train)
        entry = Entry(train, self.end, rows, upto, self.arrivals, arrivals)
        self.entries.append(entry)
        self.end += rows
        self.arrivals += arrivals
        self.size += entry.bytes
        self.resident += entry.bytes
        self.store.used += entry.bytes
        if entry.short:
            self.shorts += 1
        return entry

    def take_back(self) -> None:
        """Forgets the train that was put last. No reader has seen it."""
        entry = self.entries.pop()
        self.shorts -= entry.short
        self.end -= entry.rows
        self.arrivals -= entry.arrivals
        self.size -= entry.bytes
        self.resident -= entry.bytes
        self.store.used -= entry.bytes

    def take(self, cursor: Cursor, most: int, upto: int | None) -> Train | None:
        end = self.end if upto is None else self.limit(cursor, upto)
        row = cursor.row
        stop = min(row + most, end)
        if stop <= row:
            return None
        number = cursor.entry - self.gone
        entry = self.entries[number]
        if self.on_disk:
            self.store.fetch(self, number, stop)
        after = entry.first + entry.rows
        bare = entry.bare
        trains = []
        while after <= stop:
            trains.append(entry.piece(row - entry.first, entry.rows))
            cursor.passed = entry.before + entry.arrivals
            row = after
            number += 1
            if row == self.end:
                break
            entry = self.entries[number]
            if row < stop and entry.bare != bare:
                # Trains with numbers and trains without have other columns.
                stop = row
            after += entry.rows
        if row < stop:
            start = row - entry.first
            rows = stop - entry.first
            piece = entry.piece(start, rows)
            trains.append(piece)
            cursor.passed += entry.arrivals_between(start, rows)
            cursor.arrival_us = entry.arrival_of(rows)
        cursor.row = stop
        if cursor.entry != number + self.gone:
            cursor.entry = number + self.gone
            self._forget()
        return trains[0] if len(trains) == 1 else joined(trains)

    def waiting(self, cursor: Cursor, upto: int | None) -> Waiting:
        if upto is None:
            tuples = self.end - cursor.row
            arrivals = self.arrivals
        else:
            tuples = self.limit(cursor, upto) - cursor.row
            arrivals = cursor.limit_sum
        if tuples <= 0:
            return NOTHING_WAITS
        entry = self.entries[cursor.entry - self.gone]
        held = self.end - self.entries[self.dead].first
        first = entry.arrival_of(0) if entry.first == cursor.row else cursor.arrival_us
        return Waiting(tuples, self.size * tuples // held, (arrivals - cursor.passed) / tuples, first)

    def number_at(self, cursor: Cursor, place: int) -> int | None:
        """The number of the tuple so many places on, 1 being the next; of the last if fewer wait, None if none does."""
        if cursor.row == self.end:
            return None
        row = min(cursor.row + place, self.end) - 1
        number = cursor.entry - self.gone
        if place > 1:
            number = bisect_right(self.entries, row, lo=number, key=lambda entry: entry.first) - 1
        entry = self.entries[number]
        if entry.train is None:
            if row == entry.first:
                return entry.low
            if row == cursor.row:
                return cursor.number
            entry = self.store.peek(self, entry)
        train = entry.train
        assert train is not None
        assert train.arrival_us is None
        return int(train.frame.item(row - entry.first, ORDER)) >> 1

    def limit(self, cursor: Cursor, upto: int) -> int:
        """The place where the tuples numbered at most ``upto`` end."""
        if upto < cursor.limit:
            cursor.limit_row = -1
        if cursor.limit_row < cursor.row:
            cursor.limit_row, cursor.limit_entry, cursor.limit_sum = cursor.row, cursor.entry, cursor.passed
        elif upto == cursor.limit and cursor.limit_row < self.end:
            return cursor.limit_row
        cursor.limit = upto
        number = cursor.limit_entry - self.gone
        row = cursor.limit_row
        entries = self.entries
        while row < self.end:
            entry = entries[number]
            if entry.upto > upto:
                rows = self._rows_upto(entry, upto)
                if entry.first + rows > row:
                    cursor.limit_sum += entry.arrivals_between(row - entry.first, rows)
                    row = entry.first + rows
                if rows < entry.rows:
                    break
            else:
                row = entry.first + entry.rows
                cursor.limit_sum = entry.before + entry.arrivals
            number += 1
        cursor.limit_row = row
        cursor.limit_entry = number + self.gone
        return row

    def on_disk_after(self, cursor: Cursor) -> int:
        """How many of the tuples that the reader has not taken are on disk only."""
        if not self.on_disk or cursor.row == self.end:
            return 0
        number = cursor.entry - self.gone
        entry = self.entries[number]
        passed = cursor.row - entry.first if entry.train is None else 0
        if number == self.dead:
            return self.tuples_on_disk - passed
        return sum([later.rows for later in self.entries[number:] if later.train is None]) - passed

    def _rows_upto(self, entry: Entry, upto: int) -> int:
        if entry.train is not None:
            return entry.rows_upto(upto)
        if entry.low > upto:
            return 0
        return self.store.peek(self, entry).rows_upto(upto)

    def came_in(self, entry: Entry) -> None:
        """An entry is in memory again."""
        self.resident += entry.bytes
        self.store.used += entry.bytes
        self.on_disk -= 1
        self.store.on_disk -= 1
        self.tuples_on_disk -= entry.rows

    def went_out(self, entry: Entry) -> None:
        """An entry that is on disk leaves memory."""
        for cursor in self.cursors:
            if entry.first < cursor.row < entry.first + entry.rows:
                cursor.number = entry.number_of(cursor.row - entry.first)
        entry.train = entry.marks = None
        self.resident -= entry.bytes
        self.store.used -= entry.bytes
        self.on_disk += 1
        self.store.on_disk += 1
        self.tuples_on_disk += entry.rows

    def replace(self, start: int, stop: int, blocks: Sequence[Entry]) -> None:
        """Blocks with the same tuples take the place of entries."""
        old = self.entries[start:stop]
        for cursor in self.cursors:
            number = cursor.entry - self.gone
            if number >= stop:
                cursor.entry += len(blocks) - len(old)
            elif number >= start:
                cursor.arrival_us = self.entries[number].arrival_of(cursor.row - self.entries[number].first)
                cursor.entry = self.gone + start + _holding(blocks, cursor.row)
            cursor.limit = cursor.limit_row = -1
        self.shorts -= sum([entry.short for entry in old])
        freed = sum([entry.bytes for entry in old])
        taken = sum([entry.bytes for entry in blocks])
        self.entries[start:stop] = blocks
        self.size += taken - freed
        self.resident += taken - freed
        self.store.used += taken - freed

    def clear(self) -> None:
        """Forgets everything; files are deleted elsewhere."""
        self.store.used -= self.resident
        self.store.on_disk -= self.on_disk
        self.entries.clear()
        self.size = self.resident = self.on_disk = self.tuples_on_disk = self.shorts = self.dead = 0
        for cursor in self.cursors:
            cursor.row, cursor.entry, cursor.passed = self.end, self.gone, self.arrivals
            cursor.limit = cursor.limit_row = -1

    def _forget(self) -> None:
        """Drops the entries that all readers have passed."""
        oldest = min([cursor.entry for cursor in self.cursors]) - self.gone
        for number in range(self.dead, oldest):
            entry = self.entries[number]
            self.size -= entry.bytes
            self.shorts -= entry.short
            if entry.train is not None:
                self.resident -= entry.bytes
                self.store.used -= entry.bytes
                entry.train = None
            else:
                self.on_disk -= 1
                self.store.on_disk -= 1
                self.tuples_on_disk -= entry.rows
            if entry.place is not None:
                self.store.free(entry.place)
        self.dead = oldest
        if oldest == len(self.entries) or _MANY_DEAD < oldest > len(self.entries) // 2:
            del self.entries[:oldest]
            self.gone += oldest
            self.dead = 0


def _holding(entries: Sequence[Entry], row: int) -> int:
    for number, entry in enumerate(entries):
        if row < entry.first + entry.rows:
            return number
    raise AssertionError(f"no entry holds the tuple at {row}")
