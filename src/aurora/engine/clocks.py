"""The clock at every tuple that has entered and that some box has not been told of yet."""

from __future__ import annotations

from collections import deque

import numpy as np

from aurora.model.train import Ints

_NONE = np.empty(0, np.int64)


class ClockLog:
    """Clocks by the numbers of tuples, which follow each other without a gap.

    >>> log = ClockLog()
    >>> log.append(0, np.array([5, 5, 7]))
    >>> log.append(3, np.array([9]))
    >>> log.between(2, 3).tolist()
    [7, 9]
    >>> log.forget(1)
    >>> log.at(3)
    9
    """

    def __init__(self) -> None:
        self._chunks: deque[tuple[int, Ints]] = deque()

    def append(self, first: int, clocks: Ints) -> None:
        """The tuples from number ``first`` on have entered at these clocks."""
        if len(clocks):
            self._chunks.append((first, clocks))

    def between(self, first: int, last: int) -> Ints:
        """The clocks of the tuples from ``first`` to ``last``, which have not been forgotten."""
        found = []
        for start, clocks in self._chunks:
            if start > last:
                break
            if start + len(clocks) > first:
                found.append(clocks[max(first - start, 0) : last + 1 - start])
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else _NONE

    def at(self, number: int) -> int:
        """The clock of one tuple."""
        return int(self.between(number, number)[0])

    def forget(self, number: int) -> None:
        """Nobody will ask for tuples up to this one."""
        while self._chunks and self._chunks[0][0] + len(self._chunks[0][1]) <= number + 1:
            self._chunks.popleft()
