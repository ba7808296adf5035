"""How long to wait before trying again: longer each time, and by chance shorter, so that not all come at once."""

from __future__ import annotations

from random import Random


class BackOff:
    """Twice as long each time, between half of that and all of it.

    >>> backoff = BackOff(1.0, 5.0, Random(0))
    >>> [backoff.next_s() <= most for most in (1, 2, 4, 5, 5)]
    [True, True, True, True, True]
    """

    def __init__(self, first_s: float, most_s: float, random: Random) -> None:
        self._first_s = first_s
        self._most_s = most_s
        self._random = random
        self._wait_s = first_s

    def next_s(self) -> float:
        wait_s, self._wait_s = self._wait_s, min(2 * self._wait_s, self._most_s)
        return wait_s * (0.5 + 0.5 * self._random.random())

    def reset(self) -> None:
        self._wait_s = self._first_s
