"""Tuples as Kafka messages, one each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from aurora.connectors.converters.base import Converter
from aurora.connectors.live.failures import optional
from aurora.connectors.live.kafka_client import settings
from aurora.connectors.live.state import Meter
from aurora.model.sink_kinds import KafkaSink as Declared

_METADATA_S = 5.0
_CONFIRM_S = 10.0


class KafkaSink:
    """A batch is sent when the brokers have confirmed all of its messages, each once."""

    batch = 10_000
    attempts: int | None = None

    def __init__(self, declared: Declared, converter: Converter, environment: Mapping[str, str], meter: Meter) -> None:
        self._kafka = optional("confluent_kafka")
        self._declared = declared
        self._converter = converter
        self._meter = meter
        self._settings = settings(declared, environment) | {
            "enable.idempotence": True,
            "linger.ms": 5,
            "queue.buffering.max.messages": 2 * self.batch,
            "message.timeout.ms": round(_CONFIRM_S * 1000),
        }
        self._producer: Any = None

    def open(self) -> None:
        self._producer = self._kafka.Producer(self._settings)
        self._producer.list_topics(self._declared.topic, timeout=_METADATA_S)

    def send(self, frame: pl.DataFrame) -> int:
        messages, rejected = self._converter.encode_each(frame)
        self._meter.add(rejected=len(rejected))
        failed: list[str] = []

        def confirmed(error: Any, _message: Any) -> None:
            if error is not None:
                failed.append(error.str())

        keys = self._keys(frame, {one.place - 1 for one in rejected})
        for message, key in zip(messages, keys or [None] * len(messages), strict=True):
            self._producer.produce(self._declared.topic, message, key, on_delivery=confirmed)
        left = self._producer.flush(_CONFIRM_S)
        if failed or left:
            raise ConnectionError(failed[0] if failed else f"{left} messages were not confirmed in time")
        return sum(map(len, messages))

    def _keys(self, frame: pl.DataFrame, without: set[int]) -> list[bytes | None]:
        if self._declared.key is None:
            return []
        column = frame.get_column(self._declared.key)
        texts = column.cast(pl.Binary) if column.dtype == pl.Binary else column.cast(pl.String).cast(pl.Binary)
        keys = texts.to_list()
        return [key for row, key in enumerate(keys) if row not in without] if without else keys

    def idle(self) -> None:
        self._producer.poll(0)

    def close(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            producer.flush(1.0)
