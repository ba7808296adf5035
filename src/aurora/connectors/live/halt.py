"""Waiting that ends at once when a thread is told to stop."""

from __future__ import annotations

import threading


class Halt:
    def __init__(self) -> None:
        self._event = threading.Event()

    def stop(self) -> None:
        self._event.set()

    @property
    def stopped(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Waits so long, or until it is told to stop; True then."""
        return self._event.wait(seconds)
