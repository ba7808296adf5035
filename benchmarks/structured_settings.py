"""What Spark is told for Structured Streaming on one machine, beyond what Aurora tells it for its own jobs."""

from __future__ import annotations

from pyspark.sql import SparkSession

JAVA = {
    "spark.driver.memory": "4g",
    "spark.driver.extraJavaOptions": " ".join(
        [
            "-XX:-UseSerialGC",
            "-XX:+UseParallelGC",
            "-XX:Tier4InvocationThreshold=5000",
            "-XX:Tier4MinInvocationThreshold=600",
            "-XX:Tier4CompileThreshold=15000",
        ]
    ),
}
"""Rows live in Java here. So it gets memory, a collector for both cores, and the compiler's own thresholds back."""

SQL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Or the files of a small micro-batch, which are small, would all go to one task.
    "spark.sql.files.openCostInBytes": "65536",
    # Or lists are collected by sorting as soon as there are 128 groups.
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "1000000",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    ),
    # With the default, each entry in the logs of offsets and commits took about 30 ms; with this one about 10 ms.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}

ONLY_WITH_FUNCTIONS = (
    "spark.sql.streaming.stateStore.providerClass",
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
)
"""The one store in which ``transformWithState`` keeps state."""


def prepared(spark: SparkSession) -> SparkSession:
    """A session beside ``spark`` with these settings, so that ``spark`` keeps its own."""
    session = spark.newSession()
    for name, value in SQL.items():
        session.conf.set(name, value)
    return session
