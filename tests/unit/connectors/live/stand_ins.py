"""What sources and sinks meet in unit tests: an engine that remembers, and waiting that moves a clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import polars as pl

from aurora.clock import ManualClock
from aurora.connectors.live.halt import Halt
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.live.state import Meter


class Recorder:
    """Takes tuples like an engine. ``failures`` are raised first, one by one."""

    def __init__(self) -> None:
        self.frames: list[pl.DataFrame] = []
        self.failures: list[Exception] = []
        self.drained = 0
        self.callbacks: dict[str, Callable[[pl.DataFrame], None]] = {}

    def enqueue(self, stream: str, table: pl.DataFrame) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.frames.append(table)

    def enqueued(self, stream: str) -> int:
        return sum(frame.height for frame in self.frames)

    def kept(self, stream: str) -> int:
        return self.enqueued(stream)

    def subscribe(self, output: str, callback: Callable[[pl.DataFrame], None]) -> None:
        self.callbacks[output] = callback

    def unsubscribe(self, output: str, callback: Callable[[pl.DataFrame], None]) -> None:
        if self.callbacks.get(output) == callback:
            del self.callbacks[output]

    def drain(self) -> None:
        self.drained += 1

    def commit(self) -> None:
        """Has nothing to keep."""

    @property
    def rows(self) -> list[tuple[object, ...]]:
        return [row for frame in self.frames for row in frame.rows()]


class CountedHalt(Halt):
    """Waiting moves the clock; after so many waits it is told to stop. ``then`` happens at each wait."""

    def __init__(self, clock: ManualClock, waits: int, then: Callable[[int], None] | None = None) -> None:
        super().__init__()
        self._clock = clock
        self._left = waits
        self._then = then
        self.waited_s: list[float] = []

    def wait(self, seconds: float) -> bool:
        if self._left == 0:
            self.stop()
        self._left -= 1
        if not self.stopped:
            self._clock.move_s(seconds)
            self.waited_s.append(seconds)
            if self._then is not None:
                self._then(len(self.waited_s))
        return self.stopped


def meter(clock: ManualClock, role: Literal["source", "sink"] = "source") -> Meter:
    return Meter("it", role, "test", "s", clock)


def inlet(target: Recorder, halt: CountedHalt, clock: ManualClock) -> Inlet:
    return Inlet("s", target, meter(clock), halt, clock)
