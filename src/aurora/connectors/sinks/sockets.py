"""Bytes out over sockets: to the one that it connects to, or to all who connect.

Among many, one who reads too slowly loses his connection rather than hold the others up.
"""

from __future__ import annotations

import contextlib
import select
import socket
from dataclasses import dataclass, field

import polars as pl

from aurora.connectors.converters.base import Converter, Encoder
from aurora.connectors.live.endpoints import Endpoint
from aurora.connectors.live.state import Meter

_SEND_S = 10.0
_FLUSH_S = 2.0


class ConnectedSink:
    batch = 50_000
    attempts: int | None = None

    def __init__(self, endpoint: Endpoint, converter: Converter, meter: Meter) -> None:
        self._endpoint = endpoint
        self._converter = converter
        self._meter = meter
        self._connection: socket.socket | None = None
        self._encoder = converter.encoder()

    def open(self) -> None:
        self._connection = self._endpoint.connected()
        self._connection.settimeout(_SEND_S)
        self._encoder = self._converter.encoder()
        self._connection.sendall(self._encoder.header())

    def send(self, frame: pl.DataFrame) -> int:
        assert self._connection is not None
        _check_alive(self._connection)
        encoded = self._encoder.encode(frame)
        self._connection.sendall(encoded.data)
        self._meter.add(rejected=len(encoded.rejected))
        return len(encoded.data)

    def idle(self) -> None:
        assert self._connection is not None
        _check_alive(self._connection)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.sendall(self._encoder.footer())
            connection.close()


def _check_alive(connection: socket.socket) -> None:
    """Nothing is expected from the other side but its end. Without a look, the first tuples after it would be lost."""
    if select.select([connection], [], [], 0)[0] and not connection.recv(65_536):
        raise ConnectionError("the other side closed the connection")


@dataclass
class _Reader:
    encoder: Encoder
    pending: bytearray = field(default_factory=bytearray)


class ListeningSink:
    """What comes out while nobody is connected is gone, and counted as dropped."""

    batch = 50_000
    attempts: int | None = None

    def __init__(
        self, endpoint: Endpoint, converter: Converter, connections: int, behind_bytes: int, meter: Meter
    ) -> None:
        self._endpoint = endpoint
        self._converter = converter
        self._most = connections
        self._behind_bytes = behind_bytes
        self._meter = meter
        self._listener: socket.socket | None = None
        self._readers: dict[socket.socket, _Reader] = {}
        sample = converter.encoder()
        # Lines are the same for everybody; encoders with a header or a footer may count what they wrote.
        self._alike = not sample.header() and not sample.footer()

    def open(self) -> None:
        self._listener = self._endpoint.listener()

    def send(self, frame: pl.DataFrame) -> int:
        self._look()
        n_bytes = 0
        shared: bytes | None = None
        if not self._readers:
            # Whoever asked for it to be sent counts it as sent.
            self._meter.add(dropped=frame.height, tuples=-frame.height)
        for connection, reader in list(self._readers.items()):
            if shared is None:
                encoded = reader.encoder.encode(frame)
                self._meter.add(rejected=len(encoded.rejected))
                data = encoded.data
                shared = data if self._alike else None
            else:
                data = shared
            reader.pending += data
            n_bytes += len(data)
            self._flush(connection, reader)
        return n_bytes

    def idle(self) -> None:
        self._look()
        for connection, reader in list(self._readers.items()):
            self._flush(connection, reader)

    @property
    def lingers(self) -> bool:
        return any(reader.pending for reader in self._readers.values())

    def close(self) -> None:
        for connection, reader in list(self._readers.items()):
            with contextlib.suppress(OSError):
                connection.settimeout(_FLUSH_S)
                connection.sendall(bytes(reader.pending) + reader.encoder.footer())
            connection.close()
        self._readers.clear()
        if self._listener is not None:
            self._listener.close()
            self._endpoint.release()
            self._listener = None

    def _look(self) -> None:
        assert self._listener is not None
        while True:
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            if len(self._readers) >= self._most:
                self._meter.error(f"{self._most} read from {self._endpoint} already; another was closed")
                connection.close()
                continue
            connection.setblocking(False)
            encoder = self._converter.encoder()
            self._readers[connection] = _Reader(encoder, bytearray(encoder.header()))

    def _flush(self, connection: socket.socket, reader: _Reader) -> None:
        try:
            while reader.pending:
                del reader.pending[: connection.send(reader.pending)]
        except BlockingIOError:
            if len(reader.pending) <= self._behind_bytes:
                return
            self._let_go(connection, f"a reader of {self._endpoint} was too slow, and lost its connection")
        except OSError as error:
            self._let_go(connection, str(error))

    def _let_go(self, connection: socket.socket, why: str) -> None:
        self._meter.error(why)
        connection.close()
        del self._readers[connection]
