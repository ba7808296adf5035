"""The queries on Pathway.

It gathers what came in and commits it every so often; two milliseconds is the shortest that pays. One worker.
"""

from __future__ import annotations

import socket
from typing import Any

import pathway as pw

from benchmarks.latency_peers.deliveries import HOST, Deliveries, arguments, settle, stop_at_end_of_input

COMMIT_MS = 2
WINDOW_MS, SLACK_MS = 1_000, 200


class Tick(pw.Schema):
    birth: int
    ticker: str
    price: float
    volume: int
    ts: int


class Lines(pw.io.python.ConnectorSubject):
    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    def run(self) -> None:
        with socket.create_connection((HOST, self._port)) as feed, feed.makefile("r", encoding="ascii") as lines:
            for line in lines:
                birth, ticker, price, volume, ts = line.split(",")
                self.next(birth=int(birth), ticker=ticker, price=float(price), volume=int(volume), ts=int(ts))


def alerts(ticks: Any) -> Any:
    dear = ticks.filter(pw.this.price > 50)
    return dear.select(key=pw.this.birth, count=1, first=pw.this.price * pw.this.volume, second=pw.this.price)


def windows(ticks: Any) -> Any:
    behavior = pw.temporal.exactly_once_behavior(shift=SLACK_MS)
    window = pw.temporal.tumbling(duration=WINDOW_MS)
    return ticks.windowby(ticks.ts, window=window, instance=ticks.ticker, behavior=behavior).reduce(
        key=pw.this._pw_window_start,
        count=pw.reducers.count(),
        first=pw.reducers.avg(pw.this.price),
        second=pw.reducers.max(pw.this.price),
    )


def main() -> None:
    query, port, folder = arguments()
    notes = Deliveries()
    stop_at_end_of_input(lambda: notes.write(folder))
    ticks = pw.io.python.read(Lines(port), schema=Tick, autocommit_duration_ms=COMMIT_MS)

    def on_change(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        if is_addition:
            notes.note(row["key"], row["count"], row["first"], row["second"])

    pw.io.subscribe({"q1": alerts, "q2": windows}[query](ticks), on_change=on_change)
    settle()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    main()
