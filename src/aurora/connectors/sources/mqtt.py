"""The messages of MQTT topics, through paho.

The client runs in the source's own thread: while the engine has no room nothing is read, and the broker waits. Messages
are acknowledged when the engine has taken them, so that the broker keeps for a lasting session what was not.
"""

from __future__ import annotations

import select
from collections.abc import Mapping
from typing import Any

from aurora.connectors.converters.base import Converter
from aurora.connectors.live.failures import optional
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.live.mqtt_client import checked, connected_client
from aurora.model.source_kinds import MqttSource as Declared

_LOOK_S = 0.1
_MOST = 5_000
_ANSWER_LOOKS = 100


class MqttSource:
    def __init__(self, declared: Declared, converter: Converter, environment: Mapping[str, str]) -> None:
        optional("paho.mqtt.client")
        self._declared = declared
        self._converter = converter
        self._environment = environment

    def run(self, inlet: Inlet) -> None:
        declared = self._declared
        held: list[Any] = []

        def on_message(_client: Any, _data: Any, message: Any) -> None:
            held.append(message)

        client = connected_client(
            declared, self._environment, inlet.halt, session=declared.session, on_message=on_message
        )
        try:
            self._subscribe(client, inlet)
            inlet.connected()
            while not inlet.halt.stopped:
                code = client.loop(_LOOK_S)
                while code == 0 and len(held) < _MOST and _readable(client):
                    code = client.loop_read()
                if held:
                    payloads = [bytes(message.payload) for message in held]
                    if inlet.take(self._converter.decode_each(payloads), sum(map(len, payloads))):
                        for message in held:
                            client.ack(message.mid, message.qos)
                    held.clear()
                checked(code)
        finally:
            client.disconnect()

    def _subscribe(self, client: Any, inlet: Inlet) -> None:
        """Comes back when the broker sends what is published from then on; it may refuse single topics."""
        declared = self._declared
        granted: list[Any] = []
        client.on_subscribe = lambda _client, _data, _mid, reasons, _properties: granted.extend(reasons)
        result, _ = client.subscribe([(topic, declared.qos) for topic in declared.topics])
        checked(result)
        for _ in range(_ANSWER_LOOKS):
            if granted or inlet.halt.stopped:
                break
            checked(client.loop(_LOOK_S))
        refused = [topic for topic, reason in zip(declared.topics, granted, strict=False) if reason.is_failure]
        if refused:
            raise ConnectionError(f"the broker {declared.broker} does not let it read {', '.join(refused)}")
        if not granted and not inlet.halt.stopped:
            raise TimeoutError(f"the broker {declared.broker} did not answer")


def _readable(client: Any) -> bool:
    connection = client.socket()
    return connection is not None and bool(select.select([connection], [], [], 0)[0])
