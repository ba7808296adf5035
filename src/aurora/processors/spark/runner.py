"""Steps as Spark jobs: every bundle of tasks is one Spark task. Only descriptors go through Spark.

The job's description is made once for every number of bundles and run again and again; what is to be done comes as a
property of the job. So a step costs neither the pickling of a function nor the planning of a job.
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
from aurora.processors.spark.tasks import BUNDLE, packed_bundle, packed_program, run_bundle
from aurora.processors.steps.task import Outcome, Program, Task
from aurora.storage.folder import open_folder

_MOST_LOSSES = 4
"""A step in which so many sessions are lost is likely to be what kills them."""


class SparkRunner:
    """Runs tasks in a session. ``shared`` is the address of a folder that every executor reaches.

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
    ) -> None:
        self.slots = slots
        self._session = session
        self._shared = shared
        self._restart = restart
        self._on_lost = on_lost or (lambda message: None)
        self._program = ""
        self._jobs: dict[int, Any] = {}

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
            except (Py4JError, PySparkException, OSError) as error:
                if session_alive(self._session):
                    raise AuroraError(f"Spark could not run {label}: {_told(error)}") from error
                losses += 1
                lost = f"the Spark session was lost while it ran {label}"
                if self._restart is None or losses == _MOST_LOSSES:
                    raise SparkLostError(
                        f"{lost}: {_told(error)}\n  way out: run again; with --state DIR a run goes on where it stopped"
                    ) from error
                self._on_lost(f"{lost}; starting another")
                stop_session(self._session)
                self._session = self._restart()
                self._jobs.clear()

    def _run(self, bundles: Sequence[Sequence[Task]], label: str) -> list[Outcome]:
        context = self._session.sparkContext
        job = self._job(len(bundles))
        context.setJobDescription(label)
        for number, bundle in enumerate(bundles):
            context.setLocalProperty(f"{BUNDLE}{number}", packed_bundle(self._shared, self._program, list(bundle)))
        # ``RDD.collect`` would have Java read its own largest classes anew for every job, to see what the function that
        # collects refers to, and open a socket for the answer. This way a job takes half the time.
        answers = job.collectAsync().get()
        # A loop over a Java list ends with an error of Java's, which PySpark looks into at length.
        batches = (pickle.loads(answers.get(number)) for number in range(len(bundles)))
        return [outcome for (outcomes,) in batches for outcome in outcomes]

    def _job(self, bundles: int) -> Any:
        """A Java object: what Spark needs to know of a job with so many tasks."""
        if bundles not in self._jobs:
            numbers = self._session.sparkContext.parallelize(range(bundles), bundles)
            self._jobs[bundles] = numbers.mapPartitionsWithIndex(run_bundle)._jrdd
        return self._jobs[bundles]

    def close(self) -> None:
        if self._program:
            open_folder(self._shared).delete(self._program)


def _told(error: Any) -> str:
    """The line of a Java error that says what happened."""
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception.getCause() or error.java_exception
        return str(cause.getMessage()).partition("\n")[0]
    try:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    except Exception:  # PySpark's errors fail to say what they are when Java has too much to say
        lines = []
    return lines[-1] if lines else f"{type(error).__name__}; Spark's log has the whole story"
