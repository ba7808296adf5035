"""Nothing that a server, its clients or its sources and sinks open stays open."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import aurora
from tests.server.brokers import until
from tests.server.feeding import document, fed
from tests.server.http_serving import API, asking, received, rows, serving, socket_to
from tests.server.ports import free_port

_TURNS = 12
_SLACK = 6
"""Libraries keep a few for threads of their own, not always the same number."""


def _open() -> int:
    gc.collect()
    return len(os.listdir("/dev/fd"))


def _a_server_and_its_clients() -> None:
    tap = f"{API}/networks/demo/arcs/dear/live"
    with serving(flight=True) as service:
        with asking(service) as http, socket_to(service, tap) as socket:
            received(socket)
            http.post(f"{API}/networks/demo/streams/ticks", json=rows(3))
            assert len(received(socket)["tuples"]) == 3
        with aurora.connect(service.url) as client:
            client.enqueue("ticks", rows(3))
            assert service.flight is not None
            # Calls that are still open are cut; that is where much can be left behind.
            reading = client.subscribe("dear", take=False)
            service.flight.close(0.05)
            reading.close()


def _sources_and_sinks_that_reach_nobody(folder: Path) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    json = {"format": "json", "retry": {"first": "1ms", "most": "2ms"}}
    log = folder / "log.jsonl"
    log.write_bytes(b'{"ticker": "a", "price": 1, "n": 1}\n')
    sources = {
        "mqtt": {"kind": "mqtt", "broker": nobody, "topics": "t", **json},
        "tcp": {"kind": "tcp", "connect": nobody, **json},
        "tail": {"kind": "file", "path": str(log), "tail": True, **json},
    }
    sinks = {
        "tcp_out": {"kind": "tcp", "connect": nobody, **json},
        "hook": {"kind": "webhook", "url": f"http://{nobody}/", **json},
    }
    with fed(document(sources, sinks), folder) as running:
        away = ("mqtt", "tcp", "tcp_out", "hook")
        until(lambda: all(running.feeds.status(name).retries >= 5 for name in away) and len(running.rows) == 1)
        running.feeds.stop(drain_s=0.05)


def test_nothing_stays_open(tmp_path: Path) -> None:
    for turn in range(_TURNS + 2):
        if turn == 2:
            before = _open()
        _a_server_and_its_clients()
        _sources_and_sinks_that_reach_nobody(tmp_path)
    until(lambda: _open() <= before + _SLACK, 10, f"of {before} descriptors there are {_open()} now")
