"""Where answers go when they leave the engine: they wait to be dequeued, or are handed to whoever subscribed."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import NamedTuple

import polars as pl

from aurora.connectors.source import LiveSink, SinkPosition

UNPUBLISHED = -1
"""In a commit, the position of an output that no log has been kept of."""

Callback = Callable[[pl.DataFrame], None]
Ending = Callable[[], None]
_LOG = logging.getLogger("aurora")


class _Subscriber(NamedTuple):
    take: Callback
    ended: Ending | None


class Outlet(LiveSink):
    """One output. Trains wait until somebody goes through it, unless there are subscribers, who get them at once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._frames: deque[pl.DataFrame] = deque()
        self._subscribers: list[_Subscriber] = []
        self.bytes = 0

    def write(self, frame: pl.DataFrame) -> None:
        if not self._subscribers:
            self.bytes += int(frame.estimated_size())
            self._frames.append(frame)
            return
        for subscriber in list(self._subscribers):
            try:
                subscriber.take(frame)
            except Exception:
                # One who cannot take answers must not keep them from the others.
                self._subscribers = [other for other in self._subscribers if other is not subscriber]
                _LOG.exception("a subscriber of the output %s failed, and gets nothing more", self._name)

    def subscribe(self, callback: Callback, ended: Ending | None = None) -> None:
        """From now on, beginning with what waits. ``ended`` is called when nothing more will come."""
        for frame in self:
            callback(frame)
        self._subscribers.append(_Subscriber(callback, ended))

    def unsubscribe(self, callback: Callback) -> None:
        self._subscribers = [subscriber for subscriber in self._subscribers if subscriber.take != callback]

    def end(self) -> None:
        """Tells all subscribers that nothing more will come, and has none from now on. What waits stays."""
        ended, self._subscribers = self._subscribers, []
        for subscriber in ended:
            try:
                if subscriber.ended is not None:
                    subscriber.ended()
            except Exception:
                _LOG.exception("a subscriber of the output %s failed at its end", self._name)

    def position(self, *, durable: bool = False) -> SinkPosition:
        return UNPUBLISHED

    def __iter__(self) -> Iterator[pl.DataFrame]:
        while self._frames:
            frame = self._frames.popleft()
            self.bytes -= int(frame.estimated_size())
            yield frame

    def __len__(self) -> int:
        return sum(frame.height for frame in list(self._frames))


class AsyncOutlet:
    """Hands the trains of an output from the engine's thread to a coroutine."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._frames: asyncio.Queue[pl.DataFrame | None] = asyncio.Queue()

    def __call__(self, frame: pl.DataFrame) -> None:
        self._loop.call_soon_threadsafe(self._frames.put_nowait, frame)

    def end(self) -> None:
        """Nothing more will come."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._frames.put_nowait, None)

    async def frames(self) -> AsyncIterator[pl.DataFrame]:
        while (frame := await self._frames.get()) is not None:
            yield frame
