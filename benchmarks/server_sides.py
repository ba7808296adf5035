"""What runs in a process of its own beside the server benchmarks: a bare Flight echo, and Aurora as a server.

    python -m benchmarks.server_sides echo | aurora | json TUPLES

Prints the port as soon as it listens, and ends with its standard input.
"""

from __future__ import annotations

import queue
import socket
import sys
import threading
from contextlib import closing
from typing import Any

import polars as pl
import pyarrow as pa
from pyarrow import flight

from aurora import Engine, Network
from aurora.clock import WallClock
from aurora.connectors.converters.registry import converter
from aurora.connectors.live.endpoints import Endpoint
from aurora.connectors.live.halt import Halt
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.live.state import Meter
from aurora.connectors.sources.sockets import ListeningSource
from aurora.model.addresses import HostPort
from aurora.model.schema import Schema
from aurora.server.flight import FlightServer
from aurora.server.host import Host
from aurora.server.settings import EngineSettings

SCHEMA = pa.schema([("n", pa.int64()), ("key", pa.int64()), ("x", pa.float64()), ("name", pa.large_string())])
TICKS = {"ticker": "string", "price": "double", "volume": "int", "ts": "timestamp"}
KEPT = 0.9
"""The share of tuples that the filter passes."""


class Echo(flight.FlightServerBase):  # type: ignore[misc]
    """Hands the batches of a put to a get, in the least work that Flight allows in Python."""

    def __init__(self) -> None:
        super().__init__("grpc://127.0.0.1:0")
        self._batches: queue.Queue[Any] = queue.Queue(64)

    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        for chunk in reader:
            self._batches.put(chunk.data)
        self._batches.put(None)

    def do_get(self, context: Any, ticket: Any) -> Any:
        return flight.GeneratorStream(SCHEMA, iter(self._batches.get, None))


def network() -> Network:
    net = Network("bench")
    rows = net.stream("rows", n="int", key="int", x="double", name="string")
    net.output("kept", rows.filter("kept", f"x < {KEPT}"))
    numbers = net.stream("numbers", producer="int", n="int")
    net.output("all", numbers.filter("any", "n >= 0"))
    return net


def serve_aurora() -> None:
    with Host(settings=EngineSettings(processor="local", shedding="off")) as host:
        host.add(network())
        with FlightServer(host) as server:
            print(server.port, flush=True)
            sys.stdin.read()


def serve_json(expected: int) -> None:
    """One network that JSON lines come to over TCP; says ``done`` whenever so many more tuples have come out."""
    schema = Schema.of(**TICKS)
    net = Network("json")
    net.output("all", net.stream("ticks", schema=schema).filter("any", "volume >= 0"))
    halt, clock = Halt(), WallClock()
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    seen = 0

    def count(train: pl.DataFrame) -> None:
        nonlocal seen
        seen += train.height
        if seen >= expected:
            seen -= expected
            print("done", flush=True)

    with Engine(net, processor="local", shedding="off") as engine:
        engine.subscribe("all", count)
        inlet = Inlet("ticks", engine, Meter("feed", "source", "tcp", "ticks", clock), halt, clock)
        source = ListeningSource(Endpoint(HostPort("127.0.0.1", port)), converter("json", schema), 10)
        reading = threading.Thread(target=source.run, args=(inlet,))
        reading.start()
        while inlet.meter.state != "connected":
            reading.join(0.01)
        print(port, flush=True)
        sys.stdin.read()
        halt.stop()
        reading.join()


def main() -> None:
    side = sys.argv[1]
    if side == "echo":
        with Echo() as echo:
            print(echo.port, flush=True)
            sys.stdin.read()
    elif side == "aurora":
        serve_aurora()
    else:
        serve_json(int(sys.argv[2]))


if __name__ == "__main__":
    main()
