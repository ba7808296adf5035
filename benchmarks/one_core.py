"""A process of its own in which Polars keeps to one thread: where the engine is timed, and Polars on one core.

The local processor uses one core. Polars' other threads would only take turns with it, and be woken for every small
train.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from benchmarks import ticks
from benchmarks.box_queries import QUERIES, MemorySink, run, run_polars


class OneCore:
    """Times queries in the other process."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def seconds(self, query: str, train: int | None) -> float:
        """How long the engine takes at a train size; with no train, how long Polars takes in one go."""
        self._connection.send((query, train))
        return float(self._connection.recv())


@contextmanager
def one_core(count: int) -> Iterator[OneCore]:
    """The other process, with ``count`` ticks made."""
    ours, theirs = multiprocessing.Pipe()
    before = os.environ.get("POLARS_MAX_THREADS")
    os.environ["POLARS_MAX_THREADS"] = "1"
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, count), daemon=True)
    process.start()
    if before is None:
        del os.environ["POLARS_MAX_THREADS"]
    else:
        os.environ["POLARS_MAX_THREADS"] = before
    try:
        yield OneCore(ours)
    finally:
        ours.send(None)
        process.join()


def _serve(connection: Connection, count: int) -> None:
    data = ticks.ticks(count)
    queries = {query.name: query for query in QUERIES}
    while (wanted := connection.recv()) is not None:
        name, train = wanted
        query = queries[name]
        inputs = query.inputs(data)
        start = time.perf_counter()
        if train is None:
            run_polars(query, inputs)
        else:
            run(query, inputs, train, MemorySink())
        connection.send(time.perf_counter() - start)
