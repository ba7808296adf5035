"""The queries in Flink SQL, from the socket to the result all in Java.

Python only puts the job together: Java reads the feed, runs the SQL and writes every result to a second loopback
socket, where it counts as delivered when we have it. One parallel task, results are handed on at once (no buffer
timeout), and the watermark moves with every tick.
"""

from __future__ import annotations

import socket
import threading
import time
from array import array
from pathlib import Path

from pyflink.common import Configuration
from pyflink.datastream import DataStream, StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway
from pyflink.table import DataTypes, Schema, StreamTableEnvironment

from benchmarks.latency_peers.deliveries import HOST, arguments, stop_at_end_of_input

SETTINGS = {
    "parallelism.default": "1",
    "execution.buffer-timeout.interval": "0 ms",
    "pipeline.auto-watermark-interval": "0 ms",
    "pipeline.object-reuse": "true",
    "execution.runtime-mode": "STREAMING",
    "rest.bind-port": "0",
    "table.local-time-zone": "UTC",
}

# Flink closes a window when the watermark is at its last millisecond, everyone else when it is at its end.
WATERMARK = "ts - INTERVAL '0.201' SECOND"

TICKS = """
CREATE TEMPORARY VIEW ticks AS SELECT
  CAST(SPLIT_INDEX(f0, ',', 0) AS BIGINT) AS birth,
  SPLIT_INDEX(f0, ',', 1) AS ticker,
  CAST(SPLIT_INDEX(f0, ',', 2) AS DOUBLE) AS price,
  CAST(SPLIT_INDEX(f0, ',', 3) AS BIGINT) AS volume,
  ts
FROM lines
"""

LINE = """
SELECT CONCAT(
  CAST(k AS STRING), ',', CAST(n AS STRING), ',', CAST(a AS STRING), ',', CAST(b AS STRING), CHR(10)) AS line
FROM ({})
"""

QUERIES = {
    "q1": "SELECT birth AS k, 1 AS n, price * volume AS a, price AS b FROM ticks WHERE price > 50",
    "q2": """
    SELECT UNIX_TIMESTAMP(CAST(window_start AS STRING)) * 1000 AS k, n, a, b FROM (
      SELECT window_start, ticker, COUNT(*) AS n, AVG(price) AS a, MAX(price) AS b
      FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' SECOND))
      GROUP BY window_start, window_end, ticker)
    """,
}


class Consumer:
    """Takes results from a socket; the time of a piece of data is that of all lines that end in it."""

    def __init__(self) -> None:
        self._server = socket.create_server((HOST, 0))
        self.port: int = self._server.getsockname()[1]
        self._times_ns, self._sizes = array("q"), array("q")
        self._data = bytearray()
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        results, _ = self._server.accept()
        while data := results.recv(1 << 16):
            self._times_ns.append(time.time_ns())
            self._sizes.append(len(data))
            self._data += data

    def write(self, folder: Path) -> None:
        rest, start = b"", 0
        with (folder / "results.csv").open("wb") as file:
            for delivered_ns, size in zip(list(self._times_ns), list(self._sizes), strict=False):
                *lines, rest = (rest + self._data[start : start + size]).split(b"\n")
                start += size
                file.writelines(b"%d,%s\n" % (delivered_ns, line) for line in lines)


def main() -> None:
    query, port, folder = arguments()
    consumer = Consumer()
    stop_at_end_of_input(lambda: consumer.write(folder))
    configuration = Configuration()
    for name, value in SETTINGS.items():
        configuration.set_string(name, value)
    environment = StreamExecutionEnvironment.get_execution_environment(configuration)
    tables = StreamTableEnvironment.create(environment)
    java = environment._j_stream_execution_environment
    stamp = "TO_TIMESTAMP_LTZ(CAST(SPLIT_INDEX(f0, ',', 4) AS BIGINT), 3)"
    schema = (
        Schema.new_builder()
        .column("f0", DataTypes.STRING())
        .column_by_expression("ts", stamp)
        .watermark("ts", WATERMARK)
        .build()
    )
    lines = DataStream(java.socketTextStream(HOST, port, "\n", 0))
    tables.create_temporary_view("lines", lines, schema)
    tables.execute_sql(TICKS)
    answer = tables.sql_query(LINE.format(QUERIES[query]))
    jvm = get_gateway().jvm
    text = jvm.org.apache.flink.table.api.DataTypes.STRING()
    results = tables._j_tenv.toDataStream(answer._j_table, text)
    schema_out = jvm.org.apache.flink.api.common.serialization.SimpleStringSchema()
    results.writeToSocket(HOST, consumer.port, schema_out)
    environment.execute("latency")


if __name__ == "__main__":
    main()
