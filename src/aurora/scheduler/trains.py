"""How many tuples go into a train. Answers do not depend on it, only their cost and their age do."""

from __future__ import annotations

from typing import Protocol


class TrainSize(Protocol):
    """``most`` is the longest train there may be."""

    most: int

    def now(self) -> int:
        """How long the next train may be."""

    def note(self, tuples: int, seconds: float) -> None:
        """A train of so many tuples took so long."""


class FixedTrain:
    def __init__(self, tuples: int) -> None:
        self.most = tuples

    def now(self) -> int:
        return self.most

    def note(self, tuples: int, seconds: float) -> None:
        """It stays as it is."""


class GrowingTrain:
    """Trains that grow until one takes ``seconds``, so that what a step costs whatever it carries matters little.

    >>> size = GrowingTrain(1_000, 8_000, seconds=1.0)
    >>> size.note(1_000, 0.1)
    >>> size.now()
    4000
    >>> size.note(4_000, 4.0)
    >>> size.now()
    1000
    """

    FASTEST_GROWTH = 4

    def __init__(self, least: int, most: int, *, seconds: float, start: int | None = None) -> None:
        self._least = least
        self.most = most
        self._seconds = seconds
        self._now = least if start is None else start

    def now(self) -> int:
        return self._now

    def note(self, tuples: int, seconds: float) -> None:
        if tuples < self._now and seconds < self._seconds:
            # A short train, cut where the input paused, says little about longer ones.
            return
        factor = min(self._seconds / max(seconds, 1e-9), self.FASTEST_GROWTH)
        self._now = int(min(max(tuples * factor, self._least), self.most))
