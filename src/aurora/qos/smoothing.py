"""Measurements that forget: what was noted one half-life ago counts half of what is noted now."""

from __future__ import annotations

from math import exp2, log

HALF_LIFE_S = 2.0
"""Long enough that one odd train does not show, short enough that a scheduler sees a burst while it lasts."""


RESOLUTION_US = 50_000
"""What is noted within so short a time counts as noted at once: most notes then are an addition and no more."""


class Rate:
    """So much per second, smoothed. Right from the start: it is divided by what would be remembered of a steady flow.

    >>> rate = Rate(began_us=0)
    >>> for second in range(1, 9):
    ...     rate.note(100, second * 1_000_000)
    >>> round(rate.read(8_000_000))
    118
    >>> round(rate.read(10_000_000))
    57
    """

    __slots__ = ("_at_us", "_began_us", "_remembered", "_tick")

    def __init__(self, began_us: int, half_life_s: float = HALF_LIFE_S) -> None:
        self._began_us = began_us
        self._at_us = began_us
        self._remembered = 0.0
        self._tick = -1e-6 / half_life_s

    def note(self, amount: float, now_us: int) -> None:
        passed_us = now_us - self._at_us
        if passed_us >= RESOLUTION_US:
            self._remembered = self._remembered * exp2(passed_us * self._tick) + amount
            self._at_us = now_us
        else:
            self._remembered += amount

    def read(self, now_us: int) -> float:
        """Per second; 0 where no time has passed yet."""
        return per_second(self._remembered, self._at_us, self._began_us, now_us, self._tick)


def per_second(remembered: float, at_us: int, began_us: int, now_us: int, tick: float) -> float:
    """The rate of what is remembered of a time ``at_us``; ``tick`` is how much is forgotten in a microsecond, as a
    power of two."""
    now_us = max(now_us, at_us)
    if now_us <= began_us:
        return 0.0
    whole = 1 - exp2((now_us - began_us) * tick)
    return remembered * exp2((now_us - at_us) * tick) * -tick * 1e6 * log(2) / whole
