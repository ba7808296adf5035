"""The queries on Bytewax, with one worker, since Python code runs on one core anyway.

Its manual wants sources that never wait and are polled, every millisecond where there was nothing: ``poll``. One that
waits in the socket, for a millisecond at most, has its lines as soon as they come: ``wait``. That is quicker here,
where there is always something to come; both are measured. The mode is the fourth argument.
"""

from __future__ import annotations

import select
import socket
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import bytewax.operators as op
import bytewax.operators.windowing as win
from bytewax.dataflow import Dataflow
from bytewax.inputs import DynamicSource, StatelessSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.testing import cluster_main

from benchmarks.latency_peers.deliveries import HOST, Deliveries, arguments, settle, stop_at_end_of_input

ALIGN = datetime(2026, 1, 1, tzinfo=UTC)
SECOND, SLACK = timedelta(seconds=1), timedelta(milliseconds=200)
Tick = tuple[int, str, float, int, int]


class Lines(StatelessSourcePartition[Any]):
    def __init__(self, port: int, waits: bool) -> None:
        self._patience_ms = 1 if waits else 0
        self._socket = socket.create_connection((HOST, port))
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._rest = b""

    def next_batch(self) -> list[Tick]:
        if not self._poll.poll(self._patience_ms):
            return []
        data = self._socket.recv(1 << 16)
        if not data:
            raise StopIteration
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [tick(line) for line in lines]

    def next_awake(self) -> datetime | None:
        return datetime.now(UTC) if self._patience_ms else None


class Socket(DynamicSource[Any]):
    def __init__(self, port: int, waits: bool) -> None:
        self._port, self._waits = port, waits

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Lines:
        return Lines(self._port, self._waits)


class Noting(StatelessSinkPartition[Any]):
    def __init__(self, notes: Deliveries) -> None:
        self._notes = notes

    def write_batch(self, items: list[Any]) -> None:
        for item in items:
            self._notes.note(*item)


class Notes(DynamicSink[Any]):
    def __init__(self, notes: Deliveries) -> None:
        self._notes = notes

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Noting:
        return Noting(self._notes)


def tick(line: bytes) -> Tick:
    birth, ticker, price, volume, ts = line.decode().split(",")
    return int(birth), ticker, float(price), int(volume), int(ts)


def alerts(ticks: Any) -> Any:
    dear = op.filter("dear", ticks, lambda t: t[2] > 50)
    return op.map("notional", dear, lambda t: (t[0], 1, t[2] * t[3], t[2]))


def windows(ticks: Any) -> Any:
    def fold(state: list[Any], t: Tick) -> list[Any]:
        state[0] += 1
        state[1] += t[2]
        state[2] = max(state[2], t[2])
        return state

    def merge(one: list[Any], other: list[Any]) -> list[Any]:
        return [one[0] + other[0], one[1] + other[1], max(one[2], other[2])]

    def result(item: Any) -> tuple[int, int, float, float]:
        _ticker, (window, (count, total, top)) = item
        start_ms = round(ALIGN.timestamp() * 1_000) + 1_000 * window
        return start_ms, count, total / count, top

    clock = win.EventClock(
        ts_getter=lambda t: datetime.fromtimestamp(t[4] / 1_000, UTC), wait_for_system_duration=SLACK
    )
    windower = win.TumblingWindower(length=SECOND, align_to=ALIGN)
    keyed = op.key_on("ticker", ticks, lambda t: t[1])
    folded = win.fold_window("second", keyed, clock, windower, lambda: [0, 0.0, 0.0], fold, merge, ordered=False)
    return op.map("result", folded.down, result)


def main() -> None:
    query, port, folder = arguments()
    notes = Deliveries()
    stop_at_end_of_input(lambda: notes.write(folder))
    flow = Dataflow("latency")
    ticks = op.input("ticks", flow, Socket(port, sys.argv[4] == "wait"))
    op.output("notes", {"q1": alerts, "q2": windows}[query](ticks), Notes(notes))
    settle()
    cluster_main(flow, [], 0)


if __name__ == "__main__":
    main()
