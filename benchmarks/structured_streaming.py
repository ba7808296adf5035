"""The opponent: Spark's own Structured Streaming, with queries written by hand and settings that suit it.

It is to be beaten fairly. So it reads the same files as Aurora, in micro-batches of the size it likes best; its
checkpoint lies in memory where there is a file system in memory; it gets the garbage collector and the compiler that
suit it; and it runs once unmeasured before it is measured.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import polars as pl
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from aurora.errors import InputError
from benchmarks.structured_inputs import Inputs, write_inputs
from benchmarks.structured_overhead import bare_job_overhead, micro_batch_overhead
from benchmarks.structured_pairs import Pairs, pairs_by_state, placed
from benchmarks.structured_pandas import provide_pandas
from benchmarks.structured_queries import QUERIES
from benchmarks.structured_settings import JAVA, ONLY_WITH_FUNCTIONS, prepared

__all__ = [
    "BATCH_ROWS",
    "JAVA",
    "NAMES",
    "Inputs",
    "answer",
    "bare_job_overhead",
    "memory_folder",
    "micro_batch_overhead",
    "provide_pandas",
    "run_query",
    "warm_up",
    "write_inputs",
]

NAMES = ("Q1", "Q2", "Q3", "Q4", "Q4 state", "Q5", "Q5 grouped")

BATCH_ROWS = {
    "Q1": 2_500_000,
    "Q2": 1_000_000,
    "Q3": 2_500_000,
    "Q4": 2_500_000,
    "Q4 state": 1_000_000,
    "Q5": 500_000,
    "Q5 grouped": 1_000_000,
}
"""Sizes of micro-batch that suit the queries; those of Q1 to Q3 were the best of three that were tried."""

_SCHEMA = "ticker string, price double, volume bigint, ts timestamp"


def memory_folder() -> Path:
    """A new folder on a file system in memory where there is one, else on disk."""
    shared = Path("/dev/shm")
    usable = shared.is_dir() and os.access(shared, os.W_OK)
    return Path(tempfile.mkdtemp(prefix="structured-streaming-", dir=shared if usable else None))


def run_query(
    spark: SparkSession,
    name: str,
    paths: Inputs,
    checkpoint_folder: Path,
    batch_rows: int,
    *,
    limit_rows: int | None = None,
) -> tuple[float, int]:
    """The query over the files, its answer thrown away: the seconds it took from start to end, and the rows it gave.

    ``limit_rows`` is for each stream, and rounded to whole files.
    """
    return _run(spark, name, paths, checkpoint_folder, batch_rows, limit_rows, None)


def answer(
    spark: SparkSession, name: str, paths: Inputs, checkpoint_folder: Path, batch_rows: int, folder: Path
) -> pl.DataFrame:
    """The query's answer, by way of Parquet files in ``folder``."""
    _run(spark, name, paths, checkpoint_folder, batch_rows, None, folder)
    return pl.read_parquet(folder / "*.parquet")


def warm_up(spark: SparkSession, name: str, paths: Inputs, checkpoint_folder: Path) -> None:
    """Java compiles what runs often: many small micro-batches."""
    run_query(spark, name, paths, checkpoint_folder, paths.file_rows, limit_rows=4 * paths.file_rows)


def _run(
    spark: SparkSession,
    name: str,
    paths: Inputs,
    checkpoint_folder: Path,
    batch_rows: int,
    limit_rows: int | None,
    folder: Path | None,
) -> tuple[float, int]:
    session = prepared(spark)
    if name == "Q4 state":
        session.conf.set(*ONLY_WITH_FUNCTIONS)
    own = Path(tempfile.mkdtemp(dir=checkpoint_folder))
    inputs = paths.streams(name)
    files = max(1, batch_rows // paths.file_rows // len(inputs))
    streams = {
        stream: session.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", files).parquet(path)
        for stream, path in ((stream, _glob(path, limit_rows, paths.file_rows)) for stream, path in inputs.items())
    }
    pairs = Pairs(own / "last", folder) if name == "Q4" else None
    try:
        started = time.perf_counter()
        query = _start(_frame(name, streams), own / "checkpoint", folder, pairs)
        query.awaitTermination()
        seconds = time.perf_counter() - started
        given = sum(progress.sink.numOutputRows for progress in query.recentProgress)
        return seconds, pairs.rows_out if pairs is not None else given
    finally:
        shutil.rmtree(own)


def _frame(name: str, streams: dict[str, DataFrame]) -> DataFrame:
    if name == "Q4":
        return placed(streams["ticks"])
    if name == "Q4 state":
        if find_spec("pandas") is None:
            raise InputError("'Q4 state' needs pandas; call provide_pandas before Spark is started, or run Q4")
        return pairs_by_state(streams["ticks"])
    return QUERIES[name](streams)


def _start(frame: DataFrame, checkpoint: Path, folder: Path | None, pairs: Pairs | None) -> StreamingQuery:
    writer = frame.writeStream.outputMode("append").option("checkpointLocation", str(checkpoint))
    writer = writer.trigger(availableNow=True)
    if pairs is not None:
        return writer.foreachBatch(pairs).start()
    return writer.format("noop").start() if folder is None else writer.format("parquet").start(str(folder))


def _glob(folder: Path, limit_rows: int | None, file_rows: int) -> str:
    if limit_rows is None:
        return str(folder)
    files = sorted(path.name for path in folder.iterdir())[: max(1, limit_rows // file_rows)]
    return f"{folder}/{{{','.join(files)}}}"
