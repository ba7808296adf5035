"""The queries in Spark's Structured Streaming, in micro-batches that follow one another without a pause.

Settings are those that suit it in the other benchmarks. Results go to a ``foreach`` writer, which gives each to Python
as its task comes to it; ``foreachBatch`` waits for the whole batch. Two tasks; the checkpoint lies beside the notes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sf

from benchmarks.latency_peers.deliveries import HOST, Deliveries, arguments, stop_at_end_of_input
from benchmarks.structured_settings import JAVA, SQL

SESSION = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.pyspark.python": sys.executable,
    "spark.locality.wait": "0",
    "spark.log.level": "ERROR",
}


class Noting:
    """Runs in Spark's Python workers. What it noted is written when the task's share of the batch has been given."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, partition: int, epoch: int) -> bool:
        self._notes = Deliveries()
        return True

    def process(self, row: Row) -> None:
        self._notes.note(row[0], row[1], row[2], row[3])

    def close(self, error: BaseException | None) -> None:
        self._notes.write(self._folder)


def ticks(lines: DataFrame) -> DataFrame:
    part = sf.split("value", ",")

    def column(number: int, name: str, kind: str) -> Column:
        return part.getItem(number).cast(kind).alias(name)

    return lines.select(
        column(0, "birth", "bigint"),
        column(1, "ticker", "string"),
        column(2, "price", "double"),
        column(3, "volume", "bigint"),
        sf.timestamp_millis(part.getItem(4).cast("bigint")).alias("ts"),
    )


def alerts(frame: DataFrame) -> DataFrame:
    dear = frame.where("price > 50")
    return dear.selectExpr("birth", "1L", "price * volume", "price")


def windows(frame: DataFrame) -> DataFrame:
    grouped = frame.withWatermark("ts", "200 milliseconds").groupBy(sf.window("ts", "1 second"), "ticker")
    answer = grouped.agg(sf.count("*").alias("n"), sf.avg("price").alias("mean"), sf.max("price").alias("top"))
    return answer.selectExpr("unix_millis(window.start)", "n", "mean", "top")


def main() -> None:
    query, port, folder = arguments()
    stop_at_end_of_input(lambda: None)
    builder: Any = SparkSession.builder
    for name, value in (SESSION | JAVA | SQL).items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    # Its Python workers are up before the feed is.
    session.sparkContext.parallelize(range(2), 2).map(str).collect()
    lines = session.readStream.format("socket").option("host", HOST).option("port", port).load()
    frame = {"q1": alerts, "q2": windows}[query](ticks(lines))
    checkpoint = folder.with_name("checkpoint")
    writer = frame.writeStream.outputMode("append").option("checkpointLocation", str(checkpoint))
    writer.foreach(Noting(folder)).start().awaitTermination()


if __name__ == "__main__":
    main()
