"""What the demonstration does where nobody turns the rate: a while as it is, then too much, then as before."""

from __future__ import annotations

from dataclasses import dataclass

_CALM, _TOO_MUCH = 0.4, 0.8
"""The shares of the time at which it gets too much, and at which that ends."""
_FIRST, _TIMES = 10.0, 1.6


@dataclass
class Play:
    """Asked every second. The rate grows until tuples are shed, and then stays there for a while.

    It is told the factor in force. Once that is not what it said last, somebody turns the rate, and it leaves it alone.

    >>> play, now = Play(seconds=10, most=500), 1.0
    >>> [now := play.factor(second, now, shedding=second >= 6) for second in range(11)]
    [1.0, 1.0, 1.0, 1.0, 10.0, 16.0, 16.0, 16.0, 1.0, 1.0, 1.0]
    """

    seconds: float
    most: float
    _now: float = 1.0
    _found: bool = False
    _said: float | None = None
    _over: bool = False

    def factor(self, elapsed_s: float, now: float, *, shedding: bool) -> float:
        self._over = self._over or self._said not in (None, now)
        if self._over:
            return now
        self._said = self._wanted(elapsed_s / self.seconds, shedding)
        return self._said

    def _wanted(self, share: float, shedding: bool) -> float:
        if not _CALM <= share < _TOO_MUCH:
            return 1.0
        self._found = self._found or (shedding and self._now > 1.0)
        if not self._found:
            self._now = min(max(self._now * _TIMES, _FIRST), self.most)
        return self._now
