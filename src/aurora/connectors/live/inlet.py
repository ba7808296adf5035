"""Where a source hands over what it has: tuples go to the engine, the others to the rejected stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import polars as pl

from aurora.clock import Clock
from aurora.connectors.converters.base import Decoded
from aurora.connectors.live.halt import Halt
from aurora.connectors.live.state import Meter
from aurora.connectors.rejected import OnReject, Rejection
from aurora.errors import InputError

_AGAIN_S = 0.5
"""How long to wait before an engine that takes nothing just now is asked again."""


class Target(Protocol):
    """What sources feed and sinks listen to. ``Engine`` is one."""

    def enqueue(self, stream: str, table: pl.DataFrame) -> None: ...

    def enqueued(self, stream: str) -> int: ...

    def kept(self, stream: str) -> int: ...

    def subscribe(self, output: str, callback: Callable[[pl.DataFrame], None]) -> None: ...

    def unsubscribe(self, output: str, callback: Callable[[pl.DataFrame], None]) -> None: ...

    def drain(self) -> None: ...

    def commit(self) -> None: ...


class Inlet:
    """One source's way in. ``halt`` tells the source when to stop."""

    def __init__(
        self, stream: str, target: Target, meter: Meter, halt: Halt, clock: Clock, on_reject: OnReject | None = None
    ) -> None:
        self.stream = stream
        self.halt = halt
        self.clock = clock
        self.meter = meter
        self.factor = 1.0
        """How many times as fast as declared a source that makes its tuples up is to be."""
        self._target = target
        self._on_reject = on_reject

    def connected(self) -> None:
        self.meter.now("connected")

    def take(self, decoded: Decoded, n_bytes: int) -> bool:
        """Takes what a converter made of some bytes. What is broken is for the source to see to.

        False if it was stopped first, as by ``put``: where the sender waits for word, it must not be confirmed.
        """
        self.meter.add(bytes=n_bytes)
        self.reject(decoded.rejected)
        return self.put(decoded.frame)

    def reject(self, rejections: Sequence[Rejection]) -> None:
        if not rejections:
            return
        self.meter.add(rejected=len(rejections))
        for one in rejections:
            row = one.of(self.stream)
            self.meter.rejections.append(row)
            if self._on_reject is not None:
                self._on_reject(row)

    @property
    def mark(self) -> int:
        """Where the stream stands: what has been put so far is safe when ``safe`` is as much."""
        return self._target.enqueued(self.stream)

    @property
    def safe(self) -> int:
        return self._target.kept(self.stream)

    def offer(self, frame: pl.DataFrame) -> None:
        """Asks the engine once, and raises what it refuses with: for those who can tell their sender."""
        if frame.height:
            try:
                self._target.enqueue(self.stream, frame)
            except Exception as error:
                self.meter.error(error)
                self.meter.add(dropped=frame.height)
                raise
            self.meter.add(tuples=frame.height)

    def put(self, frame: pl.DataFrame) -> bool:
        """Blocks while the engine has no room, so that the other side is slowed down rather than tuples lost.

        An engine that is paused or has failed is asked again until the source is stopped; it is False then. Tuples that
        the engine will never take are dropped, and that is True: nobody need bring them again.
        """
        if not frame.height:
            return True
        while True:
            try:
                self._target.enqueue(self.stream, frame)
            except InputError as error:
                self.meter.error(error)
                self.meter.add(dropped=frame.height)
                return True
            except Exception as error:
                self.meter.error(error)
                if self.halt.wait(_AGAIN_S):
                    self.meter.add(dropped=frame.height)
                    return False
            else:
                self.meter.add(tuples=frame.height)
                return True
