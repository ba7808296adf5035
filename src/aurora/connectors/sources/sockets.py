"""Bytes over sockets. One thread reads all connections, each with a decoder of its own.

Where the engine has no room the thread waits for it, and the senders find their sockets full: that is the
back-pressure.
"""

from __future__ import annotations

import selectors
import socket

from aurora.connectors.converters.base import Converter, Decoder
from aurora.connectors.live.endpoints import Endpoint
from aurora.connectors.live.failures import BrokenError
from aurora.connectors.live.inlet import Inlet

_LOOK_S = 0.1
_READ_BYTES = 1 << 20
TURN_BYTES = 4 << 20
"""One connection is read so far before the others have their turn; long stretches are cheaper to decode."""


class ConnectedSource:
    """Reads from the one that it connects to."""

    def __init__(self, endpoint: Endpoint, converter: Converter) -> None:
        self._endpoint = endpoint
        self._converter = converter

    def run(self, inlet: Inlet) -> None:
        with self._endpoint.connected() as connection:
            connection.setblocking(False)
            inlet.connected()
            decoder = self._converter.decoder()
            with selectors.DefaultSelector() as selector:
                selector.register(connection, selectors.EVENT_READ)
                while not inlet.halt.stopped:
                    if not selector.select(_LOOK_S):
                        continue
                    if not read_turn(connection, decoder, inlet):
                        raise ConnectionError(f"{self._endpoint} closed the connection")


class ListeningSource:
    """Reads from all who connect, up to a number of them at the same time."""

    def __init__(self, endpoint: Endpoint, converter: Converter, connections: int) -> None:
        self._endpoint = endpoint
        self._converter = converter
        self._most = connections

    def run(self, inlet: Inlet) -> None:
        with self._endpoint.listener() as listener, selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            inlet.connected()
            try:
                while not inlet.halt.stopped:
                    # Who has gone makes room before others are let in.
                    ready = selector.select(_LOOK_S)
                    for key, _ in sorted(ready, key=lambda entry: entry[0].fileobj is listener):
                        if key.fileobj is listener:
                            self._accept(listener, selector, inlet)
                        else:
                            self._read(key, selector, inlet)
            finally:
                for key in list(selector.get_map().values()):
                    if isinstance(key.fileobj, socket.socket):
                        key.fileobj.close()
                self._endpoint.release()

    def _accept(self, listener: socket.socket, selector: selectors.BaseSelector, inlet: Inlet) -> None:
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        except OSError as error:
            # No more descriptors, say: those who are connected go on, and others get their chance later.
            inlet.meter.error(error)
            inlet.halt.wait(_LOOK_S)
            return
        if len(selector.get_map()) > self._most:
            inlet.meter.error(f"there are {self._most} connections to {self._endpoint} already; another was closed")
            connection.close()
            return
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ, self._converter.decoder())

    def _read(self, key: selectors.SelectorKey, selector: selectors.BaseSelector, inlet: Inlet) -> None:
        connection = key.fileobj
        assert isinstance(connection, socket.socket)
        try:
            if read_turn(connection, key.data, inlet):
                return
        except (OSError, BrokenError) as error:
            inlet.meter.error(error)
        selector.unregister(connection)
        connection.close()


def read_turn(connection: socket.socket, decoder: Decoder, inlet: Inlet) -> bool:
    """Reads what is there, and hands it over; False at the end of the connection."""
    pieces: list[bytes] = []
    n_bytes = 0
    ended = False
    while n_bytes < TURN_BYTES:
        try:
            piece = connection.recv(_READ_BYTES)
        except BlockingIOError:
            break
        if not piece:
            ended = True
            break
        pieces.append(piece)
        n_bytes += len(piece)
    broken = ""
    if pieces:
        decoded = decoder.feed(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        inlet.take(decoded, n_bytes)
        broken = decoded.broken
    if ended and not broken:
        last = decoder.finish()
        inlet.take(last, 0)
        broken = last.broken
    if broken:
        raise BrokenError(f"a connection was closed, because nothing more on it can be understood: {broken}")
    return not ended
