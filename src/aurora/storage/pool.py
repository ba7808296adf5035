"""The buffer pool: which parts of which queues are in memory, under a budget in bytes.

What goes first belongs to the queue of the lowest priority, and of that queue, what its readers come to last. Only what
a running box found in memory when it was started stays in any case. A block that came back keeps its copy on disk, so
that it can leave again without being written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from aurora.storage.blocking import Block, blocks_of, restore
from aurora.storage.entries import Entry, tuple_bytes
from aurora.storage.queues import Cursor, Queue
from aurora.storage.spill import Place, SpillFolder

_MOST_AT_ONCE = 4 << 20
"""Bytes to free at once beyond what is asked for: enough for long writes, and little enough not to hold others up."""
_SMALLEST_BLOCK = 16 << 10
_LARGEST_BLOCK = 4 << 20
"""Between these a small budget makes blocks smaller, and a long queue larger."""
_BLOCKS_AHEAD = 16
_MARGIN = 0.25
"""By how much one queue must stand above another to take its memory, where the lowest stands at 0, the highest at 1."""
_WORTH_JOINING = 4


class BufferPool:
    """Counts the bytes of ``queues`` in memory. ``memory`` and ``disk`` are budgets, None for none."""

    def __init__(self, memory: int | None, disk: int | None, block_bytes: int, files: SpillFolder) -> None:
        self.memory = math.inf if memory is None else memory
        self.disk = math.inf if disk is None else disk
        self.files = files
        self.used = 0
        self.on_disk = 0
        self.limit = self.memory
        """Above it something is to be evicted: the budget, or more while nothing can be."""
        self.queues: list[Queue] = []
        self.upgrades = 0
        self._reserve = 0 if memory is None else min(memory // 8, _MOST_AT_ONCE)
        self._smallest = block_bytes if memory is None else min(block_bytes, max(_SMALLEST_BLOCK, memory // 8))
        self._largest = block_bytes if memory is None else max(self._smallest, min(_LARGEST_BLOCK, memory // 32))
        self._disk_full_at: float = math.inf

    def queue(self, name: str, readers: int) -> Queue:
        made = Queue(name, readers, self, self._smallest)
        self.queues.append(made)
        return made

    @property
    def disk_room(self) -> float:
        """How many bytes may still be written; 0 once there was no room for a block, until some space is freed."""
        return 0 if self.files.used >= self._disk_full_at else max(0, self.disk - self.files.used)

    def free(self, place: Place) -> None:
        self.files.free(place)
        self.limit = self.memory

    def fetch(self, queue: Queue, number: int, row: int) -> None:
        """Has the entries from ``number`` to a place on the arc in memory, and more of them where there is room."""
        entries = queue.entries
        wanted: list[Entry] = []
        room = self.memory - self._reserve - self.used
        while number < len(entries):
            entry = entries[number]
            if entry.first >= row and (entry.train is not None or entry.bytes > room or len(wanted) >= _BLOCKS_AHEAD):
                break
            if entry.train is None:
                wanted.append(entry)
                room -= entry.bytes
            number += 1
        if wanted and any(entry.first < row for entry in wanted):
            self._load(queue, wanted)

    def peek(self, queue: Queue, entry: Entry) -> Entry:
        """The entry with its tuples: itself if there is room for them, else a copy, which is not kept."""
        assert entry.place is not None
        if self.used + entry.bytes <= self.memory:
            self._load(queue, [entry])
            return entry
        copy = entry.on_its_own()
        restore(copy, self.files.read([entry.place])[0])
        return copy

    def shrink(self) -> None:
        """Evicts until the budget is kept, and some more. StorageError if the disk fails; then all stays as it is."""
        goal = self.memory - self._reserve
        enough = self.memory - self._reserve / 2
        for queue in self.queues:
            if self.used > enough and queue.shorts >= _WORTH_JOINING:
                self._join(queue, self.used - goal)
        for queue in sorted(self.queues, key=_least_needed) if self.used > enough else ():
            before = math.inf
            while enough < self.used < before:
                before = self.used
                self._evict(queue, self.used - goal)
            if self.used <= enough:
                break
        self.limit = max(self.memory, self.used + self._smallest if self.used > self.memory else 0)

    def upgrade(self) -> None:
        """Gives the memory of a queue of low standing to one of higher standing: at most one exchange at a time.

        Scheduler and storage would work against each other if every change of priorities moved blocks. So what
        counts is where a box has stood for some time among all boxes, and the difference has to be clear.
        """
        behind = [queue for queue in self.queues if queue.on_disk]
        if not behind:
            return
        best = max(behind, key=_standing)
        wanted = self._needed_first(best)
        if not wanted:
            return
        needed = sum([entry.bytes for entry in wanted])
        goal = self.memory - self._reserve / 2 - needed
        if self.used > goal:
            for queue in sorted(self.queues, key=_standing):
                if self.used <= goal or _standing(queue) > _standing(best) - _MARGIN:
                    break
                if queue.resident:
                    self._evict(queue, self.used - goal)
        if self.used <= goal:
            self._load(best, wanted)
            self.upgrades += 1

    def _needed_first(self, queue: Queue) -> list[Entry]:
        """The next blocks of a queue that are on disk, for the reader of the highest standing."""
        reader = max([cursor for cursor in queue.cursors if cursor.row < queue.end], key=lambda cursor: cursor.standing)
        found: list[Entry] = []
        size = 0
        for entry in queue.entries[reader.entry - queue.gone :]:
            if entry.train is None:
                if found and (size + entry.bytes > self._reserve or len(found) == _BLOCKS_AHEAD):
                    break
                found.append(entry)
                size += entry.bytes
            elif found:
                break
        return found

    def _load(self, queue: Queue, entries: Sequence[Entry]) -> None:
        frames = self.files.read([entry.place for entry in entries if entry.place is not None])
        for entry, frame in zip(entries, frames, strict=True):
            restore(entry, frame)
            queue.came_in(entry)

    def _evict(self, queue: Queue, bytes: float) -> None:
        """Frees about so many bytes of a queue."""
        self._resize(queue)
        room = self.disk_room
        no_room = False
        chosen = []
        for number in _needed_last(queue):
            entry = queue.entries[number]
            if entry.place is None:
                if entry.bytes > room:
                    no_room = True
                    continue
                room -= entry.bytes
            chosen.append(number)
            bytes -= entry.bytes
            if bytes <= 0:
                break
        dirty = [number for number in chosen if queue.entries[number].place is None]
        for number in chosen:
            if queue.entries[number].place is not None:
                queue.went_out(queue.entries[number])
        for start, stop in _neighbours(dirty):
            self._write(queue, start, stop)
        if no_room:
            self._disk_full_at = min(self._disk_full_at, self.files.used)

    def _join(self, queue: Queue, bytes: float) -> None:
        """Frees about so many bytes by joining short trains, whose tuples take the least part of their memory."""
        chosen = []
        for number in _needed_last(queue):
            entry = queue.entries[number]
            if entry.short:
                chosen.append(number)
                bytes -= entry.bytes - tuple_bytes(entry)
                if bytes <= 0:
                    break
        for start, stop in _neighbours(chosen):
            if stop - start < _WORTH_JOINING:
                for number in range(start, stop):
                    queue.entries[number].short = False
                queue.shorts -= stop - start
            else:
                queue.replace(start, stop, [block.entry for block in self._blocks(queue, start, stop)])

    def _blocks(self, queue: Queue, start: int, stop: int) -> list[Block]:
        oldest = min([cursor.row for cursor in queue.cursors])
        return blocks_of(queue.entries[start:stop], oldest, queue.block_bytes)

    def _write(self, queue: Queue, start: int, stop: int) -> None:
        """Makes blocks of neighbouring entries, which go to disk with one write."""
        blocks = self._blocks(queue, start, stop)
        places: list[Place] = []
        try:
            for group in _of_one_form(blocks):
                places += self.files.write([block.frame for block in group], self.disk - self.files.used)
        finally:
            if len(places) < len(blocks):
                for place in places:
                    self.files.free(place)
        if len(places) < len(blocks):
            self._disk_full_at = self.files.used
            return
        self._disk_full_at = math.inf
        for block, place in zip(blocks, places, strict=True):
            block.entry.place = place
        queue.replace(start, stop, [block.entry for block in blocks])
        for block in blocks:
            queue.went_out(block.entry)

    def _resize(self, queue: Queue) -> None:
        """Blocks double while the queue holds many, and halve while it holds few."""
        while queue.size > 16 * queue.block_bytes and 2 * queue.block_bytes <= self._largest:
            queue.block_bytes *= 2
        while queue.size < 4 * queue.block_bytes and queue.block_bytes // 2 >= self._smallest:
            queue.block_bytes //= 2


def _priority(queue: Queue) -> float:
    """The highest of those who have something to read."""
    return max([cursor.priority for cursor in queue.cursors if cursor.row < queue.end], default=-math.inf)


def _standing(queue: Queue) -> float:
    return max([cursor.standing for cursor in queue.cursors if cursor.row < queue.end], default=-math.inf)


def _least_needed(queue: Queue) -> tuple[float, int]:
    return _priority(queue), -queue.resident


def _needed_last(queue: Queue) -> Iterator[int]:
    """The entries in memory that may be evicted, first those that are farthest from the next reader."""
    pinned = [cursor for cursor in queue.cursors if cursor.pinned]
    heads = {cursor.entry - queue.gone: cursor.row for cursor in queue.cursors}
    bounds = [*sorted(heads), len(queue.entries)]
    gaps = [(low, high - 1) for low, high in pairwise(bounds) if low < high]
    while gaps:
        distances = [queue.entries[high].first - heads[low] for low, high in gaps]
        best = max(range(len(gaps)), key=distances.__getitem__)
        low, number = gaps[best]
        if number > low:
            gaps[best] = low, number - 1
        else:
            del gaps[best]
        entry = queue.entries[number]
        if entry.train is not None and not any(_holds(cursor, entry) for cursor in pinned):
            yield number


def _holds(cursor: Cursor, entry: Entry) -> bool:
    return entry.first < cursor.pinned and cursor.row < entry.first + entry.rows


def _neighbours(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The stretches of entries without gaps, the youngest first, so that the numbers of the older ones stay."""
    ordered = sorted(numbers)
    stop = len(ordered)
    while stop:
        start = stop - 1
        while start and ordered[start - 1] == ordered[start] - 1:
            start -= 1
        yield ordered[start], ordered[stop - 1] + 1
        stop = start


def _of_one_form(blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """Neighbours with the same columns, which can stand in one file."""
    start = 0
    for number in range(1, len(blocks) + 1):
        if number == len(blocks) or blocks[number].frame.schema != blocks[start].frame.schema:
            yield blocks[start:number]
            start = number
