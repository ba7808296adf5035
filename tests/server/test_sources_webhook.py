"""Tuples posted to an address that is at times away, angry or slow."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.server.brokers import until
from tests.server.feeding import document, fed, ticks


class _Hook(ThreadingHTTPServer):
    """Answers with ``answers`` one after the other, then with 200."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[int] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []

    @property
    def rows(self) -> list[int]:
        return [json.loads(line)["n"] for body in self.bodies for line in body.splitlines()]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = server.answers.pop(0) if server.answers else 200
        if code == 200:
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
        self.send_response(code)
        self.send_header("Content-Length", "2")
        if code == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def hook() -> Iterator[_Hook]:
    with _Hook() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _sink(hook: _Hook, **given: Any) -> dict[str, Any]:
    return {"kind": "webhook", "format": "json", "url": f"http://127.0.0.1:{hook.server_port}/in?x=1", **given}


def _rows(first: int, count: int) -> list[dict[str, Any]]:
    return [{"ticker": t, "price": p, "n": n} for t, p, n in ticks(first, count)]


def test_tuples_arrive_in_batches_with_headers_from_the_environment(hook: _Hook) -> None:
    sink = _sink(hook, batch=300, headers={"X-From": "aurora"}, headers_env={"Authorization": "HOOK_KEY"})
    with fed(document(sinks={"out": sink}), HOOK_KEY="Bearer abc") as running:
        running.engine.enqueue("ticks", _rows(0, 1000))
        until(lambda: running.feeds.status("out").tuples == 1000)
    assert hook.rows == list(range(1000))
    assert [body.count(b"\n") for body in hook.bodies] == [300, 300, 300, 100]
    assert hook.headers[0]["Authorization"] == "Bearer abc"
    assert (hook.headers[0]["X-From"], hook.headers[0]["Content-Type"]) == ("aurora", "application/x-ndjson")


def test_it_tries_again_where_that_may_help(hook: _Hook) -> None:
    hook.answers = [503, 429, 500]
    with fed(document(sinks={"out": _sink(hook)})) as running:
        running.engine.enqueue("ticks", _rows(0, 10))
        until(lambda: running.feeds.status("out").tuples == 10)
        status = running.feeds.status("out")
    assert hook.rows == list(range(10))
    assert (status.retries, status.dead) == (3, 0)
    assert "500" in status.last_error


def test_dead_letters_are_counted_and_the_next_goes_out(hook: _Hook) -> None:
    hook.answers = [400, 302, 503, 503]
    with fed(document(sinks={"out": _sink(hook, batch=10, attempts=2)})) as running:
        running.engine.enqueue("ticks", _rows(0, 40))
        until(lambda: running.feeds.status("out").tuples == 10)
        status = running.feeds.status("out")
    assert hook.rows == list(range(30, 40))
    assert (status.dead, status.retries) == (30, 2)


def test_a_missing_secret_is_said_and_the_engine_goes_on(hook: _Hook) -> None:
    with fed(document(sinks={"out": _sink(hook, headers_env={"Authorization": "NOT_SET"})})) as running:
        until(lambda: running.state("out") == "failed")
        running.engine.enqueue("ticks", _rows(0, 1))
        until(lambda: len(running.rows) == 1)
        assert "NOT_SET" in running.feeds.status("out").last_error


def test_an_address_where_nobody_is_holds_nobody_up(hook: _Hook) -> None:
    net = document(sinks={"out": {"kind": "webhook", "format": "json", "url": "http://127.0.0.1:9/", "queue": 50}})
    with fed(net) as running:
        for first in range(0, 1000, 10):
            running.engine.enqueue("ticks", _rows(first, 10))
        until(lambda: len(running.rows) == 1000)
        status = running.feeds.status("out")
        assert status.waiting <= 50
        assert status.dropped + status.waiting + status.dead == 1000
