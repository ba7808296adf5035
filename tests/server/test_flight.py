"""Tuples over Flight, with plain Flight clients, as programs in other languages would use it."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import flight

from aurora.errors import InputError
from aurora.model.network import Network
from aurora.model.schema import Schema
from aurora.server.flight import FlightServer
from aurora.server.flight_frames import misfits
from aurora.server.flight_tickets import Wanted
from aurora.server.host import Host
from aurora.server.settings import EngineSettings, Limits
from tests.server.serving import FULL, READ, TOKENS, hosting, ticks, until

SCHEMA = pa.schema([("ticker", pa.large_string()), ("price", pa.float64())])


@pytest.fixture
def host() -> Iterator[Host]:
    with hosting(ticks()) as host:
        yield host


@pytest.fixture
def server(host: Host) -> Iterator[FlightServer]:
    with FlightServer(host) as server:
        yield server
        server.close(0.1)


@pytest.fixture
def client(server: FlightServer) -> Iterator[Any]:
    with flight.FlightClient(server.location) as client:
        yield client


def batch(*prices: float, ticker: str = "IBM") -> pa.RecordBatch:
    return pa.record_batch([pa.array([ticker] * len(prices), pa.large_string()), pa.array(prices)], schema=SCHEMA)


def path(*names: str) -> Any:
    return flight.FlightDescriptor.for_path(*names)


def ticket(output: str, network: str = "ticks", **more: Any) -> Any:
    return flight.Ticket(json.dumps({"network": network, "output": output, **more}))


def bearer(token: str) -> Any:
    return flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {token}".encode())])


def put(client: Any, *batches: pa.RecordBatch, schema: pa.Schema = SCHEMA, options: Any = None) -> None:
    """A put that has been taken when this comes back."""
    writer, _ = client.do_put(path("ticks", "ticks"), schema, options)
    with writer:
        for one in batches:
            writer.write_batch(one)


def prices(reader: Any, count: int) -> list[float]:
    """The next so many tuples of a live stream."""
    found: list[float] = []
    while len(found) < count:
        found += reader.read_chunk().data["price"].to_pylist()
    return found


# In and out


def test_what_is_put_comes_out_of_a_live_stream(client: Any) -> None:
    reader = client.do_get(ticket("dear"))
    put(client, batch(10, 60), batch(70))
    assert reader.schema == SCHEMA
    assert prices(reader, 2) == [60, 70]


def test_what_waits_can_be_taken_once(client: Any) -> None:
    put(client, batch(10, 60), batch(70))
    assert client.do_get(ticket("dear", follow=False)).read_all()["price"].to_pylist() == [60, 70]
    assert client.do_get(ticket("dear", follow=False)).read_all().num_rows == 0


def test_the_first_live_reader_gets_what_waits(client: Any) -> None:
    put(client, batch(60))
    assert prices(client.do_get(ticket("dear")), 1) == [60]


def test_who_looks_on_takes_nothing_away(client: Any) -> None:
    looking = client.do_get(ticket("dear", take=False))
    put(client, batch(60))
    assert prices(looking, 1) == [60]
    assert client.do_get(ticket("dear", follow=False)).read_all()["price"].to_pylist() == [60]


def test_every_live_reader_gets_everything(client: Any) -> None:
    readers = [client.do_get(ticket("dear")) for _ in range(3)]
    put(client, batch(60, 70))
    assert [prices(reader, 2) for reader in readers] == [[60, 70]] * 3


def test_a_put_tells_what_has_been_taken_when_asked(client: Any) -> None:
    writer, answers = client.do_put(path("ticks", "ticks"), SCHEMA)
    writer.write_batch(batch(1, 2))
    writer.write_with_metadata(batch(3), b"?")
    assert json.loads(answers.read().to_pybytes()) == {"taken": 3}
    writer.close()


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([("ticker", pa.string()), ("price", pa.float64())]),
        pa.schema([("ticker", pa.string_view()), ("price", pa.float32())]),
        pa.schema([("price", pa.int16()), ("more", pa.bool_()), ("ticker", pa.dictionary(pa.int8(), pa.string()))]),
    ],
    ids=["string", "float32", "other order, dictionary"],
)
def test_columns_that_hold_the_same_are_taken(client: Any, schema: pa.Schema) -> None:
    one = pa.RecordBatch.from_pylist([{"ticker": "IBM", "price": 60, "more": True}], schema=schema)
    put(client, one, schema=schema)
    assert client.do_get(ticket("dear", follow=False)).read_all().to_pylist() == [{"ticker": "IBM", "price": 60.0}]


def test_all_types_go_in_and_come_out() -> None:
    net = Network("types")
    columns = {"b": "bool", "i": "int", "d": "double", "s": "string", "t": "timestamp", "u": "duration", "y": "binary"}
    stream = net.stream("in", **columns, l="list<int>")
    net.output("out", stream.filter("any", "true"))
    schema = pa.schema(
        [
            ("b", pa.bool_()),
            ("i", pa.int64()),
            ("d", pa.float64()),
            ("s", pa.large_string()),
            ("t", pa.timestamp("us", "UTC")),
            ("u", pa.duration("us")),
            ("y", pa.large_binary()),
            ("l", pa.large_list(pa.int64())),
        ]
    )
    full = {"b": True, "i": -1, "d": 0.5, "s": "µ", "t": 10**15, "u": 7, "y": b"\0", "l": [1, None]}
    arrays = [pa.array([full[field.name], None], field.type) for field in schema]
    table = pa.table(arrays, schema=schema)
    with hosting(net) as host, FlightServer(host) as server, flight.FlightClient(server.location) as client:
        writer, _ = client.do_put(path("types", "in"), schema)
        writer.write_table(table)
        writer.close()
        assert client.do_get(ticket("out", "types", follow=False)).read_all().equals(table)


# What there is


def test_flights_are_listed_with_their_columns(client: Any) -> None:
    kinds = {
        tuple(part.decode() for part in info.descriptor.path): (
            json.loads(info.app_metadata)["kind"],
            info.schema.names,
        )
        for info in client.list_flights()
    }
    assert kinds["ticks", "ticks"] == ("stream", ["ticker", "price"])
    assert kinds["ticks", "above"] == ("arc", ["ticker", "price"])
    assert kinds["ticks", "dear"] == ("output", ["ticker", "price"])
    assert list(client.list_flights(b"ticks"))


def test_the_ticket_of_a_flight_reads_it(client: Any) -> None:
    info = client.get_flight_info(path("ticks", "dear"))
    assert info.schema == client.get_schema(path("ticks", "dear")).schema == SCHEMA
    reader = client.do_get(info.endpoints[0].ticket)
    put(client, batch(60))
    assert prices(reader, 1) == [60]


# Refusals


def refused(call: Any, kind: type[Exception] = flight.FlightServerError) -> str:
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert "Traceback" not in text
    assert ".py" not in text
    return text


def test_columns_that_do_not_fit_are_refused_before_any_batch(client: Any, host: Host) -> None:
    schema = pa.schema([("tickr", pa.string()), ("price", pa.string())])
    text = refused(
        lambda: put(client, pa.RecordBatch.from_pylist([{"tickr": "a", "price": "1"}], schema), schema=schema)
    )
    assert "'ticker' (string) is missing; did you mean 'tickr'?" in text
    assert "'price' holds string, which is no double" in text
    assert "the stream has ticker: string, price: double" in text
    assert host.get_perf_stats("ticks").to_dict()["inputs"]["ticks"]["tuples"] == 0


def test_values_without_a_place_are_refused_and_what_was_taken_is_told() -> None:
    net = Network("n")
    net.output("out", net.stream("in", x="int").filter("any", "true"))
    schema = pa.schema([("x", pa.uint64())])
    with hosting(net) as host, FlightServer(host) as server, flight.FlightClient(server.location) as client:
        writer, answers = client.do_put(path("n", "in"), schema)
        writer.write_with_metadata(pa.record_batch([pa.array([1, 2], pa.uint64())], schema), b"?")
        answers.read()
        writer.write_batch(pa.record_batch([pa.array([2**63], pa.uint64())], schema))
        text = refused(writer.close)
    assert "1 values of the column 'x'" in text
    assert "2 tuples of this put have been taken" in text


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda c: c.do_put(path("ticks", "tick"), SCHEMA)[0].close(), "no stream 'tick'"),
        (lambda c: c.do_put(path("tocks", "ticks"), SCHEMA)[0].close(), "no network 'tocks'"),
        (lambda c: c.do_put(path("ticks"), SCHEMA)[0].close(), "give two names"),
        (lambda c: c.do_put(flight.FlightDescriptor.for_command(b"x"), SCHEMA)[0].close(), "give two names"),
        (lambda c: c.get_flight_info(path("ticks", "../../etc/passwd")), "no stream, output or arc"),
        (lambda c: c.do_get(ticket("nothing")), "no output or arc"),
        (lambda c: list(c.list_flights(b"nothing")), "no network"),
        (lambda c: c.do_get(ticket("deer")), "did you mean 'dear'?"),
        (lambda c: c.do_get(flight.Ticket(b"\x80\x04.")), "no JSON"),
        (lambda c: c.do_get(flight.Ticket(b"[1]")), "no JSON object"),
        (lambda c: c.do_get(flight.Ticket(b"[" * 4000)), "no JSON"),
        (lambda c: c.do_get(flight.Ticket(b" " * 5000)), "5,000 bytes"),
        (
            lambda c: c.do_get(flight.Ticket(b'{"network": 1, "outpt": "x"}')),
            "'network' is no text; 'output' is missing",
        ),
        (lambda c: c.do_get(ticket("dear", when_behind="pray")), "use drop, disconnect, hold"),
        (lambda c: c.do_get(ticket("dear", limit_bytes=-1)), "'limit_bytes' is -1"),
        (lambda c: c.do_get(ticket("dear", follow="yes")), "'follow' is neither true nor false"),
        (lambda c: c.do_get(ticket("above", when_behind="hold")), "inside the network"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(client: Any, call: Any, said: str) -> None:
    assert said in refused(lambda: call(client))


def test_batches_that_are_too_large_are_refused() -> None:
    with (
        hosting(ticks(), limits=Limits(body_bytes=1_000)) as host,
        FlightServer(host) as server,
        flight.FlightClient(server.location) as client,
    ):
        # Compressed it is small; what counts is what it takes here.
        small = flight.FlightCallOptions(write_options=pa.ipc.IpcWriteOptions(compression="zstd"))
        text = refused(lambda: put(client, batch(*[0.0] * 100_000), options=small))
        assert "and 1,000 are allowed; send smaller ones" in text
        put(client, batch(60))
        assert client.do_get(ticket("dear", follow=False)).read_all().num_rows == 1


def test_a_network_that_does_not_run_says_so(client: Any, host: Host) -> None:
    host.stop("ticks")
    text = refused(lambda: put(client, batch(1)), flight.FlightUnavailableError)
    assert "does not run" in text
    assert "start it" in text


def test_bytes_that_are_no_flight_harm_nobody(server: FlightServer, client: Any) -> None:
    for sent in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 10_000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 5_000):
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(sent)
    put(client, batch(60))
    assert client.do_get(ticket("dear", follow=False)).read_all().num_rows == 1


@pytest.mark.parametrize(
    ("found", "column", "fits"),
    [
        (pa.int32(), "int", True),
        (pa.float64(), "int", False),
        (pa.string(), "int", False),
        (pa.string(), "timestamp", False),
        (pa.timestamp("ms"), "timestamp", True),
        (pa.decimal128(10, 2), "double", True),
        (pa.null(), "bool", True),
        (pa.list_(pa.int8()), "list<int>", True),
        (pa.list_(pa.string()), "list<int>", False),
        (pa.int64(), "list<int>", False),
        (pa.dictionary(pa.int8(), pa.string()), "string", True),
        (pa.dictionary(pa.int8(), pa.string()), "int", False),
        (pa.struct([("a", pa.int8())]), "string", False),
    ],
    ids=str,
)
def test_which_types_fit(found: pa.DataType, column: str, fits: bool) -> None:
    assert (misfits(pa.schema([("c", found)]), Schema.of(c=column)) == []) is fits


# Tokens and TLS


@pytest.fixture
def guarded(host: Host) -> Iterator[Any]:
    with FlightServer(host, tokens=TOKENS) as server:
        with flight.FlightClient(server.location) as client:
            yield client
        server.close(0.1)


@pytest.mark.parametrize(
    "options", [None, bearer("wrong"), bearer(""), bearer(FULL[:-1])], ids=["none", "wrong", "empty", "short"]
)
def test_without_a_good_token_nothing_is_to_be_had(guarded: Any, options: Any) -> None:
    for call in (
        lambda: list(guarded.list_flights(options=options)),
        lambda: guarded.get_flight_info(path("ticks", "dear"), options),
        lambda: guarded.do_get(ticket("dear"), options),
        lambda: put(guarded, batch(1), options=options),
    ):
        assert "authorization: Bearer" in refused(call, flight.FlightUnauthenticatedError)


def test_a_full_token_may_do_everything(guarded: Any) -> None:
    put(guarded, batch(60), options=bearer(FULL))
    assert guarded.do_get(ticket("dear", follow=False), bearer(FULL)).read_all().num_rows == 1


def test_a_token_for_looking_takes_nothing_and_puts_nothing(guarded: Any) -> None:
    look = bearer(READ)
    assert list(guarded.list_flights(options=look))
    assert "full" in refused(lambda: put(guarded, batch(60), options=look), flight.FlightUnauthorizedError)
    for more in ({"follow": False}, {"when_behind": "hold"}):
        text = refused(lambda more=more: guarded.do_get(ticket("dear", **more), look), flight.FlightUnauthorizedError)
        assert "use a full token" in text
    reader = guarded.do_get(ticket("dear"), look)
    put(guarded, batch(60), options=bearer(FULL))
    assert prices(reader, 1) == [60]
    assert guarded.do_get(ticket("dear", follow=False), bearer(FULL)).read_all().num_rows == 1


def test_tls(host: Host, tmp_path: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"),
            *(
                "-addext",
                "subjectAltName=DNS:localhost",
                "-keyout",
                tmp_path / "key.pem",
                "-out",
                tmp_path / "cert.pem",
            ),
        ],
        check=True,
        capture_output=True,
    )
    cert, key = (tmp_path / "cert.pem").read_bytes(), (tmp_path / "key.pem").read_bytes()
    with FlightServer(host, tls=(cert, key)) as server:
        location = f"grpc+tls://localhost:{server.port}"
        with flight.FlightClient(location, tls_root_certs=cert) as client:
            assert client.get_schema(path("ticks", "dear")).schema == SCHEMA
        with (
            flight.FlightClient(f"grpc://localhost:{server.port}") as plain,
            pytest.raises(flight.FlightUnavailableError),
        ):
            plain.get_flight_info(path("ticks", "dear"))


# Too much, too slow, gone

BIG = batch(*[60.0] * 10_000)
"""About 230 kB."""


def test_a_slow_reader_does_not_stall_others(client: Any) -> None:
    """It is let go, and told so; the other gets every tuple."""
    slow = client.do_get(ticket("dear", limit_bytes=100_000))
    # The other holds producers up rather than miss anything; the slow one takes nothing at all meanwhile.
    steady = client.do_get(ticket("dear", when_behind="hold"))
    with ThreadPoolExecutor(1) as pool:
        putting = pool.submit(put, client, *[BIG] * 100)
        assert len(prices(steady, 1_000_000)) == 1_000_000
        putting.result(30)
    text = refused(slow.read_all, flight.FlightUnavailableError)
    assert "behind; read faster" in text


def test_a_reader_that_drops_is_told_how_much_it_missed(client: Any) -> None:
    slow = client.do_get(ticket("dear", when_behind="drop", limit_bytes=300_000))
    put(client, *[BIG] * 100)
    seen = missed = 0
    while seen + missed < 1_000_000:
        chunk = slow.read_chunk()
        seen += chunk.data.num_rows
        if chunk.app_metadata is not None:
            missed = json.loads(chunk.app_metadata.to_pybytes())["missed"]
    assert seen + missed == 1_000_000
    assert missed > 0


def test_a_put_waits_for_a_reader_that_holds_it_up(client: Any, host: Host) -> None:
    reader = client.do_get(ticket("dear", when_behind="hold", limit_bytes=1_000_000))
    with ThreadPoolExecutor(1) as pool:
        putting = pool.submit(put, client, *[BIG] * 200)
        with pytest.raises(TimeoutError):
            putting.result(0.5)
        assert len(prices(reader, 2_000_000)) == 2_000_000
        putting.result(30)


def test_a_put_waits_while_the_engine_has_no_room() -> None:
    settings = EngineSettings(processor="local", memory=1_000_000, disk=0, shedding="off")
    with (
        hosting(ticks(), settings=settings) as host,
        FlightServer(host) as server,
        flight.FlightClient(server.location) as client,
    ):
        held, goes_on = threading.Event(), threading.Event()

        def stuck(_frame: object) -> None:
            held.set()
            goes_on.wait(20)

        host.hosted("ticks").engine.subscribe("dear", stuck)
        with ThreadPoolExecutor(1) as pool:
            putting = pool.submit(put, client, *[BIG] * 50)
            assert held.wait(10)
            with pytest.raises(TimeoutError):
                putting.result(0.5)
            goes_on.set()
            putting.result(30)
        host.drain("ticks")
        assert host.get_perf_stats("ticks").to_dict()["inputs"]["ticks"]["tuples"] == 500_000


def test_without_room_a_put_is_rejected_where_that_was_chosen() -> None:
    settings = EngineSettings(processor="local", memory=1_000_000, disk=0, when_full="reject")
    with (
        hosting(ticks(), settings=settings) as host,
        FlightServer(host) as server,
        flight.FlightClient(server.location) as client,
    ):
        host.pause("ticks")
        text = refused(lambda: put(client, *[BIG] * 50))
        assert "there is no room for 10000 tuples of ticks" in text
        assert "tuples of this put have been taken" in text


def test_readers_that_go_away_are_forgotten(server: FlightServer, host: Host) -> None:
    clients = [
        flight.FlightClient(server.location, generic_options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(20)
    ]
    readers = [client.do_get(ticket("dear")) for client in clients]
    until(lambda: host.describe("ticks")["outputs"]["dear"]["readers"] == 20)
    for reader, client in zip(readers, clients, strict=True):
        reader.cancel()
        client.close()
    until(lambda: host.describe("ticks")["outputs"]["dear"]["readers"] == 0)
    until(lambda: server.calls == 0)


def test_calls_are_limited() -> None:
    with hosting(ticks(), limits=Limits(connections=3)) as host, FlightServer(host) as server:
        with flight.FlightClient(server.location) as client:
            readers = [client.do_get(ticket("dear")) for _ in range(3)]
            text = refused(lambda: client.get_flight_info(path("ticks", "dear")), flight.FlightUnavailableError)
            assert "3 calls are open already" in text
            for reader in readers:
                reader.cancel()
            until(lambda: server.calls == 0)
            assert client.get_schema(path("ticks", "dear")).schema == SCHEMA
        server.close(0.1)


def test_a_thousand_connections_opened_and_dropped(server: FlightServer, client: Any) -> None:
    for _ in range(20):
        raws = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
        for raw in raws:
            raw.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            raw.close()
    put(client, batch(60))
    assert client.do_get(ticket("dear", follow=False)).read_all().num_rows == 1


def test_many_producers_lose_nothing(server: FlightServer, client: Any) -> None:
    reader = client.do_get(ticket("all", when_behind="hold"))

    def produce(number: int) -> None:
        with flight.FlightClient(server.location) as own:
            put(own, *[batch(float(number), float(at)) for at in range(20)])

    with ThreadPoolExecutor(32) as pool:
        done = [pool.submit(produce, number) for number in range(32)]
        found = prices(reader, 32 * 40)
        for one in done:
            one.result(30)
    assert sorted(found) == sorted(
        [float(at) for at in range(20)] * 32 + [float(n) for n in range(32) for _ in range(20)]
    )


def test_a_live_stream_ends_when_the_network_stops(client: Any, host: Host) -> None:
    reader = client.do_get(ticket("dear"))
    put(client, batch(60))
    host.stop("ticks")
    assert reader.read_all()["price"].to_pylist() == [60]


def test_closing_does_not_wait_for_clients_that_say_nothing(host: Host) -> None:
    server = FlightServer(host)
    with flight.FlightClient(server.location) as client:
        writer, answers = client.do_put(path("ticks", "ticks"), SCHEMA)
        writer.write_with_metadata(batch(1), b"?")
        answers.read()
        client.do_get(ticket("dear"))
        before = time.monotonic()
        server.close(0.2)
        assert time.monotonic() - before < 5
        refused(writer.close, flight.FlightUnavailableError)


def test_a_port_that_is_taken_is_refused(server: FlightServer, host: Host) -> None:
    with pytest.raises(InputError, match="choose another port"):
        FlightServer(host, port=server.port)


def test_tickets_are_what_they_were() -> None:
    wanted = Wanted("n", "o", follow=False, when_behind="drop", limit_bytes=5)
    assert Wanted.parse(wanted.to_bytes()) == wanted
