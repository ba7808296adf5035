"""The messages of MQTT topics, through paho.

The client runs in the source's own thread: while the engine has no room nothing is read, and the broker waits.
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


class MqttSource:
    def __init__(self, declared: Declared, converter: Converter, environment: Mapping[str, str]) -> None:
        optional("paho.mqtt.client")
        self._declared = declared
        self._converter = converter
        self._environment = environment

    def run(self, inlet: Inlet) -> None:
        declared = self._declared
        held: list[bytes] = []

        def on_message(_client: Any, _data: Any, message: Any) -> None:
            held.append(bytes(message.payload))

        client = connected_client(
            declared, self._environment, inlet.halt, session=declared.session, on_message=on_message
        )
        try:
            result, _ = client.subscribe([(topic, declared.qos) for topic in declared.topics])
            checked(result)
            inlet.connected()
            while not inlet.halt.stopped:
                code = client.loop(_LOOK_S)
                while code == 0 and len(held) < _MOST and _readable(client):
                    code = client.loop_read()
                if held:
                    inlet.take(self._converter.decode_each(held), sum(map(len, held)))
                    held.clear()
                checked(code)
        finally:
            client.disconnect()


def _readable(client: Any) -> bool:
    connection = client.socket()
    return connection is not None and bool(select.select([connection], [], [], 0)[0])
