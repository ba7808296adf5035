"""What Ctrl-C does to a run: it stops between two trains, so that no sink is left in the middle of a write."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import polars as pl

from aurora.connectors.source import Source


class Interrupt:
    """While a source is read, the run stops at once, since a pipe may stay silent; while boxes run, after the train.

    Whoever asks twice is obeyed at once: ``abrupt`` says that boxes and sinks stopped in the middle of a train.
    """

    def __init__(self) -> None:
        self.abrupt = False
        self._reading = False
        self._asked = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """In this block Ctrl-C goes by these rules. Only the main thread may set this up."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._reading or self._asked:
            self.abrupt = not self._reading
            raise KeyboardInterrupt
        self._asked = True

    def stop_if_asked(self) -> None:
        if self._asked:
            raise KeyboardInterrupt

    def watched(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """The same frames, noting when one is being read."""
        while True:
            self._reading = True
            try:
                self.stop_if_asked()
                frame = next(frames, None)
            finally:
                self._reading = False
            if frame is None:
                return
            yield frame


class InterruptibleSource:
    """A source whose reading can be interrupted."""

    def __init__(self, source: Source, interrupt: Interrupt) -> None:
        self._source = source
        self._interrupt = interrupt

    def batches(self, size: int) -> Iterator[pl.DataFrame]:
        return self._interrupt.watched(self._source.batches(size))

    def fraction(self) -> float | None:
        return self._source.fraction()

    def close(self) -> None:
        self._source.close()
