"""The messages of a Kafka topic, through librdkafka.

Offsets are stored when the engine has taken the tuples, so that a crash repeats some rather than lose any.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aurora.connectors.converters.base import Converter
from aurora.connectors.live.failures import optional
from aurora.connectors.live.inlet import Inlet
from aurora.connectors.live.kafka_client import settings
from aurora.model.source_kinds import KafkaSource as Declared

_MOST = 10_000
_LOOK_S = 0.1
_METADATA_S = 5.0


class KafkaSource:
    def __init__(self, declared: Declared, converter: Converter, environment: Mapping[str, str], network: str) -> None:
        self._kafka = optional("confluent_kafka")
        self._topic = declared.topic
        self._converter = converter
        self._settings = settings(declared, environment) | {
            "group.id": declared.group or f"aurora-{network}-{declared.name}",
            "auto.offset.reset": declared.start,
            "enable.auto.offset.store": False,
        }

    def run(self, inlet: Inlet) -> None:
        lost: list[str] = []

        def on_error(error: Any) -> None:
            # The library reconnects by itself; only when all brokers are gone is it a failure that people should see.
            if error.fatal() or error.code() == self._kafka.KafkaError._ALL_BROKERS_DOWN:
                lost.append(error.str())

        consumer = self._kafka.Consumer(self._settings | {"error_cb": on_error})
        try:
            consumer.list_topics(self._topic, timeout=_METADATA_S)
            consumer.subscribe([self._topic])
            inlet.connected()
            while not inlet.halt.stopped:
                messages = consumer.consume(_MOST, _LOOK_S)
                good = [message for message in messages if message.error() is None]
                if good:
                    values = [message.value() or b"" for message in good]
                    inlet.take(self._converter.decode_each(values), sum(map(len, values)))
                    for message in _last_of_partitions(good):
                        consumer.store_offsets(message)
                for message in messages:
                    self._check(message.error(), inlet)
                if lost:
                    raise ConnectionError(lost[0])
        finally:
            consumer.close()

    def _check(self, error: Any, inlet: Inlet) -> None:
        if error is None or error.code() == self._kafka.KafkaError._PARTITION_EOF:
            return
        if error.retriable() or error.code() == self._kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
            inlet.meter.error(error.str())
            return
        raise ConnectionError(error.str())


def _last_of_partitions(messages: list[Any]) -> list[Any]:
    return list({(message.topic(), message.partition()): message for message in messages}.values())
