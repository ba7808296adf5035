"""Sources and sinks over TCP and Unix sockets: many at once, slow ones, broken ones, and back again after a loss."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.server.brokers import answers, until
from tests.server.feeding import document, fed, lines, ticks
from tests.server.ports import free_port


@pytest.fixture(params=["tcp", "unix"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def address(kind: str, tmp_path: Path) -> str:
    return f"127.0.0.1:{free_port()}" if kind == "tcp" else str(tmp_path / "s")


def _connect(kind: str, address: str, receive_bytes: int | None = None) -> socket.socket:
    host, _, port = address.rpartition(":")
    connection = socket.socket(socket.AF_INET if kind == "tcp" else socket.AF_UNIX)
    if receive_bytes is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    # With a time limit from the start, a Unix socket whose queue is full would refuse instead of letting us wait.
    connection.connect((host, int(port)) if kind == "tcp" else address)
    connection.settimeout(20)
    return connection


def _listener(kind: str, address: str) -> socket.socket:
    if kind == "tcp":
        host, _, port = address.rpartition(":")
        return socket.create_server((host, int(port)))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    return listener


def test_many_send_at_once_and_nothing_is_mixed_up(kind: str, address: str) -> None:
    net = document({"feed": {"kind": kind, "format": "json", "listen": address}})
    with fed(net) as running:
        until(lambda: running.state("feed") == "connected")

        def send(first: int) -> None:
            data = lines(ticks(first, 500))
            with _connect(kind, address) as connection:
                for start in range(0, len(data), 777):
                    connection.sendall(data[start : start + 777])

        threads = [threading.Thread(target=send, args=(first,)) for first in range(0, 10_000, 500)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until(lambda: len(running.rows) == 10_000)
        assert sorted(running.rows, key=lambda row: row[2]) == ticks(0, 10_000)
        by_sender = [[row[2] for row in running.rows if row[2] // 500 == sender] for sender in range(20)]
        assert all(numbers == sorted(numbers) for numbers in by_sender)
        status = running.feeds.status("feed")
        assert (status.tuples, status.rejected, status.bytes) == (10_000, 0, len(lines(ticks(0, 10_000))))


def test_what_is_no_tuple_is_rejected_and_the_connection_goes_on(kind: str, address: str) -> None:
    net = document({"feed": {"kind": kind, "format": "json", "listen": address}})
    with fed(net) as running:
        until(lambda: running.state("feed") == "connected")
        with _connect(kind, address) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n\x00\xff\n" + lines(ticks(0, 1)) + b'{"n": "x"}\n')
            connection.sendall(lines(ticks(1, 1)).rstrip(b"\n"))  # no newline at the end
        until(lambda: len(running.rows) == 2)
        assert running.rows == ticks(0, 2)
        assert running.feeds.status("feed").rejected == 3
        assert "x" in running.feeds.rejections("feed")[-1].text


def test_a_connection_that_cannot_be_understood_is_closed_and_others_go_on(kind: str, address: str) -> None:
    net = document({"feed": {"kind": kind, "format": "csv", "listen": address}})
    with fed(net) as running:
        until(lambda: running.state("feed") == "connected")
        with _connect(kind, address) as good, _connect(kind, address) as bad:
            good.sendall(b"ticker,price,n\nA,1,1\n")
            bad.sendall(b"a,b,c\n1,2,3\n")
            assert bad.recv(1) == b""
            good.sendall(b"B,2,2\n")
            until(lambda: len(running.rows) == 2)
        assert "cannot be understood" not in running.state("feed")
        assert "nothing more on it can be understood" in running.feeds.status("feed").last_error


def test_a_thousand_connections_opened_and_dropped(kind: str, address: str) -> None:
    """With nothing, with part of a tuple, with one and part of the next: whole ones are taken, and no place is lost."""
    net = document({"feed": {"kind": kind, "format": "json", "listen": address, "connections": 50}})
    whole, part = lines(ticks(0, 1)), b'{"ticker": "T'
    with fed(net) as running:
        until(lambda: running.state("feed") == "connected")
        for number in range(1_000):
            # There may be too many for a moment.
            with _connect(kind, address) as connection, contextlib.suppress(ConnectionError):
                connection.sendall((b"", part, whole + part)[number % 3])
        with _connect(kind, address) as connection:
            connection.sendall(lines(ticks(7, 1)))
            until(lambda: ticks(7, 1)[0] in running.rows)
        assert set(running.rows) == {*ticks(0, 1), *ticks(7, 1)}
        assert running.state("feed") == "connected"


def test_too_many_connections_are_closed(kind: str, address: str) -> None:
    net = document({"feed": {"kind": kind, "format": "json", "listen": address, "connections": 2}})
    with fed(net) as running:
        until(lambda: running.state("feed") == "connected")
        with _connect(kind, address) as first, _connect(kind, address) as second:
            first.sendall(lines(ticks(0, 1)))
            second.sendall(lines(ticks(1, 1)))
            until(lambda: len(running.rows) == 2)
            with _connect(kind, address) as third:
                assert third.recv(1) == b""
        with _connect(kind, address) as fourth:
            fourth.sendall(lines(ticks(2, 1)))
            until(lambda: len(running.rows) == 3)


def test_connections_that_come_and_go_leave_nothing_behind(kind: str, address: str) -> None:
    net = document({"feed": {"kind": kind, "format": "json", "listen": address}})
    with fed(net) as running:
        until(lambda: running.state("feed") == "connected")
        for _ in range(300):
            _connect(kind, address).close()
        with _connect(kind, address) as connection:
            connection.sendall(lines(ticks(0, 1)))
            until(lambda: len(running.rows) == 1)
    if kind == "unix":
        assert not Path(address).exists()
    else:
        assert not answers(int(address.rpartition(":")[2]))


def test_it_connects_again_when_the_other_side_comes_back(kind: str, address: str) -> None:
    net = document({"feed": {"kind": kind, "format": "json", "connect": address}})
    with fed(net) as running:
        until(lambda: running.state("feed") == "retrying")
        for turn in range(2):
            with _listener(kind, address) as listener:
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(lines(ticks(10 * turn, 10)))
                    until(lambda turn=turn: len(running.rows) == 10 * turn + 10)  # type: ignore[misc]
                    assert running.state("feed") == "connected"
            if kind == "unix":
                Path(address).unlink()
            until(lambda: running.state("feed") == "retrying")
        assert running.rows == ticks(0, 20)
        assert running.feeds.status("feed").connects == 2


def _read_lines(connection: socket.socket, count: int) -> list[dict[str, Any]]:
    with connection.makefile("rb") as file:
        return [json.loads(file.readline()) for _ in range(count)]


def test_a_sink_serves_all_who_listen_and_lets_the_slow_go(kind: str, address: str) -> None:
    net = document(sinks={"out": {"kind": kind, "format": "json", "listen": address, "behind": "200kB"}})
    with fed(net) as running:
        until(lambda: running.state("out") == "connected")
        with _connect(kind, address, receive_bytes=4096), _connect(kind, address) as fast:
            read: list[int] = []
            reader = threading.Thread(target=_read_on, args=(fast, read))
            reader.start()

            def both_are_in() -> bool:
                running.engine.enqueue("ticks", [{"ticker": "warm", "price": 0.0, "n": -1}])
                return -1 in read

            until(both_are_in)
            for sent in range(0, 210_000, 2_000):
                rows = [{"ticker": t, "price": p, "n": n} for t, p, n in ticks(sent, 2_000)]
                running.engine.enqueue("ticks", rows)
                # It reads as fast as tuples come, whatever else the machine does.
                until(lambda last=rows[-1]["n"]: last in read[-10:], what="the fast reader has all")  # type: ignore[misc]
            numbers = [n for n in read if n >= 0]
            assert numbers == list(range(210_000))
            until(lambda: "too slow" in running.feeds.status("out").last_error)
            fast.shutdown(socket.SHUT_RDWR)
        reader.join(20)
        assert not reader.is_alive()


def _read_on(connection: socket.socket, read: list[int]) -> None:
    """Notes the number of each tuple until the connection ends."""
    with connection.makefile("rb") as file, contextlib.suppress(OSError):
        read.extend(json.loads(line)["n"] for line in file)


def test_a_sink_connects_again_and_sends_what_waited(kind: str, address: str) -> None:
    net = document(sinks={"out": {"kind": kind, "format": "json", "connect": address}})
    with fed(net) as running:
        running.engine.enqueue("ticks", [{"ticker": t, "price": p, "n": n} for t, p, n in ticks(0, 100)])
        until(lambda: running.state("out") == "retrying")
        with _listener(kind, address) as listener:
            connection, _ = listener.accept()
            with connection:
                assert [row["n"] for row in _read_lines(connection, 100)] == list(range(100))
        assert running.feeds.status("out").dropped == 0
