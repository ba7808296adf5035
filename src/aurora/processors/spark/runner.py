"""Steps on Spark: every bundle of tasks is done by one Spark task. Only descriptors travel.

Spark tasks stand by for bundles (``standing.py``), which takes a step least time. Where others use the session too, or
where each step should be seen on Spark's page, a step is a job of its own. The job's description is then made once for
every number of bundles and run again and again, and what is to be done comes as a property of the job. So a job costs
neither the pickling of a function nor planning.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from aurora.errors import AuroraError, SparkLostError
from aurora.processors.spark.session import session_alive, stop_session
from aurora.processors.spark.standing import JobEndedError, StandingTasks
from aurora.processors.spark.tasks import BUNDLE, as_property, packed_bundle, packed_program, run_bundle, take_seat
from aurora.processors.steps.task import Outcome, Program, Task
from aurora.storage.folder import open_folder

_MOST_LOSSES = 4
"""A step in which so many sessions are lost is likely to be what kills them."""


class SparkRunner:
    """Runs tasks in a session. ``shared`` is the address of a folder that every executor reaches.

    With ``standing`` False every step is a job.

    With ``restart``, which starts another session, a lost session is replaced and what it was doing is done again.
    """

    kind = "spark"

    def __init__(
        self,
        session: SparkSession,
        shared: str,
        slots: int,
        *,
        restart: Callable[[], SparkSession] | None = None,
        on_lost: Callable[[str], None] | None = None,
        standing: bool = True,
    ) -> None:
        self.slots = slots
        self._session = session
        self._shared = shared
        self._restart = restart
        self._on_lost = on_lost or (lambda message: None)
        self._program = ""
        self._jobs: dict[int, Any] = {}
        self._stands = standing
        self._standing = self._stand()
        self._seats: dict[tuple[int, int], int] = {}

    def _stand(self) -> StandingTasks | None:
        context = self._session.sparkContext
        one_machine = str(context.master).startswith("local")
        return StandingTasks(context, self.slots, take_seat, one_machine=one_machine) if self._stands else None

    def prepare(self, program: Program) -> None:
        self._program = f"program-{program.run}"
        open_folder(self._shared).write(self._program, packed_program(program))
        # Workers read the program now, side by side, and not when the first train waits for it.
        self.run([[]] * self.slots, f"read the program of {program.network.name}")

    def run(self, bundles: Sequence[Sequence[Task]], label: str) -> list[Outcome]:
        losses = 0
        while True:
            try:
                return self._run(bundles, label)
            except (Py4JError, PySparkException, OSError, JobEndedError) as error:
                if session_alive(self._session):
                    raise AuroraError(f"Spark could not run {label}: {_told(error)}") from error
                losses += 1
                lost = f"the Spark session was lost while it ran {label}"
                if self._restart is None or losses == _MOST_LOSSES:
                    raise SparkLostError(
                        f"{lost}: {_told(error)}\n  way out: run again; with --state DIR a run goes on where it stopped"
                    ) from error
                self._on_lost(f"{lost}; starting another")
                if self._standing is not None:
                    self._standing.close()
                stop_session(self._session)
                self._session = self._restart()
                self._jobs.clear()
                self._standing = self._stand()

    def _run(self, bundles: Sequence[Sequence[Task]], label: str) -> list[Outcome]:
        packed = [packed_bundle(self._shared, self._program, list(bundle)) for bundle in bundles]
        if self._standing is None or self._standing.wanted_elsewhere:
            return self._run_job(packed, label)
        try:
            answers, seats = self._standing.run(packed, self._preferred(bundles))
        except JobEndedError as error:
            if self._standing.reached or not session_alive(self._session):
                raise
            self._on_lost(f"Spark's tasks do not reach the driver ({_told(error)}); every step is a job from now on")
            self._standing.close()
            self._standing, self._stands = None, False
            return self._run_job(packed, label)
        for bundle, seat in zip(bundles, seats, strict=True):
            self._seats.update({(task.segment, task.part): seat for task in bundle})
        return [outcome for answer in answers for outcome in pickle.loads(answer)]

    def _preferred(self, bundles: Sequence[Sequence[Task]]) -> list[int]:
        """A seat for each bundle, if it can be the one that has the kernels of its first task."""
        known = [self._seats.get((bundle[0].segment, bundle[0].part)) if bundle else None for bundle in bundles]
        free = [seat for seat in range(self.slots) if seat not in known]
        found: list[int] = []
        for seat in known:
            found.append(free.pop(0) if seat is None or seat in found else seat)
        return found

    def _run_job(self, packed: Sequence[bytes], label: str) -> list[Outcome]:
        context = self._session.sparkContext
        job = self._job(len(packed))
        context.setJobDescription(label)
        for number, bundle in enumerate(packed):
            context.setLocalProperty(f"{BUNDLE}{number}", as_property(bundle))
        # ``RDD.collect`` would have Java read its own largest classes anew for every job, to see what the function that
        # collects refers to, and open a socket for the answer. This way a job takes half the time.
        answers = job.collectAsync().get()
        # A loop over a Java list ends with an error of Java's, which PySpark looks into at length.
        batches = (pickle.loads(answers.get(number)) for number in range(len(packed)))
        return [outcome for (outcomes,) in batches for outcome in outcomes]

    def _job(self, bundles: int) -> Any:
        """A Java object: what Spark needs to know of a job with so many tasks."""
        if bundles not in self._jobs:
            numbers = self._session.sparkContext.parallelize(range(bundles), bundles)
            self._jobs[bundles] = numbers.mapPartitionsWithIndex(run_bundle)._jrdd
        return self._jobs[bundles]

    def close(self) -> None:
        if self._standing is not None:
            self._standing.close()
        if self._program:
            open_folder(self._shared).delete(self._program)


def _told(error: Any) -> str:
    """The line of a Java error that says what happened."""
    if isinstance(error, JobEndedError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception.getCause() or error.java_exception
        return str(cause.getMessage()).partition("\n")[0]
    try:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    except Exception:  # PySpark's errors fail to say what they are when Java has too much to say
        lines = []
    return lines[-1] if lines else f"{type(error).__name__}; Spark's log has the whole story"
