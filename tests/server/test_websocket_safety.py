"""What a WebSocket may be sent, and that others go on whatever it is."""

from __future__ import annotations

import socket
import zlib
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed

from aurora.server.service import Service
from tests.server.brokers import until
from tests.server.http_serving import API, asking, received, rows, serving, socket_to

TAP = f"{API}/networks/demo/arcs/dear/live"
HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
    "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n{more}\r\n"
)


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    with serving() as running:
        yield running


@pytest.fixture
def service(running: Service) -> Iterator[Service]:
    """Afterwards it still serves, and nobody is left."""
    yield running
    until(lambda: running.host.describe("demo")["outputs"]["dear"]["readers"] == 0)
    with asking(running) as http, socket_to(running, TAP) as tap:
        received(tap)
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(1))
        assert len(received(tap)["tuples"]) == 1


def _opened(service: Service, more: str = "") -> socket.socket:
    """After the handshake, with what the server says first."""
    port = int(service.url.rpartition(":")[2])
    raw = socket.create_connection(("127.0.0.1", port), timeout=20)
    raw.sendall(HANDSHAKE.format(path=TAP, port=port, more=more).encode())
    came = b""
    while b'{"columns"' not in came:
        came += raw.recv(65_536)
    assert came.startswith(b"HTTP/1.1 101")
    assert b"sec-websocket-extensions" not in came.lower()
    return raw


def _masked(first: int, payload: bytes) -> bytes:
    """A frame as clients send it; the mask is zeros, so that the payload is as it is."""
    return bytes([first, 0x80 | 126]) + len(payload).to_bytes(2) + bytes(4) + payload


def _ends(raw: socket.socket) -> bool:
    try:
        while raw.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return True


def test_a_message_that_is_too_long_ends_the_connection(service: Service) -> None:
    with socket_to(service, TAP) as tap:
        received(tap)
        tap.send("x" * 100_000)
        with pytest.raises(ConnectionClosed) as closed:
            received(tap)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


@pytest.mark.parametrize(
    "sent",
    [
        b"\xff" * 1_000,
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x81\x05hello",  # no mask
        b"\x8f\x80" + bytes(4),  # an opcode that there is not
        b"\x81\xff" + (1 << 62).to_bytes(8) + bytes(4),  # so many bytes are to come
        _masked(0x81, b"\xff\xfe"),  # text that is none
        _masked(0x89, b"p" * 200),  # a ping that is too long
        _masked(0x80, b"go on"),  # goes on with nothing
    ],
    ids=["noise", "http", "unmasked", "opcode", "huge", "no text", "long ping", "continuation"],
)
def test_frames_that_are_none_end_the_connection(service: Service, sent: bytes) -> None:
    with _opened(service) as raw:
        raw.sendall(sent)
        assert _ends(raw)


def test_messages_are_not_decompressed(service: Service) -> None:
    """It is offered and not agreed to; a compressed message is then a mistake, and not what it would unpack to."""
    deflater = zlib.compressobj(9, wbits=-15)
    bomb = deflater.compress(bytes(20_000_000)) + deflater.flush()
    with _opened(service, more="sec-websocket-extensions: permessage-deflate\r\n") as raw:
        raw.sendall(_masked(0xC1, bomb[:60_000]))
        assert _ends(raw)


def test_who_talks_all_the_time_is_not_listened_to_and_still_served(service: Service) -> None:
    with asking(service) as http, socket_to(service, TAP) as tap:
        received(tap)
        for number in range(2_000):
            tap.send(str(number))
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(1))
        assert len(received(tap)["tuples"]) == 1


def test_a_thousand_sockets_opened_and_dropped(service: Service) -> None:
    port = int(service.url.rpartition(":")[2])
    asked = HANDSHAKE.format(path=TAP, port=port, more="").encode()
    for number in range(1_000):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as raw:
            # Some in the middle of the handshake, some before and some after its answer.
            raw.sendall(asked if number % 2 else asked[: number % len(asked)])
            if number % 4 == 3:
                assert raw.recv(12) == b"HTTP/1.1 101"
    assert service._uvicorn is not None
    connections = service._uvicorn.server_state.connections
    until(lambda: len(connections) <= 5, 20, "connections are forgotten")
