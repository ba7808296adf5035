"""What a server refuses, and that it goes on afterwards."""

from __future__ import annotations

import contextlib
import io
import socket
import time
from collections.abc import Iterator

import httpx
import polars as pl
import pytest

from aurora.errors import InputError
from aurora.server.all_routes import ROUTES
from aurora.server.auth import Tokens, check_address
from aurora.server.heads import PatientProtocol
from aurora.server.service import Addresses, Service
from aurora.server.settings import Limits
from tests.server.http_serving import API, DOCUMENT, FULL, READ, TOKENS, asking, received, rows, serving, socket_to

LIMITS = Limits(body_bytes=100_000, request_s=1.0)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving(tokens=TOKENS, limits=LIMITS) as running:
        yield running


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    with asking(service, FULL) as client:
        yield client
        assert client.get("/health/ready").json()["networks"] == {"demo": "running"}


def _ways(path: str) -> str:
    return path.replace("{network}", "demo").replace("{stream}", "ticks").replace("{output}", "dear")


@pytest.mark.parametrize("token", [None, "wrong", f"{FULL}x", FULL[:-1], "ü" * 20])
def test_without_a_good_token_nothing_is_answered(service: Service, token: str | None) -> None:
    headers = {} if token is None else {"authorization": f"Bearer {token}".encode()}
    with httpx.Client(base_url=service.url, headers=headers, trust_env=False) as client:
        for route in ROUTES:
            answer = client.request(route.method, _ways(route.path))
            assert answer.status_code == 401, route
            assert set(answer.json()) == {"error", "problems"}
        assert client.get("/metrics").status_code == 401
        assert client.get("/health/live").status_code == 200
        assert client.get("/health/ready").json() == {"ready": True}


def test_a_token_of_another_kind_is_no_token(service: Service) -> None:
    with httpx.Client(base_url=service.url, headers={"authorization": f"Basic {FULL}"}, trust_env=False) as client:
        assert client.get(f"{API}/networks").status_code == 401


def test_the_read_token_looks_and_changes_nothing(service: Service) -> None:
    with asking(service, READ) as client:
        for route in ROUTES:
            answer = client.request(route.method, _ways(route.path))
            assert (answer.status_code == 403) == (route.access == "full"), (route, answer.text)
        assert client.get("/metrics").status_code == 200


def test_other_machines_need_a_token() -> None:
    with pytest.raises(InputError, match="no token"):
        check_address("0.0.0.0", Tokens())
    with pytest.raises(InputError, match="no token"):
        Service((DOCUMENT,), addresses=Addresses(host="192.0.2.1"))
    check_address("0.0.0.0", TOKENS)
    check_address("::1", Tokens())


@pytest.mark.parametrize(("full", "read"), [("short", None), (None, "r" * 20), ("f" * 20, "f" * 20), ("é" * 20, None)])
def test_tokens_that_protect_nothing_are_refused(full: str | None, read: str | None) -> None:
    with pytest.raises(InputError):
        Tokens(full, read)


def test_a_body_that_is_too_long_is_refused_before_it_is_read(service: Service, http: httpx.Client) -> None:
    answer = http.post(f"{API}/networks/demo/streams/ticks", content=b"x" * 100_001)
    assert answer.status_code == 413
    head = (
        f"POST {API}/networks/demo/streams/ticks HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {FULL}\r\n"
        f"content-type: text/csv\r\ncontent-length: {10**15}\r\n\r\n"
    )
    assert _raw(service, head.encode()).startswith(b"HTTP/1.1 413")


def test_a_body_of_unknown_length_is_counted(http: httpx.Client) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(200):
            yield b"a,1\n" * 1000

    try:
        answer = http.post(f"{API}/networks/demo/streams/ticks", content=endless())
        assert answer.status_code == 413
    except httpx.HTTPError:
        pass  # the server closes while the client still sends


def test_a_body_that_does_not_come_is_not_waited_for(service: Service, http: httpx.Client) -> None:
    head = (
        f"POST {API}/networks/demo/streams/ticks HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {FULL}\r\n"
        "content-type: text/csv\r\ncontent-length: 100\r\n\r\nticker"
    )
    assert _raw(service, head.encode()).startswith(b"HTTP/1.1 408")


def test_a_head_that_does_not_come_is_not_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatientProtocol, "head_s", 0.2)
    assert _raw(service, b"GET / HTTP/1.1\r\nhost: 127.0") == b""
    assert _raw(service, b"") == b""


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x01\x02\x03\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /api/v1/networks HTTP/9.9\r\n\r\n",
        b"GET /api/v1/networks HTTP/1.1\r\nhost: 127.0.0.1\r\nx: " + b"y" * 70_000 + b"\r\n\r\n",
        b"POST /api/v1/networks HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /api/v1/networks HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST /api/v1/networks HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_requests_that_are_none_do_no_harm(service: Service, http: httpx.Client, sent: bytes) -> None:
    answer = _raw(service, sent)
    assert answer == b"" or answer.split(b" ")[1][:1] == b"4"


@pytest.mark.parametrize("body", [b"", b"{", b"[1, 2", b"\xff\xfe\x00", b"[" * 50_000, b"null", b'"text"', b"&a [*a]"])
@pytest.mark.parametrize("media", ["application/json", "application/yaml", ""])
def test_documents_that_are_none_are_refused(http: httpx.Client, body: bytes, media: str) -> None:
    for path in ("networks", "typecheck"):
        answer = http.post(f"{API}/{path}", content=body, headers={"content-type": media})
        assert answer.status_code in (400, 422) or not answer.json()["valid"], answer.text
        assert answer.status_code < 500


def test_a_document_that_unfolds_without_end_is_refused(http: httpx.Client) -> None:
    layers = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12))
    answer = http.post(f"{API}/typecheck", content=f"l0: &l0 [a, a]\n{layers}\n{DOCUMENT}")
    assert answer.status_code < 500
    assert not answer.json().get("valid")


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff", b"[" * 50_000, b'[{"ticker": []}]', b'{"price": "x"}'])
@pytest.mark.parametrize("format", ["json", "jsonl", "csv", "arrow"])
def test_tuples_that_are_none_are_refused_or_empty(http: httpx.Client, body: bytes, format: str) -> None:
    answer = http.post(f"{API}/networks/demo/streams/ticks", content=body, params={"format": format})
    assert answer.status_code in (200, 400, 422), answer.text
    if answer.status_code == 200:
        assert answer.json()["tuples"] == 0 or b"ticker" in body or b"price" in body


def test_columns_that_do_not_fit_are_refused_with_the_reason_and_none_is_taken(http: httpx.Client) -> None:
    url = f"{API}/networks/demo/streams/ticks"
    mixed = [*rows(1), {"ticker": "x", "price": "dear"}]
    answer = http.post(url, json=mixed)
    assert answer.status_code == 422
    assert "price" in answer.json()["problems"][0]["found"]
    assert http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json() == []
    taken = http.post(url, json=mixed, params={"rejects": "skip"}).json()
    assert (taken["tuples"], taken["rejected"]) == (1, 1)
    assert len(http.post(f"{API}/networks/demo/outputs/dear/dequeue", params={"drain": True}).json()) == 1


def test_an_arrow_stream_of_other_columns_is_refused(http: httpx.Client) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"price": ["x"], "other": [1]}).write_ipc_stream(buffer)
    media = {"content-type": "application/vnd.apache.arrow.stream"}
    answer = http.post(f"{API}/networks/demo/streams/ticks", content=buffer.getvalue(), headers=media)
    assert answer.status_code == 422
    assert "ticker" in answer.text


def test_what_unpacks_to_much_more_is_refused(http: httpx.Client) -> None:
    import gzip

    url = f"{API}/networks/demo/streams/ticks"
    packed = gzip.compress(b"ticker,price\n" + b"a,1\n" * 5_000_000)
    assert len(packed) < LIMITS.body_bytes
    answer = http.post(url, content=packed, headers={"content-encoding": "gzip", "content-type": "text/csv"})
    assert answer.status_code == 415
    buffer = io.BytesIO()
    nothing = pl.Series("ticker", [None], dtype=pl.String)
    frame = pl.DataFrame([nothing.new_from_index(0, 8_000_000), pl.Series("price", [0.0]).new_from_index(0, 8_000_000)])
    frame.write_ipc_stream(buffer, compression="zstd", compat_level=pl.CompatLevel.oldest())
    assert len(buffer.getvalue()) < LIMITS.body_bytes
    answer = http.post(url, content=buffer.getvalue(), params={"format": "arrow"})
    assert answer.status_code == 422
    assert "decompressed" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/networks/..%2f..%2fetc%2fpasswd",
        "/api/v1/networks/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/networks/demo%00/stats",
        "/../../etc/passwd",
        "//etc/passwd",
        "/api/v1/networks/demo/outputs/..%5c..%5cpasswd/dequeue",
        "/api/v1/networks/" + "x" * 5000,
    ],
)
def test_paths_lead_to_networks_and_nowhere_else(service: Service, http: httpx.Client, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {FULL}\r\nconnection: close\r\n\r\n"
    answer = _raw(service, head.encode())
    assert answer.split(b" ")[1] in (b"404", b"405"), answer
    assert b"root:" not in answer


@pytest.mark.parametrize("name", ["../outside", "a/b", ".", "", "x" * 5000])
def test_names_of_networks_cannot_be_paths(http: httpx.Client, name: str) -> None:
    answer = http.post(f"{API}/networks", content=DOCUMENT.replace("network: demo", f"network: '{name}'"))
    assert answer.status_code in (400, 422), answer.text
    assert len(http.get(f"{API}/networks").json()) == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("most=0", "out of bounds"),
        ("most=x", "integer"),
        ("wait_s=1e9", "out of bounds"),
        ("wait_s=nan", "out of bounds"),
        ("drain=perhaps", "boolean"),
        ("format=exe", "csv"),
        ("moast=1", "most"),
    ],
)
def test_parameters_are_checked(http: httpx.Client, query: str, said: str) -> None:
    answer = http.post(f"{API}/networks/demo/outputs/dear/dequeue?{query}")
    assert answer.status_code == 400
    assert said in answer.json()["error"]


def test_names_that_are_unknown_are_told_with_those_that_are_not(http: httpx.Client) -> None:
    answer = http.post(f"{API}/networks/demo/streams/tick", json=rows(1))
    assert answer.status_code == 404
    assert "did you mean 'ticks'?" in answer.json()["error"]
    assert http.get(f"{API}/nothing").json()["error"].startswith("there is nothing at this path")
    assert http.put(f"{API}/typecheck").status_code == 405


def test_pages_of_other_sites_may_not_ask() -> None:
    with serving() as service, asking(service) as client:
        own = service.url
        assert client.get(f"{API}/networks", headers={"origin": own}).status_code == 200
        assert client.get(f"{API}/networks", headers={"origin": "https://elsewhere.example"}).status_code == 403
        assert client.post(f"{API}/shutdown", headers={"origin": "null"}).status_code == 403
        # A name that somebody made point to this machine.
        assert client.get(f"{API}/networks", headers={"host": "elsewhere.example"}).status_code == 403


def test_a_thousand_connections_opened_and_dropped(service: Service, http: httpx.Client) -> None:
    port = int(service.url.rpartition(":")[2])
    began = b"POST /api/v1/networks/demo/streams/ticks HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\nab"
    for number in range(1000):
        opened = socket.create_connection(("127.0.0.1", port), timeout=10)
        if number % 3:
            opened.sendall(began[: number % len(began)])
        opened.close()
    assert service._uvicorn is not None
    connections = service._uvicorn.server_state.connections
    until = time.monotonic() + 20
    while len(connections) > 5 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(connections) <= 5
    assert http.get(f"{API}/networks/demo").status_code == 200


def _raw(service: Service, sent: bytes) -> bytes:
    """All that comes back until the server closes, or as much as has the head of an answer; nothing if none comes."""
    port = int(service.url.rpartition(":")[2])
    came = b""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as opened:
        # The server may close, and say why, before all of it is sent.
        with contextlib.suppress(ConnectionError):
            opened.sendall(sent)
        with contextlib.suppress(ConnectionResetError):
            while part := opened.recv(65_536):
                came += part
                if b"\r\n\r\n" in came and b"connection: close" not in came.lower():
                    break
    return came


@contextlib.contextmanager
def _unread(service: Service) -> Iterator[socket.socket]:
    """A connection on which a long answer comes that nobody reads."""
    service.host.enqueue("demo", "ticks", rows(100_000))
    service.host.drain("demo")
    port = int(service.url.rpartition(":")[2])
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", port))
        raw.sendall(
            f"POST {API}/networks/demo/outputs/dear/dequeue HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
            "content-length: 0\r\n\r\n".encode()
        )
        assert raw.recv(12) == b"HTTP/1.1 200"
        yield raw


def test_an_answer_that_nobody_reads_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatientProtocol, "unread_s", 0.3)
    with serving() as service, _unread(service):
        assert service._uvicorn is not None
        connections = service._uvicorn.server_state.connections
        until = time.monotonic() + 10
        while connections and time.monotonic() < until:
            time.sleep(0.05)
        assert not connections


def test_a_server_that_ends_does_not_wait_for_those_who_do_not_read() -> None:
    with contextlib.ExitStack() as later:
        with serving() as service:
            later.enter_context(_unread(service))
            assert service._uvicorn is not None
            (connection,) = service._uvicorn.server_state.connections
            held = connection.transport.get_extra_info("socket")
        assert held.fileno() == -1


def test_there_are_only_so_many_sockets() -> None:
    from websockets.exceptions import InvalidStatus

    live = f"{API}/networks/demo/stats/live"
    with serving(limits=Limits(sockets=1)) as service, socket_to(service, live) as first:
        received(first)
        with pytest.raises(InvalidStatus) as refused:
            socket_to(service, live)
        assert refused.value.response.status_code == 503
