"""Who runs the boxes, and when: the engine's own thread, or whoever brings tuples when it has nothing to do.

Tuples that come while nothing runs are run at once by the thread that brings them: handing them to another thread would
take longer than a few boxes do. What takes longer than a moment is left to the engine's thread: a source that is
held up would send less, and nobody would see how much more there is. Where large tables follow each other closely, it
waits a moment for the next one: a longer train costs less than two, for those who bring them too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

_MOMENT_S = 0.002
"""So long whoever brings tuples may run boxes at a time."""
_NEW_SHARE = 0.1
_FADING = 0.98
_GATHER_S = 0.002
"""So long large tables wait for the next."""
_CLOSELY_S = 0.005
"""When boxes last ran no longer ago than this, another is likely to come."""
_SELDOM = 63
"""So many times in a row it is left out at most where it is of no use."""


class Habits:
    """How long it lately took to run what somebody brought, by the size of it. One hiccup does not make a habit.

    What takes too long is left alone, and tried again after a while: it may be cheaper then, or the machine quieter.
    """

    def __init__(self) -> None:
        self._takes_s: dict[int, float] = {}

    def allow(self, tuples: int) -> bool:
        size = tuples.bit_length()
        takes_s = self._takes_s.get(size, 0.0)
        if takes_s <= _MOMENT_S:
            return True
        self._takes_s[size] = takes_s * _FADING
        return False

    def note(self, tuples: int, took_s: float) -> None:
        size = tuples.bit_length()
        before_s = self._takes_s.get(size, 0.0)
        self._takes_s[size] = before_s + _NEW_SHARE * (took_s - before_s)


class Gathering:
    """Whether it pays to wait a moment for more before boxes run.

    It does not where nobody brings more until answers have come, and is tried there ever more seldom.
    """

    def __init__(self) -> None:
        self._in_vain = 0
        self._left_out = 0

    def pays(self) -> bool:
        if self._left_out < self._in_vain:
            self._left_out += 1
            return False
        self._left_out = 0
        return True

    def note(self, *, more: bool) -> None:
        """After it was tried: whether more came."""
        self._in_vain = 0 if more else min(2 * self._in_vain + 1, _SELDOM)


class Runnable(Protocol):
    """What the loop drives."""

    def turn(self) -> bool:
        """Takes what waits and runs some boxes; False if there was nothing to do."""

    def tick(self) -> None:
        """Lets time pass without a tuple."""

    @property
    def has_plenty(self) -> bool:
        """Whether what waits fills a train."""


class Loop:
    """Runs until it is stopped or something fails; ``error`` is then what did.

    It rests when everything that was there has come through and the boxes have been told the time. On a quiet
    stream it goes on every ``tick_s()`` seconds, or rests until there is something new if that is None.
    """

    def __init__(self, runnable: Runnable, *, tick_s: Callable[[], float | None], paused: bool = False) -> None:
        self._runnable = runnable
        self._tick_s = tick_s
        self.paused = paused
        self.error: BaseException | None = None
        self._turn = threading.RLock()
        self._runs: int | None = None
        """The thread that runs boxes."""
        self._habits = Habits()
        self._gathering = Gathering()
        self._tables = 0
        self._tables_run = 0
        self._ran_s = 0.0
        self._turns = 0
        self._waited = 0
        lock = threading.Lock()
        self._signal = threading.Condition(lock)
        self._done = threading.Condition(lock)
        self._news = True
        self._idle = False
        self._wanted = 0
        self._stopped = False
        self._halted = threading.Event()
        self._thread = threading.Thread(target=self._work, name="aurora-engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def halt(self) -> None:
        """Runs nothing more; does not wait for what runs just now."""
        self._halted.set()
        with self._signal:
            self._stopped = True
            self._signal.notify_all()
            self._done.notify_all()

    def stop(self) -> None:
        """Waits for what runs just now, and runs nothing more."""
        self.halt()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def follow(self, runnable: Runnable) -> None:
        """From now on it drives this. Whoever calls has the turn."""
        self._runnable = runnable

    @property
    def runs_here(self) -> bool:
        """Whether the calling thread is the one that runs boxes."""
        return self._runs == threading.get_ident()

    def pause(self) -> None:
        """Nothing runs until ``resume``; waits for what runs just now."""
        with self.exclusive():
            self.paused = True
        with self._signal:
            self._done.notify_all()

    def hold(self) -> None:
        """Nothing more runs until ``resume``; any thread may say so, also the one that runs boxes."""
        with self._signal:
            self.paused = True
            self._done.notify_all()

    def resume(self) -> None:
        with self._signal:
            self.paused = False
            self._signal.notify_all()

    def wake(self, *, table: bool = False) -> None:
        """There is something new; a large table, others of which may follow."""
        with self._signal:
            self._news = True
            self._tables += table
            self._signal.notify_all()

    def bring(self, tuples: int) -> None:
        """There are so many new ones, and whoever brought them may run them if that is soon done."""
        me = threading.get_ident()
        if (
            self._runs == me
            or not self._habits.allow(tuples)
            or not (self._turn.acquire(blocking=False) or self._acquire_soon())
        ):
            self.wake()
            return
        finished = False
        try:
            if not self._is_held:
                self._runs = me
                began_s = time.perf_counter()
                finished = self._run_for_a_moment(began_s + _MOMENT_S)
                self._habits.note(tuples, time.perf_counter() - began_s)
        except BaseException as error:
            self._fail(error)
        finally:
            self._runs = None
            self._turn.release()
        if finished:
            with self._signal:
                self._idle = True
                self._done.notify_all()
        else:
            self.wake()

    def _acquire_soon(self) -> bool:
        """Waits a moment for the turn. Threads get more done in turns than when they fight for Python's lock.

        Only once for what runs just now: what takes long must not hold up those who bring many small tables.
        """
        if self._waited == self._turns:
            return False
        self._waited = self._turns
        with self._signal:
            self._wanted += 1
        acquired = self._turn.acquire(timeout=_MOMENT_S)
        with self._signal:
            self._wanted -= 1
            self._signal.notify_all()
        return acquired

    def _run_for_a_moment(self, until_s: float) -> bool:
        """Whether all is done."""
        while self._runnable.turn():
            if self.paused or time.perf_counter() > until_s:
                return False
        return not self.paused

    @property
    def _is_held(self) -> bool:
        return self.paused or self._stopped or self._wanted > 0 or self.error is not None

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Whoever is inside may run boxes; nobody else does."""
        with self._signal:
            self._wanted += 1
        try:
            self._turn.acquire()
        finally:
            with self._signal:
                self._wanted -= 1
                self._signal.notify_all()
        before, self._runs = self._runs, threading.get_ident()
        try:
            yield
        finally:
            self._runs = before
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
            self._done.wait()
            return True

    def wait_for_change(self, timeout_s: float) -> None:
        """Waits until boxes have run, or so long."""
        with self._signal:
            self._done.wait(timeout_s)

    def _work(self) -> None:
        try:
            while self._may_go():
                self._gather()
                with self._turn:
                    if self.paused or self._stopped:
                        # Somebody else had the turn first, and meant it.
                        continue
                    self._runs = threading.get_ident()
                    self._turns += 1
                    worked = self._runnable.turn()
                    if worked:
                        self._ran_s = time.perf_counter()
                    elif not self.paused:
                        self._runnable.tick()
                    self._runs = None
                with self._signal:
                    self._idle = not worked
                    self._done.notify_all()
        except BaseException as error:
            self._fail(error)

    def _gather(self) -> None:
        """Waits a moment if a large table has come closely behind another, and more may."""
        tables = self._tables
        if tables == self._tables_run:
            return
        closely = time.perf_counter() - self._ran_s < _CLOSELY_S
        if closely and not self._wanted and not self._runnable.has_plenty and self._gathering.pays():
            self._halted.wait(_GATHER_S)
            self._gathering.note(more=self._tables > tables)
        self._tables_run = self._tables

    def _fail(self, error: BaseException) -> None:
        with self._signal:
            self.error = error
            self._stopped = True
            self._done.notify_all()
            self._signal.notify_all()

    def _may_go(self) -> bool:
        with self._signal:
            while not self._stopped and (self.paused or self._wanted or (self._idle and not self._news)):
                quiet = self._idle and not self.paused and not self._wanted
                if not self._signal.wait(self._tick_s() if quiet else None) and quiet:
                    break
            self._news = self._idle = False
            return not self._stopped
