"""Where steps run: a Spark session with tasks that stand by, for all networks of this process that run on Spark.

A process has one session. Those who run steps take turns, in the order in which they come: a step uses all slots.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from aurora.errors import InputError
from aurora.processors.spark import session as sessions
from aurora.processors.spark.standing import StandingTasks
from aurora.processors.spark.tasks import run_bundle, take_seat

Start = Callable[[], SparkSession]


class SparkPlace:
    """A session and its tasks that stand by; with ``standing`` False every step is a job."""

    def __init__(self, session: SparkSession, slots: int | None = None, *, standing: bool = True) -> None:
        self.session = session
        self.slots = slots or session.sparkContext.defaultParallelism
        self._stands = standing
        self._turns = _Turns()
        self._jobs: dict[int, Any] = {}
        self.standing = self._stand()

    def _stand(self) -> StandingTasks | None:
        context = self.session.sparkContext
        one_machine = str(context.master).startswith("local")
        return StandingTasks(context, self.slots, take_seat, one_machine=one_machine) if self._stands else None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Whoever is inside runs a step, and nobody else does."""
        with self._turns:
            yield

    def job(self, bundles: int) -> Any:
        """A Java object: what Spark needs to know of a job with so many tasks."""
        if bundles not in self._jobs:
            numbers = self.session.sparkContext.parallelize(range(bundles), bundles)
            self._jobs[bundles] = numbers.mapPartitionsWithIndex(run_bundle)._jrdd
        return self._jobs[bundles]

    def stand_no_more(self) -> None:
        """From now on every step is a job."""
        self._stands = False
        self.dismiss()

    def renew(self, start: Start) -> None:
        """Another session in the place of one that was lost."""
        self.dismiss()
        sessions.stop_session(self.session)
        self.session = start()
        self._jobs.clear()
        self.standing = self._stand()

    def dismiss(self) -> None:
        """The tasks that stand by leave."""
        standing, self.standing = self.standing, None
        if standing is not None:
            standing.close()


class _Turns:
    """A lock that is handed on in the order in which it was asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Event] = deque()

    def __enter__(self) -> None:
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            mine = threading.Event()
            self._waiting.append(mine)
        mine.wait()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


class SharedPlace:
    """The place of this process, from the first who joins to the last who leaves. All want the same of Spark."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._place: SparkPlace | None = None
        self._wants: tuple[str, bool] = ("", False)
        self._users = 0

    def join(self, master: str, start: Start, slots: int | None, *, ui: bool) -> SparkPlace:
        """``start`` is called if nobody is there yet. With ``ui`` steps are jobs, which Spark's page shows."""
        with self._lock:
            if self._place is None:
                self._place = SparkPlace(start(), slots, standing=not ui)
                self._wants = (master, ui)
            elif self._wants != (master, ui):
                there, page = self._wants
                raise InputError(
                    f"Spark runs on {there} {'with' if page else 'without'} its page in this process, and there is one "
                    "session in a process; give the same --master and --ui, or use another process"
                )
            self._users += 1
            return self._place

    def leave(self) -> bool:
        """Whether it was the last one, and Spark has been stopped."""
        with self._lock:
            self._users -= 1
            place = self._place
            if self._users or place is None:
                return False
            self._place = None
            place.dismiss()
            sessions.stop_session(place.session)
            return True


SHARED = SharedPlace()
