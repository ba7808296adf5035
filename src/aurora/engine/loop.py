"""The engine's own thread: it takes what waits, lets boxes run, and lets time pass when nothing waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Runnable(Protocol):
    """What the loop drives."""

    def turn(self) -> bool:
        """Takes what waits and runs some boxes; False if there was nothing to do."""

    def tick(self) -> None:
        """Lets time pass without a tuple."""


class Loop:
    """Runs until it is stopped or something fails; ``error`` is then what did.

    It is settled when everything that was there has come through and the boxes have been told the time. On a quiet
    stream they are told it every ``tick_s`` seconds, if that is given.
    """

    def __init__(self, runnable: Runnable, *, tick_s: float | None, paused: bool = False) -> None:
        self._runnable = runnable
        self._tick_s = tick_s
        self.paused = paused
        self.error: BaseException | None = None
        self._turn = threading.RLock()
        self._signal = threading.Condition()
        self._news = True
        self._idle = False
        self._wanted = 0
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="aurora-engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def halt(self) -> None:
        """Runs nothing more; does not wait for what runs just now."""
        with self._signal:
            self._stopped = True
            self._signal.notify_all()

    def stop(self) -> None:
        """Waits for what runs just now, and runs nothing more."""
        self.halt()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def pause(self) -> None:
        """Nothing runs until ``resume``; waits for what runs just now."""
        with self.exclusive():
            self.paused = True
        with self._signal:
            self._signal.notify_all()

    def resume(self) -> None:
        with self._signal:
            self.paused = False
            self._signal.notify_all()

    def wake(self) -> None:
        """There is something new."""
        with self._signal:
            self._news = True
            self._signal.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Whoever is inside may run boxes; the loop does not."""
        with self._signal:
            self._wanted += 1
        try:
            self._turn.acquire()
        finally:
            with self._signal:
                self._wanted -= 1
                self._signal.notify_all()
        try:
            yield
        finally:
            self._turn.release()

    @property
    def resting(self) -> bool:
        """Whether nothing will happen by itself."""
        return self.paused or self._stopped or self.error is not None or (self._idle and not self._news)

    def wait(self) -> bool:
        """Waits until something may have come out; False once nothing more will by itself."""
        with self._signal:
            if self.resting:
                return False
            self._signal.wait()
            return True

    def wait_for_change(self, timeout_s: float) -> None:
        """Waits until boxes have run, or so long."""
        with self._signal:
            self._signal.wait(timeout_s)

    def _work(self) -> None:
        try:
            while self._may_go():
                with self._turn:
                    if self.paused or self._stopped:
                        # Somebody else had the turn first, and meant it.
                        continue
                    worked = self._runnable.turn()
                    if not worked:
                        self._runnable.tick()
                with self._signal:
                    self._idle = not worked
                    self._signal.notify_all()
        except BaseException as error:
            with self._signal:
                self.error = error
                self._signal.notify_all()

    def _may_go(self) -> bool:
        with self._signal:
            while not self._stopped and (self.paused or self._wanted or (self._idle and not self._news)):
                quiet = self._idle and not self.paused and not self._wanted
                if not self._signal.wait(self._tick_s if quiet else None) and quiet:
                    break
            self._news = self._idle = False
            return not self._stopped
