"""Where Spark runs: the master's URL, and what follows from it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from aurora.errors import InputError

ATTEMPTS = 4
"""How often a task is tried, as on a cluster. Spark's own default for local masters is once."""

LEGAL = (
    "local, local[N], local[*], local[N,ATTEMPTS], local-cluster[WORKERS,CORES,MEGABYTES], "
    "spark://HOST:PORT, yarn, k8s://HTTPS_URL"
)

_LOCAL = re.compile(r"local(?:\[\s*(\*|\d+)\s*(?:,\s*(\d+)\s*)?\])?")
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\]")
_REMOTE = re.compile(r"spark://[^\s/:]+:\d+(?:,[^\s/:]+:\d+)*|yarn|k8s://\S+")


@dataclass(frozen=True)
class Master:
    """A master URL that has been understood."""

    spark_url: str
    """What Spark is given."""
    slots: int | None
    """How many tasks run at once; None where only the cluster knows."""
    is_local: bool
    """Driver and tasks share one machine, and so its files and its Python."""

    @classmethod
    def parse(cls, url: str) -> Master:
        """
        >>> Master.parse("local[2]")
        Master(spark_url='local[2,4]', slots=2, is_local=True)
        """
        text = url.strip()
        if match := _LOCAL.fullmatch(text):
            slots = _processors() if match[1] == "*" else int(match[1] or 1)
            attempts = int(match[2] or ATTEMPTS)
            if slots and attempts:
                return cls(f"local[{slots},{attempts}]", slots, True)
        elif match := _LOCAL_CLUSTER.fullmatch(text):
            workers, cores, megabytes = (int(number) for number in match.groups())
            if workers and cores and megabytes:
                return cls(f"local-cluster[{workers},{cores},{megabytes}]", workers * cores, True)
        elif _REMOTE.fullmatch(text):
            return cls(text, None, False)
        raise InputError(f"{url!r} is no master that Spark knows.\n  way out: give one of {LEGAL}; numbers are above 0")


def _processors() -> int:
    """The processors that this process may use, which containers and ``taskset`` make fewer than the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
