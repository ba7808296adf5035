"""Clocks. Time is always handed in; nothing but ``WallClock`` reads the machine's."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def now_us(self) -> int:
        """Microseconds since the epoch; never goes back."""


class WallClock:
    """The machine's time of day, held where it is while the machine's clock is set back."""

    def __init__(self) -> None:
        self._latest_us = 0

    def now_us(self) -> int:
        self._latest_us = max(self._latest_us, time.time_ns() // 1000)
        return self._latest_us


class ManualClock:
    """A clock that stands still until it is moved.

    >>> clock = ManualClock()
    >>> clock.move_s(1.5)
    >>> clock.now_us()
    1500000
    """

    def __init__(self, start_us: int = 0) -> None:
        self._now_us = start_us

    def now_us(self) -> int:
        return self._now_us

    def move_s(self, seconds: float) -> None:
        self._now_us += round(seconds * 1e6)
