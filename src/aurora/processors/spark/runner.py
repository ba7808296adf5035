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

from aurora.errors import AuroraError, SparkLostError
from aurora.processors.spark.place import SparkPlace, Start
from aurora.processors.spark.session import session_alive
from aurora.processors.spark.standing import JobEndedError
from aurora.processors.spark.tasks import BUNDLE, as_property, packed_bundle, packed_program
from aurora.processors.steps.task import Outcome, Program, Task
from aurora.storage.folder import open_folder

_MOST_LOSSES = 4
"""A step in which so many sessions are lost is likely to be what kills them."""


class SparkRunner:
    """Runs tasks in a place. ``shared`` is the address of a folder that every executor reaches.

    With ``restart``, which starts another session, a lost session is replaced and what it was doing is done again.
    """

    kind = "spark"

    def __init__(
        self,
        place: SparkPlace,
        shared: str,
        *,
        restart: Start | None = None,
        on_lost: Callable[[str], None] | None = None,
    ) -> None:
        self.slots = place.slots
        self._place = place
        self._shared = shared
        self._restart = restart
        self._on_lost = on_lost or (lambda message: None)
        self._program = ""
        self._seats: dict[tuple[int, int], int] = {}

    def prepare(self, program: Program) -> None:
        before, self._program = self._program, f"program-{program.run}"
        folder = open_folder(self._shared)
        folder.write(self._program, packed_program(program))
        # Workers read the program now, side by side, and not when the first train waits for it.
        self.run([[]] * self.slots, f"read the program of {program.network.name}")
        if before and before != self._program:
            # Workers forget programs that are no more.
            folder.delete(before)

    def run(self, bundles: Sequence[Sequence[Task]], label: str) -> list[Outcome]:
        with self._place.turn():
            return self._run_until_done(bundles, label)

    def _run_until_done(self, bundles: Sequence[Sequence[Task]], label: str) -> list[Outcome]:
        losses = 0
        while True:
            try:
                return self._run(bundles, label)
            except (Py4JError, PySparkException, OSError, JobEndedError) as error:
                if session_alive(self._place.session):
                    raise AuroraError(f"Spark could not run {label}: {_told(error)}") from error
                losses += 1
                lost = f"the Spark session was lost while it ran {label}"
                if self._restart is None or losses == _MOST_LOSSES:
                    raise SparkLostError(
                        f"{lost}: {_told(error)}\n  way out: run again; with --state DIR a run goes on where it stopped"
                    ) from error
                self._on_lost(f"{lost}; starting another")
                self._place.renew(self._restart)

    def _run(self, bundles: Sequence[Sequence[Task]], label: str) -> list[Outcome]:
        packed = [packed_bundle(self._shared, self._program, list(bundle)) for bundle in bundles]
        standing = self._place.standing
        if standing is None or standing.wanted_elsewhere:
            return self._run_job(packed, label)
        try:
            answers, seats = standing.run(packed, self._preferred(bundles))
        except JobEndedError as error:
            if standing.reached or not session_alive(self._place.session):
                raise
            self._on_lost(f"Spark's tasks do not reach the driver ({_told(error)}); every step is a job from now on")
            self._place.stand_no_more()
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
        context = self._place.session.sparkContext
        job = self._place.job(len(packed))
        context.setJobDescription(label)
        for number, bundle in enumerate(packed):
            context.setLocalProperty(f"{BUNDLE}{number}", as_property(bundle))
        # ``RDD.collect`` would have Java read its own largest classes anew for every job, to see what the function that
        # collects refers to, and open a socket for the answer. This way a job takes half the time.
        answers = job.collectAsync().get()
        # A loop over a Java list ends with an error of Java's, which PySpark looks into at length.
        batches = (pickle.loads(answers.get(number)) for number in range(len(packed)))
        return [outcome for (outcomes,) in batches for outcome in outcomes]

    def close(self) -> None:
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
