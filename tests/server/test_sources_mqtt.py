"""Against a real Mosquitto: messages in and out, passwords, and a broker that goes away and comes back."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.brokers import PASSWORD, Broker, mosquitto, mosquitto_missing, until
from tests.server.dying import killed
from tests.server.feeding import document, fed, lines, ticks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("mqtt"),  # one broker for all
    pytest.mark.skipif(bool(mosquitto_missing()), reason=mosquitto_missing()),
]


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with mosquitto() as running:
        yield running


def _source(broker: Broker, **given: Any) -> dict[str, Any]:
    return {"kind": "mqtt", "format": "json", "broker": f"127.0.0.1:{broker.port}", "topics": "ticks/+", **given}


def _publish(broker: Broker, topic: str, messages: list[bytes]) -> None:
    from paho.mqtt import client as mqtt

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    for sent in [client.publish(topic, message, qos=1) for message in messages]:
        sent.wait_for_publish(20)
    client.disconnect()
    client.loop_stop()


def test_messages_become_tuples(broker: Broker) -> None:
    with fed(document({"feed": _source(broker)})) as running:
        until(lambda: running.state("feed") == "connected")
        _publish(broker, "ticks/a", [line + b"\n" for line in lines(ticks(0, 500)).splitlines()])
        _publish(broker, "ticks/b", [b"not json", b"", lines(ticks(500, 10))])
        until(lambda: len(running.rows) == 510)
        assert running.rows == ticks(0, 510)
        assert running.feeds.status("feed").rejected >= 1


def test_what_goes_out_comes_in(broker: Broker) -> None:
    sink = {"kind": "mqtt", "format": "json", "broker": f"127.0.0.1:{broker.port}", "topic": "round/trip"}
    with (
        fed(document({"feed": _source(broker, topics="round/trip")})) as listening,
        fed(document(sinks={"out": {**sink, "from": "dear"}})) as sending,
    ):
        until(lambda: listening.state("feed") == "connected" and sending.state("out") == "connected")
        sending.engine.enqueue("ticks", [{"ticker": t, "price": p, "n": n} for t, p, n in ticks(0, 3000)])
        until(lambda: len(listening.rows) == 3000 - 101)
        assert listening.rows == ticks(101, 2899)
        until(lambda: sending.feeds.status("out").tuples == 2899)


def test_a_password_from_the_environment(broker: Broker) -> None:
    source = _source(broker, username="pat", password_env="MQTT_KEY", topics="secret")
    with fed(document({"feed": source}), MQTT_KEY=PASSWORD) as running:
        until(lambda: running.state("feed") == "connected")
    with fed(document({"feed": source}), MQTT_KEY="wrong") as running:
        until(lambda: running.state("feed") == "retrying")
        assert "refused" in running.feeds.status("feed").last_error
        assert "wrong" not in running.feeds.status("feed").last_error


def test_what_a_killed_process_had_not_taken_comes_again(broker: Broker) -> None:
    """It has read the messages, but its engine has no room for them. The broker must not think that they are done."""
    source = _source(broker, topics="kept", session="one that lasts", qos=1)
    network = document({"feed": source})
    with killed(network.to_json(), paused=True, memory=1, disk=0) as told:
        told.until(lambda said: bool(said["state"] == "connected"))
        # The first table always has room; with it the engine is full.
        _publish(broker, "kept", lines(ticks(0, 1)).splitlines())
        told.until(lambda said: bool(said["tuples"] == 1))
        read = told.said["bytes"]
        _publish(broker, "kept", lines(ticks(1, 100)).splitlines())
        told.until(lambda said: bool(said["bytes"] > read))
        assert told.said["tuples"] == 1
    with fed(network) as running:
        until(lambda: len(running.rows) >= 100)
        assert sorted(set(running.rows), key=lambda row: row[2])[-100:] == ticks(1, 100)
    # What was taken is done.
    with fed(network) as running:
        until(lambda: running.state("feed") == "connected")
        _publish(broker, "kept", lines(ticks(101, 1)).splitlines())
        until(lambda: len(running.rows) > 0)
        assert running.rows == ticks(101, 1)


def test_a_topic_that_may_not_be_read_is_said() -> None:
    """Mosquitto refuses topics only with a plug-in; this listener does nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        broker = threading.Thread(target=_refuse_the_second_topic, args=(listener,))
        broker.start()
        source = {"kind": "mqtt", "format": "json", "broker": f"127.0.0.1:{listener.getsockname()[1]}"}
        with fed(document({"feed": {**source, "topics": ["open", "closed"]}})) as running:
            until(lambda: running.state("feed") == "retrying")
            assert "does not let it read closed" in running.feeds.status("feed").last_error
            listener.shutdown(socket.SHUT_RDWR)
            broker.join()


def _refuse_the_second_topic(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"\x20\x02\x00\x00")  # CONNACK: welcome
                asked = connection.recv(1000)
                connection.sendall(b"\x90\x04" + asked[2:4] + b"\x01\x80")  # SUBACK: the first, not the second
                connection.recv(1000)


def test_a_broker_that_comes_back_is_found_again() -> None:
    with mosquitto() as broker:
        sink = {"kind": "mqtt", "format": "json", "broker": f"127.0.0.1:{broker.port}", "topic": "echo"}
        with fed(document({"feed": _source(broker, topics="in")}, {"out": sink})) as running:
            until(lambda: running.state("feed") == "connected" and running.state("out") == "connected")
            broker.stop()
            until(lambda: running.state("feed") == "retrying" and running.state("out") == "retrying")
            # What comes out meanwhile waits.
            running.engine.enqueue("ticks", [{"ticker": "A", "price": 1.0, "n": 1}])
            with fed(document({"feed": _source(broker, topics="echo")})) as listening:
                broker.start()
                until(lambda: listening.state("feed") == "connected")
                until(lambda: running.state("feed") == "connected" and running.state("out") == "connected")
                _publish(broker, "in", [json.dumps({"ticker": "B", "price": 2.0, "n": 2}).encode()])
                until(lambda: ("B", 2.0, 2) in listening.rows)
                assert running.rows == [("A", 1.0, 1), ("B", 2.0, 2)]
                assert running.feeds.status("out").tuples == 2
