"""The queries on Aurora: a program that reads the socket, enqueues all complete lines there are, and is called back.

Started with a fourth argument, the processor: local, or spark.
"""

from __future__ import annotations

import socket
import sys
import time
from array import array
from pathlib import Path
from typing import Literal, cast

import numpy as np
import polars as pl

from aurora import Engine, Network
from benchmarks.latency_peers.deliveries import HOST, arguments, settle, stop_at_end_of_input

FIELDS = 5
STAMP = pl.Datetime("us", "UTC")
COLUMNS = {"q1": ("key", "n", "first", "second"), "q2": ("ts", "n", "mean", "top")}
"""What is noted of an answer: two columns of whole numbers, two of doubles."""


class Notes:
    """Keeps what came out, and when, as plain bytes: frames by the thousand would keep the garbage collector busy."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._kept = {name: bytearray() for name in COLUMNS[query]}
        self._times_ns, self._sizes = array("q"), array("q")

    def __call__(self, train: pl.DataFrame) -> None:
        self._times_ns.append(time.time_ns())
        self._sizes.append(train.height)
        for name, kept in self._kept.items():
            kept += train.get_column(name).to_numpy().tobytes()

    def write(self, folder: Path) -> None:
        keys, counts, firsts, seconds = self._kept.values()
        key = np.frombuffer(keys, np.int64)
        notes = pl.DataFrame(
            {
                "delivered_ns": np.repeat(np.array(self._times_ns), np.array(self._sizes)),
                "key": key if self._query == "q1" else key // 1_000,
                "count": np.frombuffer(counts, np.int64),
                "first": np.frombuffer(firsts, np.float64),
                "second": np.frombuffer(seconds, np.float64),
            }
        )
        notes.write_csv(folder / "results.csv", include_header=False)


def network(query: str) -> Network:
    net = Network("latency")
    ticks = net.stream("ticks", birth="int", ticker="string", price="double", volume="int", ts="timestamp")
    if query == "q1":
        columns = {"key": "birth", "n": "1", "first": "price * volume", "second": "price"}
        dear = ticks.filter("dear", "price > 50")
        net.output("answer", dear.map("notional", compute=columns))
    else:
        seconds = ticks.aggregate(
            "seconds",
            group_by="ticker",
            order_by="ts",
            slack="200ms",
            window={"size": "1s"},
            n="count(*)",
            mean="avg(price)",
            top="max(price)",
        )
        net.output("answer", seconds)
    return net


def parse(data: bytes) -> pl.DataFrame:
    """Whole lines as columns. For a few lines this is much faster than a reader of CSV."""
    values = data.decode("ascii").replace("\n", ",").split(",")
    values.pop()
    births = pl.Series("birth", list(map(int, values[0::FIELDS])), pl.Int64)
    stamps_us = [1_000 * int(text) for text in values[4::FIELDS]]
    return births.to_frame().hstack(
        [
            pl.Series("ticker", values[1::FIELDS], pl.String),
            pl.Series("price", list(map(float, values[2::FIELDS])), pl.Float64),
            pl.Series("volume", list(map(int, values[3::FIELDS])), pl.Int64),
            pl.Series("ts", stamps_us, pl.Int64).cast(STAMP),
        ]
    )


def read(engine: Engine, port: int, pause_s: float) -> None:
    """Until the feed ends: all complete lines that have come, as one table, and then a pause."""
    rest = b""
    with socket.create_connection((HOST, port)) as feed:
        while data := feed.recv(1 << 16):
            lines, newline, rest = (rest + data).rpartition(b"\n")
            if newline:
                engine.enqueue("ticks", parse(lines + newline))
                if pause_s:
                    time.sleep(pause_s)


def main() -> None:
    query, port, folder = arguments()
    processor = cast(Literal["local", "spark"], sys.argv[4])
    notes = Notes(query)
    engine = Engine(network(query), processor=processor, master="local[2]", say=print)
    engine.start()
    engine.subscribe("answer", notes)
    stop_at_end_of_input(lambda: notes.write(folder))
    settle()
    # A step on Spark takes tens of milliseconds; tables of single tuples would only keep the driver busy meanwhile.
    read(engine, port, 0.0 if processor == "local" else 0.01)


if __name__ == "__main__":
    main()
