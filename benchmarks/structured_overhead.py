"""What one step costs in Spark when there is next to nothing to do: a micro-batch, and a bare job of Python tasks."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from benchmarks.structured_settings import prepared

ROWS = 1_000
SKIPPED = 10
"""The first micro-batches and jobs are slower than all others."""

_LIMIT_S = 120.0


def micro_batch_overhead(
    spark: SparkSession, stateful: bool, batches: int = 30, checkpoint_folder: Path | None = None
) -> list[float]:
    """Seconds that micro-batches of a thousand rows took, as Spark itself measures them, from trigger to commit.

    Stateless is a filter; stateful a count per key over tumbling seconds, of which each micro-batch is one.
    """
    session = prepared(spark)
    session.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(2 * (SKIPPED + batches)))
    source = session.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS).option("numPartitions", 2)
    rows = source.load()
    if stateful:
        keyed = rows.withWatermark("timestamp", "1 second").withColumn("key", f.expr("value % 500"))
        frame = keyed.groupBy("key", f.window("timestamp", "1 second")).agg(f.count("*").alias("n"))
    else:
        frame = rows.where("value % 2 = 0")
    folder = tempfile.mkdtemp(dir=checkpoint_folder)
    try:
        query = frame.writeStream.format("noop").outputMode("append").option("checkpointLocation", folder).start()
        try:
            end = time.monotonic() + _LIMIT_S
            while len(done := query.recentProgress) < SKIPPED + batches and query.isActive and time.monotonic() < end:
                time.sleep(0.1)
        finally:
            query.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if (error := query.exception()) is not None:
        raise error
    return [progress.durationMs["triggerExecution"] / 1_000 for progress in done[SKIPPED : SKIPPED + batches]]


def bare_job_overhead(spark: SparkSession, jobs: int = 50) -> list[float]:
    """Seconds for a job of two Python tasks that do nothing."""
    context = spark.sparkContext
    taken = []
    for _ in range(SKIPPED + jobs):
        started = time.perf_counter()
        context.parallelize([0, 1], 2).mapPartitions(_nothing).collect()
        taken.append(time.perf_counter() - started)
    return taken[SKIPPED:]


def _nothing(numbers: Iterable[int]) -> Iterator[int]:
    yield from numbers
