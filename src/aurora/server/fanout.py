"""The answers of one arc, handed to everybody who reads it: each has a queue of its own, with a limit.

The thread that runs boxes never waits for a reader. A reader that falls behind loses the oldest tuples, or is let go,
or holds up those who enqueue; it chooses which. Others do not notice, but with the last.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal

import polars as pl

from aurora.model.schema import Schema

WhenBehind = Literal["drop", "disconnect", "hold"]
"""What happens when a reader's queue is full: the oldest goes, the reader goes, or whoever enqueues waits."""
WHEN_BEHIND: tuple[WhenBehind, ...] = ("drop", "disconnect", "hold")


class Waiting:
    """Frames in order, up to a number of bytes; the caller has the lock. The newest frame always has room."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._frames: deque[tuple[pl.DataFrame, int]] = deque()
        self.bytes = 0
        self.dropped = 0

    def __len__(self) -> int:
        """How many frames wait."""
        return len(self._frames)

    @property
    def tuples(self) -> int:
        return sum(frame.height for frame, _ in self._frames)

    def put(self, frame: pl.DataFrame, size: int) -> None:
        """``size`` is what it takes, in bytes: to find out is not free where there is text."""
        self._frames.append((frame, size))
        self.bytes += size

    def make_room(self) -> None:
        while self.bytes > self.limit_bytes and len(self._frames) > 1:
            self.dropped += self.take().height

    def take(self, most: int | None = None) -> pl.DataFrame:
        """The first frame, or so many tuples of it."""
        frame, size = self._frames.popleft()
        self.bytes -= size
        if most is not None and frame.height > most:
            rest = frame[most:]
            left = size * rest.height // frame.height
            self._frames.appendleft((rest, left))
            self.bytes += left
            return frame[:most]
        return frame

    def hand_over(self, other: Waiting) -> None:
        """All that waits here waits there from now on."""
        while self._frames:
            frame, size = self._frames.popleft()
            other.put(frame, size)
        self.bytes = 0

    @property
    def full(self) -> bool:
        return self.bytes > self.limit_bytes


class Subscription:
    """One reader of an arc. Iteration gives frames as they come, until it is closed or ``ended``.

    ``dropped`` counts the tuples that it was too slow for, and ``reason`` says why nothing more comes.
    """

    def __init__(self, fanout: Fanout, waiting: Waiting, when_behind: WhenBehind, *, consume: bool) -> None:
        self._fanout = fanout
        self._waiting = waiting
        self.when_behind = when_behind
        self.consume = consume
        self.reason = ""
        self.handed = 0
        self._news: Callable[[], None] | None = None
        self.took_s = time.monotonic()

    @property
    def schema(self) -> Schema:
        return self._fanout.schema

    @property
    def dropped(self) -> int:
        return self._waiting.dropped

    @property
    def ended(self) -> bool:
        """Nothing more will come; what waits can still be taken."""
        return bool(self.reason)

    @property
    def full(self) -> bool:
        return self._waiting.full

    def take(self, timeout_s: float | None = 0.0) -> pl.DataFrame | None:
        """The next frame; None if none came in that time, or if it has ended. Without a limit it waits for either."""
        with self._fanout.changed:
            self.took_s = time.monotonic()
            if not self._waiting and timeout_s != 0:
                self._fanout.changed.wait_for(lambda: self._waiting or self.ended, timeout_s)
            if not self._waiting:
                return None
            was_full = self._waiting.full
            frame = self._waiting.take()
            self.handed += frame.height
            self.took_s = time.monotonic()
            if was_full and self.when_behind == "hold":
                self._fanout.changed.notify_all()
            return frame

    def __iter__(self) -> Iterator[pl.DataFrame]:
        while True:
            frame = self.take(None)
            if frame is None:
                return
            yield frame

    def on_news(self, call: Callable[[], None]) -> None:
        """``call`` is called, in any thread, when there is a frame to take or it has ended; it must not take long."""
        with self._fanout.changed:
            self._news = call
            there = bool(self._waiting) or self.ended
        if there:
            call()

    def close(self) -> None:
        self._fanout.remove(self, "closed by the reader")

    # For the fanout, which has the lock

    def put(self, frame: pl.DataFrame, size: int) -> None:
        self._waiting.put(frame, size)
        if self._waiting.full:
            if self.when_behind == "drop":
                self._waiting.make_room()
            elif self.when_behind == "disconnect" and len(self._waiting) > 1:
                self.end(
                    f"the reader fell more than {self._waiting.limit_bytes:,} bytes behind; read faster, or ask for "
                    "the oldest tuples to be dropped"
                )
                return
        self.tell()

    def end(self, reason: str) -> None:
        if not self.reason:
            self.reason = reason
            self.tell()

    def tell(self) -> None:
        if self._news is not None:
            self._news()


class Fanout:
    """One arc's readers. While there are none, what comes waits, up to ``backlog_bytes``; then the oldest goes.

    Those who only look on do not count: what they see still waits for a reader. An arc that is nobody's business
    without readers has no backlog: ``backlog_bytes`` is 0.
    """

    def __init__(
        self,
        arc: str,
        schema: Schema,
        *,
        backlog_bytes: int,
        patience_s: float,
        left: Callable[[Fanout], None] | None = None,
    ) -> None:
        """``left`` is called when the last reader has gone, by itself or because it was let go."""
        self.arc = arc
        self._left = left
        self.schema = schema
        self.changed = threading.Condition()
        self.let_go = 0
        self._backlog = Waiting(backlog_bytes)
        self._patience_s = patience_s
        self._readers: list[Subscription] = []
        self._attached: tuple[Callable[[pl.DataFrame], None], ...] = ()
        self._gone_dropped = 0
        self._reason = ""

    def __call__(self, frame: pl.DataFrame) -> None:
        """A train has come out."""
        if not frame.height or not (self._readers or self._attached or self._backlog.limit_bytes):
            return
        for callback in self._attached:
            callback(frame)
        size = int(frame.estimated_size())
        with self.changed:
            if self._backlog.limit_bytes and not self._consumed:
                self._backlog.put(frame, size)
                self._backlog.make_room()
            for reader in list(self._readers):
                reader.put(frame, size)
                if reader.ended:
                    self._let_go(reader)
            self.changed.notify_all()

    @property
    def _consumed(self) -> bool:
        return bool(self._attached) or any(reader.consume for reader in self._readers)

    def attach(self, callback: Callable[[pl.DataFrame], None]) -> None:
        """``callback`` is called with every frame in the thread that ran the boxes, beginning with what waits."""
        with self.changed:
            while self._backlog and not self._consumed:
                callback(self._backlog.take())
            self._attached = (*self._attached, callback)

    def detach(self, callback: Callable[[pl.DataFrame], None]) -> None:
        """It is called no more. Without others who take what comes, it waits."""
        with self.changed:
            self._attached = tuple(other for other in self._attached if other != callback)

    def subscribe(self, limit_bytes: int, when_behind: WhenBehind, *, consume: bool = True) -> Subscription:
        """A new reader; the first one gets what waits, unless it only looks on."""
        with self.changed:
            waiting = Waiting(limit_bytes)
            reader = Subscription(self, waiting, when_behind, consume=consume)
            if self._reason:
                reader.end(self._reason)
                return reader
            if consume and not self._consumed:
                # What has waited so far is not the reader's fault.
                waiting.limit_bytes += self._backlog.bytes
                self._backlog.hand_over(waiting)
            self._readers.append(reader)
            return reader

    def remove(self, reader: Subscription, reason: str) -> None:
        with self.changed:
            if reader in self._readers:
                self._forget(reader)
            reader.end(reason)
            self.changed.notify_all()

    def take(self, most: int, timeout_s: float) -> list[pl.DataFrame]:
        """What waits while nobody reads, up to so many tuples; waits for some if there are none yet."""
        frames: list[pl.DataFrame] = []
        with self.changed:
            if not self._backlog and timeout_s > 0:
                self.changed.wait_for(lambda: self._backlog or self._reason, timeout_s)
            while self._backlog and most > 0:
                frame = self._backlog.take(most)
                most -= frame.height
                frames.append(frame)
        return frames

    def wait_for_room(self) -> None:
        """Waits while a reader that holds producers up is behind; one that takes nothing for long is let go."""
        # Without the lock: it is looked at for every table that is enqueued, and mostly nobody is behind.
        if not any(reader.when_behind == "hold" and reader.full for reader in self._readers):
            return
        with self.changed:
            while holding := [reader for reader in self._readers if reader.when_behind == "hold" and reader.full]:
                now_s = time.monotonic()
                left_s = min(reader.took_s + self._patience_s - now_s for reader in holding)
                if left_s > 0:
                    self.changed.wait(left_s)
                    continue
                for reader in holding:
                    if reader.took_s + self._patience_s <= now_s:
                        reader.end(f"the reader took nothing for {self._patience_s:g} s while others waited for it")
                        self._let_go(reader)

    def _let_go(self, reader: Subscription) -> None:
        self._forget(reader)
        self.let_go += 1

    def _forget(self, reader: Subscription) -> None:
        self._readers.remove(reader)
        self._gone_dropped += reader.dropped
        if not self._readers and self._left is not None:
            self._left(self)

    def end(self, reason: str) -> None:
        """Nothing more will come; readers take what waits for them, and then hear why."""
        with self.changed:
            self._reason = reason
            for reader in self._readers:
                reader.end(reason)
            self._readers.clear()
            self.changed.notify_all()

    @property
    def readers(self) -> int:
        return len(self._readers)

    @property
    def waiting(self) -> int:
        """Tuples that wait for the first reader."""
        with self.changed:
            return self._backlog.tuples

    @property
    def dropped(self) -> int:
        """Tuples that readers were too slow for, or that nobody came for."""
        with self.changed:
            return self._gone_dropped + self._backlog.dropped + sum(reader.dropped for reader in self._readers)
