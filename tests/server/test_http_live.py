"""WebSockets: statistics and taps, and readers that are too slow."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from aurora.server.service import Service
from aurora.server.settings import EngineSettings, Limits
from tests.server.http_serving import (
    API,
    FULL,
    READ,
    TOKENS,
    asking,
    received,
    rows,
    serving,
    socket_to,
)

TAP = f"{API}/networks/demo/arcs/dear/live"


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


def test_a_tap_sees_what_comes_out_and_takes_nothing_away(service: Service) -> None:
    with asking(service) as http, socket_to(service, TAP) as tap:
        assert received(tap) == {"columns": {"ticker": "string", "price": "double"}}
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(2))
        assert received(tap) == {
            "dropped": 0,
            "tuples": [{"ticker": "t0", "price": 40.0}, {"ticker": "t1", "price": 42.0}],
        }
        assert len(http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json()) == 2


def test_arcs_inside_the_network_can_be_looked_at(service: Service) -> None:
    inside = {arc: f"{API}/networks/demo/arcs/{arc}/live" for arc in ("ticks", "high")}
    with socket_to(service, inside["ticks"]) as ticks, socket_to(service, inside["high"]) as high:
        received(ticks)
        received(high)
        service.host.enqueue("demo", "ticks", [{"ticker": "a", "price": 1.0}, {"ticker": "b", "price": 11.0}])
        assert [row["ticker"] for row in received(ticks)["tuples"]] == ["a", "b"]
        assert received(high)["tuples"] == [{"ticker": "b", "price": 11.0}]


def test_a_socket_may_take_what_waits(service: Service) -> None:
    with asking(service) as http:
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(2))
        http.post(f"{API}/networks/demo/drain")
        with socket_to(service, f"{TAP}?take=true") as tap:
            received(tap)
            assert len(received(tap)["tuples"]) == 2
        assert http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json() == []


def test_statistics_come_again_and_again(service: Service) -> None:
    with asking(service) as http, socket_to(service, f"{API}/networks/demo/stats/live?every_s=0.1") as live:
        first = received(live)
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(3))
        later = received(live)
        while later["inputs"]["ticks"]["tuples"] < 3:
            later = received(live)
        assert later["at_us"] > first["at_us"]


def test_a_socket_hears_why_it_ends(service: Service) -> None:
    with asking(service) as http, socket_to(service, TAP) as tap:
        received(tap)
        http.post(f"{API}/networks/demo/streams/ticks", json=rows(1))
        http.post(f"{API}/networks/demo/stop")
        assert len(received(tap)["tuples"]) == 1
        with pytest.raises(ConnectionClosed) as closed:
            received(tap)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.reason == "the network was stopped"


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        (TAP, None, 401),
        (TAP, "wrong", 401),
        (f"{TAP}?take=true", READ, 403),
        (f"{TAP}?when_behind=hold", FULL, 400),
        (f"{API}/networks/other/arcs/dear/live", FULL, 404),
        (f"{API}/networks/demo/arcs/nothing/live", FULL, 404),
        (f"{API}/networks/demo/stats/live?every_s=0", FULL, 400),
    ],
)
def test_sockets_that_are_refused(path: str, token: str | None, status: int) -> None:
    with serving(tokens=TOKENS) as service, pytest.raises(InvalidStatus) as refused:
        socket_to(service, path, token)
    assert refused.value.response.status_code == status
    assert json.loads(refused.value.response.body or b"")["error"]


def test_a_browser_brings_its_token_as_a_protocol() -> None:
    with serving(tokens=TOKENS) as service:
        with socket_to(service, TAP, subprotocols=["aurora", f"bearer.{READ}"]) as tap:
            assert tap.subprotocol == "aurora"
            assert received(tap)["columns"]
        with pytest.raises(InvalidStatus):
            socket_to(service, TAP, subprotocols=["bearer.wrong"])


def test_a_page_of_another_site_gets_no_socket(service: Service) -> None:
    with pytest.raises(InvalidStatus) as refused:
        socket_to(service, TAP, origin="https://elsewhere.example")
    assert refused.value.response.status_code == 403


SMALL = Limits(subscriber_bytes=200_000)
ROOMY = EngineSettings(processor="local")


def _standing_still(service: Service, query: str) -> socket.socket:
    """A reader that takes part in the handshake, and then reads nothing."""
    port = int(service.url.rpartition(":")[2])
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", port))
    raw.sendall(
        f"GET {TAP}{query} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n\r\n".encode()
    )
    assert raw.recv(12) == b"HTTP/1.1 101"
    return raw


@pytest.mark.parametrize("when_behind", ["drop", "disconnect"])
def test_a_slow_reader_holds_up_nobody(when_behind: str) -> None:
    """The slow one loses tuples or its connection, counted; the fast one and the engine notice nothing."""
    trains = [rows(2_000, 20.0 + n) for n in range(100)]
    with (
        serving(limits=SMALL, settings=ROOMY) as service,
        socket_to(service, f"{TAP}?when_behind=drop", max_size=None) as fast,
    ):
        received(fast)
        slow = _standing_still(service, f"?when_behind={when_behind}")
        _until_readers(service, 2)
        seen = 0
        for train in trains:
            service.host.enqueue("demo", "ticks", train)
            while seen < service.host.get_perf_stats("demo").outputs["dear"].tuples:
                message = received(fast)
                assert message["dropped"] == 0
                seen += len(message["tuples"])
        assert seen == 200_000
        known = service.host.describe("demo")["outputs"]["dear"]
        if when_behind == "drop":
            assert known["dropped"] > 0
            assert known["readers"] == 2
        else:
            assert known["let_go"] == 1
            assert known["readers"] == 1
        slow.close()


def _until_readers(service: Service, wanted: int) -> None:
    end_s = time.monotonic() + 10
    while service.host.describe("demo")["outputs"]["dear"]["readers"] != wanted:
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_readers_that_vanish_are_forgotten(service: Service) -> None:
    opened = [_standing_still(service, "") for _ in range(50)]
    _until_readers(service, 50)
    for raw in opened:
        raw.close()
    _until_readers(service, 0)


def test_there_are_only_so_many_readers() -> None:
    with serving(limits=Limits(subscribers=2)) as service:
        with socket_to(service, TAP) as first, socket_to(service, TAP) as second:
            received(first), received(second)
            with socket_to(service, TAP) as third, pytest.raises(ConnectionClosed) as closed:
                received(third)
        assert closed.value.rcvd is not None
        assert "2 readers already" in closed.value.rcvd.reason


def test_who_holds_producers_up_and_takes_nothing_is_let_go() -> None:
    with serving(limits=Limits(subscriber_bytes=1_000, patience_s=0.2)) as service:
        holding = service.host.subscribe("demo", "dear", when_behind="hold")
        for _ in range(3):
            service.host.enqueue("demo", "ticks", rows(500))
            service.host.drain("demo")
        assert "took nothing for 0.2 s" in holding.reason
        assert service.host.describe("demo")["outputs"]["dear"]["let_go"] == 1


def test_a_reader_that_holds_producers_up_gets_everything() -> None:
    import threading

    with serving(limits=Limits(subscriber_bytes=10_000)) as service:
        holding = service.host.subscribe("demo", "dear", when_behind="hold")

        def produce() -> None:
            for _ in range(100):
                service.host.enqueue("demo", "ticks", rows(100))

        producer = threading.Thread(target=produce)
        producer.start()
        seen = 0
        while seen < 10_000:
            frame = holding.take(10)
            assert frame is not None
            seen += frame.height
        producer.join()
        assert holding.dropped == 0
