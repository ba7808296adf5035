"""Against a Kafka broker: messages in and out, keys, and what a second run has left to read.

Where no broker is installed, the same tests run against the small one that librdkafka has inside. It speaks Kafka's
protocol over TCP, but is no real broker.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from aurora.connectors.live.kafka_client import LOG
from tests.server.brokers import kafka, kafka_missing, until
from tests.server.feeding import document, fed, lines, ticks

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
confluent_kafka = pytest.importorskip("confluent_kafka")


@contextmanager
def _inside_librdkafka() -> Iterator[str]:
    producer = confluent_kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "logger": LOG})
    (broker,) = producer.list_topics(timeout=10).brokers.values()
    yield f"{broker.host}:{broker.port}"


@pytest.fixture(scope="module", params=["real", "inside librdkafka"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param != "real":
        with _inside_librdkafka() as address:
            yield address
        return
    if kafka_missing():
        pytest.skip(kafka_missing())
    with kafka() as broker:
        yield f"127.0.0.1:{broker.port}"


def _produce(address: str, topic: str, messages: list[bytes]) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": address, "logger": LOG})
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


def test_a_broker_that_comes_back_is_found_again() -> None:
    if kafka_missing():
        pytest.skip(kafka_missing())
    with kafka() as broker:
        address = f"127.0.0.1:{broker.port}"
        _produce(address, "in", lines(ticks(0, 10)).splitlines())
        sink = {"kind": "kafka", "format": "json", "brokers": address, "topic": "out"}
        with fed(document({"feed": _source(address, "in")}, {"out": sink})) as running:
            until(lambda: len(running.rows) == 10 and running.feeds.status("out").tuples == 10, 60)
            broker.stop()
            running.engine.enqueue("ticks", _rows(100, 1))
            until(lambda: running.state("feed") == "retrying" and running.state("out") == "retrying", 90)
            broker.start()
            until(lambda: running.feeds.status("out").tuples == 11, 90)
            _produce(address, "in", lines(ticks(10, 5)).splitlines())
            until(lambda: len(running.rows) == 16, 60)
            assert running.rows == [*ticks(0, 10), *ticks(100, 1), *ticks(10, 5)]
