"""The settings of librdkafka that a declaration stands for. No others can be given: some load code, some read files."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from aurora.connectors.live.failures import secret
from aurora.model.sink_kinds import KafkaSink
from aurora.model.source_kinds import KafkaSource

LOG = logging.getLogger("aurora.kafka")
LOG.addHandler(logging.NullHandler())
LOG.propagate = False


def settings(declared: KafkaSource | KafkaSink, environment: Mapping[str, str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        "bootstrap.servers": ",".join(map(str, declared.brokers)),
        "socket.timeout.ms": 10_000,
        "reconnect.backoff.max.ms": 2_000,
        "logger": LOG,
    }
    if declared.username is not None:
        chosen["sasl.mechanism"] = declared.mechanism
        chosen["sasl.username"] = declared.username
        chosen["sasl.password"] = secret(declared.password_env, environment) or ""
    chosen["security.protocol"] = ("SASL_" if declared.username is not None else "") + (
        "SSL" if declared.tls else "PLAINTEXT"
    )
    return chosen
