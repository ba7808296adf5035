"""The table that the scheduler and the storage manager share: a row for each box.

The scheduler writes priorities and which boxes run; the storage manager keeps what it evicts and brings back in line
with them, and tells the scheduler how much of each box's queues is in memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from aurora.storage.queues import Cursor, Reader, Store

Box = Hashable

_NEW = 0.2
"""The weight of the last setting of priorities in a box's standing."""


def box_of(reader: Reader) -> Box:
    """The box that a reader belongs to: a reader that is not an input of a box stands for itself."""
    return getattr(reader, "box", reader)


class SharedTable:
    """``boxes`` has the boxes in the order of the rows. A higher priority is served first."""

    def __init__(self, cursors: Mapping[Reader, Cursor], store: Store, boxes: Sequence[Box] | None = None) -> None:
        of_box: dict[Box, list[Cursor]] = {box: [] for box in boxes or ()}
        for reader, cursor in cursors.items():
            of_box.setdefault(box_of(reader), []).append(cursor)
        self.boxes: tuple[Box, ...] = tuple(of_box)
        self._cursors = of_box
        self._rows = list(of_box.values())
        self.priority = np.zeros(len(self.boxes))
        self.running: set[Box] = set()
        self._store = store
        self._all_resident = np.ones(len(self.boxes))
        self._all_resident.flags.writeable = False
        self._applied = True
        self._standing: npt.NDArray[np.float64] | None = None

    def set_priorities(self, priorities: Mapping[Box, float] | Sequence[float] | npt.NDArray[np.float64]) -> None:
        """By box, or for all boxes in the order of the rows. Boxes that a mapping leaves out keep theirs."""
        if isinstance(priorities, Mapping):
            for number, box in enumerate(self.boxes):
                if box in priorities:
                    self.priority[number] = priorities[box]
        else:
            self.priority[:] = priorities
        self._applied = False

    def apply(self) -> None:
        """Brings the priorities to the queues, before something is evicted by them."""
        if self._applied:
            return
        self._applied = True
        for cursors, priority in zip(self._rows, self.priority.tolist(), strict=True):
            for cursor in cursors:
                cursor.priority = priority

    def apply_standing(self) -> None:
        """Brings to the queues where their boxes stand, smoothed over settings, before something is brought back."""
        ranks = np.unique(self.priority, return_inverse=True)[1]
        now = ranks / max(1, ranks.max(initial=0))
        self._standing = now if self._standing is None else self._standing + _NEW * (now - self._standing)
        for cursors, standing in zip(self._rows, self._standing.tolist(), strict=True):
            for cursor in cursors:
                cursor.standing = standing

    def pin(self, box: Box) -> None:
        """The box runs: what its queues have in memory stays there. What is put on them meanwhile may be evicted."""
        self.running.add(box)
        for cursor in self._cursors[box]:
            cursor.pinned = cursor.queue.end

    def unpin(self, box: Box) -> None:
        self.running.discard(box)
        for cursor in self._cursors[box]:
            cursor.pinned = 0

    def residency(self, box: Box) -> float:
        """The share in memory of the tuples that the box has not taken, 0 to 1; 1 if there are none."""
        return self._residency(self._cursors[box])

    def residencies(self) -> npt.NDArray[np.float64]:
        """Of all boxes, in the order of the rows."""
        if not self._store.on_disk:
            return self._all_resident
        return np.array([self._residency(cursors) for cursors in self._rows])

    @staticmethod
    def _residency(cursors: Sequence[Cursor]) -> float:
        if not any(cursor.queue.on_disk for cursor in cursors):
            return 1.0
        waiting = sum([cursor.queue.end - cursor.row for cursor in cursors])
        return 1.0 - sum([cursor.queue.on_disk_after(cursor) for cursor in cursors]) / waiting if waiting else 1.0
