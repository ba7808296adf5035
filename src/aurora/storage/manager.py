"""The storage manager: the queues of all arcs of a running network, in memory and, where that is short, on disk.

It is called by one thread at a time. While all queues fit into the budget, nothing here touches a disk. Otherwise
``put``, ``take`` and ``set_priorities`` may write, and these, ``number_at`` and ``waiting`` with ``upto`` may read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aurora.errors import StorageError
from aurora.model.train import Train
from aurora.model.typed import Producer
from aurora.storage.pool import BufferPool
from aurora.storage.queues import Cursor, Queue, Reader, Waiting
from aurora.storage.spill import SpillFolder
from aurora.storage.table import Box, SharedTable

BLOCK_BYTES = 131_072


class StorageManager:
    """``readers`` has the readers of every arc. ``memory`` and ``disk`` are budgets in bytes; None sets no limit.

    ``block_bytes`` is the size of the blocks of a short queue, ``folder`` where the files go, and ``boxes`` the order
    of the rows of the table.
    """

    def __init__(
        self,
        readers: Mapping[Producer, Sequence[Reader]],
        *,
        memory: int | None = None,
        disk: int | None = None,
        block_bytes: int = BLOCK_BYTES,
        folder: Path | None = None,
        boxes: Sequence[Box] | None = None,
    ) -> None:
        self._files = SpillFolder(folder)
        self._pool = BufferPool(memory, disk, block_bytes, self._files)
        self._queues: dict[Producer, Queue] = {}
        self._cursors: dict[Reader, Cursor] = {}
        for arc, of_arc in readers.items():
            queue = self._queues[arc] = self._pool.queue(str(arc), len(of_arc))
            self._cursors.update(zip(of_arc, queue.cursors, strict=True))
        self.table = SharedTable(self._cursors, self._pool, boxes)

    def put(self, arc: Producer, train: Train, upto: int) -> None:
        """Appends tuples numbered at most ``upto``, and above what was put before. StorageError takes none of them."""
        queue = self._queues[arc]
        if not train.frame.height or not queue.cursors:
            return
        entry = queue.put(train, upto)
        if self._pool.used > self._pool.limit:
            try:
                self._shrink()
            except StorageError:
                if queue.entries[-1] is entry:
                    queue.take_back()
                    raise
                # It has been joined with others, or is on disk already: it is stored, and the next train will tell.

    def take(self, reader: Reader, most: int, upto: int | None = None) -> Train | None:
        """At most ``most`` tuples, the oldest that the reader has not taken, with ``upto`` only those numbered so.

        Bare trains have no numbers inside: with ``upto`` they are given when all their tuples may be. Of bare trains
        that are joined the earliest arrival counts.
        """
        cursor = self._cursors[reader]
        train = cursor.queue.take(cursor, most, upto)
        if self._pool.used > self._pool.limit:
            # The disk's trouble is not this reader's: the next who puts is told.
            with suppress(StorageError):
                self._shrink()
        return train

    def waiting(self, reader: Reader, upto: int | None = None) -> Waiting:
        """What ``take`` would give, all in all."""
        cursor = self._cursors[reader]
        return cursor.queue.waiting(cursor, upto)

    def number_at(self, reader: Reader, place: int) -> int | None:
        """The number of the tuple so many places on, 1 being the next; of the last if fewer wait, None if none does.

        Bare trains have no numbers, and must not be asked for them.
        """
        cursor = self._cursors[reader]
        return cursor.queue.number_at(cursor, place)

    def set_priorities(self, priorities: Mapping[Box, float] | Sequence[float] | npt.NDArray[np.float64]) -> None:
        """The scheduler's word on what matters. May exchange what is in memory."""
        self.table.set_priorities(priorities)
        if self._pool.on_disk:
            self.table.apply_standing()
            with suppress(StorageError):
                self._pool.upgrade()

    def pin(self, box: Box) -> None:
        """The box runs."""
        self.table.pin(box)

    def unpin(self, box: Box) -> None:
        self.table.unpin(box)
        self._pool.limit = self._pool.memory
        if self._pool.used > self._pool.limit:
            with suppress(StorageError):
                self._shrink()

    @property
    def used_memory(self) -> int:
        return self._pool.used

    @property
    def used_disk(self) -> int:
        return self._files.used

    def room_for(self, bytes: int) -> bool:
        """Whether so many bytes more keep within the budgets of memory and disk."""
        return bytes <= max(self._pool.memory - self._pool.used, 0) + self._pool.disk_room

    @property
    def full(self) -> bool:
        """Neither memory nor disk has room: whoever enqueues has to wait."""
        return not self.room_for(1)

    def close(self) -> None:
        """Deletes the files. Tuples that nobody took are gone."""
        for queue in self._queues.values():
            queue.clear()
        self._files.close()

    def _shrink(self) -> None:
        self.table.apply()
        self._pool.shrink()
