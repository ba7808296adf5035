"""Against a Kafka broker: messages in and out, keys, and what a second run has left to read.

Where no broker is installed, they run against the small one that librdkafka has inside. It speaks Kafka's protocol over
TCP, but is no real broker.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aurora.connectors.converters.base import Decoded
from aurora.connectors.converters.json import JsonConverter
from aurora.connectors.live.kafka_client import LOG
from aurora.connectors.live.manager import Feeds
from aurora.engine.engine import Engine
from aurora.model.network import Network
from tests.server.brokers import Broker, kafka, kafka_missing, until
from tests.server.dying import killed
from tests.server.feeding import COLUMNS, document, fed, lines, ticks

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240), pytest.mark.xdist_group("kafka")]
confluent_kafka = pytest.importorskip("confluent_kafka")


@contextmanager
def _inside_librdkafka() -> Iterator[str]:
    producer = confluent_kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "logger": LOG})
    (broker,) = producer.list_topics(timeout=10).brokers.values()
    yield f"{broker.host}:{broker.port}"


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    if kafka_missing():
        pytest.skip(kafka_missing())
    with kafka() as running:
        yield running


@pytest.fixture(scope="module")
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    if kafka_missing():
        with _inside_librdkafka() as address:
            yield address
    else:
        yield f"127.0.0.1:{request.getfixturevalue('broker').port}"


def _produce(address: str, topic: str, messages: list[bytes]) -> None:
    # Without it, what is sent once more because the topic is new may come behind what was sent later.
    settings = {"bootstrap.servers": address, "enable.idempotence": True, "logger": LOG}
    producer = confluent_kafka.Producer(settings)
    for message in messages:
        producer.produce(topic, message, partition=0)
    assert producer.flush(30) == 0


def _source(address: str, topic: str, **given: Any) -> dict[str, Any]:
    return {"kind": "kafka", "format": "json", "brokers": address, "topic": topic, **given}


def _rows(first: int, count: int) -> list[dict[str, Any]]:
    return [{"ticker": t, "price": p, "n": n} for t, p, n in ticks(first, count)]


def test_messages_become_tuples_and_are_not_read_twice(address: str) -> None:
    _produce(address, "in", [*lines(ticks(0, 2000)).splitlines(), b"no json"])
    with fed(document({"feed": _source(address, "in", group="g1")})) as running:
        until(lambda: len(running.rows) == 2000, 60)
        assert running.rows == ticks(0, 2000)
        until(lambda: running.feeds.status("feed").rejected == 1)
    _produce(address, "in", lines(ticks(2000, 10)).splitlines())
    with fed(document({"feed": _source(address, "in", group="g1")})) as running:
        until(lambda: len(running.rows) >= 10, 60)
        assert running.rows == ticks(2000, 10)


def test_messages_on_which_a_library_panicked_come_again(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decode = JsonConverter.decode_each
    panics = [pl.exceptions.PanicException("index out of bounds")]

    def decode_each(converter: JsonConverter, messages: list[bytes]) -> Decoded:
        if panics:
            raise panics.pop()
        return decode(converter, messages)

    monkeypatch.setattr(JsonConverter, "decode_each", decode_each)
    _produce(address, "panicked", lines(ticks(0, 100)).splitlines())
    with fed(document({"feed": _source(address, "panicked", group="g5")})) as running:
        until(lambda: running.feeds.status("feed").retries == 1, 60)
        _produce(address, "panicked", lines(ticks(100, 10)).splitlines())
        until(lambda: bool(running.rows) and running.rows[-1] == ticks(109, 1)[0], 60)
        assert running.rows == ticks(0, 110)
        assert running.feeds.status("feed").last_error == "index out of bounds"


def test_what_goes_out_comes_in_with_the_same_key_in_order(address: str) -> None:
    sink = {"kind": "kafka", "format": "json", "brokers": address, "topic": "out", "key": "ticker"}
    with fed(document(sinks={"out": sink})) as sending:
        until(lambda: sending.state("out") == "connected", 60)
        sending.engine.enqueue("ticks", _rows(0, 5000))
        until(lambda: sending.feeds.status("out").tuples == 5000, 60)
        assert sending.feeds.status("out").retries == 0
    with fed(document({"feed": _source(address, "out", group="g2")})) as running:
        until(lambda: len(running.rows) == 5000, 60)
        assert sorted(running.rows, key=lambda row: row[2]) == ticks(0, 5000)
        for ticker in {row[0] for row in running.rows}:
            numbers = [row[2] for row in running.rows if row[0] == ticker]
            assert numbers == sorted(numbers)


def test_nothing_is_lost_with_a_killed_process(address: str, tmp_path: Path) -> None:
    """The last tuples come too soon after a commit for another one; nothing may tell the broker that they are safe."""
    network = Network.from_document(
        {
            "aurora": 1,
            "network": "kept",
            "streams": {"ticks": {"schema": dict(COLUMNS)}},
            "boxes": {
                "seen": {
                    "kind": "aggregate",
                    "in": "ticks",
                    "order_by": "n",
                    "window": {"size": 1000},
                    "compute": {"all": "collect(n)"},
                }
            },
            "outputs": {"seen": {"from": "seen"}},
            "sources": {"feed": {"into": "ticks", **_source(address, "kept", group="g3")}},
        }
    )
    state = str(tmp_path / "state")
    with killed(network.to_json(), state=state) as told:
        for first in (0, 10, 20):
            _produce(address, "kept", lines(ticks(first, 10)).splitlines())
            told.until(lambda said, wanted=first + 10: bool(said["tuples"] == wanted))  # type: ignore[misc]
        # Long enough for what is stored to reach the broker.
        time.sleep(2.5)
    with Engine(network, processor="local", state=state) as engine, Feeds(network, engine) as feeds:
        until(lambda: engine.enqueued("ticks") >= 30, 60)
        until(lambda: feeds.status("feed").state == "connected")
        feeds.stop()
        engine.flush()
        (seen,) = [row[1] for frame in engine.dequeue("seen") for row in frame.rows()]
    assert set(seen) == set(range(30))


def test_what_is_committed_is_not_read_again(address: str, tmp_path: Path) -> None:
    network = document({"feed": _source(address, "again", group="g4")})
    state = str(tmp_path / "state")
    for first in (0, 100):
        _produce(address, "again", lines(ticks(first, 100)).splitlines())
        with Engine(network, processor="local", state=state) as engine:
            rows: list[tuple[Any, ...]] = []
            engine.subscribe("all", lambda frame, rows=rows: rows.extend(frame.rows()))  # type: ignore[misc]
            with Feeds(network, engine):
                until(lambda rows=rows: len(rows) >= 100, 60)  # type: ignore[misc]
            assert rows == ticks(first, 100)


def test_a_broker_that_comes_back_is_found_again(broker: Broker) -> None:
    address = f"127.0.0.1:{broker.port}"
    _produce(address, "before", lines(ticks(0, 10)).splitlines())
    sink = {"kind": "kafka", "format": "json", "brokers": address, "topic": "after"}
    with fed(document({"feed": _source(address, "before")}, {"out": sink})) as running:
        until(lambda: len(running.rows) == 10 and running.feeds.status("out").tuples == 10, 60)
        broker.stop()
        running.engine.enqueue("ticks", _rows(100, 1))
        until(lambda: running.state("feed") == "retrying" and running.state("out") == "retrying", 90)
        broker.start()
        until(lambda: running.feeds.status("out").tuples == 11, 90)
        _produce(address, "before", lines(ticks(10, 5)).splitlines())
        until(lambda: running.rows[-1] == ticks(14, 1)[0], 60)
        # What the broker had not noted as read comes again; nothing is missing.
        assert set(running.rows) == {*ticks(0, 15), *ticks(100, 1)}
