"""``aurora.connect`` against a real server on loopback."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import aurora
from aurora.client.client import Client
from aurora.errors import AuroraError, InputError, NetworkError, StateError
from aurora.server.settings import Limits
from tests.server.serving import FULL, READ, TOKENS, Serving, serving, ticks, until

ROWS = [{"ticker": "IBM", "price": 40.0}, {"ticker": "MSF", "price": 60.0}]


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving(ticks()) as server:
        yield server


@pytest.fixture
def client(server: Serving) -> Iterator[Client]:
    with aurora.connect(server.url) as client:
        yield client


def rows(client: Client, output: str = "dear", network: str | None = None) -> list[tuple[object, ...]]:
    return [row for frame in client.dequeue(output, network=network) for row in frame.rows()]


# Tuples


@pytest.mark.parametrize(
    "table",
    [ROWS, pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS), pl.DataFrame(ROWS).select("price", "ticker")],
    ids=["rows", "polars", "arrow", "other order"],
)
def test_what_is_enqueued_is_dequeued(client: Client, table: object) -> None:
    client.enqueue("ticks", table)
    assert rows(client) == [("MSF", 60.0)]
    assert rows(client) == []


def test_dequeue_waits_for_what_is_on_its_way(client: Client) -> None:
    for _ in range(100):
        client.enqueue("ticks", ROWS, confirm=False)
    assert len(rows(client)) == 100


def test_one_put_stays_open_for_each_input(client: Client, server: Serving) -> None:
    for _ in range(5):
        client.enqueue("ticks", ROWS)
    assert server.flight.calls == 1


def test_a_large_table_goes_in_parts_and_stays_in_order() -> None:
    with serving(ticks(), limits=Limits(body_bytes=16 << 20)) as server, aurora.connect(server.url) as client:
        numbers = np.arange(1_000_000, dtype=float)
        client.enqueue("ticks", pl.DataFrame({"ticker": "a long name for a ticker", "price": numbers}))
        found = pl.concat(client.dequeue("all"))["price"]
        assert (found.to_numpy() == numbers).all()


def test_an_empty_table_is_nothing(client: Client) -> None:
    client.enqueue("ticks", [])
    assert rows(client) == []


def test_threads_share_a_client(client: Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        for one in [pool.submit(client.enqueue, "ticks", ROWS) for _ in range(80)]:
            one.result(30)
    assert len(rows(client, "all")) == 160


def test_a_table_that_does_not_fit_is_refused_and_the_next_is_taken(client: Client) -> None:
    with pytest.raises(InputError, match="cannot enqueue to ticks: the table lacks the columns price"):
        client.enqueue("ticks", pl.DataFrame({"ticker": ["a"]}))
    client.enqueue("ticks", ROWS)
    assert rows(client) == [("MSF", 60.0)]


def test_a_put_that_the_server_ended_is_begun_anew(client: Client, server: Serving) -> None:
    client.enqueue("ticks", ROWS)
    server.host.stop("ticks")
    with pytest.raises(
        StateError, match=r"does not run: it was stopped; start it.*2 tuples of this put have been taken"
    ):
        client.enqueue("ticks", ROWS)
    server.host.start("ticks")
    client.enqueue("ticks", ROWS)
    assert rows(client) == [("MSF", 60.0)]


def test_tuples_that_did_not_arrive_are_an_error_at_the_end(server: Serving) -> None:
    client = aurora.connect(server.url)
    client.enqueue("ticks", ROWS)
    server.host.stop("ticks")
    client.enqueue("ticks", ROWS, confirm=False)
    with pytest.raises(StateError, match="does not run"):
        client.close()


def test_unknown_names_are_refused(client: Client) -> None:
    with pytest.raises(InputError, match=r"no stream, output or arc 'tock'.*did you mean 'ticks'"):
        client.enqueue("tock", ROWS)
    with pytest.raises(InputError, match="no stream 'above'"):
        client.enqueue("above", ROWS)
    with pytest.raises(InputError, match=r"no output or arc 'deer'.*did you mean 'dear'"):
        list(client.dequeue("deer"))
    with pytest.raises(InputError, match="no network 'other'"):
        client.describe("other")


def test_subscribers_get_tuples_as_they_come(client: Client) -> None:
    with client.subscribe("dear") as reading:
        client.enqueue("ticks", ROWS)
        assert next(iter(reading)).rows() == [("MSF", 60.0)]


def test_who_looks_on_takes_nothing(client: Client) -> None:
    with client.subscribe("dear", take=False) as reading:
        client.enqueue("ticks", ROWS)
        assert next(iter(reading)).height == 1
    assert rows(client) == [("MSF", 60.0)]


def test_a_subscription_can_be_closed_by_another_thread(client: Client) -> None:
    reading = client.subscribe("dear")
    waiting = threading.Thread(target=lambda: list(reading))
    waiting.start()
    reading.close()
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_reader_that_fell_behind_is_told(client: Client) -> None:
    frame = pl.DataFrame({"ticker": "IBM", "price": np.full(10_000, 60.0)})
    dropping = client.subscribe("dear", when_behind="drop", limit_bytes=300_000)
    falling = client.subscribe("dear", limit_bytes=100_000)
    for _ in range(100):
        client.enqueue("ticks", frame)
    with pytest.raises(StateError, match="the reader fell more than 100,000 bytes behind; read faster"):
        list(falling)
    seen = 0
    for train in dropping:
        seen += train.height
        if seen + dropping.missed == 1_000_000:
            break
    assert dropping.missed > 0


def test_a_subscription_ends_with_the_network(client: Client) -> None:
    reading = client.subscribe("dear")
    client.enqueue("ticks", ROWS)
    client.shutdown("ticks")
    assert [frame.rows() for frame in reading] == [[("MSF", 60.0)]]


# Networks


def test_a_network_is_started_stopped_and_removed(client: Client) -> None:
    described = client.start(ticks("second"))
    assert described["stage"] == "running"
    client.enqueue("ticks", ROWS, network="second")
    assert rows(client, network="second") == [("MSF", 60.0)]
    client.shutdown("second")
    assert {entry["name"]: entry["stage"] for entry in client.networks()} == {"ticks": "running", "second": "stopped"}
    client.start("second")
    assert client.describe("second")["stage"] == "running"
    client.remove("second")
    assert [entry["name"] for entry in client.networks()] == ["ticks"]


def test_documents_and_their_files_are_networks_too(client: Client, tmp_path: Path) -> None:
    client.start(ticks("as-text").to_yaml())
    (tmp_path / "net.yaml").write_text(ticks("as-file").to_yaml(), encoding="utf-8")
    client.start(tmp_path / "net.yaml")
    assert {entry["name"] for entry in client.networks()} == {"ticks", "as-text", "as-file"}
    with pytest.raises(InputError, match="cannot read"):
        client.start(tmp_path / "nothing.yaml")


def test_a_network_that_is_not_valid_is_refused_with_all_reasons(client: Client) -> None:
    document = ticks("wrong").to_yaml().replace("price > 50", "prize > 50").replace("'true'", "ticker")
    for ask in (client.start, client.modify_network):
        with pytest.raises(NetworkError) as caught:
            ask(document.replace("wrong", "ticks") if ask == client.modify_network else document)
        assert any("prize" in problem.found for problem in caught.value.problems)
        assert all(problem.way_out for problem in caught.value.problems)
    checked = client.typecheck(document)
    assert not checked["valid"]
    assert any("prize" in problem["found"] for problem in checked["problems"])


def test_typecheck_tells_the_columns_of_every_arc(client: Client) -> None:
    assert client.typecheck(ticks())["arcs"]["above"] == {"ticker": "string", "price": "double"}


def test_a_stopped_network_is_modified(client: Client) -> None:
    client.shutdown("ticks")
    changed = ticks()
    client.modify_network(changed.to_yaml().replace("price > 50", "price > 30"))
    client.start("ticks")
    client.enqueue("ticks", ROWS)
    assert len(rows(client)) == 2


def test_who_has_been_overtaken_changes_nothing(client: Client) -> None:
    known = client.describe("ticks")["revision"]
    changed = ticks().to_yaml().replace("price > 50", "price > 30")
    client.modify_network(changed, revision=known)
    with pytest.raises(StateError, match="somebody else changed 'ticks' in the meantime"):
        client.modify_network(ticks(), revision=known)
    now = client.describe("ticks")
    assert now["revision"] != known
    assert now["network"]["boxes"]["above"]["where"] == "price > 30"
    client.modify_network(ticks(), revision=now["revision"])
    assert client.describe("ticks")["revision"] == known


def test_what_there_is_can_be_listed_and_described(client: Client) -> None:
    names = {entry["name"] for entry in client.list_entities(kind="filter")}
    assert names == {"above", "any"}
    assert {entry["section"] for entry in client.list_entities(network="ticks")} == {"stream", "box", "output"}
    assert client.describe()["streams"]["ticks"] == {"ticker": "string", "price": "double"}


def test_statistics(client: Client) -> None:
    client.enqueue("ticks", ROWS)
    rows(client)
    assert client.get_perf_stats()["inputs"]["ticks"]["tuples"] == 2
    assert client.stats()["ticks"]["outputs"]["dear"]["tuples"] == 1


def test_where_there_are_several_networks_one_is_named(server: Serving) -> None:
    server.host.add(ticks("other"))
    with aurora.connect(server.url) as client, pytest.raises(InputError, match="other, ticks; say which with network="):
        client.enqueue("ticks", ROWS)
    with aurora.connect(server.url, network="other") as client:
        client.enqueue("ticks", ROWS)
        assert rows(client) == [("MSF", 60.0)]


# Connections


def test_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(ticks(), tokens=TOKENS) as server:
        for token in (None, "wrong"):
            with pytest.raises(InputError, match="token"):
                aurora.connect(server.url, token=token)
        with aurora.connect(server.url, token=READ) as looking:
            assert looking.describe()["stage"] == "running"
            for change in (
                lambda: looking.shutdown("ticks"),
                lambda: looking.enqueue("ticks", ROWS),
                lambda: list(looking.dequeue("dear")),
                lambda: looking.start(ticks("second")),
            ):
                with pytest.raises(InputError, match="token"):
                    change()
        monkeypatch.setenv("AURORA_TOKEN", FULL)
        with aurora.connect(server.url) as client:
            client.enqueue("ticks", ROWS)
            assert rows(client) == [("MSF", 60.0)]


@pytest.mark.parametrize("url", ["127.0.0.1:1", "ftp://x", "http://", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="is no address of a server"):
        aurora.connect(url)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(StateError, match=r"the server at http://127.0.0.1:1 does not answer.*aurora serve"):
        aurora.connect("http://127.0.0.1:1")


def test_a_server_that_went_away_is_an_error(server: Serving) -> None:
    client = aurora.connect(server.url)
    client.enqueue("ticks", ROWS)
    reading = client.subscribe("dear", take=False)
    server.flight.close(0.1)
    with pytest.raises(AuroraError):
        client.enqueue("ticks", ROWS)
    with pytest.raises(AuroraError):
        list(reading)
    client.close()


def test_a_connection_that_was_closed_while_quiet_is_opened_anew(client: Client, server: Serving) -> None:
    assert client.networks()
    connection = client._http._connection
    assert connection is not None
    assert connection.sock is not None
    connection.sock.shutdown(2)
    assert client.networks()


def test_enqueue_waits_for_a_reader_that_holds_it_up(client: Client) -> None:
    frame = pl.DataFrame({"ticker": "IBM", "price": np.full(10_000, 60.0)})
    reading = client.subscribe("dear", when_behind="hold", limit_bytes=500_000)
    sent = 0

    def produce() -> None:
        nonlocal sent
        for _ in range(200):
            client.enqueue("ticks", frame)
            sent += 1

    producer = threading.Thread(target=produce)
    producer.start()
    until(lambda: sent > 0)
    time.sleep(0.3)
    assert sent < 200
    got = 0
    for train in reading:
        got += train.height
        if got == 2_000_000:
            break
    producer.join(30)
    assert sent == 200
