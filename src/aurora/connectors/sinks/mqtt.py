"""Tuples as MQTT messages, one each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from aurora.connectors.converters.base import Converter
from aurora.connectors.live.failures import optional
from aurora.connectors.live.halt import Halt
from aurora.connectors.live.mqtt_client import checked, connected_client
from aurora.connectors.live.state import Meter
from aurora.model.sink_kinds import MqttSink as Declared

_LOOK_S = 0.01
_ANSWER_LOOKS = 1_000


class MqttSink:
    """With a quality of service of 1 or 2 a batch is sent when the broker has confirmed all of its messages."""

    batch = 1_000
    attempts: int | None = None

    def __init__(
        self, declared: Declared, converter: Converter, environment: Mapping[str, str], halt: Halt, meter: Meter
    ) -> None:
        optional("paho.mqtt.client")
        self._declared = declared
        self._converter = converter
        self._environment = environment
        self._halt = halt
        self._meter = meter
        self._client: Any = None

    def open(self) -> None:
        # The batch is awaited as a whole, so its messages need not wait for one another.
        self._client = connected_client(self._declared, self._environment, self._halt, unconfirmed=self.batch)

    def send(self, frame: pl.DataFrame) -> int:
        messages, rejected = self._converter.encode_each(frame)
        self._meter.add(rejected=len(rejected))
        declared = self._declared
        sent = [self._client.publish(declared.topic, message, declared.qos, declared.retain) for message in messages]
        for info in sent:
            checked(info.rc)
        for _ in range(_ANSWER_LOOKS):
            if all(info.is_published() for info in sent) and not self._client.want_write():
                return sum(map(len, messages))
            checked(self._client.loop(_LOOK_S))
        raise TimeoutError(f"the broker {declared.broker} did not confirm {len(messages)} messages")

    def idle(self) -> None:
        checked(self._client.loop(_LOOK_S))

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            client.loop(_LOOK_S)
