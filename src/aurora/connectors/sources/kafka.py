"""The messages of a Kafka topic, through librdkafka.

Offsets are stored when the tuples are safe in the engine: taken, and with a state folder committed. So a crash repeats
some rather than lose any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
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
    """The consumer outlives a loss of the brokers: it is then still a member of its group.

    Another one in its place would have to wait until the group has given this one up.
    """

    def __init__(self, declared: Declared, converter: Converter, environment: Mapping[str, str], network: str) -> None:
        self._kafka = optional("confluent_kafka")
        self._topic = declared.topic
        self._converter = converter
        self._settings = settings(declared, environment) | {
            "group.id": declared.group or f"aurora-{network}-{declared.name}",
            "auto.offset.reset": declared.start,
            "enable.auto.offset.store": False,
            "auto.commit.interval.ms": 1_000,
            # After so long a group gives up a member that died, and whoever is started in its place can go on.
            "session.timeout.ms": 10_000,
            "error_cb": self._on_error,
        }
        self._consumer: Any = None
        self._lost = ""
        self._fatal = ""
        self._inlet: Inlet | None = None
        self._unsafe: deque[tuple[int, list[Any]]] = deque()
        """What has been taken and is not safe yet: where the stream stood then, and the last of each partition."""

    def run(self, inlet: Inlet) -> None:
        self._inlet = inlet
        consumer = self._consumer
        if consumer is None:
            consumer = self._consumer = self._kafka.Consumer(self._settings)
            consumer.subscribe([self._topic])
        try:
            self._reach(consumer)
            inlet.connected()
            while not inlet.halt.stopped:
                self._turn(consumer, inlet)
        except _FatalError:
            self.close()
            raise

    def _turn(self, consumer: Any, inlet: Inlet) -> None:
        messages = consumer.consume(_MOST, _LOOK_S)
        good = [message for message in messages if message.error() is None]
        if good:
            values = [message.value() or b"" for message in good]
            try:
                taken = inlet.take(self._converter.decode_each(values), sum(map(len, values)))
            except BaseException:
                # The consumer has moved past these messages; another one begins where the last stored offsets are.
                self.close()
                raise
            if taken:
                self._unsafe.append((inlet.mark, _last_of_partitions(good)))
        self._store(consumer, inlet)
        for message in messages:
            self._check(message.error(), inlet)
        if self._fatal:
            raise _FatalError(self._fatal)
        if self._lost:
            # It may have been said a while ago, and be over by now.
            self._reach(consumer)

    def _store(self, consumer: Any, inlet: Inlet) -> None:
        while self._unsafe and self._unsafe[0][0] <= inlet.safe:
            for message in self._unsafe.popleft()[1]:
                # A partition may have gone to another member of the group meanwhile.
                with suppress(self._kafka.KafkaException):
                    consumer.store_offsets(message)

    def _reach(self, consumer: Any) -> None:
        """Raises if no broker answers."""
        lost, self._lost = self._lost, ""
        try:
            consumer.list_topics(self._topic, timeout=_METADATA_S)
        except self._kafka.KafkaException as error:
            raise ConnectionError(lost or error.args[0].str()) from error

    def _on_error(self, error: Any) -> None:
        """The library reconnects by itself; only when all brokers are gone is it a failure that people should see."""
        if error.fatal():
            self._fatal = error.str()
        elif error.code() == self._kafka.KafkaError._ALL_BROKERS_DOWN:
            self._lost = error.str()

    def _check(self, error: Any, inlet: Inlet) -> None:
        if error is None or error.code() == self._kafka.KafkaError._PARTITION_EOF:
            return
        if error.fatal():
            raise _FatalError(error.str())
        if error.retriable() or error.code() == self._kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
            inlet.meter.error(error.str())
            return
        raise ConnectionError(error.str())

    def close(self) -> None:
        """Leaves the group, and has the offsets of what was taken kept."""
        consumer, self._consumer, self._fatal = self._consumer, None, ""
        if consumer is not None:
            try:
                if self._inlet is not None:
                    self._store(consumer, self._inlet)
            finally:
                self._unsafe.clear()
                consumer.close()


class _FatalError(ConnectionError):
    """The consumer can do no more."""


def _last_of_partitions(messages: list[Any]) -> list[Any]:
    return list({(message.topic(), message.partition()): message for message in messages}.values())
