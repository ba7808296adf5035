"""The life of one sink: tuples wait in a queue of limited length, and a thread sends them, again where that fails."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import polars as pl

from aurora.connectors.live.backoff import BackOff
from aurora.connectors.live.failures import HopelessError, UndeliverableError
from aurora.connectors.live.halt import Halt
from aurora.connectors.live.state import Meter
from aurora.connectors.live.watched import start_watched, tell_failure

_LOG = logging.getLogger("aurora")
_IDLE_S = 0.1
_SOON_S = 0.005
"""How long a sink is left alone that has something on its way."""
_PANICS = 5
"""A batch on which a library panics so often is given up: nothing says that it will ever do otherwise."""


class LiveSink(Protocol):
    """``batch`` is how many tuples it takes at once, ``attempts`` how often it is asked; None for ever."""

    batch: int
    attempts: int | None

    def open(self) -> None: ...

    def send(self, frame: pl.DataFrame) -> int:
        """Sends the tuples, and gives the number of bytes. What raises is sent again, once it has been opened anew."""

    def idle(self) -> None:
        """Called now and then while nothing comes."""

    def close(self) -> None: ...


@runtime_checkable
class Lingering(Protocol):
    """A sink that goes on sending, in ``idle``, what ``send`` has taken."""

    @property
    def lingers(self) -> bool:
        """Whether something is still on its way."""


class Waiting:
    """The queue: at most so many tuples wait. A frame that is longer than that comes in alone."""

    def __init__(self, limit: int, meter: Meter, *, block: bool) -> None:
        self._limit = limit
        self._meter = meter
        self._block = block
        self._frames: deque[pl.DataFrame] = deque()
        self._tuples = 0
        self._changed = threading.Condition()
        self.closed = False

    def put(self, frame: pl.DataFrame) -> None:
        if not frame.height:
            return
        with self._changed:
            if self._block:
                self._changed.wait_for(lambda: self.closed or self._fits(frame))
            if self.closed or not self._fits(frame):
                self._meter.add(dropped=frame.height)
                return
            self._frames.append(frame)
            self._count(frame.height)
            self._changed.notify_all()

    def _fits(self, frame: pl.DataFrame) -> bool:
        return not self._tuples or self._tuples + frame.height <= self._limit

    def _count(self, more: int) -> None:
        self._tuples += more
        self._meter.add(waiting=more)

    def take(self, most: int, wait_s: float) -> pl.DataFrame | None:
        """Up to so many tuples of what waits, in order; None if nothing does. They count as waiting until ``done``."""
        with self._changed:
            if not self._frames and not self.closed:
                self._changed.wait(wait_s)
            if not self._frames:
                return None
            taken: list[pl.DataFrame] = []
            room = most
            while self._frames and room:
                frame = self._frames.popleft()
                if frame.height > room:
                    self._frames.appendleft(frame.slice(room))
                    frame = frame.head(room)
                taken.append(frame)
                room -= frame.height
            return pl.concat(taken) if len(taken) > 1 else taken[0]

    def done(self, frame: pl.DataFrame) -> None:
        with self._changed:
            self._count(-frame.height)
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing more comes in; what waits can still be taken."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()


class Outflow:
    def __init__(
        self, make: Callable[[], LiveSink], meter: Meter, halt: Halt, backoff: BackOff, limit: int, *, block: bool
    ) -> None:
        self._make = make
        self._meter = meter
        self._halt = halt
        self._backoff = backoff
        self._sink: LiveSink | None = None
        self._open = False
        self._held: pl.DataFrame | None = None
        self._tried = 0
        self.waiting = Waiting(limit, meter, block=block)

    def start(self) -> threading.Thread | None:
        thread = start_watched(f"aurora sink {self._meter.status().name}", self.run, self._meter)
        if thread is None:
            self.waiting.close()
        return thread

    def run(self) -> None:
        try:
            while self.turn(_IDLE_S):
                pass
        finally:
            # Otherwise an engine that waits for room would wait for ever.
            self.waiting.close()

    def turn(self, wait_s: float) -> bool:
        """Sends what comes next, or waits for it; False when it is over."""
        try:
            sink = self._ready()
            if self._halt.stopped:
                return self._over("stopped")
            if self._held is None:
                soon = isinstance(sink, Lingering) and sink.lingers
                self._held = self.waiting.take(sink.batch, min(wait_s, _SOON_S) if soon else wait_s)
            if self._held is None:
                if self.waiting.closed:
                    return self._over("stopped")
                sink.idle()
                return True
            self._sent(sink.send(self._held))
        except HopelessError as error:
            tell_failure(threading.current_thread().name, error, self._meter)
            return self._over("failed")
        except UndeliverableError as error:
            self._meter.error(error)
            self._dead()
        except BaseException as error:
            # A panic inside Polars is no Exception, and neither is SystemExit, with which a thread ends silently.
            self._failed(error)
        return not self._halt.stopped or self._over("stopped")

    def _ready(self) -> LiveSink:
        sink = self._sink = self._sink or self._make()
        if not self._open:
            sink.open()
            self._open = True
            self._meter.now("connected")
        return sink

    def _sent(self, n_bytes: int) -> None:
        assert self._held is not None
        self._meter.add(tuples=self._held.height, bytes=n_bytes)
        self._let_go()
        self._backoff.reset()

    def _failed(self, error: BaseException) -> None:
        self._meter.error(error)
        self._close()
        self._tried += self._held is not None
        most = None if self._sink is None else self._sink.attempts
        if not isinstance(error, Exception):
            most = _PANICS if most is None else min(most, _PANICS)
        if most is not None and self._tried >= most:
            self._dead()
        if self._meter.state != "retrying":
            _LOG.warning("%s tries again: %s", threading.current_thread().name, self._meter.status().last_error)
            self._meter.now("retrying")
        self._meter.add(retries=1)
        self._halt.wait(self._backoff.next_s())

    def _dead(self) -> None:
        if self._held is not None:
            self._meter.add(dead=self._held.height)
            self._let_go()

    def _let_go(self) -> None:
        assert self._held is not None
        self.waiting.done(self._held)
        self._held = None
        self._tried = 0

    def _over(self, state: str) -> bool:
        """Ends: what could not be sent any more is counted as dropped."""
        self.waiting.close()
        while (left := self._held if self._held is not None else self.waiting.take(1 << 62, 0)) is not None:
            self._held = left
            self._meter.add(dropped=left.height)
            self._let_go()
        self._close()
        self._meter.now("failed" if state == "failed" else "stopped")
        return False

    def _close(self) -> None:
        was_open, self._open = self._open, False
        if self._sink is not None and was_open:
            try:
                self._sink.close()
            except BaseException as error:
                self._meter.error(error)
